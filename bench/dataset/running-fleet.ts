// A temporary database with tanks and their initial readings, to send readings to.

import { incomingForTanks } from "../../src/domain/reading.ts";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import type { Bench, Engine } from "../bench.ts";
import { type Contestant, PAGE_SIZE } from "../contestants/contestant.ts";
import { Connection } from "../measure/connection.ts";
import { type TemporaryDatabase, temporaryDatabase } from "./databases.ts";
import { putTanks } from "./fill.ts";
import { type Crossings, expectedFirstPage, initialReadings } from "./live-readings.ts";
import { fleet } from "./plans.ts";

export async function temporaryFleet(
  bench: Bench,
  engine: Engine,
  name = "ingest",
  crossings?: Crossings,
): Promise<TemporaryDatabase> {
  const database = await temporaryDatabase(bench, engine, name);
  const store = await openStore(database.url, () => {});
  try {
    await putFleet(store, bench.scale.tanks, crossings);
  } finally {
    await store.close();
  }
  return database;
}

async function putFleet(store: Store, tanks: number, crossings?: Crossings): Promise<void> {
  const plan = fleet(tanks, 0);
  await putTanks(store, plan.tanks);
  const past = initialReadings(tanks, crossings);
  await store.ingest(
    incomingForTanks({
      tankIds: plan.tanks.map(({ id }) => id),
      tank: Uint32Array.from(past, ({ tank }) => tank),
      createdAt: Float64Array.from(past, ({ createdAt }) => createdAt),
      fill: Float64Array.from(past, ({ fill }) => fill),
    }),
  );
}

/** Throws if an acknowledged reading is missing or stored twice. */
export async function verifyStored(service: Contestant, tanks: number, sent: number, crossings?: Crossings): Promise<void> {
  using connection = await Connection.open(service);
  for (const [tank, { id }] of fleet(tanks, 0).tanks.entries()) {
    const got = service.decode(await connection.get(service.path(id, 1)));
    const expected = expectedFirstPage(tanks, sent, tank, PAGE_SIZE, crossings);
    if (JSON.stringify(got) === JSON.stringify(expected)) continue;
    throw new Error(`${service.name}, ${id}: ${JSON.stringify(got)} where ${JSON.stringify(expected)} was sent`);
  }
}
