// Requests that are in progress while a service with two workers stops, and what it leaves behind.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import type { Lifetime } from "../support/service.ts";
import type { Service, Workspace } from "./program.ts";
import { connectToAll, isRunning, startRequest } from "./requests.ts";

/** Starts so many requests that each worker has some; returns a function that completes them. */
export async function startRequests(life: Lifetime, service: Service, key: string): Promise<() => Promise<void>> {
  const finishes = await Promise.all(Array.from({ length: 24 }, () => startRequest(life, service, key)));
  // A worker that responds to a later connection has accepted the earlier ones.
  await connectToAll(life, service);
  return async () => {
    for (const response of await Promise.all(finishes.map((finish) => finish())))
      assert.match(response, /^HTTP\/1\.1 200 OK\r\n[\s\S]*"total_items":3\}$/);
  };
}

/** With exit code 0, without a process or a file of its own. */
export async function expectStopped(here: Workspace, service: Service, workers: readonly number[]): Promise<void> {
  const { code, signal, stderr } = await service.exited;
  assert.deepEqual([code, signal], [0, null]);
  assert.equal(stderr.match(/"event":"stopping"/g)?.length, 1);
  assert.match(stderr, /"event":"stopped".*\n$/);
  assert.deepEqual(workers.filter(isRunning), []);
  assert.deepEqual(readdirSync(here.folder).sort(), ["fleet.ndjson", "tanks.db"]);
}
