// A fleet in the middle of its work, for readings to come in to: its tanks and their past in a database of its own.

import { incomingForTanks } from "../../src/domain/reading.ts";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import type { Bench, Engine } from "../bench.ts";
import { type Contestant, SIZE } from "../contestants/contestant.ts";
import { Connection } from "../measure/connection.ts";
import { pageAfter, pastReadings } from "./arrivals.ts";
import { type Temporary, temporaryDatabase } from "./databases.ts";
import { putTanks } from "./fill.ts";
import { fleet } from "./plans.ts";

export async function temporaryFleet(bench: Bench, engine: Engine): Promise<Temporary> {
  const database = await temporaryDatabase(bench, engine, "ingest");
  const store = await openStore(database.url, () => {});
  try {
    await putFleet(store, bench.scale.tanks);
  } finally {
    await store.close();
  }
  return database;
}

async function putFleet(store: Store, tanks: number): Promise<void> {
  const plan = fleet(tanks, 0);
  await putTanks(store, plan.tanks);
  const past = pastReadings(tanks);
  await store.ingest(
    incomingForTanks({
      tankIds: plan.tanks.map(({ id }) => id),
      tank: Uint32Array.from(past, ({ tank }) => tank),
      createdAt: Float64Array.from(past, ({ createdAt }) => createdAt),
      fill: Float64Array.from(past, ({ fill }) => fill),
    }),
  );
}

/** Throws where something that was acknowledged is not there, or is there twice. */
export async function checkArrived(service: Contestant, tanks: number, sent: number): Promise<void> {
  using connection = await Connection.open(service);
  for (const [tank, { id }] of fleet(tanks, 0).tanks.entries()) {
    const got = service.decode(await connection.ask(service.path(id, 1)));
    const expected = pageAfter(tanks, sent, tank, SIZE);
    if (JSON.stringify(got) === JSON.stringify(expected)) continue;
    throw new Error(`${service.name}, ${id}: ${JSON.stringify(got)} where ${JSON.stringify(expected)} was sent`);
  }
}
