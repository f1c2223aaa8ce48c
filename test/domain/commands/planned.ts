// Plans commands on objects in memory.

import assert from "node:assert/strict";
import type { Alert } from "../../../src/domain/alerts/alert.ts";
import { type ChangeSet, type Command, type CommandError, isCommandError } from "../../../src/domain/commands/command.ts";
import { planCommand } from "../../../src/domain/commands/plan.ts";
import { DEFAULT_NOTIFICATION_SETTINGS } from "../../../src/domain/customer.ts";
import type { StoredKey } from "../../../src/domain/key.ts";
import type { ManagedCustomer, Resource } from "../../../src/domain/resource.ts";
import type { Shape } from "../../../src/domain/shape.ts";
import { NO_LOCATION } from "../../../src/domain/tank.ts";
import { customer, key, NEW_YEAR } from "../../store/conformance/objects.ts";
import { device, lookupsOf, type StoredObjects, storedTank } from "../lookups.ts";

export const NOW = NEW_YEAR + 1000;
export const EUI = "A84041C2F1827D3E";
export const SHAPE: Shape = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };

const managed = (id: string, more: Partial<ManagedCustomer["customer"]> = {}, deleted = false): ManagedCustomer => ({
  customer: { ...customer(id, more), tank_count: more.tank_count ?? 0 },
  deleted,
  deletedAt: deleted ? NEW_YEAR : null,
  notifications: DEFAULT_NOTIFICATION_SETTINGS,
});
const storedKey = (id: string, more: Partial<StoredKey> = {}): StoredKey => ({ ...key(id), customer_deleted: false, ...more });
export const ANNA = managed("anna", { email: "anna@b.example", phone: "1", verified_at: NEW_YEAR, tank_count: 2 });
export const ONE = storedTank("one", "anna", { location: { ...NO_LOCATION, city: "Ulm" } });
export const OLD = storedTank("old", "anna", {}, true);
export const FREE = device("free", null, { profile: "elsys" });
export const PLAIN = storedKey("plain");

export const alert = (id: string, fields: Partial<Alert> = {}): Alert => ({
  id,
  kind: "low",
  state: "open",
  tank_id: "one",
  owner_id: "anna",
  opened_at: NEW_YEAR,
  acknowledged_at: null,
  acknowledged_by: null,
  closed_at: null,
  close_reason: null,
  threshold: 20,
  fill_percentage: 19,
  latest_fill_percentage: 18,
  latest_reading_at: NEW_YEAR,
  runs_low_at: null,
  leak: null,
  note: null,
  updated_at: NEW_YEAR,
  ...fields,
});
export const OPEN = alert("open");

/** Two live tanks of anna; a deleted customer, one of whose tanks was deleted with it; a free device; keys and alerts in every state. */
export const STORED: StoredObjects = {
  customers: [ANNA, managed("ben"), managed("gone", {}, true)],
  tanks: [
    ONE,
    { ...storedTank("two", "anna", { assigned_device_id: EUI }), shape: SHAPE },
    OLD,
    storedTank("along", "gone", {}, true),
    { ...storedTank("orphan", "gone", {}, true), deletedAt: NEW_YEAR - 1 },
  ],
  devices: [device("device of one", "one"), device(EUI.toLowerCase(), "two", { since: NEW_YEAR }), FREE],
  pending: { free: 7 },
  keys: [
    PLAIN,
    storedKey("revoked", { revoked_at: NEW_YEAR }),
    storedKey("expired", { expires_at: NOW }),
    storedKey("rotated", { replaced_by: "plain" }),
    storedKey("orphan", { customer_id: "gone", customer_deleted: true }),
  ],
  alerts: [
    OPEN,
    alert("taken", { state: "acknowledged", acknowledged_at: NEW_YEAR, acknowledged_by: "key_other", note: "Thursday" }),
    alert("closed", { state: "closed", closed_at: NEW_YEAR, close_reason: "recovered" }),
  ],
};

export async function planned(command: Command, objects = STORED, at = NOW): Promise<ChangeSet> {
  const plan = await planCommand(lookupsOf(objects), command, at);
  assert.ok(!isCommandError(plan), JSON.stringify(plan));
  return plan;
}

export async function objectAfter(command: Command, objects = STORED, at = NOW): Promise<Resource["object"]> {
  return (await planned(command, objects, at)).resource.object;
}

export async function errorOf(command: Command, objects = STORED): Promise<CommandError> {
  const plan = await planCommand(lookupsOf(objects), command, NOW);
  assert.ok(isCommandError(plan), "no error");
  return plan;
}

export async function assertErrors(code: CommandError["error"], commands: readonly Command[], objects = STORED): Promise<void> {
  for (const command of commands) assert.equal((await errorOf(command, objects)).error, code, JSON.stringify(command));
}

/** The fields with errors, sorted. */
export async function invalidFieldsOf(command: Command): Promise<string[]> {
  const { error, detail, errors = [] } = await errorOf(command);
  assert.equal(error, "body_invalid");
  assert.ok(detail.length > 0 && errors.every(({ message }) => message.length > 0));
  return errors.map(({ field }) => field).toSorted();
}

export async function assertNoChanges(command: Command): Promise<void> {
  const { resource: _, ...changes } = await planned(command);
  for (const [name, list] of Object.entries(changes)) assert.equal(list.length, 0, `${name} of ${JSON.stringify(command)}`);
}
