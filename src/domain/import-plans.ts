// What an import changes: each record is decided on what the records before it left. Nothing is written here.

import { isDeepStrictEqual } from "node:util";
import { DEFAULT_TANK_ALERT_SETTINGS } from "./alerts/tank-alert-settings.ts";
import { type AuditedChange, auditFields } from "./audit.ts";
import { type Change, type CustomerState, changesBetween, hasSameFields, type TankState } from "./changes.ts";
import { DEFAULT_NOTIFICATION_SETTINGS, errorInNewCustomerId } from "./customer.ts";
import { assignmentObjects, type DeviceAssignment, DeviceUse, deviceObject, unknownDevice } from "./device.ts";
import { deviceKey } from "./id.ts";
import type { Instant } from "./instant.ts";
import type { Lookups, MaybeDamaged } from "./lookups.ts";
import type { CustomerRecord, Deletion, DeviceRecord, DeviceWithHistory, RecordOutcome, Removal, TankRecord } from "./records.ts";
import type { ManagedDevice } from "./resource.ts";

type ImportPlan<S> = { readonly outcomes: RecordOutcome[]; readonly changes: Change<S>[] };

export async function planCustomerImport(
  lookups: Lookups,
  records: readonly CustomerRecord[],
  at: Instant,
): Promise<ImportPlan<CustomerState>> {
  const known: ReadonlyMap<string, MaybeDamaged<CustomerState>> = await lookups.customers(records.map(objectId));
  return planImport(records, objectId, known, (record, before) => {
    if ("remove" in record) return removed(before, "customer", at);
    const idError = before === undefined ? errorInNewCustomerId(record.customer.id) : undefined;
    if (idError !== undefined) return { rejected: `id: ${idError}` };
    const kept = before?.damage === undefined ? before : undefined;
    const last_seen_at = latest(record.customer.last_seen_at, kept?.customer.last_seen_at ?? null);
    if (before?.damage !== undefined && record.notifications === undefined) {
      return { rejected: `notifications: is missing, and needed because ${before.damage}` };
    }
    const notifications = record.notifications ?? kept?.notifications ?? DEFAULT_NOTIFICATION_SETTINGS;
    const { deleted } = record;
    const after = {
      customer: { ...record.customer, last_seen_at },
      deleted,
      deletedAt: deletedAtOf(record, kept, at),
      notifications,
    };
    const isSame = kept !== undefined && hasSameDeletion(after, kept) && hasSameFields(after.customer, kept.customer);
    return isSame && hasSameFields(notifications, kept.notifications) ? "unchanged" : after;
  });
}

export async function planTankImport(
  lookups: Lookups,
  records: readonly TankRecord[],
  at: Instant,
): Promise<ImportPlan<TankState>> {
  const tanks = records.flatMap((record) => ("remove" in record ? [] : [record.tank]));
  const known = await lookups.tanks(records.map(objectId));
  const owners = await lookups.customers(tanks.map(({ owner_id }) => owner_id));
  const use = new DeviceUse(await lookups.devices(tanks.map(({ assigned_device_id }) => deviceKey(assigned_device_id))));
  return planImport(records, objectId, known, (record, before) => {
    const after = "remove" in record ? removed(before, "tank", at) : decide(record, before);
    if (typeof after === "string" || "rejected" in after) return after;
    if (before?.deleted === false) use.release(before.tank);
    if (!after.deleted) use.assign(after.tank);
    return after;
  });

  function decide(record: Exclude<TankRecord, Removal>, before: MaybeDamaged<TankState> | undefined): TankState | RecordOutcome {
    const isDamaged = before?.damage !== undefined;
    const missing = isDamaged ? (["shape", "alerts"] as const).find((name) => record[name] === undefined) : undefined;
    if (missing !== undefined) return { rejected: `${missing}: is missing, and needed because ${before?.damage}` };
    const kept = isDamaged ? undefined : before;
    const { tank, deleted, shape = kept?.shape ?? null, alerts = kept?.alerts ?? DEFAULT_TANK_ALERT_SETTINGS } = record;
    const after = { tank, deleted, deletedAt: deletedAtOf(record, kept, at), shape, alerts };
    const isSame = kept !== undefined && hasSameDeletion(after, kept) && hasSameFields(tank, kept.tank);
    if (isSame && isDeepStrictEqual([shape, alerts], [kept.shape, kept.alerts])) return "unchanged";
    if (!owners.has(tank.owner_id)) return { rejected: "owner_id: there is no customer with this id" };
    const other = deleted ? undefined : use.conflictOf(tank);
    if (other === undefined) return after;
    return { rejected: `assigned_device_id: this device is already assigned to tank ${other}` };
  }
}

function objectId(record: CustomerRecord | TankRecord): string {
  if ("remove" in record) return record.remove;
  return "customer" in record ? record.customer.id : record.tank.id;
}

type DeletionState = { readonly deleted: boolean; readonly deletedAt: Instant | null };

/** A live customer keeps the one that it has while many tanks are deleted or restored with it. */
function deletedAtOf(record: Deletion, kept: DeletionState | undefined, at: Instant): Instant | null {
  if (record.deleted) return record.deletedAt ?? kept?.deletedAt ?? at;
  return kept?.deleted === false ? kept.deletedAt : null;
}

const hasSameDeletion = (after: DeletionState, before: DeletionState): boolean =>
  after.deleted === before.deleted && after.deletedAt === before.deletedAt;

function removed<S extends DeletionState>(before: MaybeDamaged<S> | undefined, kind: string, at: Instant): S | RecordOutcome {
  if (before === undefined) return { rejected: `id: there is no ${kind} with this id to delete` };
  if (before.damage !== undefined) return { rejected: `id: ${before.damage}; import it with all its fields first` };
  return before.deleted ? "unchanged" : { ...before, deleted: true, deletedAt: before.deletedAt ?? at };
}

/** `decide` returns the new state of an object, or that nothing changes and why. */
function planImport<R, S extends object>(
  records: readonly R[],
  idOf: (record: R) => string,
  known: ReadonlyMap<string, MaybeDamaged<S>>,
  decide: (record: R, before: MaybeDamaged<S> | undefined) => S | RecordOutcome,
): ImportPlan<S> {
  const states = new Map<string, MaybeDamaged<S>>(known);
  const outcomes = records.map((record): RecordOutcome => {
    const before = states.get(idOf(record));
    const after = decide(record, before);
    if (typeof after === "string" || "rejected" in after) return after;
    states.set(idOf(record), after);
    return before === undefined ? "new" : "changed";
  });
  return { outcomes, changes: changesBetween(known, states) };
}

function latest(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b > a) ? b : a;
}

type DeviceImportPlan = {
  readonly outcomes: RecordOutcome[];
  /** The changed devices. Which tank each is assigned to does not change. */
  readonly devices: readonly DeviceWithHistory[];
  readonly audit: readonly AuditedChange[];
};

/** A device's past is only added to, so that importing an old file loses no assignment. */
export async function planDeviceImport(lookups: Lookups, records: readonly DeviceRecord[]): Promise<DeviceImportPlan> {
  const known = await loadDevices(lookups, records);
  const tanks = await lookups.tanks(records.flatMap(({ assignments = [] }) => assignments.map(({ tankId }) => tankId)));
  const { outcomes, changes } = planImport(records, deviceId, known, (record, before) => {
    const unknown = record.assignments?.findIndex(({ tankId }) => !tanks.has(tankId)) ?? -1;
    if (unknown !== -1) return { rejected: `past_assignments[${unknown}].tank_id: there is no tank with this id` };
    if (before?.damage !== undefined && isPartial(record)) {
      return { rejected: `id: ${before.damage}; import it with all its fields: profile, since, dropped and past_assignments` };
    }
    const after = mergeRecord(record, before ?? newDevice(record.id));
    return isDeepStrictEqual(after, before) ? "unchanged" : after;
  });
  return {
    outcomes,
    devices: changes.map(({ after }) => after),
    audit: changes.flatMap(({ id, before = newDevice(id), after }) =>
      auditFields("device", id, auditedFields(before), auditedFields(after)),
    ),
  };
}

/** For a damaged device, only the tank is known. */
async function loadDevices(
  lookups: Lookups,
  records: readonly DeviceRecord[],
): Promise<Map<string, MaybeDamaged<DeviceWithHistory>>> {
  const ids = records.map(deviceId);
  const found = await lookups.devices(ids);
  const assignments = Map.groupBy(await lookups.assignments(ids), ({ device }) => device);
  const stored = ([id, { device, dropped, damage: own }]: [string, MaybeDamaged<ManagedDevice>]): [
    string,
    MaybeDamaged<DeviceWithHistory>,
  ] => {
    const past = assignments.get(id) ?? [];
    const damage = own ?? past.find((assignment) => assignment.damage !== undefined)?.damage;
    if (damage === undefined) return [id, { device, dropped, assignments: past }];
    return [id, { ...newDevice(id), device: { ...unknownDevice(id), tank_id: device.tank_id }, damage }];
  };
  return new Map(Array.from(found, stored));
}

const isPartial = ({ since, profile, dropped, assignments }: DeviceRecord): boolean =>
  [since, profile, dropped, assignments].includes(undefined);

const deviceId = ({ id }: DeviceRecord): string => id;
const newDevice = (id: string): DeviceWithHistory => ({ device: unknownDevice(id), dropped: 0, assignments: [] });

function mergeRecord(record: DeviceRecord, before: DeviceWithHistory): DeviceWithHistory | { readonly rejected: string } {
  const { tank_id, since, profile } = before.device;
  if (record.tank_id !== undefined && record.tank_id !== tank_id) {
    const current = tank_id === null ? "no tank" : `tank ${tank_id}`;
    return { rejected: `tank_id: this device is assigned to ${current}; assign it with the tank's own line` };
  }
  return {
    device: {
      ...before.device,
      since: Math.max(since, record.since ?? since),
      profile: record.profile === undefined ? profile : record.profile,
    },
    dropped: Math.max(before.dropped, record.dropped ?? 0),
    assignments: mergeAssignments(before.assignments, record.assignments ?? []),
  };
}

function mergeAssignments(known: readonly DeviceAssignment[], added: readonly DeviceAssignment[]): DeviceAssignment[] {
  const byEnd = new Map([...known, ...added].map((assignment) => [assignment.until, assignment]));
  return [...byEnd.values()].sort((a, b) => a.until - b.until);
}

function auditedFields({ device, assignments }: DeviceWithHistory): Readonly<Record<string, unknown>> {
  const { profile, since } = deviceObject(device);
  return { profile, since, past_assignments: assignments.length === 0 ? null : assignmentObjects(assignments) };
}
