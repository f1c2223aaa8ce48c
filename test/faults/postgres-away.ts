// A service whose PostgreSQL is stopped for so many seconds.

import type { TestContext } from "node:test";
import { type OwnPostgres, ownPostgres } from "../support/postgres/server.ts";
import { sitOut } from "./outage.ts";
import { trialOn } from "./trial.ts";

type Ending = Parameters<OwnPostgres["stop"]>[0];

export async function survivePostgresAway(t: TestContext, how: Ending, seed: string, seconds: number): Promise<void> {
  const server = await ownPostgres(t);
  const database = { url: server.url, settled: async () => {} };
  const trial = await trialOn(t, { name: "PostgreSQL", open: async () => database }, seed);
  await sitOut(t, trial, { begin: () => server.stop(how), end: server.start, canRead: false, seconds, event: "store" });
}
