// Decisions on orders, made on what a test knows.

import assert from "node:assert/strict";
import { type ChangeSet, type Command, type CommandError, isCommandError } from "../../../src/domain/commands/command.ts";
import { planCommand } from "../../../src/domain/commands/plan.ts";
import { settle } from "../../../src/domain/inquiry.ts";
import type { ManagedCustomer } from "../../../src/domain/resource.ts";
import { customer, NEW_YEAR } from "../../store/conformance/objects.ts";
import { answering, type Knowledge } from "../knowledge.ts";

export const NOW = NEW_YEAR + 1000;

export function decided(known: Knowledge, order: Command, at = NOW): ChangeSet {
  const decision = settle(planCommand(order, at), answering(known));
  assert.ok(!isCommandError(decision), `refused: ${JSON.stringify(decision)}`);
  return decision;
}

export function refusedOf(known: Knowledge, order: Command, at = NOW): CommandError {
  const decision = settle(planCommand(order, at), answering(known));
  assert.ok(isCommandError(decision), "it is refused");
  return decision;
}

/** The fields that are told to be wrong, in the order of the alphabet. */
export function wrongIn(known: Knowledge, order: Command): string[] {
  const { error: refused, detail, errors = [] } = refusedOf(known, order);
  assert.equal(refused, "body_invalid");
  assert.ok(detail.length > 0 && errors.every(({ message }) => typeof message === "string" && message.length > 0));
  return errors.map(({ field }) => field).toSorted();
}

/** Nothing is written, and nothing is told to have been done. */
export function expectNothing({ resource: _, ...decision }: ChangeSet): void {
  for (const [name, parts] of Object.entries(decision)) assert.equal("size" in parts ? parts.size : parts.length, 0, name);
}

export const managed = (id: string, more: Partial<ManagedCustomer["customer"]> = {}, deleted = false): ManagedCustomer => ({
  customer: { ...customer(id, more), tank_count: more.tank_count ?? 0 },
  deleted,
});
