// What becomes of customers and tanks when records arrive: each is judged on what the ones before it left. Pure; the store
// brings what is known, and writes what has changed in the end.

import { isDeepStrictEqual } from "node:util";
import type { Customer } from "./customer.ts";
import { type Device, type DeviceMove, deviceKey, moveDevice, unknownDevice } from "./device.ts";
import type { Instant } from "./instant.ts";
import type { CustomerRecord, RecordOutcome, TankRecord } from "./records.ts";
import type { Shape } from "./shape.ts";
import type { Tank } from "./tank.ts";

export type CustomerState = { readonly customer: Customer; readonly deleted: boolean };
export type TankState = { readonly tank: Tank; readonly deleted: boolean };
/** With what the interface does not show. */
export type TankWithShape = TankState & { readonly shape: Shape | null };

/** An object before and after; it was not there where there is no before. */
export type Change<S> = { readonly id: string; readonly before: S | undefined; readonly after: S };
export type ImportPlan<S> = { readonly outcomes: RecordOutcome[]; readonly changes: Change<S>[] };

export function recordIds(records: readonly (CustomerRecord | TankRecord)[]): string[] {
  return records.map(recordId);
}

function recordId(record: CustomerRecord | TankRecord): string {
  if ("remove" in record) return record.remove;
  return "customer" in record ? record.customer.id : record.tank.id;
}

export function planCustomerImport(
  records: readonly CustomerRecord[],
  known: ReadonlyMap<string, CustomerState>,
): ImportPlan<CustomerState> {
  return planImport(records, known, "customer", (record, before) => {
    const last_seen_at = latest(record.customer.last_seen_at, before?.customer.last_seen_at ?? null);
    const after = { customer: { ...record.customer, last_seen_at }, deleted: record.deleted };
    const isSame = before !== undefined && before.deleted === after.deleted && hasSameFields(after.customer, before.customer);
    return isSame ? "unchanged" : after;
  });
}

/** `owners` are the customers that exist, deleted or not; `devices` those in question, by their keys. */
export function planTankImport(
  records: readonly TankRecord[],
  known: ReadonlyMap<string, TankWithShape>,
  owners: ReadonlySet<string>,
  devices: ReadonlyMap<string, Device>,
): ImportPlan<TankWithShape> {
  const serves = new Map(Array.from(devices, ([key, { tank_id }]) => [key, tank_id]));
  function follow(before: TankState | undefined, after: TankState): void {
    const old = deviceOf(before);
    const taken = deviceOf(after);
    if (old !== undefined && serves.get(old) === before?.tank.id) serves.set(old, null);
    if (taken !== undefined) serves.set(taken, after.tank.id);
  }
  return planImport(
    records,
    known,
    "tank",
    (record, before) => {
      const { tank, deleted } = record;
      const shape = record.shape === undefined ? (before?.shape ?? null) : record.shape;
      const isSame = before !== undefined && before.deleted === deleted && hasSameFields(tank, before.tank);
      if (isSame && isDeepStrictEqual(shape, before.shape)) return "unchanged";
      if (!owners.has(tank.owner_id)) return { rejected: "owner_id: there is no customer with this id" };
      const other = deleted ? null : (serves.get(deviceKey(tank.assigned_device_id)) ?? null);
      if (other === null || other === tank.id) return { tank, deleted, shape };
      return { rejected: `assigned_device_id: this device serves tank ${other} already` };
    },
    follow,
  );
}

function planImport<R extends object, S extends { readonly deleted: boolean }>(
  records: readonly (R | { readonly remove: string })[],
  known: ReadonlyMap<string, S>,
  word: string,
  judge: (record: R, before: S | undefined) => S | RecordOutcome,
  follow: (before: S | undefined, after: S) => void = () => {},
): ImportPlan<S> {
  const now = new Map(known);
  function put(record: R | { readonly remove: string }): RecordOutcome {
    const id = recordId(record as unknown as CustomerRecord | TankRecord);
    const before = now.get(id);
    let after: S | RecordOutcome;
    if (!("remove" in record)) after = judge(record, before);
    else if (before === undefined) after = { rejected: `id: there is no ${word} with this id to delete` };
    else after = before.deleted ? "unchanged" : { ...before, deleted: true };
    if (typeof after === "string" || "rejected" in after) return after;
    follow(before, after);
    now.set(id, after);
    return before === undefined ? "new" : "changed";
  }
  const outcomes = records.map(put);
  const changes: Change<S>[] = [];
  for (const [id, after] of now) if (known.get(id) !== after) changes.push({ id, before: known.get(id), after });
  return { outcomes, changes };
}

/** The tanks whose shapes have changed, each with its new one. */
export function changedShapes(changes: readonly Change<TankWithShape>[]): Map<string, Shape | null> {
  const different = changes.filter(({ before, after }) => !isDeepStrictEqual(before?.shape ?? null, after.shape));
  return new Map(different.map(({ id, after }) => [id, after.shape]));
}

/**
 * The tank gives up the device it has. Where devices move between the tanks of one write, all are given up before any is
 * taken, so that the order of writing does not matter.
 */
export function releasesDevice({ before, after }: Change<TankState>): boolean {
  if (before === undefined || before.deleted) return false;
  return after.deleted || before.tank.assigned_device_id !== after.tank.assigned_device_id;
}

/** The device that serves the tank, by its key; a deleted tank has none. */
function deviceOf(state: TankState | undefined): string | undefined {
  return state === undefined || state.deleted ? undefined : deviceKey(state.tank.assigned_device_id);
}

/** The devices that these changes concern, by their keys. */
export function affectedDevices(changes: readonly Change<TankState>[]): string[] {
  return [...new Set(changes.flatMap(({ before, after }) => [deviceOf(before), deviceOf(after)]))].filter(
    (key) => key !== undefined,
  );
}

/** How the devices follow the tanks: all are let go before any is taken. */
export function deviceMoves(
  changes: readonly Change<TankState>[],
  known: ReadonlyMap<string, Device>,
  at: Instant,
): DeviceMove[] {
  const serves = new Map<string, string | null>();
  for (const { id, before } of changes) {
    const key = deviceOf(before);
    // A device that two tanks have, which should not be, stays where it is.
    if (key !== undefined && (known.get(key)?.tank_id ?? id) === id) serves.set(key, null);
  }
  for (const { id, after } of changes) {
    const key = deviceOf(after);
    if (key !== undefined) serves.set(key, id);
  }
  return [...serves].flatMap(([key, tankId]) => {
    const device = known.get(key) ?? unknownDevice(key);
    return device.tank_id === tankId && known.has(key) ? [] : [moveDevice(device, tankId, at)];
  });
}

/** Every field of the one is that of the other. */
export function hasSameFields(one: object, other: object): boolean {
  return Object.entries(one).every(([name, value]) => {
    const known = (other as Record<string, unknown>)[name];
    if (value === known) return true;
    return (
      typeof value === "object" && value !== null && typeof known === "object" && known !== null && hasSameFields(value, known)
    );
  });
}

function latest(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b > a) ? b : a;
}
