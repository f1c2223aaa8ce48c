// What is done to a store, one step after the other: orders, records of a file, and readings of tanks and devices.

import { EARLIEST } from "../../../src/domain/device.ts";
import { deviceKey } from "../../../src/domain/id.ts";
import type { IncomingBatch, ReadingSource } from "../../../src/domain/reading.ts";
import type { CustomerRecord, DeviceRecord, TankRecord } from "../../../src/domain/records.ts";
import type { Store } from "../../../src/domain/store.ts";
import type { Random } from "../../../src/simulate/random.ts";
import { customer, tank } from "../conformance/objects.ts";
import { CUSTOMERS, DEVICES, NAMES, someOrder, TANKS } from "./orders.ts";

export type Step = { readonly told: string; readonly take: (store: Store) => Promise<unknown> };

export const BY = ["key one", "key two"];

export function someStep(random: Random, number: number, now: number, tags: readonly string[]): Step {
  const context = { by: random.pick(BY), at: now };
  if (random.chance(0.4)) {
    const batch = someArrivals(random, now);
    return { told: `${batch.source.length} readings`, take: (store) => store.ingest(batch) };
  }
  if (random.chance(0.8)) {
    const order = someOrder(random, number, tags);
    const once = random.chance(0.2) ? { key: random.pick(["a", "b", "c"]), fingerprint: random.pick(["x", "y"]) } : undefined;
    return { told: JSON.stringify({ order, once }), take: (store) => store.execute(order, context, once) };
  }
  const records = Array.from({ length: random.whole(1, 3) }, () => random);
  if (random.chance(0.3)) {
    const customers = records.map(someCustomer);
    return { told: JSON.stringify(customers), take: (store) => store.importCustomers(customers, context) };
  }
  if (random.chance(0.4)) {
    const devices = records.map(() => someDevice(random, now));
    return { told: JSON.stringify(devices), take: (store) => store.importDevices(devices, context) };
  }
  const tanks = records.map(someTank);
  return { told: JSON.stringify(tanks), take: (store) => store.importTanks(tanks, context) };
}

function someCustomer(random: Random): CustomerRecord {
  if (random.chance(0.2)) return { remove: random.pick(CUSTOMERS) };
  return { customer: customer(random.pick(CUSTOMERS), { name: random.pick(NAMES) }), deleted: random.chance(0.1) };
}

function someTank(random: Random): TankRecord {
  if (random.chance(0.2)) return { remove: random.pick(TANKS) };
  const fields = { assigned_device_id: random.pick(DEVICES), min_fill_alert_percentage: random.whole(0, 100) };
  const shape = random.pick([
    {},
    {},
    { shape: null },
    { shape: { kind: "upright", unit: "m", height: 2, sensor_height: 2.2 } as const },
  ]);
  return { tank: tank(random.pick(TANKS), random.pick(CUSTOMERS), fields), deleted: random.chance(0.1), ...shape };
}

function someDevice(random: Random, now: number): DeviceRecord {
  const id = deviceKey(random.pick(DEVICES));
  const until = now - random.whole(0, 20) * 60_000;
  const maybe = <T>(chance: number, given: T): T | undefined => (random.chance(chance) ? given : undefined);
  return {
    id,
    tank_id: maybe(0.4, random.pick([null, ...TANKS])),
    since: maybe(0.6, random.pick([EARLIEST, until])),
    profile: maybe(0.6, random.pick([null, "milesight-em500-udl"])),
    dropped: maybe(0.5, random.whole(0, 50)),
    assignments: maybe(0.6, random.pick([[], [{ device: id, until, tankId: random.pick(TANKS) }]])),
  };
}

const PAYLOADS: readonly ((random: Random) => object)[] = [
  (random) => ({ distance: random.whole(0, 2500) }),
  (random) => ({ level: random.whole(0, 300) }),
  (random) => ({ p: random.whole(0, 120) }),
  (random) => ({ fill_percentage: random.whole(0, 100) }),
  () => ({ p: "12" }),
  () => ({}),
];

/** Of a few sources, now and before; now and then more than may wait. */
export function someArrivals(random: Random, now: number): IncomingBatch {
  const sources = Array.from({ length: random.whole(1, 4) }, () => someSource(random));
  const length = random.whole(1, random.chance(0.05) ? 1500 : 12);
  const source = Uint32Array.from({ length }, () => random.whole(0, sources.length - 1));
  const apart = random.pick([1000, 60_000]);
  const createdAt = Float64Array.from({ length }, () => now - random.whole(0, length + 5) * apart);
  const payloads = new Map<number, string>();
  const fill = Float64Array.from(source, (index, place) => {
    if (sources[index]?.kind === "tank" || random.chance(0.5)) return random.whole(0, 10_000) / 100;
    payloads.set(place, JSON.stringify(random.pick(PAYLOADS)(random)));
    return Number.NaN;
  });
  return { sources, source, createdAt, fill, payloads };
}

function someSource(random: Random): ReadingSource {
  const customerId = random.chance(0.15) ? random.pick(CUSTOMERS) : null;
  if (random.chance(0.4)) return { kind: "tank", id: random.pick([...TANKS, "no tank"]), customerId };
  return { kind: "device", id: deviceKey(random.pick(DEVICES)), customerId };
}
