// The server in use is replaced by another, or stops responding.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "../../../src/domain/store.ts";
import { isUnavailable, openedOn, postgresDatabase, succeeds, TEMPLATE_LOCALE } from "../../support/postgres/database.ts";
import { ownPostgres, query } from "../../support/postgres/server.ts";
import { putReadings } from "../../support/records.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import { until } from "../../support/until.ts";
import { checked, customer, customersOf, everything, putCustomers, putTanks, readingsOf, tank } from "../conformance/objects.ts";

const RECOVERY_MS = 2000;
/** A promotion, and the search for it. */
const FAILOVER_MS = 10_000;

async function filled(store: Store): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a"));
  await putReadings(store, "one", [[1, 50]]);
}

const POSITION = "SELECT pg_current_wal_lsn() AS at";
const hasReplayed = (at: unknown) => `SELECT FROM pg_last_wal_replay_lsn() AS replayed WHERE replayed >= '${at}'`;

suite("a failover", { concurrency: 2 }, () => {
  // Those that wait for a timeout come first, and the others run meanwhile.
  test("a server that stops responding: calls fail after the statement timeout, and new connections are used", async (t) => {
    const { url, closeFirst } = await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true });
    const proxy = await tcpProxy({ after: closeFirst }, url);
    const { store } = await openedOn({ after: closeFirst }, proxy.url);
    await filled(store);
    // All connections for reads are open.
    await Promise.all(Array.from({ length: 8 }, () => store.ping()));
    proxy.freeze();
    const frozen = performance.now();
    const calls = [readingsOf(store, "one"), putReadings(store, "one", [[2, 40]])].map((call) =>
      assert.rejects(call, isUnavailable).then(() => performance.now() - frozen),
    );
    const areInTime = (await Promise.all(calls)).map((milliseconds) => milliseconds < 13_000);
    assert.deepEqual(areInTime, [true, true], "within the timeout of one statement");
    proxy.unfreeze();
    const unfrozen = performance.now();
    await Promise.all(Array.from({ length: 8 }, () => readingsOf(store, "one")));
    await putReadings(store, "one", [[2, 40]]);
    assert.ok(performance.now() - unfrozen < RECOVERY_MS, "without waiting for the frozen connections");
  });

  test("to a replica: reads work before its promotion, writes after it, and nothing is lost", async (t) => {
    const primary = await ownPostgres(t);
    const replica = await primary.replica();
    const proxy = await tcpProxy(t, primary.url);
    const { store, eventKinds } = await openedOn(t, proxy.url);
    await filled(store);
    const before = await everything(store);
    const [written] = (await query(primary, POSITION)) as [{ at: string }];
    await until("the replica has it all", async () => (await query(replica, hasReplayed(written.at))).length > 0);

    await primary.stop("kill");
    await assert.rejects(readingsOf(store, "one"), isUnavailable);
    await assert.rejects(putReadings(store, "one", [[2, 40]]), isUnavailable);
    proxy.redirect(replica.url);
    await until("reading is back", () => succeeds(store.ping()), RECOVERY_MS);
    assert.deepEqual(await everything(store), before);
    // It is read-only until its promotion.
    await assert.rejects(putReadings(store, "one", [[2, 40]]), isUnavailable);
    await assert.rejects(putCustomers(store, customer("b")), isUnavailable);
    assert.equal((await readingsOf(store, "one")).totalItems, 1);
    assert.deepEqual(eventKinds(), ["store_recovered", "store_unavailable", "writes_unavailable"]);

    await query(replica, "SELECT pg_promote()");
    await until("writing is back", () => succeeds(putReadings(store, "one", [[2, 40]])), RECOVERY_MS);
    assert.deepEqual(await putCustomers(store, customer("b")), ["new"]);
    assert.equal((await readingsOf(store, "one")).totalItems, 2);
    assert.deepEqual(eventKinds(), ["store_recovered", "store_unavailable", "writes_recovered", "writes_unavailable"]);
  });

  test("between the servers of one URL: the one that accepts writes is used, before and after", async (t) => {
    const primary = await ownPostgres(t);
    const replica = await primary.replica();
    const hosts = [replica, primary].map(({ url }) => new URL(url).host);
    const both = primary.url.replace(hosts[1] ?? "", hosts.join(","));
    const { store, eventKinds } = await openedOn(t, `${both}?target_session_attrs=read-write`);
    await filled(store);
    const [written] = (await query(primary, POSITION)) as [{ at: string }];
    await until("the replica has it all", async () => (await query(replica, hasReplayed(written.at))).length > 0);

    await primary.stop("kill");
    await assert.rejects(readingsOf(store, "one"), isUnavailable);
    await assert.rejects(putReadings(store, "one", [[2, 40]]), isUnavailable);
    await query(replica, "SELECT pg_promote()");
    await until("writing is back", () => succeeds(putReadings(store, "one", [[2, 40]])), FAILOVER_MS);
    await until("reading is back", () => succeeds(store.ping()), FAILOVER_MS);
    assert.equal((await readingsOf(store, "one")).totalItems, 2);
    assert.deepEqual((await checked(store)).findings, []);
    assert.deepEqual(eventKinds(), ["store_recovered", "store_unavailable", "writes_recovered", "writes_unavailable"]);
    await (await store.scratchCopy(() => {})).close();

    await replica.stop("kill");
    const [one = "", two = ""] = hosts;
    const reasons = new RegExp(`the database ${one}/postgres cannot be opened \\(.*\\); the database ${two}/postgres cannot be`);
    await assert.rejects(openedOn(t, both), reasons);
    await assert.rejects(openedOn(t, `${both}?target_session_attrs=standby`), /must name the primary/);
  });

  test("to a replica that lacks the last writes: what it has is consistent, and the rest can be sent again", async (t) => {
    const primary = await ownPostgres(t);
    const replica = await primary.replica();
    const hosts = [primary, replica].map(({ url }) => new URL(url).host);
    const { store } = await openedOn(t, primary.url.replace(hosts[0] ?? "", hosts.join(",")));
    await filled(store);
    await putTanks(store, tank("two", "a"));
    const batch = (i: number) => Array.from({ length: 20 }, (_, k) => [i * 1000 + k, 50] as const);
    let acknowledged = 0;
    let isOver = false;
    const writing = (async () => {
      for (let i = 1; !isOver; i++) {
        const stored = [putReadings(store, "one", batch(i)), putReadings(store, "two", batch(i))];
        if (!(await succeeds(Promise.all(stored)))) return;
        acknowledged = i;
      }
    })();
    await until("half of the readings", () => acknowledged >= 20);
    await query(replica, "ALTER SYSTEM SET primary_conninfo = ''");
    await query(replica, "SELECT pg_reload_conf()");
    await until("it receives no more", async () => (await query(replica, "SELECT FROM pg_stat_wal_receiver")).length === 0);
    const received = acknowledged + 1;
    await until("the other half", () => acknowledged >= received + 20);
    await primary.stop("kill");
    isOver = true;
    await writing;
    await query(replica, "SELECT pg_promote()");
    await until("writing is back", () => succeeds(putCustomers(store, customer("b"))), FAILOVER_MS);
    const { totalItems } = await readingsOf(store, "two");
    assert.ok(totalItems < acknowledged * 20, `${totalItems} readings of ${acknowledged * 20} acknowledged ones`);
    assert.deepEqual((await checked(store)).findings, []);
    for (let i = 1; i <= acknowledged; i++) await putReadings(store, "two", batch(i));
    assert.equal((await readingsOf(store, "two")).totalItems, acknowledged * 20);
    assert.deepEqual((await checked(store)).findings, []);

    // The former primary is back and accepts writes. A loss for another reason does not lead to it.
    await primary.start();
    await query(replica, "ALTER TABLE head RENAME TO gone");
    await until("the loss", async () => !(await succeeds(store.ping())));
    await pause(1000);
    await query(replica, "ALTER TABLE gone RENAME TO head");
    await until("reading is back", () => succeeds(store.ping()));
    assert.equal((await customersOf(store)).totalItems, 2);
  });

  test("from a server that became read-only and keeps its connections: writes go to the new one, then reads", async (t) => {
    const primary = await ownPostgres(t);
    const replica = await primary.replica();
    const proxy = await tcpProxy(t, primary.url);
    const { store, eventKinds } = await openedOn(t, proxy.url);
    await filled(store);
    await query(primary, "ALTER SYSTEM SET default_transaction_read_only = on");
    await query(primary, "SELECT pg_reload_conf()");
    await until("writing is lost", async () => !(await succeeds(store.updateLastSeen(new Map([["nobody", 0]])))));
    for (let i = 0; i < 20; i++) assert.equal((await readingsOf(store, "one")).totalItems, 1);
    assert.deepEqual(eventKinds(), ["writes_unavailable"]);

    await query(replica, "SELECT pg_promote()");
    proxy.redirect(replica.url);
    await until("writing is back", () => succeeds(putReadings(store, "one", [[2, 40]])), RECOVERY_MS);
    assert.deepEqual(eventKinds(), ["writes_recovered", "writes_unavailable"]);
    assert.equal((await readingsOf(store, "one")).totalItems, 2, "reads go to the new one too");
    const there = "SELECT total FROM head";
    assert.deepEqual([await query(primary, there), await query(replica, there)], [[{ total: "1" }], [{ total: "2" }]]);
  });

  test("a server that is read-only for a while: reads go on, and writes recover", async (t) => {
    const server = await ownPostgres(t);
    const { store, eventKinds } = await openedOn(t, server.url);
    await filled(store);
    for (const isReadOnly of ["on", "off"]) {
      await query(server, `ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly}`);
      await query(server, "SELECT pg_reload_conf()");
      const does = isReadOnly === "off";
      await until(`writing: ${does}`, async () => (await succeeds(putReadings(store, "one", [[2, 40]]))) === does, RECOVERY_MS);
      await store.ping();
    }
    assert.deepEqual(eventKinds(), ["writes_recovered", "writes_unavailable"]);
  });
});
