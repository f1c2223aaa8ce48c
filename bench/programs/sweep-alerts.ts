// sweep-alerts.ts DATABASE_URL: sweeps for tanks that are due, one sweep after the other, and measures how long each takes.

import { setTimeout as sleep } from "node:timers/promises";
import type { SweepResult } from "../../src/domain/alerts/sweep.ts";
import { openStore } from "../../src/store/open.ts";
import { serveRuns } from "../measure/bench-program.ts";
import { quantile } from "../measure/sampling.ts";

export type Sweeps = { readonly sweeps: number };
export type SweepTimes = { readonly p50: number; readonly p99: number };

const RETRY_MS = 1000;

const [url = ""] = process.argv.slice(2);
const store = await openStore(url, () => {});
let claimedAt: SweepResult["claimedAt"];

async function sweep(): Promise<number> {
  const started = performance.now();
  const result = await store.sweepAlerts({ claimedAt });
  const took = performance.now() - started;
  if (result.hasMore) throw new Error("there are tanks that are due");
  claimedAt = result.claimedAt;
  return took;
}

serveRuns<Sweeps, SweepTimes>(async ({ sweeps }) => {
  // A service that has stopped just now may still have the claim.
  for (await sweep(); claimedAt === undefined; await sweep()) await sleep(RETRY_MS);
  return async () => {
    const times: number[] = [];
    while (times.length < sweeps) times.push(await sweep());
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  };
});
