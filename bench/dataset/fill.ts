// Fills a store with a plan through the Store interface.

import { incomingForTanks } from "../../src/domain/reading.ts";
import type { Store } from "../../src/domain/store.ts";
import { customerRecord, tankRecord } from "../../test/support/records.ts";
import { log } from "../bench.ts";
import { type Plan, totalReadings } from "./plans.ts";
import { readingAt, type TankPlan } from "./readings.ts";

const OWNER = "cus_bench";
const READINGS_PER_WRITE = 20_000;
const TANKS_PER_WRITE = 100;
const PROGRESS_INTERVAL_MS = 10_000;

export async function putTanks(store: Store, tanks: readonly TankPlan[]): Promise<void> {
  await store.importCustomers([customerRecord(OWNER)]);
  for (let i = 0; i < tanks.length; i += TANKS_PER_WRITE) {
    await store.importTanks(tanks.slice(i, i + TANKS_PER_WRITE).map(({ id }) => tankRecord(id, OWNER)));
  }
}

export async function fillStore(store: Store, plan: Plan): Promise<void> {
  await putTanks(store, plan.tanks);
  const total = totalReadings(plan);
  const started = performance.now();
  let reportedAt = started;
  let done = 0;
  for (const tank of plan.tanks) {
    for (let from = 0; from < tank.readings; from += READINGS_PER_WRITE) {
      const to = Math.min(tank.readings, from + READINGS_PER_WRITE);
      await putReadings(store, tank, from, to);
      done += to - from;
      if (performance.now() - reportedAt > PROGRESS_INTERVAL_MS) {
        reportedAt = performance.now();
        log(`  ${((done / total) * 100).toFixed(0)} % of ${total.toLocaleString("en")} readings`);
      }
    }
  }
  const perSecond = total / ((performance.now() - started) / 1000);
  log(`  ${total.toLocaleString("en")} readings, ${Math.round(perSecond).toLocaleString("en")} a second`);
}

async function putReadings(store: Store, tank: TankPlan, from: number, to: number): Promise<void> {
  const createdAt = new Float64Array(to - from);
  const fill = new Float64Array(to - from);
  for (let k = from; k < to; k++) {
    const reading = readingAt(tank, k);
    createdAt[k - from] = reading.createdAt;
    fill[k - from] = reading.fill;
  }
  await store.ingest(incomingForTanks({ tankIds: [tank.id], tank: new Uint32Array(to - from), createdAt, fill }));
}
