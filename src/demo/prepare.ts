// Fills a database with the demo fleet, or brings an earlier demo up to date; and the fleet as the simulator sends for it.

import { ACTORS } from "../domain/actor.ts";
import { type Command, isCommandError } from "../domain/commands/command.ts";
import { UserError } from "../domain/errors.ts";
import type { Instant } from "../domain/instant.ts";
import { UNRESTRICTED } from "../domain/key.ts";
import { PAGE_SIZE } from "../domain/page.ts";
import { incomingForTanks } from "../domain/reading.ts";
import type { Reads, Store } from "../domain/store.ts";
import type { Tank } from "../domain/tank.ts";
import type { Fleet, SimulatedDevice } from "../simulate/fleet.ts";
import { type Seed, seeded } from "../simulate/random.ts";
import { MAKERS, sensorOf, shapeFor } from "../simulate/sensors.ts";
import { createFleet } from "./fleet.ts";
import { busyTankModel, readingsSince, tankModel } from "./tank-model.ts";

const FIRST_CUSTOMER = "cus_demo001";
const LAST_TANK = "tank_demo500";
/** Batches that are written at the same time. */
const CONCURRENT_BATCHES = 4;
const LITRES_PER_GALLON = 3.785411784;

type OnProgress = (done: number, total: number) => void;
/** `onCreate` is called before the fleet is created, not where an earlier demo has created it. */
type DemoObserver = { readonly onCreate: () => void; readonly onProgress: OnProgress };
/** A tank, and the instant up to which it has readings. */
type TankUntil = { readonly tank: Tank; readonly until: Instant };

/** Rejects a database that contains anything but a demo. */
export async function prepareDemo(store: Store, seed: Seed, now: Instant, { onCreate, onProgress }: DemoObserver): Promise<void> {
  const isDemo = (await store.customerById(FIRST_CUSTOMER, UNRESTRICTED)) !== undefined;
  if (!isDemo && !(await store.isEmpty())) {
    throw new UserError("the database in DATABASE_URL contains data that is not from a demo. Use an empty database.");
  }
  const isComplete = (await store.tankById(LAST_TANK, UNRESTRICTED)) !== undefined;
  if (isComplete) {
    await addReadings(store, await tanksWithReadings(store), seed, now, onProgress);
  } else {
    onCreate();
    await fill(store, seed, now, onProgress);
  }
  await registerDevices(store, seed, now);
  if (!isComplete) {
    await addPendingReadings(store, now);
    await acknowledgeAlerts(store, now);
  }
}

/** One sends fill levels, the other distances, which need a profile. */
const NEW_DEVICES = [
  { id: "a84041f3b1c02d5e", fill: 63.4, payload: undefined },
  { id: "24e124713d018844", fill: Number.NaN, payload: { battery: 98, distance: 742 } },
];

/** Two devices that are not assigned to a tank yet. */
async function addPendingReadings(store: Store, now: Instant): Promise<void> {
  const payloads = NEW_DEVICES.flatMap(({ payload }, i) =>
    payload === undefined ? [] : [[i, JSON.stringify(payload)] as const],
  );
  await store.ingest({
    sources: NEW_DEVICES.map(({ id }) => ({ kind: "device", id, customerId: null })),
    sourceOf: Uint32Array.from(NEW_DEVICES, (_, i) => i),
    createdAt: Float64Array.from(NEW_DEVICES, () => now),
    fill: Float64Array.from(NEW_DEVICES, ({ fill }) => fill),
    payloads: new Map(payloads),
  });
}

const NOTES = ["Delivery on Thursday", "The customer orders on Monday", "Being replaced by a larger tank"];

/** Some alerts that somebody has already seen. */
async function acknowledgeAlerts(store: Store, now: Instant): Promise<void> {
  const anyTank = { from: undefined, to: undefined, tank_id: undefined, owner_id: undefined };
  const { data } = await store.alertPage({ ...anyTank, state: "open", kind: "low", page: 1, size: NOTES.length }, UNRESTRICTED);
  for (const [i, { id }] of data.entries()) {
    const note = { type: "acknowledge_alert", id, fields: { note: NOTES[i] }, by: ACTORS.demo, ifMatch: undefined } as const;
    await execute(store, note, now);
  }
}

async function execute(store: Store, command: Command, now: Instant): Promise<void> {
  const result = await store.execute(command, { by: ACTORS.demo, at: now });
  if (isCommandError(result)) throw new Error(`cannot prepare the demo: ${command.type}: ${result.detail}`);
}

/** Profile and shape of every device. Repeating it changes nothing. */
async function registerDevices(store: Store, seed: Seed, now: Instant): Promise<void> {
  const tanks = await liveTanks(store);
  const registered = tanks.map(async (tank) => {
    const { id, maker, shape } = deviceOf(tank, seed);
    const fields = { tank_id: tank.id, profile: sensorOf(maker)?.profile ?? null, shape };
    await execute(store, { type: "put_device", id, fields, ifMatch: undefined, swap: false }, now);
  });
  await Promise.all(registered);
}

async function fill(store: Store, seed: Seed, now: Instant, onProgress: OnProgress): Promise<void> {
  const { customers, tanks } = createFleet(seed, now);
  const withoutMail = { language: null, unsubscribed_at: now };
  const context = { by: ACTORS.demo, at: now };
  await store.importCustomers(
    customers.map((record) => ({ ...record, notifications: withoutMail })),
    context,
  );
  // The last tank marks the fleet as complete, so it is written after everything else.
  for (const records of [tanks.slice(0, -1), tanks.slice(-1)]) {
    await store.importTanks(records, context);
    const added = records.map(({ tank }) => ({ tank, until: tank.created_at }));
    await addReadings(store, added, seed, now, onProgress);
  }
}

async function addReadings(
  store: Store,
  tanks: readonly TankUntil[],
  seed: Seed,
  now: Instant,
  onProgress: OnProgress,
): Promise<void> {
  const pending: Promise<unknown>[] = [];
  for (const [i, { tank, until }] of tanks.entries()) {
    const batch = readingsSince(until, tank, seed, now);
    if (batch.fill.length > 0) pending.push(store.ingest(incomingForTanks(batch)));
    if (pending.length > CONCURRENT_BATCHES) await pending.shift();
    onProgress(i + 1, tanks.length);
  }
  await Promise.all(pending);
}

/** Every live tank that has readings, with the instant of its newest one. */
export async function tanksWithReadings(reads: Pick<Reads, "tankPage" | "telemetryPage">): Promise<TankUntil[]> {
  const known: TankUntil[] = [];
  for (const tank of await liveTanks(reads)) {
    const newest = await reads.telemetryPage(tank.id, { from: undefined, to: undefined, page: 1, size: 1 }, UNRESTRICTED);
    const last = newest === undefined || newest === "deleted" ? undefined : newest.data[0];
    if (last !== undefined) known.push({ tank, until: last.created_at });
  }
  return known;
}

async function liveTanks(reads: Pick<Reads, "tankPage">): Promise<Tank[]> {
  const tanks: Tank[] = [];
  for (let page = 1; ; page++) {
    const { data } = await reads.tankPage({ from: undefined, to: undefined, page, size: PAGE_SIZE.maximum }, UNRESTRICTED);
    if (data.length === 0) return tanks;
    tanks.push(...data);
  }
}

/** Depends only on the seed and the tank, so that a restarted demo finds the same devices. */
export function deviceOf(tank: Tank, seed: Seed): SimulatedDevice {
  const random = seeded(`${seed}/${tank.id}/device`);
  const maker = random.pick(MAKERS);
  const litres = tank.capacity * (tank.capacity_unit === "gallons" ? LITRES_PER_GALLON : 1);
  return { id: tank.assigned_device_id, tankId: tank.id, maker, shape: shapeFor(litres, random) };
}

/** Some tanks are emptied and filled within minutes, so that alerts open and close while somebody watches. */
export const BUSY_TANKS = 4;

export function demoFleet(tanks: readonly Tank[], seed: Seed): Fleet {
  const members = tanks.map((tank, number) => ({
    device: deviceOf(tank, seed),
    model: number < BUSY_TANKS ? busyTankModel(tank, number / BUSY_TANKS) : tankModel(tank, seed),
  }));
  const member = (number: number) => {
    const found = members[number];
    if (found === undefined) throw new Error(`no device ${number}`);
    return found;
  };
  return {
    size: members.length,
    device: (number) => member(number).device,
    fillAt: (number, at) => member(number).model.fillAt(at),
  };
}
