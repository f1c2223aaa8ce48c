// The PostgreSQL server stops and starts again, or goes silent, while a store is in use.

import assert from "node:assert/strict";
import { once } from "node:events";
import test from "node:test";
import { Client } from "pg";
import type { StopMode } from "../../support/postgres/cluster.ts";
import { isUnavailable, openedOn, succeeds } from "../../support/postgres/database.ts";
import { type OwnPostgres, ownPostgres, query } from "../../support/postgres/server.ts";
import { startScript } from "../../support/script.ts";
import type { Lifetime } from "../../support/service.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { everything } from "../conformance/objects.ts";
import { fillForCalls, maintenanceCalls, readCalls, writeCalls } from "../store-calls.ts";

/** How soon the store must work again, and how soon calls must fail. */
const RECOVERY_MS = 2000;
const FAILURE_MS = 4000;
/** How soon a process must end, with a check of a replica in progress. */
const CLOSE_MS = 8000;

async function stopAndStart(life: Lifetime, server: OwnPostgres, how: StopMode): Promise<void> {
  const { store, eventKinds } = await openedOn(life, server.url);
  if (await store.isEmpty()) await fillForCalls(store);
  const before = await everything(store);

  await server.stop(how);
  // Sessions of a killed server live for a moment longer: that of writes, too.
  await until("the loss", async () => !(await succeeds(store.ping())) && !(await succeeds(store.importDevices([]))));
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

/** Connects until the server accepts no more, and ends the connections of the store meanwhile. */
async function takeAllConnections(life: Lifetime, url: string): Promise<() => Promise<void>> {
  const taken: Client[] = [];
  const release = async (): Promise<void> => void (await Promise.all(taken.splice(0).map((client) => client.end())));
  life.after(release);
  for (let refusals = 0; refusals < 3; ) {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      taken.push(client);
      await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tank-monitor'");
    } catch {
      refusals++;
    }
  }
  return release;
}

test("while others have taken all connections, calls fail and a start says why; everything works when they are free", async (t) => {
  const server = await ownPostgres(t);
  await query(server, "ALTER SYSTEM SET max_connections = 12");
  await server.stop("fast");
  await server.start();
  const { store, eventKinds } = await openedOn(t, server.url);
  await fillForCalls(store);
  const before = await everything(store);
  const release = await takeAllConnections(t, server.url);
  const calls = { ...readCalls(store), ...writeCalls(store, "lost") };
  for (const [name, call] of Object.entries(calls)) await assert.rejects(call, isUnavailable, name);
  assert.deepEqual(eventKinds(), ["store_unavailable", "writes_unavailable"]);
  await assert.rejects(openedOn(t, server.url), /cannot be opened \(sorry, too many clients already\)\. Check DATABASE_URL/);

  await release();
  await until("the recovery", () => succeeds(store.ping()), RECOVERY_MS);
  assert.deepEqual(await everything(store), before);
  for (const [name, call] of Object.entries(writeCalls(store, "later"))) await assert.doesNotReject(call, name);
});

for (const silent of ["server", "replica"] as const) {
  test(`a process that closes its store ends, also when the ${silent} has gone silent`, { timeout: 30_000 }, async (t) => {
    const server = await ownPostgres(t);
    const urls = silent === "server" ? [] : [(await server.replica()).url];
    const proxy = await tcpProxy(t, urls[0] ?? server.url);
    const { child, send } = await startScript(t, "close.ts", ...(silent === "server" ? [proxy.url] : [server.url, proxy.url]));
    proxy.freeze();
    send("close");
    const deadline = setTimeout(() => child.kill("SIGKILL"), CLOSE_MS);
    assert.deepEqual(await once(child, "exit"), [0, null]);
    clearTimeout(deadline);
  });
}
