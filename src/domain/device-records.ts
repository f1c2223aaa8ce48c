// What becomes of devices when records arrive: each is judged on what the ones before it left. What is known of the past is
// only ever added to, so that an old file makes no backlog lose its tank.

import { isDeepStrictEqual } from "node:util";
import { type Deed, differences } from "./audit.ts";
import { type Device, type Service, strangeDevice } from "./device.ts";
import { type DeviceRecord, deviceLine, type KeptDevice } from "./device-line.ts";
import { ask, type Inquiry } from "./inquiry.ts";
import type { RecordOutcome } from "./record.ts";

export type DeviceDecision = {
  readonly outcomes: RecordOutcome[];
  /** As they shall be; the tank of each stays. */
  readonly devices: readonly Omit<KeptDevice, "services">[];
  readonly services: readonly Service[];
  /** By their keys: they go, with what waits of them. */
  readonly forgotten: readonly string[];
  readonly deeds: readonly Deed[];
};

export function* decideDevices(records: readonly DeviceRecord[]): Inquiry<DeviceDecision> {
  const known = yield* knownDevices(new Set(records.map(({ id }) => id)));
  const tanks = yield* ask(
    "tanks",
    records.flatMap(({ services = [] }) => services.map(({ tankId }) => tankId)),
  );
  const now = new Map(known);
  const outcomes = records.map((record): RecordOutcome => {
    const before = now.get(record.id) ?? strange(record.id);
    const lost = record.services?.findIndex(({ tankId }) => !tanks.has(tankId)) ?? -1;
    const after = lost === -1 ? judged(record, before) : { rejected: `services[${lost}].tank_id: there is no tank with this id` };
    if ("rejected" in after) return after;
    if (isDeepStrictEqual(after, before)) return "unchanged";
    now.set(record.id, after);
    return isUnknown(before) ? "new" : "changed";
  });
  const changed = [...now].filter(([id, after]) => known.get(id) !== after).map(([, after]) => after);
  return {
    outcomes,
    devices: changed.filter(({ deleted }) => !deleted),
    services: changed.flatMap(({ services }) => services),
    forgotten: changed.filter(({ deleted }) => deleted).map(({ device }) => device.id),
    deeds: changed.flatMap((after) => deedsOf(known.get(after.device.id) ?? strange(after.device.id), after)),
  };
}

function* knownDevices(keys: ReadonlySet<string>): Inquiry<Map<string, KeptDevice>> {
  const devices = yield* ask("devices", keys);
  const dropped = yield* ask("dropped", keys);
  const services = Map.groupBy(yield* ask("services", keys), ({ device }) => device);
  const kept = (id: string): KeptDevice => ({
    device: devices.get(id) ?? strangeDevice(id),
    dropped: dropped.get(id) ?? 0,
    services: services.get(id) ?? [],
    deleted: !devices.has(id),
  });
  return new Map(Array.from(keys, (id) => [id, kept(id)]));
}

const strange = (id: string): KeptDevice => ({ device: strangeDevice(id), dropped: 0, services: [], deleted: true });
const isUnknown = ({ deleted, services }: KeptDevice): boolean => deleted && services.length === 0;

function judged(record: DeviceRecord, before: KeptDevice): KeptDevice | { readonly rejected: string } {
  const { tank_id } = before.device;
  const serves = tank_id === null ? "no tank" : `tank ${tank_id}`;
  const services = joined(before.services, record.services ?? []);
  if (record.deleted) {
    if (tank_id !== null) return { rejected: `deleted: this device serves ${serves}` };
    return { ...strange(record.id), services };
  }
  if (record.tank_id !== undefined && record.tank_id !== tank_id) {
    return { rejected: `tank_id: this device serves ${serves}; which it serves is said by the tank's own line` };
  }
  const device: Device = {
    ...before.device,
    since: Math.max(before.device.since, record.since ?? before.device.since),
    profile: record.profile === undefined ? before.device.profile : record.profile,
  };
  return { device, dropped: Math.max(before.dropped, record.dropped ?? 0), services, deleted: false };
}

function joined(known: readonly Service[], given: readonly Service[]): Service[] {
  const ends = new Map([...known, ...given].map((service) => [service.until, service]));
  return [...ends.values()].sort((a, b) => a.until - b.until);
}

function deedsOf(before: KeptDevice, after: KeptDevice): Deed[] {
  const changes = differences(auditedFields(before), auditedFields(after));
  const { id } = after.device;
  if (after.deleted && !before.deleted) return [{ object: "device", id, action: "deleted", changes }];
  return Object.keys(changes).length === 0 ? [] : [{ object: "device", id, action: "changed", changes }];
}

/** Nothing of the past is `null`, as what is not there. */
function auditedFields(kept: KeptDevice): Readonly<Record<string, unknown>> {
  const { profile, since, services } = deviceLine(kept) as { profile?: unknown; since?: unknown; services: unknown[] };
  return { profile, since, services: services.length === 0 ? null : services };
}
