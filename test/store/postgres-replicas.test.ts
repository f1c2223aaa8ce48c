// Streaming replicas answer questions while they are there and near enough; else the primary does. A replica that is told to
// stop replaying the log shows by its old answers that it was asked.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { createKey, revokeKey } from "../support/commands.ts";
import { type Opened, openedOn } from "../support/postgres/database.ts";
import { type OwnPostgres, ownPostgres } from "../support/postgres/server.ts";
import { putReadings } from "../support/records.ts";
import type { Lifetime } from "../support/service.ts";
import { type TcpProxy, tcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { customer, customersOf, key, putCustomers, putTanks, readingsOf, tank, tanksOf } from "./conformance/objects.ts";

const HOUR_MS = 3_600_000;
const LAG_MS = 1000;
const LOOK_MS = 500;

const primary = await ownPostgres({ after });
const replicas = [await primary.replica(), await primary.replica()];
const proxies = await Promise.all(replicas.map(({ url }) => tcpProxy({ after }, url)));
const { store: writer } = await openedOn({ after }, primary.url);
await putCustomers(writer, customer("a"));
await putTanks(writer, tank("one", "a"));

async function tell(server: OwnPostgres, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const hold = (replica: OwnPostgres) => tell(replica, "SELECT pg_wal_replay_pause()");
const letGo = (replica: OwnPostgres) => tell(replica, "SELECT pg_wal_replay_resume() WHERE pg_is_in_recovery()");

let minute = 0;
/** One reading more, and how many there are then. */
async function oneMore({ store }: Opened): Promise<number> {
  minute += 1;
  await putReadings(store, "one", [[minute * 60_000, 50]]);
  return minute;
}

const total = async ({ store }: Opened) => (await readingsOf(store, "one")).totalItems;

/** The answers to as many questions. */
async function totals(opened: Opened, questions = 20): Promise<Set<number>> {
  return new Set(await Promise.all(Array.from({ length: questions }, () => total(opened))));
}

suite("replicas", () => {
  /** A store whose replicas are in use and have everything; all is as before when the test ends. */
  async function opened(t: Lifetime, replicaLagMs: number): Promise<Opened> {
    const found = await openedOn(t, primary.url, { replicaUrls: proxies.map(({ url }) => url), replicaLagMs });
    t.after(() => Promise.all(replicas.map(letGo)));
    await until("the replicas are in use", () => found.eventKinds().length === replicas.length);
    const [written] = await tell(primary, "SELECT pg_current_wal_lsn() AS at");
    const behind = `SELECT FROM pg_last_wal_replay_lsn() AS replayed WHERE replayed < '${written?.["at"]}'`;
    for (const replica of replicas) await until("it has all", async () => (await tell(replica, behind)).length === 0);
    return found;
  }

  const kinds = ({ events }: Opened) => events.slice(replicas.length).map(({ kind }) => kind);

  test("every question of the interface goes to a replica, keys to the primary: a revoked one is known at once", async (t) => {
    const it = await opened(t, HOUR_MS);
    await Promise.all(replicas.map(hold));
    const now = await oneMore(it);
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

    await createKey(store, key("k"), "hash");
    for (let i = 0; i < 10; i++) assert.equal((await store.keyByHash("hash"))?.revoked_at, null);
    await revokeKey(store, "k", 1);
    for (let i = 0; i < 10; i++) assert.equal((await store.keyByHash("hash"))?.revoked_at, 1);
    assert.equal((await store.keyList()).length, 1);
  });

  test("replicas share the questions", async (t) => {
    const it = await opened(t, HOUR_MS);
    const [first, second] = replicas as [OwnPostgres, OwnPostgres];
    await hold(first);
    const now = await oneMore(it);
    const newest = `SELECT FROM head WHERE tank = 'one' AND total = ${now}`;
    await until("the second has it", async () => (await tell(second, newest)).length === 1);
    const found = await Promise.all(Array.from({ length: 20 }, () => total(it)));
    assert.deepEqual([found.filter((n) => n === now - 1).length, found.filter((n) => n === now).length], [10, 10]);
  });

  test("a replica further behind than the limit is not asked until it has caught up", async (t) => {
    const it = await opened(t, LAG_MS);
    await Promise.all(replicas.map(hold));
    const now = await oneMore(it);
    assert.deepEqual([...(await totals(it))], [now - 1], "a little behind is near enough");
    const fresh = async () => [...(await totals(it))].every((n) => n === now);
    await until("answers are fresh", fresh, LAG_MS + LOOK_MS + 500);
    assert.deepEqual(kinds(it), ["replica_unavailable", "replica_unavailable"]);
    await pause(LOOK_MS * 2);
    assert.ok(await fresh(), "and stay so");
    await Promise.all(replicas.map(letGo));
    await until("they are back", () => kinds(it).filter((kind) => kind === "replica_recovered").length === 2);
  });

  test("while nothing is written nobody is behind, whatever else moves the log", async (t) => {
    const it = await opened(t, LAG_MS);
    for (const move of ["SELECT 1", "SELECT pg_switch_wal()", "CHECKPOINT"]) {
      await tell(primary, move);
      await pause(LAG_MS + LOOK_MS);
    }
    assert.deepEqual(kinds(it), []);
    await Promise.all(replicas.map(hold));
    const now = await oneMore(it);
    assert.deepEqual([...(await totals(it))], [now - 1], "and all are asked");
  });

  test("connections to a replica that are cut off fail no question, and it is asked on", async (t) => {
    const it = await opened(t, HOUR_MS);
    await totals(it);
    for (let i = 0; i < 20; i++) {
      const asked = Promise.all([total(it), total(it), total(it)]);
      (proxies[0] as TcpProxy).disconnect();
      await asked;
    }
    assert.deepEqual(kinds(it), [], "nothing was lost");
  });

  for (const away of ["killed", "stopped", "silent"] as const) {
    test(`a replica that is ${away} fails no question, and is asked again when it is back`, { timeout: 30_000 }, async (t) => {
      const it = await opened(t, HOUR_MS);
      const [replica, proxy] = [replicas[0] as OwnPostgres, proxies[0] as TcpProxy];
      await totals(it);
      let slowest = 0;
      let isOver = false;
      t.after(() => {
        isOver = true;
      });
      const asker = async (): Promise<void> => {
        while (!isOver) {
          const asked = performance.now();
          await total(it);
          slowest = Math.max(slowest, performance.now() - asked);
        }
      };
      const asking = Promise.all([asker(), asker(), asker()]);
      if (away === "silent") proxy.freeze();
      else await replica.stop(away === "killed" ? "kill" : "fast");
      await until("the loss is told", () => kinds(it)[0] === "replica_unavailable");
      proxy.unfreeze();
      if (away === "killed" || away === "stopped") await replica.start();
      await until("it is back", () => kinds(it).at(-1) === "replica_recovered");
      isOver = true;
      await asking;
      t.diagnostic(`the slowest answer took ${Math.round(slowest)} ms`);
      assert.ok(slowest < 3500, `an answer took ${Math.round(slowest)} ms`);
      assert.ok(
        kinds(it).every((kind) => kind.startsWith("replica_")),
        "nothing else was lost",
      );

      await Promise.all(replicas.map(hold));
      const now = await oneMore(it);
      await until("all are asked", async () => [...(await totals(it))].every((n) => n === now - 1));
    });
  }

  test("while one replica is silent, another that falls behind is noticed as soon as ever", async (t) => {
    const it = await opened(t, LAG_MS);
    const [silent, held] = [proxies[0] as TcpProxy, replicas[1] as OwnPostgres];
    silent.freeze();
    t.after(() => silent.unfreeze());
    await until("the silence is told", () => kinds(it).length === 1);
    await hold(held);
    const now = await oneMore(it);
    await until("answers are fresh", async () => (await total(it)) === now, LAG_MS + LOOK_MS);
  });

  test("a replica that was promoted is none any more", async (t) => {
    const it = await opened(t, HOUR_MS);
    const [first, second] = replicas as [OwnPostgres, OwnPostgres];
    await tell(first, "SELECT pg_promote()");
    await tell(first, "DELETE FROM head");
    await until("it is not asked", () => kinds(it).includes("replica_unavailable"));
    await hold(second);
    const now = await oneMore(it);
    assert.deepEqual([...(await totals(it))], [now - 1], "the other one still is");
  });
});
