// The demo: a simulated fleet on a database of its own. This file fills the database, or brings it up to now.

import { isCommandError } from "../domain/commands/command.ts";
import { UserError } from "../domain/errors.ts";
import type { Instant } from "../domain/instant.ts";
import { UNRESTRICTED } from "../domain/key.ts";
import { PAGE_SIZE } from "../domain/page.ts";
import { incomingForTanks, type ReadingBatch } from "../domain/reading.ts";
import type { TankRecord } from "../domain/record.ts";
import type { Reads, Store } from "../domain/store.ts";
import type { Tank } from "../domain/tank.ts";
import { sensorOf } from "../simulate/makers.ts";
import type { Seed } from "../simulate/random.ts";
import { deviceOf, type KnownTank } from "./devices.ts";
import { makeFleet } from "./fleet.ts";
import { catchUp, history } from "./history.ts";

const FIRST_CUSTOMER = "cus_demo001";
const LAST_TANK = "tank_demo500";
/** Tanks whose readings are handed over before the first of them is waited for. */
const UNDER_WAY = 4;
/** As the audit log has it. */
const MADE_BY = "demo";

export type Told = (done: number, total: number) => void;

/** Leaves a database alone that holds anything but a demo. */
export async function prepareDemo(store: Store, seed: Seed, now: Instant, told: Told): Promise<void> {
  const isDemo = (await store.customerById(FIRST_CUSTOMER, UNRESTRICTED)) !== undefined;
  if (!isDemo && !(await store.isEmpty())) {
    throw new UserError(
      "the database of DATABASE_URL holds something else than a demo; the demo leaves it alone. Name an empty one.",
    );
  }
  const isWhole = (await store.tankById(LAST_TANK, UNRESTRICTED)) !== undefined;
  if (!isWhole) await makeAnew(store, seed, now, told);
  else await bringUpToNow(store, seed, now, told);
  await equip(store, seed, now);
}

/** Says how the payloads of every device are read. What is said already changes nothing. */
async function equip(store: Store, seed: Seed, now: Instant): Promise<void> {
  const tanks = await liveTanks(store);
  const equipped = tanks.map(async (tank) => {
    const { id, maker, shape } = deviceOf(tank, seed);
    const fields = { tank_id: tank.id, profile: sensorOf(maker)?.profile ?? null, shape };
    const order = { type: "put_device", id, fields, ifMatch: undefined, swap: false } as const;
    const done = await store.execute(order, { by: MADE_BY, at: now });
    if (isCommandError(done)) throw new Error(`device ${id} of the demo is refused: ${done.detail}`);
  });
  await Promise.all(equipped);
}

async function makeAnew(store: Store, seed: Seed, now: Instant, told: Told): Promise<void> {
  const { customers, tanks } = makeFleet(seed, now);
  await store.importCustomers(customers);
  // The last tank says that the fleet is whole: it comes after everything else.
  await store.importTanks(tanks.slice(0, -1));
  await putHistory(store, tanks.slice(0, -1).map(tankOf), seed, now, told);
  await store.importTanks(tanks.slice(-1));
  await putHistory(store, tanks.slice(-1).map(tankOf), seed, now, told);
}

function tankOf(record: TankRecord): Tank {
  if ("remove" in record) throw new Error("a new fleet removes nothing");
  return record.tank;
}

async function putHistory(store: Store, tanks: readonly Tank[], seed: Seed, now: Instant, told: Told): Promise<void> {
  await putBatches(store, history(tanks, seed, now), (done) => told(done, tanks.length));
}

async function bringUpToNow(store: Store, seed: Seed, now: Instant, told: Told): Promise<void> {
  const known = await knownTanks(store);
  const missed = known.map(({ tank, last }) => catchUp(tank, seed, last, now)).filter((batch) => batch.tank.length > 0);
  await putBatches(store, missed, (done) => told(done, missed.length));
}

async function putBatches(store: Store, batches: Iterable<ReadingBatch>, told: (done: number) => void): Promise<void> {
  const underWay: Promise<unknown>[] = [];
  let done = 0;
  for (const batch of batches) {
    underWay.push(store.ingest(incomingForTanks(batch)));
    if (underWay.length > UNDER_WAY) await underWay.shift();
    told(++done);
  }
  await Promise.all(underWay);
}

/** Every live tank that has sent something, with its newest reading. */
export async function knownTanks(reads: Pick<Reads, "tankPage" | "telemetryPage">): Promise<KnownTank[]> {
  const known: KnownTank[] = [];
  for (const tank of await liveTanks(reads)) {
    const newest = await reads.telemetryPage(tank.id, { from: undefined, to: undefined, page: 1, size: 1 }, UNRESTRICTED);
    const last = newest === undefined || newest === "deleted" ? undefined : newest.data[0];
    if (last !== undefined) known.push({ tank, last });
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
