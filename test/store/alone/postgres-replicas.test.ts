// Reads go to streaming replicas within the permitted lag, otherwise to the primary. A replica whose replay is paused shows by its
// old data that it was read from.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import { createKey, revokeKey } from "../../support/commands.ts";
import { freePort } from "../../support/free-port.ts";
import { type Opened, openedOn } from "../../support/postgres/database.ts";
import { type OwnPostgres, ownPostgres, query } from "../../support/postgres/server.ts";
import { putReadings } from "../../support/records.ts";
import type { Lifetime } from "../../support/service.ts";
import { type TcpProxy, tcpProxy } from "../../support/tcp-proxy.ts";
import { until } from "../../support/until.ts";
import { customer, customersOf, key, putCustomers, putTanks, readingsOf, tank, tanksOf } from "../conformance/objects.ts";

const HOUR_MS = 3_600_000;
const LAG_MS = 1000;
const CHECK_INTERVAL_MS = 500;

const primary = await ownPostgres({ after });
const replicas = [await primary.replica(), await primary.replica()];
const proxies = await Promise.all(replicas.map(({ url }) => tcpProxy({ after }, url)));
const unreachable = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
const { store: writer } = await openedOn({ after }, primary.url);
await putCustomers(writer, customer("a"));
await putTanks(writer, tank("one", "a"));

const pauseReplay = (replica: OwnPostgres) => query(replica, "SELECT pg_wal_replay_pause()");
const resumeReplay = (replica: OwnPostgres) => query(replica, "SELECT pg_wal_replay_resume() WHERE pg_is_in_recovery()");

let minute = 0;
/** Adds a reading, and returns the new total. */
async function addReading({ store }: Opened): Promise<number> {
  minute += 1;
  await putReadings(store, "one", [[minute * 60_000, 50]]);
  return minute;
}

const total = async ({ store }: Opened) => (await readingsOf(store, "one")).totalItems;

/** The totals that several reads return. */
async function totals(opened: Opened, reads = 20): Promise<Set<number>> {
  return new Set(await Promise.all(Array.from({ length: reads }, () => total(opened))));
}

suite("replicas", () => {
  /** A store whose replicas are in use and have everything, without its events so far; all is as before when the test ends. */
  async function opened(t: Lifetime, replicaLagMs: number): Promise<Opened> {
    const found = await openedOn(t, primary.url, { replicaUrls: proxies.map(({ url }) => url), replicaLagMs });
    t.after(() => Promise.all(replicas.map(resumeReplay)));
    await until("the replicas are in use", () => available(found).size === replicas.length);
    const [written] = await query(primary, "SELECT pg_current_wal_lsn() AS at");
    const behind = `SELECT FROM pg_last_wal_replay_lsn() AS replayed WHERE replayed < '${written?.["at"]}'`;
    for (const replica of replicas)
      await until("it has replayed everything", async () => (await query(replica, behind)).length === 0);
    found.events.length = 0;
    return found;
  }

  const kinds = ({ events }: Opened) => events.map(({ kind }) => kind);
  /** The replicas that are or were in use. */
  const available = ({ events }: Opened) =>
    new Set(events.flatMap((event) => (event.kind === "replica_available" ? [event.replica] : [])));
  const hosts = proxies.map(({ url }) => new URL(url).host);

  test("a normal start reports that the replicas are used, and nothing else", async (t) => {
    const it = await openedOn(t, primary.url, { replicaUrls: proxies.map(({ url }) => url) });
    await until("the replicas are in use", () => available(it).size === replicas.length);
    await pause(2 * CHECK_INTERVAL_MS);
    assert.deepEqual([available(it), kinds(it)], [new Set(hosts), ["replica_available", "replica_available"]]);
  });

  for (const [name, url, reason] of [
    ["that cannot be reached", unreachable, /ECONNREFUSED/],
    ["that is a primary", primary.url, /^it is not a replica$/],
  ] as const) {
    test(`a server ${name} is reported once with the reason, and the primary is used`, async (t) => {
      const it = await openedOn(t, primary.url, { replicaUrls: [url] });
      const event = await until("it is reported", () => it.events[0]);
      assert.ok(event.kind === "replica_unavailable", event.kind);
      assert.equal(event.replica, new URL(url).host);
      assert.match(event.reason, reason);
      await pause(2 * CHECK_INTERVAL_MS);
      assert.deepEqual([it.events.length, ...(await totals(it))], [1, minute]);
    });
  }

  test("reads of /v1 go to replicas, those of keys, of the fleet and of refills to the primary", async (t) => {
    const it = await opened(t, HOUR_MS);
    await Promise.all(replicas.map(pauseReplay));
    const now = await addReading(it);
    const { store } = it;
    await putCustomers(store, customer("b"));
    await putTanks(store, tank("two", "b"));
    assert.deepEqual([...(await totals(it))], [now - 1]);
    assert.equal((await readingsOf(store, "one", { from: 0 })).totalItems, now - 1);
    assert.deepEqual([(await customersOf(store)).totalItems, (await tanksOf(store)).totalItems], [1, 1]);
    assert.deepEqual(
      [await store.customerById("b", UNRESTRICTED), await store.tankById("two", UNRESTRICTED)],
      [undefined, undefined],
    );
    const entry = await store.fleetEntry("two", UNRESTRICTED);
    const refills = await store.refillPage("two", { page: 1, size: 10 }, UNRESTRICTED);
    assert.deepEqual([typeof entry, refills], ["object", { data: [], totalItems: 0 }]);

    await createKey(store, key("k"), "hash");
    for (let i = 0; i < 10; i++) assert.equal((await store.keyByHash("hash"))?.revoked_at, null);
    await revokeKey(store, "k", 1);
    for (let i = 0; i < 10; i++) assert.equal((await store.keyByHash("hash"))?.revoked_at, 1);
    assert.equal((await store.keyList()).length, 1);
  });

  test("reads are shared between the replicas", async (t) => {
    const it = await opened(t, HOUR_MS);
    const [first, second] = replicas as [OwnPostgres, OwnPostgres];
    await pauseReplay(first);
    const now = await addReading(it);
    const newest = `SELECT FROM head WHERE tank = 'one' AND total = ${now}`;
    await until("the second has replayed it", async () => (await query(second, newest)).length === 1);
    const found = await Promise.all(Array.from({ length: 20 }, () => total(it)));
    assert.deepEqual([found.filter((n) => n === now - 1).length, found.filter((n) => n === now).length], [10, 10]);
  });

  test("a replica beyond the permitted lag is not used until it has caught up", async (t) => {
    const it = await opened(t, LAG_MS);
    await Promise.all(replicas.map(pauseReplay));
    const now = await addReading(it);
    assert.deepEqual([...(await totals(it))], [now - 1], "within the permitted lag");
    const fresh = async () => [...(await totals(it))].every((n) => n === now);
    await until("reads are current", fresh, LAG_MS + CHECK_INTERVAL_MS + 500);
    assert.deepEqual(kinds(it), ["replica_unavailable", "replica_unavailable"]);
    await pause(CHECK_INTERVAL_MS * 2);
    assert.ok(await fresh(), "reads stay current");
    await Promise.all(replicas.map(resumeReplay));
    await until("the replicas are used again", () => available(it).size === 2);
  });

  test("a replica that is behind at the start is not used until it has what was written before, and reported after the permitted lag", async (t) => {
    await opened(t, HOUR_MS);
    const [replica, proxy] = [replicas[0] as OwnPostgres, proxies[0] as TcpProxy];
    await pauseReplay(replica);
    minute += 1;
    await putReadings(writer, "one", [[minute * 60_000, 50]]);
    const replicaUrls = [proxy.url];
    const patient = await openedOn(t, primary.url, { replicaUrls, replicaLagMs: HOUR_MS });
    const impatient = await openedOn(t, primary.url, { replicaUrls, replicaLagMs: LAG_MS });
    const event = await until("it is reported", () => impatient.events[0]);
    assert.match(event.kind === "replica_unavailable" ? event.reason : event.kind, /permitted 1000 ms/);
    await pause(2 * CHECK_INTERVAL_MS);
    assert.deepEqual([kinds(patient), impatient.events.length], [[], 1]);
    assert.deepEqual([...(await totals(patient)), ...(await totals(impatient))], [minute, minute]);
    await resumeReplay(replica);
    for (const it of [patient, impatient]) await until("it is used", () => kinds(it).at(-1) === "replica_available");
  });

  test("while nothing is written no replica lags, whatever else advances the log", async (t) => {
    const it = await opened(t, LAG_MS);
    for (const move of ["SELECT 1", "SELECT pg_switch_wal()", "CHECKPOINT"]) await query(primary, move);
    await pause(LAG_MS + 2 * CHECK_INTERVAL_MS);
    assert.deepEqual(kinds(it), []);
    await Promise.all(replicas.map(pauseReplay));
    const now = await addReading(it);
    assert.deepEqual([...(await totals(it))], [now - 1], "all replicas are used");
  });

  test("reads do not fail when connections to a replica are cut, and it is used again", async (t) => {
    const it = await opened(t, HOUR_MS);
    await totals(it);
    const readWhileCut = async (): Promise<void> => {
      const reads = Promise.all([total(it), total(it), total(it)]);
      (proxies[0] as TcpProxy).disconnect();
      await reads;
    };
    await readWhileCut();
    assert.deepEqual(kinds(it), [], "a read that was cut once is run again on the replica");
    // A check of the replica that is cut twice marks it as unavailable, until the next check.
    for (let i = 0; i < 20; i++) await readWhileCut();
    await until("the replica is used", () => kinds(it).at(-1) !== "replica_unavailable");
  });

  for (const failure of ["killed", "stopped", "frozen"] as const) {
    test(`reads do not fail when a replica is ${failure}, and it is used again when it is back`, {
      timeout: 30_000,
    }, async (t) => {
      const it = await opened(t, HOUR_MS);
      const [replica, proxy] = [replicas[0] as OwnPostgres, proxies[0] as TcpProxy];
      await totals(it);
      let slowest = 0;
      let isOver = false;
      t.after(() => {
        isOver = true;
      });
      const reader = async (): Promise<void> => {
        while (!isOver) {
          const started = performance.now();
          await total(it);
          slowest = Math.max(slowest, performance.now() - started);
          await pause(5);
        }
      };
      const reading = Promise.all([reader(), reader(), reader()]);
      if (failure === "frozen") proxy.freeze();
      else await replica.stop(failure === "killed" ? "kill" : "fast");
      await until("the loss", () => kinds(it)[0] === "replica_unavailable");
      proxy.unfreeze();
      if (failure === "killed" || failure === "stopped") await replica.start();
      await until("the recovery", () => kinds(it).at(-1) === "replica_available");
      isOver = true;
      await reading;
      t.diagnostic(`the slowest read took ${Math.round(slowest)} ms`);
      assert.ok(slowest < 3500, `a read took ${Math.round(slowest)} ms`);
      assert.ok(
        kinds(it).every((kind) => kind.startsWith("replica_")),
        "only replicas were lost",
      );

      await Promise.all(replicas.map(pauseReplay));
      const now = await addReading(it);
      await until("all replicas are used", async () => [...(await totals(it))].every((n) => n === now - 1));
    });
  }

  test("the lag of a replica is noticed while another does not respond", async (t) => {
    const it = await opened(t, LAG_MS);
    const [frozen, lagging] = [proxies[0] as TcpProxy, replicas[1] as OwnPostgres];
    frozen.freeze();
    t.after(() => frozen.unfreeze());
    await until("the loss", () => kinds(it).length === 1);
    await pauseReplay(lagging);
    const now = await addReading(it);
    await until("reads are current", async () => (await total(it)) === now, LAG_MS + CHECK_INTERVAL_MS);
  });

  /** Both replicas are damaged on disk, until the test ends: the page with the head of the tank. */
  async function damage(t: Lifetime, change: (page: Buffer, head: Buffer) => void): Promise<void> {
    const [found] = await query(primary, "SELECT pg_relation_filepath('head') AS file, data FROM head WHERE tank = 'one'");
    for (const replica of replicas) {
      const [setting] = await query(replica, "SHOW data_directory");
      const file = join(String(setting?.["data_directory"]), String(found?.["file"]));
      await replica.stop("fast");
      const sound = readFileSync(file);
      const page = Buffer.from(sound);
      change(page, found?.["data"] as Buffer);
      writeFileSync(file, page);
      await replica.start();
      t.after(async () => {
        await replica.stop("immediate");
        writeFileSync(file, sound);
        await replica.start();
      });
    }
  }

  for (const [name, change, ignored] of [
    ["that PostgreSQL finds", (page: Buffer) => page.fill(0x5a), "off"],
    ["that PostgreSQL does not find", (page: Buffer, head: Buffer) => page.writeUInt8(0xff, page.lastIndexOf(head)), "on"],
  ] as const) {
    test(`what is damaged on replicas, ${name}, is read from the primary and reported`, async (t) => {
      const it = await opened(t, HOUR_MS);
      const now = await addReading(it);
      await query(primary, "CHECKPOINT");
      for (const replica of replicas) {
        await query(replica, `ALTER SYSTEM SET ignore_checksum_failure = ${ignored}`);
        const newest = `SELECT FROM head WHERE tank = 'one' AND total = ${now}`;
        await until("it has replayed everything", async () => (await query(replica, newest)).length === 1);
        await until("it has replayed the checkpoint", async () => {
          const [written] = await query(primary, "SELECT checkpoint_lsn AS at FROM pg_control_checkpoint()");
          const after = `SELECT FROM pg_last_wal_replay_lsn() AS replayed WHERE replayed > '${written?.["at"]}'`;
          return (await query(replica, after)).length === 1;
        });
      }
      await damage(t, change);
      const damaged = () => new Set(it.events.flatMap((event) => (event.kind === "replica_damaged" ? [event.replica] : [])));
      await until("the replicas are read", async () => {
        assert.deepEqual([...(await totals(it))], [now]);
        return damaged().size === hosts.length;
      });
      assert.deepEqual([damaged(), kinds(it).includes("data_damaged")], [new Set(hosts), false]);
    });
  }

  test("what is damaged on the primary is reported once, for the primary", async (t) => {
    const it = await openedOn(t, primary.url, { replicaUrls: [unreachable] });
    await until("the replica is unavailable", () => kinds(it)[0] === "replica_unavailable");
    const change = (by: number) => query(primary, `UPDATE head SET total = total + ${by} WHERE tank = 'one'`);
    await change(1);
    t.after(() => change(-1));
    await assert.rejects(total(it), { code: "data_damaged" });
    const found = it.events.slice(1).map((event) => (event.kind === "data_damaged" ? event.object : event.kind));
    assert.deepEqual(found, ["tank one"]);
  });

  test("a replica that was promoted is not used any more", async (t) => {
    const it = await opened(t, HOUR_MS);
    const [first, second] = replicas as [OwnPostgres, OwnPostgres];
    await query(first, "SELECT pg_promote()");
    await query(first, "DELETE FROM head");
    await until("it is not used", () => kinds(it).includes("replica_unavailable"));
    await pauseReplay(second);
    const now = await addReading(it);
    assert.deepEqual([...(await totals(it))], [now - 1], "the other one still is");
  });
});
