// The feed of events, on both engines: whoever follows it sees every event once, in order, also while several processes write.

import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { FeedPage } from "../../src/domain/alerts/reads.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { restoreStore } from "../../src/store/open.ts";
import { at, command, executed } from "../support/commands.ts";
import { incomingBatch, ingest } from "../support/readings.ts";
import { type Script, startScript } from "../support/script.ts";
import { measure, openAlert, putFleet } from "./alert-support.ts";
import { checked, scopeOf } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

type Payload = {
  readonly type: string;
  readonly timestamp: string;
  readonly sequence: number;
  readonly data: { readonly alert: Record<string, unknown>; readonly tank: { readonly id: string }; readonly customer: object };
};

const payloadsIn = ({ payloads }: FeedPage): Payload[] => payloads.map((payload) => JSON.parse(payload) as Payload);
const feed = (store: Store, after: number | undefined, size = 100, scope = UNRESTRICTED) =>
  store.eventFeed({ after, size }, scope);

function eventFeed(engine: Engine): void {
  test("has every change of an alert, oldest first, with the alert, its tank and its owner", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    const empty = { payloads: [], nextAfter: 0, hasMore: false, isIncomplete: false };
    assert.deepEqual(await feed(store, undefined), empty);
    assert.deepEqual(await feed(store, 0), empty);
    const { id } = await openAlert(store, "a1");
    await executed(store, command.acknowledgeAlert(id, { note: "Thursday" }), at(Date.now()));
    await executed(store, command.closeAlert(id), at(Date.now()));
    const page = await feed(store, 0);
    const [opened, acknowledged, closed] = payloadsIn(page);
    assert.deepEqual(
      payloadsIn(page).map(({ type, sequence }) => [type, sequence]),
      [
        ["alert.opened", 1],
        ["alert.acknowledged", 2],
        ["alert.closed", 3],
      ],
    );
    assert.deepEqual([page.nextAfter, page.hasMore, page.isIncomplete], [3, false, false]);
    assert.deepEqual([opened?.data.alert["state"], opened?.data.alert["note"]], ["open", null]);
    assert.deepEqual([acknowledged?.data.alert["state"], acknowledged?.data.alert["note"]], ["acknowledged", "Thursday"]);
    assert.deepEqual([closed?.data.alert["close_reason"], closed?.data.alert["owner_id"]], ["manual", "a"]);
    assert.deepEqual(Object.keys(closed?.data ?? {}), ["alert", "tank", "customer"]);
  });

  test("goes on after a sequence number, a page at a time", async (t) => {
    const { store } = await engine.open(t);
    const tanks = ["t1", "t2", "t3", "t4", "t5"];
    await putFleet(store, { a: tanks, b: [] });
    for (const id of tanks) await openAlert(store, id);
    const first = await feed(store, undefined, 2);
    assert.deepEqual([payloadsIn(first).map(({ sequence }) => sequence), first.nextAfter, first.hasMore], [[1, 2], 2, true]);
    const last = await feed(store, 3, 2);
    assert.deepEqual([payloadsIn(last).map(({ sequence }) => sequence), last.nextAfter, last.hasMore], [[4, 5], 5, false]);
    assert.deepEqual(await feed(store, 5), { payloads: [], nextAfter: 5, hasMore: false, isIncomplete: false });
  });

  test("keeps events for 30 days, and says what a follower may have missed", async (t) => {
    const { store, url } = await engine.open(t);
    await putFleet(store, { a: ["a1", "a2", "a3"], b: [] });
    const now = Date.now();
    const day = 86_400_000;
    // As if the clock had been set back before the third one.
    for (const [id, openedAt] of [
      ["a1", now - 31 * day],
      ["a2", now - 29 * day],
      ["a3", now - 31 * day],
    ] as const) {
      await store.ingest({ ...incomingBatch([{ tank: id, fill: 10, at: openedAt }]), receivedAt: openedAt });
    }
    const sequences = async (after?: number) => {
      const page = await feed(store, after);
      return [payloadsIn(page).map(({ sequence }) => sequence), page.nextAfter, page.isIncomplete];
    };
    assert.deepEqual(await sequences(0), [[1, 2, 3], 3, false]);
    await store.removeOldNotifications(now);
    assert.deepEqual(await sequences(), [[2, 3], 3, false]);
    assert.deepEqual(await sequences(0), [[2, 3], 3, true]);
    assert.deepEqual(await sequences(1), [[2, 3], 3, false]);
    await runSql(url, `UPDATE event SET at = at - ${30 * day}`);
    await store.removeOldNotifications(now);
    assert.deepEqual(await sequences(), [[], 3, false]);
    assert.deepEqual(await sequences(2), [[], 3, true]);
    assert.deepEqual(await sequences(3), [[], 3, false]);
  });

  test("events from while the clock was ahead do not keep later ones for longer than 30 days", async (t) => {
    const { store, url } = await engine.open(t);
    const [now, day] = [Date.now(), 86_400_000];
    /** When each event was written, by the clock then. */
    const times = [...Array.from({ length: 600 }, () => 300 * day), -32 * day, -31 * day, 300 * day, -29 * day, 300 * day];
    const rows = times.map((time, i) => `(${i + 1}, ${now + time}, 'a', '{}')`);
    await runSql(url, `INSERT INTO event (sequence, at, owner_id, payload) VALUES ${rows.join(", ")}`);
    async function remaining(): Promise<number[]> {
      while ((await store.removeOldNotifications(now)) > 0);
      return (await runSql(url, "SELECT sequence FROM event ORDER BY sequence")).map(({ sequence }) => Number(sequence));
    }
    assert.deepEqual(await remaining(), [603, 604, 605]);
    await runSql(url, `UPDATE event SET at = at - ${2 * day}`);
    assert.deepEqual(await remaining(), [605]);
  });

  test("says that it is incomplete after a number that this database has not used, as after the restore of a backup", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    await openAlert(store, "a1");
    assert.deepEqual(await feed(store, 7), { payloads: [], nextAfter: 1, hasMore: false, isIncomplete: true });
  });

  test("says after a restore that it is incomplete to whoever has read events from after the backup, and to nobody else", async (t) => {
    const { store, reopen, folder, url } = await engine.open(t);
    const tanks = Array.from({ length: 8 }, (_, i) => `t${i}`);
    await putFleet(store, { a: tanks, b: [] });
    for (const id of tanks.slice(0, 2)) await openAlert(store, id);
    const file = join(folder, "backup");
    await store.backup(file, () => {});
    for (const id of tanks.slice(2, 5)) await openAlert(store, id);
    const before = await feed(store, 0);
    assert.equal(before.nextAfter, 5);
    await store.close();
    const restoreAndOpen = async (): Promise<Store> => {
      await restoreStore(url, file, { force: true, progress: () => {}, onFinding: () => {} });
      return reopen();
    };
    const restored = await restoreAndOpen();
    const { nextAfter } = await feed(restored, 2);
    for (const id of tanks.slice(2)) await openAlert(restored, id);
    const seen = async (from: Store, after: number) => {
      const page = await feed(from, after);
      return [payloadsIn(page).map(({ data }) => data.tank.id), page.isIncomplete];
    };
    for (const after of [3, 4, 5, 6, 1000])
      assert.deepEqual(await seen(restored, after), [tanks.slice(2), true], `after ${after}`);
    for (const after of [2, nextAfter]) assert.deepEqual(await seen(restored, after), [tanks.slice(2), false], `after ${after}`);
    assert.deepEqual(await seen(restored, 0), [tanks, false]);
    assert.deepEqual((await checked(restored)).findings, []);
    const { nextAfter: last } = await feed(restored, nextAfter);
    await restored.close();
    // The same backup once more: numbers since the first restore are not used again either.
    const again = await restoreAndOpen();
    for (const id of tanks.slice(2)) await openAlert(again, id);
    assert.deepEqual(await seen(again, last), [tanks.slice(2), true]);
  });

  test("of a customer has the events of tanks that were that customer's at the time", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: ["b1"] });
    await openAlert(store, "a1", Date.now() - 3000);
    await openAlert(store, "b1", Date.now() - 3000);
    await executed(store, command.changeTank("a1", { owner_id: "b" }), at(Date.now()));
    await measure(store, "a1", 80);
    const seen = async (owner: string, size?: number) => {
      const page = await feed(store, 0, size, scopeOf(owner));
      return [payloadsIn(page).map(({ sequence, data }) => `${sequence} ${data.tank.id}`), page.nextAfter, page.hasMore];
    };
    assert.deepEqual(await seen("a"), [["1 a1"], 3, false]);
    assert.deepEqual(await seen("b"), [["2 b1", "3 a1"], 3, false]);
    assert.deepEqual(await seen("b", 1), [["2 b1"], 2, true]);
    assert.deepEqual(await seen("nobody"), [[], 3, false]);
  });

  test("shows a follower every event once and in order while several processes write", { timeout: 60_000 }, async (t) => {
    const { store, reopen, url } = await engine.open(t);
    const [writers, rounds] = [4, 12];
    const tanksOf = (writer: number) => Array.from({ length: 8 }, (_, i) => `w${writer}-${i}`);
    await putFleet(store, { a: Array.from({ length: writers }, (_, writer) => tanksOf(writer)).flat(), b: [] });
    const start = Date.now() - 60_000;
    const readings = (writer: number, round: number) =>
      tanksOf(writer).map((tank) => ({ tank, fill: round % 2 === 0 ? 10 : 80, at: start + round * 1000 }));

    async function writeHere(writer: number): Promise<void> {
      const own = await reopen();
      for (let round = 0; round < rounds; round++) {
        await Promise.all(readings(writer, round).map((reading) => ingest(own, reading)));
      }
      await own.close();
    }
    const scripts = await Promise.all([2, 3].map(() => startScript(t, "ingests.ts", url)));
    async function writeElsewhere(writer: number, script: Script): Promise<void> {
      for (let round = 0; round < rounds; round++) {
        const sent = readings(writer, round);
        for (const reading of sent) script.send(JSON.stringify([reading]));
        await script.lines(sent.length);
      }
    }

    const expected = writers * 8 * rounds;
    let isDone = false;
    const written = Promise.all([
      ...[writeHere(0), writeHere(1)],
      ...scripts.map((script, i) => writeElsewhere(2 + i, script)),
    ]).then(() => {
      isDone = true;
    });
    const [seen, own]: [number[], number[]] = [[], []];
    let [after, ownAfter] = [0, 0];
    while (!isDone || seen.length < expected) {
      const wasDone = isDone;
      const page = await feed(store, after, 7);
      assert.ok(!page.isIncomplete);
      seen.push(...payloadsIn(page).map(({ sequence }) => sequence));
      after = page.nextAfter;
      const ofOwner = await feed(store, ownAfter, 100, scopeOf("a"));
      own.push(...payloadsIn(ofOwner).map(({ sequence }) => sequence));
      ownAfter = ofOwner.nextAfter;
      if (wasDone && !page.hasMore) break;
      if (page.payloads.length === 0) await sleep(1);
    }
    await written;
    const all = Array.from({ length: expected }, (_, i) => i + 1);
    assert.deepEqual(seen, all);
    assert.deepEqual(own, all);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: the feed of events`, () => eventFeed(engine));
