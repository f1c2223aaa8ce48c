// What becomes of devices when records arrive: each is judged on what the ones before it left. What is known of the past is
// only ever added to, so that an old file makes no backlog lose its tank.

import { isDeepStrictEqual } from "node:util";
import { type AuditedChange, differences } from "./audit.ts";
import { assignmentObjects, type Device, type DeviceAssignment, deviceObject, unknownDevice } from "./device.ts";
import { ask, type Inquiry } from "./inquiry.ts";
import type { DeviceRecord, DeviceWithHistory, RecordOutcome } from "./records.ts";

export type DeviceImportPlan = {
  readonly outcomes: RecordOutcome[];
  /** As they shall be; the tank of each stays. */
  readonly devices: readonly DeviceWithHistory[];
  readonly audit: readonly AuditedChange[];
};

export function* planDeviceImport(records: readonly DeviceRecord[]): Inquiry<DeviceImportPlan> {
  const known = yield* loadDevices(records.map(({ id }) => id));
  const tanks = yield* ask(
    "tanks",
    records.flatMap(({ assignments: services = [] }) => services.map(({ tankId }) => tankId)),
  );
  const now = new Map(known);
  const outcomes = records.map((record): RecordOutcome => {
    const before = now.get(record.id);
    const lost = record.assignments?.findIndex(({ tankId }) => !tanks.has(tankId)) ?? -1;
    if (lost !== -1) return { rejected: `services[${lost}].tank_id: there is no tank with this id` };
    const after = merged(record, before ?? newDevice(record.id));
    if ("rejected" in after) return after;
    if (isDeepStrictEqual(after, before)) return "unchanged";
    now.set(record.id, after);
    return before === undefined ? "new" : "changed";
  });
  const devices = [...now].filter(([id, after]) => known.get(id) !== after).map(([, after]) => after);
  return { outcomes, devices, audit: devices.flatMap((after) => auditOf(known.get(after.device.id), after)) };
}

/** In the order of the records, whatever that of the store. */
function* loadDevices(ids: readonly string[]): Inquiry<Map<string, DeviceWithHistory>> {
  const devices = yield* ask("devices", ids);
  const dropped = yield* ask("dropped", ids);
  const services = Map.groupBy(yield* ask("services", ids), ({ device }) => device);
  const kept = (device: Device): DeviceWithHistory => ({
    device,
    dropped: dropped.get(device.id) ?? 0,
    assignments: services.get(device.id) ?? [],
  });
  const known = new Map<string, DeviceWithHistory>();
  for (const id of ids) {
    const device = devices.get(id);
    if (device !== undefined) known.set(id, kept(device));
  }
  return known;
}

const newDevice = (id: string): DeviceWithHistory => ({ device: unknownDevice(id), dropped: 0, assignments: [] });

function merged(record: DeviceRecord, before: DeviceWithHistory): DeviceWithHistory | { readonly rejected: string } {
  const { tank_id, since, profile } = before.device;
  if (record.tank_id !== undefined && record.tank_id !== tank_id) {
    const serves = tank_id === null ? "no tank" : `tank ${tank_id}`;
    return { rejected: `tank_id: this device serves ${serves}; which it serves is said by the tank's own line` };
  }
  return {
    device: {
      ...before.device,
      since: Math.max(since, record.since ?? since),
      profile: record.profile === undefined ? profile : record.profile,
    },
    dropped: Math.max(before.dropped, record.dropped ?? 0),
    assignments: mergedAssignments(before.assignments, record.assignments ?? []),
  };
}

function mergedAssignments(known: readonly DeviceAssignment[], given: readonly DeviceAssignment[]): DeviceAssignment[] {
  const ends = new Map([...known, ...given].map((service) => [service.until, service]));
  return [...ends.values()].sort((a, b) => a.until - b.until);
}

function auditOf(before: DeviceWithHistory | undefined, after: DeviceWithHistory): AuditedChange[] {
  const { id } = after.device;
  const changes = differences(auditedFields(before ?? newDevice(id)), auditedFields(after));
  return Object.keys(changes).length === 0 ? [] : [{ object: "device", id, action: "changed", changes }];
}

/** Nothing of the past is `null`, as what is not there. */
function auditedFields({ device, assignments }: DeviceWithHistory): Readonly<Record<string, unknown>> {
  const { profile, since } = deviceObject(device);
  return { profile, since, services: assignments.length === 0 ? null : assignmentObjects(assignments) };
}
