// Decisions on orders, made on what a test knows.

import assert from "node:assert/strict";
import { settle } from "../../../src/domain/inquiry.ts";
import type { ManagedCustomer } from "../../../src/domain/managed.ts";
import { deciding } from "../../../src/domain/orders/decide.ts";
import { type Decision, isRefused, type Order, type Refused } from "../../../src/domain/orders/order.ts";
import { customer, NEW_YEAR } from "../../store/conformance/objects.ts";
import { answering, type Knowledge } from "../knowledge.ts";

export const NOW = NEW_YEAR + 1000;

export function decided(known: Knowledge, order: Order, at = NOW): Decision {
  const decision = settle(deciding(order, at), answering(known));
  assert.ok(!isRefused(decision), `refused: ${JSON.stringify(decision)}`);
  return decision;
}

export function refusedOf(known: Knowledge, order: Order, at = NOW): Refused {
  const decision = settle(deciding(order, at), answering(known));
  assert.ok(isRefused(decision), "it is refused");
  return decision;
}

/** The fields that are told to be wrong, in the order of the alphabet. */
export function wrongIn(known: Knowledge, order: Order): string[] {
  const { refused, detail, errors = [] } = refusedOf(known, order);
  assert.equal(refused, "body_invalid");
  assert.ok(detail.length > 0 && errors.every(({ message }) => typeof message === "string" && message.length > 0));
  return errors.map(({ field }) => field).toSorted();
}

/** Nothing is written, and nothing is told to have been done. */
export function expectNothing({ shown: _, ...decision }: Decision): void {
  for (const [name, parts] of Object.entries(decision)) assert.equal("size" in parts ? parts.size : parts.length, 0, name);
}

export const managed = (id: string, more: Partial<ManagedCustomer["customer"]> = {}, deleted = false): ManagedCustomer => ({
  customer: { ...customer(id, more), tank_count: more.tank_count ?? 0 },
  deleted,
});
