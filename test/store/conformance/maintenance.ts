// Opening, closing, exports, copies and checks.

import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Store } from "../../../src/domain/store.ts";
import { seeded } from "../../../src/simulate/random.ts";
import { at, command, createKey, executed } from "../../support/commands.ts";
import { incomingBatch, ingestFills } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import { times } from "../../support/times.ts";
import type { Engine } from "../engines.ts";
import { ModelStore } from "../model.ts";
import { compareAll, SIZES } from "../random/run.ts";
import { firstSteps, randomStep } from "../random/steps.ts";
import { checked, customer, everything, key, NEW_YEAR, putCustomers, putTanks, readingsOf, tank, tanksOf } from "./objects.ts";

const noProgress = (): void => {};

/** Customers, tanks, readings, pending readings and a key, with deleted objects among them. */
async function fill(store: Store): Promise<void> {
  await putCustomers(store, customer("b"), customer("a", { created_at: 1, last_seen_at: 9 }));
  await store.importCustomers([{ customer: customer("gone", { verified_at: 7 }), deleted: true }]);
  await putTanks(store, tank("two", "b"), tank("one", "a"), tank("empty", "a"));
  await store.importTanks([{ tank: tank("lost", "gone"), deleted: true }]);
  await putReadings(
    store,
    "one",
    times(25_000, (i) => [i, i % 101]),
  );
  await putReadings(store, "lost", [[5, 0.5]]);
  await ingestFills(store, "free", [[1, 5]]);
  await createKey(store, key("k", { customer_id: "a" }), "hash");
}

export function maintenanceConformance(engine: Engine): void {
  test("a store is empty until there is a customer or a key", async (t) => {
    const [{ store }, { store: keyed }] = [await engine.open(t), await engine.open(t)];
    assert.equal(await store.isEmpty(), true);
    const none = { data: [], totalItems: 0 };
    assert.deepEqual([await tanksOf(store), await tanksOf(store, { from: 0, to: 1 })], [none, none]);
    assert.deepEqual(await checked(store), { findings: [], census: { customers: 0, tanks: 0, readings: 0 } });
    await store.importCustomers([{ customer: customer("a"), deleted: true }]);
    assert.equal(await store.isEmpty(), false);
    await createKey(keyed, key("k"), "hash");
    assert.equal(await keyed.isEmpty(), false);
  });

  test("a device that was moved while the clock was ahead: new readings are the new tank's, and a repair corrects the move", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, ...["one", "two", "three"].map((id) => tank(id, "a", { assigned_device_id: `d-${id}` })));
    const now = Date.now();
    const [hour, year] = [3_600_000, 365 * 86_400_000];
    for (const [id, ahead] of [
      ["two", year],
      ["three", year + hour],
    ] as const) {
      await executed(store, command.putDevice("d-one", { tank_id: id }, { swap: true }), at(now + ahead));
    }
    const send = (instant: number, fill: number) =>
      store.ingest({ ...incomingBatch([{ device: "d-one", at: instant, fill }]), receivedAt: now });
    await send(now, 1);
    await send(now - hour, 2);
    const fills = async (id: string) => (await readingsOf(store, id)).data.map((one) => one.fill_percentage);
    const all = async () => [await fills("one"), await fills("two"), await fills("three")];
    assert.deepEqual(await all(), [[2], [], [1]], "late readings may be from before the move");

    const { findings } = await checked(store);
    const moved = findings.filter(({ where }) => where === "device d-one").map(({ what }) => what);
    assert.match(moved.join("\n"), /^it was moved at .*, which is in the future: the clock was ahead$/);
    await checked(store, true);
    assert.deepEqual((await checked(store)).findings, []);
    await send(now - 2 * hour, 3);
    await ingestFills(store, "d-one", [[Date.now(), 4]]);
    assert.deepEqual(await all(), [[2, 3], [], [4, 1]]);
  });

  test("closing finishes the writes handed over before", async (t) => {
    const { store, reopen } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"));
    const [batches, size] = [16, 5000];
    const writes = times(batches, (batch) =>
      putReadings(
        store,
        "one",
        times(size, (i) => [batch * size + i, 50]),
      ),
    );
    await store.close();
    for (const outcomes of await Promise.all(writes)) assert.ok(outcomes.every((code) => code === 0));
    assert.equal((await readingsOf(await reopen(), "one")).totalItems, batches * size);
  });

  test("an export is of one snapshot, in the order an import needs, and may be left half-way", async (t) => {
    const { store } = await engine.open(t);
    await fill(store);
    for await (const record of store.exportRecords()) if (record.kind === "readings") break;
    const before = await everything(store);
    const kinds = ["customer", "tank", "device", "readings", "pending"];
    const order = before.map(({ kind }) => kinds.indexOf(kind));
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    let i = 0;
    const during = await everything({
      ...store,
      async *exportRecords() {
        for await (const record of store.exportRecords()) {
          yield record;
          if (++i > 10) continue;
          await putCustomers(store, customer(`late ${i}`), customer("a", { name: `Changed ${i}` }));
          await store.importTanks([{ remove: "one" }, { tank: tank(`late ${i}`, `late ${i}`), deleted: false }]);
          await putReadings(store, "one", [
            [100_000 + i, 1],
            [10, i],
          ]);
        }
      },
    });
    assert.deepEqual(during, before);
    assert.notDeepEqual(await everything(store), before);
  });

  test("a backup while others write is of one snapshot", async (t) => {
    const { store, reopen, restored, folder } = await engine.open(t);
    await fill(store);
    const other = await reopen();
    let isDone = false;
    const writing = (async () => {
      for (let round = 0; !isDone; round++) {
        await putReadings(
          other,
          "two",
          times(10, (i) => [round * 10 + i, 1]),
        );
        await putTanks(other, tank(`more ${round}`, "b"));
      }
    })();
    const steps: [number, number][] = [];
    await store.backup(join(folder, "backup"), (done, total) => steps.push([done, total]));
    isDone = true;
    await writing;
    assert.ok(steps.every(([done, total]) => done >= 0 && done <= total));
    const copy = await restored(join(folder, "backup"));
    assert.deepEqual((await checked(copy)).findings, []);
    assert.equal((await readingsOf(copy, "two")).totalItems % 10, 0);
    assert.equal((await readingsOf(copy, "one")).totalItems, 25_000);
  });

  test("a backup and a scratch copy have everything, and can be changed without the original", async (t) => {
    const { store, restored, folder } = await engine.open(t);
    const [random, model] = [seeded("copies"), new ModelStore()];
    const context = (number: number) => ({ random, model, size: SIZES.few, number, now: NEW_YEAR + number * 60_000, etags: [] });
    for (const step of [...firstSteps(context(0)), ...times(60, (i) => randomStep(context(i)))]) {
      assert.deepEqual(await step.run(store), await step.run(model), step.description);
    }
    await store.backup(join(folder, "backup"), noProgress);
    const copies = [await restored(join(folder, "backup")), await store.scratchCopy(noProgress)];
    t.after(() => copies[1]?.close());
    for (const copy of copies) {
      await compareAll(copy, model);
      await putCustomers(copy, customer("only in the copy"));
      await putReadings(copy, "t1", [[NEW_YEAR + 1e9, 1]]);
    }
    await compareAll(store, model);
    // What is saved beside objects and readings is in the copies as well: idempotency keys, assignments, pending readings.
    for (let i = 100; i < 140; i++) {
      const step = randomStep({ ...context(i), kinds: ["command", "deviceReadings"] });
      const expected = await step.run(model);
      for (const one of [store, ...copies]) assert.deepEqual(await step.run(one), expected, step.description);
    }
    assert.equal(await store.customerById("only in the copy", UNRESTRICTED), undefined);
  });

  test("a repair of a consistent database changes nothing", async (t) => {
    const { store } = await engine.open(t);
    await fill(store);
    await putTanks(store, ...times(600, (i) => tank(`t${i}`, "a", { created_at: i })));
    const before = await everything(store);
    const steps: [number, number][] = [];
    const { findings, census } = await checked(store, true, (...step) => steps.push(step));
    assert.deepEqual([findings, census], [[], { customers: 3, tanks: 604, readings: 25_001 }]);
    assert.deepEqual(await everything(store), before);
    assert.ok(steps.every(([done, total]) => done > 0 && done <= total));
    assert.deepEqual(steps.at(-1), [607, 607]);
  });

  test("objects and readings against the rules are reported with what to do, and left as they are", async (t) => {
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
      assert.equal(findings.length, 5);
      assert.ok(findings.every(({ repaired }) => !repaired));
      const text = findings.map(({ where, what }) => `${where}: ${what}`).join("\n");
      assert.match(text, /customer odd: email: .*import it again/);
      assert.match(text, /tank late: updated_at: must not be before created_at; correct it and import it again/);
      assert.match(text, /tank small: capacity: must be above 0/);
      assert.match(text, /tank small: the fill at 1970-01-01T00:00:00.002Z should be 0 to 100, it is 100.5: send .*1 more/);
      assert.match(text, /alert alr_\w+: fill_percentage: must be from 0 to 100/);
    }
    assert.deepEqual(await everything(store), before);
  });
}
