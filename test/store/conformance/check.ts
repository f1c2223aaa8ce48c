import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Store } from "../../../src/domain/store.ts";
import { createKey } from "../../support/commands.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import { checked, customer, everything, key, NEW_YEAR, putCustomers, putTanks, tank } from "./objects.ts";

const WATCHED_MS = 1500;
const EMAIL = "many@customers.example";
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
/** Each number below `count` once, in no order. `count` is no multiple of 7919. */
const shuffled = (count: number): number[] => times(count, (i) => (i * 7919) % count);

async function findsNothing(store: Store, when: string): Promise<void> {
  assert.deepEqual((await checked(store)).findings, [], when);
}

/** Lists with a rank index, and telemetry with one of two levels. */
async function fill(store: Store): Promise<void> {
  await putCustomers(store, ...times(700, (i) => customer(`c${i}`, { email: EMAIL, created_at: NEW_YEAR + (i % 300) })));
  await putTanks(store, ...shuffled(5000).map((i) => tank(`t${i}`, `c${i % 7 === 0 ? i % 700 : 1}`, { created_at: i % 4000 })));
  await putReadings(
    store,
    "t1",
    times(80_000, (i) => [i * 10, i % 101]),
  );
  await putReadings(
    store,
    "t2",
    shuffled(700).map((i) => [i, 0.1 * (i % 101)]),
  );
}

export function checkConformance(engine: Engine): void {
  test("nothing is wrong with an empty database", async (t) => {
    const { store } = await engine.open(t);
    assert.deepEqual(await checked(store), { findings: [], census: { customers: 0, tanks: 0, readings: 0 } });
  });

  test("nothing is wrong after bulk, late and repeated readings, deletions, returns and moves", async (t) => {
    const { store } = await engine.open(t);
    await fill(store);
    await findsNothing(store, "after a bulk import");
    await putReadings(
      store,
      "t1",
      shuffled(30_000).map((i) => [i * 26 + 3, 50]),
    );
    for (let i = 0; i < 100; i++) await putReadings(store, "t1", [[i % 2 === 0 ? 800_000 + i : 40_001 + i * 3, 1]]);
    await findsNothing(store, "after late readings, many and one by one");
    await store.importTanks(times(3000, (i) => ({ remove: `t${i}` })));
    await store.importCustomers(times(500, (i) => ({ remove: `c${i}` })));
    await findsNothing(store, "after deletions");
    await putTanks(store, ...times(2000, (i) => tank(`t${i}`, `c${i % 3}`, { created_at: i % 500 })));
    await putCustomers(
      store,
      ...times(600, (i) => customer(`c${i}`, { email: i % 2 === 0 ? EMAIL : "other@customers.example" })),
    );
    await createKey(store, key("k", { customer_id: "c1" }), "hash");
    await findsNothing(store, "after returns and moves");
    const { census } = await checked(store);
    assert.deepEqual([census.customers, census.tanks], [700, 5000]);
    const readings = (await everything(store)).flatMap((one) => (one.kind === "readings" ? one.readings : []));
    assert.equal(census.readings, readings.length);
  });

  test("a repair of what is right changes nothing", async (t) => {
    const { store } = await engine.open(t);
    await fill(store);
    const before = await everything(store);
    const steps: [number, number][] = [];
    assert.deepEqual((await checked(store, true, (...step) => steps.push(step))).findings, []);
    assert.deepEqual(await everything(store), before);
    assert.ok(steps.length > 0 && steps.every(([done, total]) => done > 0 && done <= total));
    assert.deepEqual(steps.at(-1), [5700, 5700]);
  });

  for (const repair of [false, true]) {
    test(`nothing is found while another store writes${repair ? ", with repair" : ""}`, async (t) => {
      const { store, reopen } = await engine.open(t);
      await fill(store);
      const other = await reopen();
      let isDone = false;
      let rounds = 0;
      const writing = (async () => {
        for (; !isDone; rounds++) {
          const name = (i: number) => `${rounds} ${i}`;
          await Promise.all([
            putReadings(
              other,
              "t1",
              times(200, (i) => [rounds * 7000 + i * 31, i % 101]),
            ),
            putTanks(other, ...times(20, (i) => tank(name(i), `c${i}`))),
            putCustomers(other, ...times(20, (i) => customer(name(i), { email: EMAIL }))),
            other.importTanks(times(10, (i) => ({ remove: `t${rounds * 10 + i}` }))),
          ]);
        }
      })();
      let looks = 0;
      try {
        for (const end = performance.now() + WATCHED_MS; performance.now() < end || looks < 2; looks++) {
          assert.deepEqual((await checked(store, repair)).findings, []);
          await setImmediate();
        }
      } finally {
        isDone = true;
        await writing;
      }
      assert.ok(rounds > 3, "something was written meanwhile");
      await findsNothing(store, "afterwards");
    });
  }

  test("an object or reading against the rules is told, with what to do, and left as it is", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("good"), customer("odd", { email: "nobody" }));
    await putTanks(store, tank("late", "good", { updated_at: NEW_YEAR - 1 }), tank("small", "odd", { capacity: 0 }));
    await putReadings(store, "small", [
      [1, 100],
      [2, 100.5],
      [3, -1],
    ]);
    const before = await everything(store);
    for (const repair of [false, true]) {
      const { findings } = await checked(store, repair);
      assert.deepEqual(findings.map(({ where }) => where).toSorted(), ["customer odd", "tank late", "tank small", "tank small"]);
      assert.ok(findings.every(({ repaired }) => !repaired));
      const words = findings.map(({ where, what }) => `${where}: ${what}`).join("\n");
      assert.match(words, /customer odd: email: .*import it again/);
      assert.match(words, /tank late: updated_at: must not be before created_at; correct it and import it again/);
      assert.match(words, /tank small: capacity: must be above 0/);
      assert.match(words, /tank small: the fill at 1970-01-01T00:00:00.002Z should be 0 to 100, it is 100.5: send .*1 more/);
    }
    assert.deepEqual(await everything(store), before);
  });
}
