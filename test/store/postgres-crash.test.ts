// The server is killed while readings and tanks are written: each write is stored completely or not at all, and no acknowledged
// one is lost.

import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "../../src/domain/store.ts";
import { isUnavailable, openedOn, postgresDatabase, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import { ownPostgres } from "../support/postgres/server.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { customer, everything, putCustomers, putTanks, readingsOf, tank, tankCounts } from "./conformance/objects.ts";

const TANKS = ["one", "two", "three"];
/** Of each tank in one write: enough for most writes to create a block. */
const READINGS = 100;
const SPAN = 1000;

/** Write n: readings n·1000 … of each tank. Every third is older than what is there already. */
function write(store: Store, n: number): Promise<unknown> {
  const length = TANKS.length * READINGS;
  const place = n % 3 === 0 ? -n : n;
  return store.ingest({
    sources: TANKS.map((id) => ({ kind: "tank", id, customerId: null })),
    sourceOf: Uint32Array.from({ length }, (_, i) => Math.floor(i / READINGS)),
    createdAt: Float64Array.from({ length }, (_, i) => place * SPAN + (i % READINGS)),
    fill: new Float64Array(length).fill(n % 100),
    payloads: new Map(),
  });
}

/** The tanks that are there, and how many readings of each write. */
async function written(store: Store): Promise<{ ids: Set<string>; counts: Map<number, number> }> {
  const counts = new Map<number, number>();
  const ids = new Set<string>();
  for (const record of await everything(store)) {
    if (record.kind === "tank") ids.add(record.tank.id);
    if (record.kind !== "readings") continue;
    for (const { created_at } of record.readings) {
      const n = Math.abs(Math.floor(created_at / SPAN));
      counts.set(n, (counts.get(n) ?? 0) + 1);
    }
  }
  return { ids, counts };
}

const ROUNDS = ["kill", "immediate", "kill", "fast", "kill"] as const;

test("writes in progress when the server is killed are stored completely or not at all, and no acknowledged one is lost", async (t) => {
  const server = await ownPostgres(t);
  const { store } = await openedOn(t, server.url);
  await putCustomers(store, customer("a"));
  await putTanks(store, ...TANKS.map((id) => tank(id, "a")));
  const acknowledged = { writes: new Set<number>(), tanks: new Set<string>() };
  let failed = 0;
  let isOver = false;
  t.after(() => {
    isOver = true;
  });

  const writer = async (first: number): Promise<void> => {
    for (let n = first; !isOver; n += 2) {
      try {
        await write(store, n);
        acknowledged.writes.add(n);
        if (n % 5 !== 0) continue;
        await putTanks(store, tank(`extra-${n}`, "a"));
        acknowledged.tanks.add(`extra-${n}`);
      } catch (error) {
        assert.ok(isUnavailable(error), String(error));
        failed += 1;
        await pause(10);
      }
    }
  };
  // Two at once, so that some writes share a commit.
  const writers = Promise.all([writer(1), writer(2)]);
  for (const how of ROUNDS) {
    const before = acknowledged.writes.size;
    await until("writes go on", () => acknowledged.writes.size > before + 5);
    const moment = Math.random() * 100;
    t.diagnostic(`${how} after ${moment.toFixed(1)} ms`);
    await pause(moment);
    await server.stop(how);
    await server.start();
  }
  isOver = true;
  await writers;
  t.diagnostic(`${acknowledged.writes.size} writes acknowledged, ${failed} failed`);
  assert.ok(failed >= ROUNDS.length, "each time a write was in progress");

  const { ids, counts } = await written(store);
  for (const [n, count] of counts) assert.equal(count, TANKS.length * READINGS, `write ${n} is stored in part`);
  for (const n of acknowledged.writes) assert.ok(counts.has(n), `write ${n} was acknowledged and is lost`);

  for (const id of acknowledged.tanks) assert.ok(ids.has(id), `${id} was acknowledged and is lost`);
  assert.deepEqual(await tankCounts(store, "a"), [ids.size]);

  // Every total and every page agree with what is there.
  const instants = [...counts.keys()].flatMap((n) =>
    Array.from({ length: READINGS }, (_, i) => (n % 3 === 0 ? -n : n) * SPAN + i),
  );
  instants.sort((a, b) => b - a);
  for (const id of TANKS) {
    for (const page of [1, Math.ceil(instants.length / 200), Math.ceil(instants.length / 100)]) {
      const found = await readingsOf(store, id, { page });
      assert.equal(found.totalItems, instants.length);
      const expected = instants.slice((page - 1) * 100, page * 100);
      assert.deepEqual(
        found.data.map(({ created_at }) => created_at),
        expected,
      );
    }
  }
});

test("a write whose commit does not reach the server fails, and is not stored", async (t) => {
  const { url, closeFirst } = await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true });
  const proxy = await tcpProxy({ after: closeFirst }, url);
  const { store } = await openedOn({ after: closeFirst }, proxy.url);
  await putCustomers(store, customer("a"));
  await putTanks(store, ...TANKS.map((id) => tank(id, "a")));
  const before = await everything(store);
  for (const attempt of [
    () => write(store, 1),
    () => putTanks(store, tank("lost", "a")),
    () => putCustomers(store, customer("b")),
  ]) {
    // With its terminator: not the COMMITTED of the isolation level.
    proxy.disconnectBefore("COMMIT\0");
    await assert.rejects(attempt, isUnavailable);
  }
  assert.deepEqual(await everything(store), before);
  await write(store, 1);
  assert.deepEqual([...(await written(store)).counts], [[1, TANKS.length * READINGS]]);
});
