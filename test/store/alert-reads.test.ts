// Lists of alerts, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Alert, AlertState } from "../../src/domain/alerts/alert.ts";
import { NO_ACCESS, UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { at, command, executed } from "../support/commands.ts";
import { alertsOf, measure, openAlert, putFleet } from "./alert-support.ts";
import { ALL_ALERTS, scopeOf } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";

const TANKS = { a: ["a1", "a2"], b: ["b1"] } as const;
const ids = (alerts: readonly Alert[]): string[] => alerts.map(({ id }) => id);

/** A tank that hovers: one alert closed by a refill, then one more. */
async function openTwice(store: Store, tankId: string): Promise<[Alert, Alert]> {
  const first = await openAlert(store, tankId, Date.now() - 3000);
  await measure(store, tankId, 80, Date.now() - 2000);
  return [first, await openAlert(store, tankId)];
}

function alertReads(engine: Engine): void {
  test("an alert has the latest reading of its tank until it is closed", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, TANKS);
    const now = Date.now();
    const { id } = await openAlert(store, "a1", now - 3000);
    await measure(store, "a1", 9, now - 2000);
    const alert = await store.alertById(id, UNRESTRICTED);
    assert.ok(alert !== undefined);
    const { opened_at, updated_at, ...rest } = alert;
    assert.deepEqual(rest, {
      id,
      kind: "low",
      state: "open",
      tank_id: "a1",
      owner_id: "a",
      acknowledged_at: null,
      acknowledged_by: null,
      closed_at: null,
      close_reason: null,
      threshold: 20,
      fill_percentage: 10,
      latest_fill_percentage: 9,
      latest_reading_at: now - 2000,
      runs_low_at: null,
      leak: null,
      note: null,
    });
    assert.ok(opened_at >= now - 10 && updated_at === opened_at);
    assert.deepEqual((await alertsOf(store)).data, [alert]);
    assert.deepEqual((await alertsOf(store, { kind: "low" })).data, [alert]);
    await measure(store, "a1", 70, now - 1000);
    await measure(store, "a1", 60, now);
    const closed = await store.alertById(id, UNRESTRICTED);
    assert.deepEqual(
      [closed?.state, closed?.close_reason, closed?.latest_fill_percentage, closed?.latest_reading_at],
      ["closed", "recovered", 70, now - 1000],
    );
    assert.deepEqual((await alertsOf(store, { tank_id: "a1" })).data, [closed]);
  });

  test("lists are newest first, with every filter, range and page, and exact totals", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, TANKS);
    const [a1First, a1] = await openTwice(store, "a1");
    const [b1First, b1] = await openTwice(store, "b1");
    const a2 = await openAlert(store, "a2");
    await executed(store, command.acknowledgeAlert(a2.id), at(Date.now()));
    const { data: all } = await alertsOf(store);
    const order = (wanted: readonly Alert[]) => ids(all).filter((id) => ids(wanted).includes(id));
    const newest = all.toSorted((x, y) => y.opened_at - x.opened_at || (x.id < y.id ? 1 : -1));
    assert.deepEqual(ids(all), ids(newest));
    assert.equal(all.length, 5);
    for (const [query, expected] of [
      [{ state: "open" }, [a1, b1]],
      [{ state: "acknowledged" }, [a2]],
      [{ state: "closed" }, [a1First, b1First]],
      [{ kind: "low" }, all],
      [{ kind: "silent" }, []],
      [{ kind: "low", state: "closed" }, [a1First, b1First]],
      [{ tank_id: "a1" }, [a1First, a1]],
      [{ tank_id: "a1", state: "open", kind: "low", owner_id: "a" }, [a1]],
      [{ tank_id: "a1", owner_id: "b" }, []],
      [{ owner_id: "a" }, [a1First, a1, a2]],
      [{ owner_id: "b", state: "closed" }, [b1First]],
      [{ owner_id: "nobody" }, []],
      [{ tank_id: "nothing" }, []],
      [{ from: a1.opened_at, to: a1.opened_at }, all.filter((one) => one.opened_at === a1.opened_at)],
      [{ owner_id: "a", from: a1.opened_at, to: a1.opened_at }, [a1]],
      [{ kind: "low", to: 0 }, []],
    ] as const) {
      const { data, totalItems } = await alertsOf(store, query);
      assert.deepEqual([ids(data), totalItems], [order(expected), expected.length], JSON.stringify(query));
      const paged = await Promise.all([1, 2, 3].map((page) => alertsOf(store, { ...query, page, size: 2 })));
      assert.deepEqual(ids(paged.flatMap((page) => page.data)), order(expected), JSON.stringify(query));
      for (const page of paged) assert.equal(page.totalItems, expected.length);
    }
  });

  test("a caller that is bound to a customer sees the alerts of tanks which that customer has now", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, TANKS);
    const [own, other] = [await openAlert(store, "a1"), await openAlert(store, "b1")];
    const scope = scopeOf("a");
    assert.deepEqual(await store.alertById(own.id, scope), own);
    assert.equal(await store.alertById(other.id, scope), undefined);
    for (const [query, expected] of [
      [{}, [own.id]],
      [{ state: "open" }, [own.id]],
      [{ owner_id: "a" }, [own.id]],
      [{ owner_id: "b" }, []],
      [{ tank_id: "b1" }, []],
      [{ tank_id: "a1", kind: "low" }, [own.id]],
    ] as const) {
      const { data, totalItems } = await alertsOf(store, query, scope);
      assert.deepEqual([ids(data), totalItems], [expected, expected.length], JSON.stringify(query));
    }
    assert.equal((await alertsOf(store, {}, NO_ACCESS)).totalItems, 0);
    await executed(store, command.changeTank("b1", { owner_id: "a" }), at(Date.now()));
    assert.deepEqual((await alertsOf(store, {}, scope)).totalItems, 2);
    assert.equal((await store.alertById(other.id, scope))?.owner_id, "a");
    assert.equal(await store.alertById(other.id, scopeOf("b")), undefined);
  });

  test("unclosed alerts of up to a page of tanks", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, TANKS);
    const [, open] = await openTwice(store, "a1");
    const other = await openAlert(store, "b1", open.opened_at + 1);
    assert.deepEqual(await store.alertsNotClosed([]), []);
    assert.deepEqual(await store.alertsNotClosed(["a2"]), []);
    assert.deepEqual(ids(await store.alertsNotClosed(["a1"])), [open.id]);
    const many = Array.from({ length: 98 }, (_, i) => `x${i}`);
    const oldestFirst = [open, other].toSorted((x, y) => x.opened_at - y.opened_at || (x.id < y.id ? -1 : 1));
    assert.deepEqual(ids(await store.alertsNotClosed(["b1", ...many, "a1"])), ids(oldestFirst));
  });

  test("any page of a long list, of all and by state, is found by its rank", async (t) => {
    const { store } = await engine.open(t);
    const tanks = Array.from({ length: 400 }, (_, i) => `t${i}`);
    await putFleet(store, { a: tanks, b: [] });
    const sent = async (fill: number, when: number) => {
      for (const id of tanks) void measure(store, id, fill, when);
      await measure(store, tanks[0] as string, fill, when);
    };
    await sent(10, Date.now() - 2000);
    await sent(80, Date.now() - 1000);
    await sent(10, Date.now());
    for (const state of [undefined, "closed", "open"] as const satisfies (AlertState | undefined)[]) {
      const total = state === undefined ? 800 : 400;
      const pages = await Promise.all(Array.from({ length: 9 }, (_, i) => alertsOf(store, { state, page: i + 1 })));
      const all = pages.flatMap(({ data }) => data);
      assert.deepEqual([all.length, new Set(ids(all)).size], [total, total], `${state}`);
      assert.ok(all.every((one) => one.state === (state ?? one.state)));
      for (const page of pages) assert.equal(page.totalItems, total);
      assert.deepEqual(ids(all), ids(all.toSorted((x, y) => y.opened_at - x.opened_at || (x.id < y.id ? 1 : -1))));
      const [newest] = all;
      assert.deepEqual((await store.alertPage({ ...ALL_ALERTS, state, size: 1 }, UNRESTRICTED)).data, [newest]);
    }
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: reads of alerts`, () => alertReads(engine));
