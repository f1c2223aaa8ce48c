// Plans of commands on what a test knows.

import assert from "node:assert/strict";
import { type ChangeSet, type Command, type CommandError, isCommandError } from "../../../src/domain/commands/command.ts";
import { planCommand } from "../../../src/domain/commands/plan.ts";
import type { ManagedCustomer } from "../../../src/domain/resource.ts";
import { customer, NEW_YEAR } from "../../store/conformance/objects.ts";
import { type Knowledge, lookupsOf } from "../knowledge.ts";

export const NOW = NEW_YEAR + 1000;

export async function decided(known: Knowledge, order: Command, at = NOW): Promise<ChangeSet> {
  const decision = await planCommand(lookupsOf(known), order, at);
  assert.ok(!isCommandError(decision), `refused: ${JSON.stringify(decision)}`);
  return decision;
}

export async function refusedOf(known: Knowledge, order: Command, at = NOW): Promise<CommandError> {
  const decision = await planCommand(lookupsOf(known), order, at);
  assert.ok(isCommandError(decision), "it is refused");
  return decision;
}

/** The fields that are told to be wrong, in the order of the alphabet. */
export async function wrongIn(known: Knowledge, order: Command): Promise<string[]> {
  const { error, detail, errors = [] } = await refusedOf(known, order);
  assert.equal(error, "body_invalid");
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
