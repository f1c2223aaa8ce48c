// Plans commands on objects in memory.

import assert from "node:assert/strict";
import { type ChangeSet, type Command, type CommandError, isCommandError } from "../../../src/domain/commands/command.ts";
import { planCommand } from "../../../src/domain/commands/plan.ts";
import type { ManagedCustomer } from "../../../src/domain/resource.ts";
import { customer, NEW_YEAR } from "../../store/conformance/objects.ts";
import { lookupsOf, type StoredObjects } from "../lookups.ts";

export const NOW = NEW_YEAR + 1000;

export async function planned(stored: StoredObjects, command: Command, at = NOW): Promise<ChangeSet> {
  const plan = await planCommand(lookupsOf(stored), command, at);
  assert.ok(!isCommandError(plan), JSON.stringify(plan));
  return plan;
}

export async function errorOf(stored: StoredObjects, command: Command): Promise<CommandError> {
  const plan = await planCommand(lookupsOf(stored), command, NOW);
  assert.ok(isCommandError(plan), "no error");
  return plan;
}

/** The fields with errors, sorted. */
export async function invalidFieldsOf(stored: StoredObjects, command: Command): Promise<string[]> {
  const { error, detail, errors = [] } = await errorOf(stored, command);
  assert.equal(error, "body_invalid");
  assert.ok(detail.length > 0 && errors.every(({ message }) => message.length > 0));
  return errors.map(({ field }) => field).toSorted();
}

export function assertNoChanges({ resource: _, ...changes }: ChangeSet): void {
  for (const [name, parts] of Object.entries(changes)) assert.equal("size" in parts ? parts.size : parts.length, 0, name);
}

export const managed = (id: string, more: Partial<ManagedCustomer["customer"]> = {}, deleted = false): ManagedCustomer => ({
  customer: { ...customer(id, more), tank_count: more.tank_count ?? 0 },
  deleted,
});
