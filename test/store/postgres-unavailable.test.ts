// The PostgreSQL server stops and starts again while a store is in use.

import assert from "node:assert/strict";
import test from "node:test";
import type { StopMode } from "../support/postgres/cluster.ts";
import { isUnavailable, openedOn, succeeds } from "../support/postgres/database.ts";
import { type OwnPostgres, ownPostgres } from "../support/postgres/server.ts";
import { type Lifetime, temporaryFolder } from "../support/service.ts";
import { until } from "../support/until.ts";
import { everything } from "./conformance/objects.ts";
import { fillForCalls, maintenanceCalls, readCalls, writeCalls } from "./store-calls.ts";

/** How soon the store must work again, and how soon calls must fail. */
const RECOVERY_MS = 2000;
const FAILURE_MS = 4000;

async function stopAndStart(life: Lifetime, server: OwnPostgres, how: StopMode): Promise<void> {
  const { store, eventKinds } = await openedOn(life, server.url);
  if (await store.isEmpty()) await fillForCalls(store);
  const before = await everything(store);

  await server.stop(how);
  await until("the loss", async () => !(await succeeds(store.ping())));
  const calls = { ...readCalls(store), ...writeCalls(store, "lost"), ...maintenanceCalls(store, temporaryFolder(life)) };
  for (const [name, call] of Object.entries(calls)) {
    const started = performance.now();
    await assert.rejects(call, isUnavailable, name);
    const milliseconds = Math.round(performance.now() - started);
    assert.ok(milliseconds < FAILURE_MS, `${name} failed after ${milliseconds} ms`);
  }
  assert.deepEqual(eventKinds(), ["store_unavailable", "writes_unavailable"]);

  await server.start();
  const started = performance.now();
  await until("the recovery", () => succeeds(store.ping()), RECOVERY_MS);
  for (const [name, call] of Object.entries(readCalls(store))) await assert.doesNotReject(call, name);
  assert.deepEqual(await everything(store), before);
  for (const [name, call] of Object.entries(writeCalls(store, how))) await assert.doesNotReject(call, name);
  const milliseconds = Math.round(performance.now() - started);
  assert.ok(milliseconds < RECOVERY_MS, `everything worked ${milliseconds} ms after the start`);
  assert.deepEqual(eventKinds(), ["store_recovered", "store_unavailable", "writes_recovered", "writes_unavailable"]);
}

test("while the server is stopped every call soon fails with store_unavailable, and everything works after its start", async (t) => {
  const server = await ownPostgres(t);
  for (const how of ["fast", "immediate", "kill"] as const) await t.test(how, (life) => stopAndStart(life, server, how));
});
