// The server in use gives way to another, or stops answering without a word.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Client } from "pg";
import type { Store } from "../../src/domain/store.ts";
import { isUnavailable, openedOn, succeeds } from "../support/postgres/database.ts";
import { ownPostgres } from "../support/postgres/server.ts";
import { putReadings } from "../support/records.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { customer, everything, putCustomers, putTanks, readingsOf, tank } from "./conformance/objects.ts";

const BACK_MS = 2000;

async function filled(store: Store): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a"));
  await putReadings(store, "one", [[1, 50]]);
}

async function tell({ url }: { readonly url: string }, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const POSITION = "SELECT pg_current_wal_lsn() AS at";
const hasReplayed = (at: unknown) => `SELECT FROM pg_last_wal_replay_lsn() AS replayed WHERE replayed >= '${at}'`;

suite("a failover", { concurrency: 2 }, () => {
  test("to a replica that is promoted: reading comes first, writing with the promotion, and nothing is lost", async (t) => {
    const primary = await ownPostgres(t);
    const replica = await primary.replica();
    const proxy = await tcpProxy(t, primary.url);
    const { store, eventKinds } = await openedOn(t, proxy.url);
    await filled(store);
    const before = await everything(store);
    const [written] = (await tell(primary, POSITION)) as [{ at: string }];
    await until("the replica has it all", async () => (await tell(replica, hasReplayed(written.at))).length > 0);

    await primary.stop("kill");
    await assert.rejects(readingsOf(store, "one"), isUnavailable);
    await assert.rejects(putReadings(store, "one", [[2, 40]]), isUnavailable);
    proxy.redirect(replica.url);
    await until("reading is back", () => succeeds(store.ping()), BACK_MS);
    assert.deepEqual(await everything(store), before);
    // It only reads as yet.
    await assert.rejects(putReadings(store, "one", [[2, 40]]), isUnavailable);
    await assert.rejects(putCustomers(store, customer("b")), isUnavailable);
    assert.equal((await readingsOf(store, "one")).totalItems, 1);
    assert.deepEqual(eventKinds(), ["store_recovered", "store_unavailable", "writes_unavailable"]);

    await tell(replica, "SELECT pg_promote()");
    await until("writing is back", () => succeeds(putReadings(store, "one", [[2, 40]])), BACK_MS);
    assert.deepEqual(await putCustomers(store, customer("b")), ["new"]);
    assert.equal((await readingsOf(store, "one")).totalItems, 2);
    assert.deepEqual(eventKinds(), ["store_recovered", "store_unavailable", "writes_recovered", "writes_unavailable"]);
  });

  test("from a server that only reads now, and whose connections stay: writing goes to the new one, then reading", async (t) => {
    const primary = await ownPostgres(t);
    const replica = await primary.replica();
    const proxy = await tcpProxy(t, primary.url);
    const { store, eventKinds } = await openedOn(t, proxy.url);
    await filled(store);
    await tell(primary, "ALTER SYSTEM SET default_transaction_read_only = on");
    await tell(primary, "SELECT pg_reload_conf()");
    await until("writing is lost", async () => !(await succeeds(store.updateLastSeen(new Map([["nobody", 0]])))));
    for (let i = 0; i < 20; i++) assert.equal((await readingsOf(store, "one")).totalItems, 1);
    assert.deepEqual(eventKinds(), ["writes_unavailable"]);

    await tell(replica, "SELECT pg_promote()");
    proxy.redirect(replica.url);
    await until("writing is back", () => succeeds(putReadings(store, "one", [[2, 40]])), BACK_MS);
    assert.deepEqual(eventKinds(), ["writes_recovered", "writes_unavailable"]);
    assert.equal((await readingsOf(store, "one")).totalItems, 2, "what was written is read");
    const there = "SELECT total FROM head";
    assert.deepEqual([await tell(primary, there), await tell(replica, there)], [[{ total: "1" }], [{ total: "2" }]]);
  });

  test("a server that turned read-only and back: reading goes on, and writing comes back", async (t) => {
    const server = await ownPostgres(t);
    const { store, eventKinds } = await openedOn(t, server.url);
    await filled(store);
    for (const isReadOnly of ["on", "off"]) {
      await tell(server, `ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly}`);
      await tell(server, "SELECT pg_reload_conf()");
      const does = isReadOnly === "off";
      await until(`writing: ${does}`, async () => (await succeeds(putReadings(store, "one", [[2, 40]]))) === does, BACK_MS);
      await store.ping();
    }
    assert.deepEqual(eventKinds(), ["writes_recovered", "writes_unavailable"]);
  });

  test("a server that falls silent: what was asked is refused in the end, and new connections serve", async (t) => {
    const server = await ownPostgres(t);
    const proxy = await tcpProxy(t, server.url);
    const { store } = await openedOn(t, proxy.url);
    await filled(store);
    // Every connection for questions is there.
    await Promise.all(Array.from({ length: 8 }, () => store.ping()));
    proxy.freeze();
    const silent = performance.now();
    const refused = [readingsOf(store, "one"), putReadings(store, "one", [[2, 40]])].map((asked) =>
      assert.rejects(asked, isUnavailable).then(() => performance.now() - silent),
    );
    const patience = (await Promise.all(refused)).map((milliseconds) => milliseconds < 13_000);
    assert.deepEqual(patience, [true, true], "reading and writing are refused after the patience of one statement");
    proxy.unfreeze();
    const back = performance.now();
    await Promise.all(Array.from({ length: 8 }, () => readingsOf(store, "one")));
    await putReadings(store, "one", [[2, 40]]);
    assert.ok(performance.now() - back < BACK_MS, "and nobody waits for the connections that were silent");
  });
});
