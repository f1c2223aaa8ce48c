// Readings of a tank whose head is known to be damaged are not acknowledged, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Store } from "../../src/domain/store.ts";
import { incomingBatch, ingest } from "../support/readings.ts";
import { customer, putCustomers, putTanks, readingsOf, tank } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

const DAMAGED = { code: "data_damaged" };

/** How a process may notice the damage. */
const DETECTIONS: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  "a read": (store) => readingsOf(store, "one"),
  "the forecast job": (store) => store.historyColumns("one", { from: 0, to: Number.MAX_SAFE_INTEGER }),
  "a late reading": (store) => store.ingest(incomingBatch([{ tank: "one", at: 500, fill: 50 }])),
};

function damagedHeadTests({ name, open }: Engine): void {
  const key = name === "postgres" ? "'one'" : "(SELECT pk FROM tank WHERE id = 'one')";
  const damage = (url: string, by: number) => runSql(url, `UPDATE head SET checksum = checksum + ${by} WHERE tank = ${key}`);
  let now = 1000;
  const next = () => {
    now += 1000;
    return { at: now, fill: 50 };
  };
  const sendAll = (store: Store) =>
    ingest(store, { tank: "one", ...next() }, { tank: "two", ...next() }).then(() =>
      ingest(store, { device: "d-one", ...next() }),
    );

  for (const [detection, detect] of Object.entries(DETECTIONS)) {
    test(`newer readings are refused once ${detection} has found the damage, and stored once the head is restored`, async (t) => {
      const { store, url } = await open(t);
      await putCustomers(store, customer("a"));
      await putTanks(store, ...["one", "two"].map((id) => tank(id, "a", { assigned_device_id: `d-${id}` })));
      await sendAll(store);
      await damage(url, 1);
      await sendAll(store);

      await assert.rejects(detect(store), DAMAGED);
      for (const from of [{ tank: "one" }, { device: "d-one" }]) {
        await assert.rejects(store.ingest(incomingBatch([{ ...from, ...next() }])), DAMAGED);
        await assert.rejects(
          store.ingest(
            incomingBatch([
              { device: "d-two", ...next() },
              { ...from, ...next() },
            ]),
          ),
          DAMAGED,
        );
      }
      await ingest(store, { tank: "two", ...next() });
      await ingest(store, { device: "d-two", ...next() });

      await damage(url, -1);
      assert.equal((await readingsOf(store, "one")).totalItems, 4);
      await sendAll(store);
      await damage(url, 1);
      // It is appended to again, without reading the head.
      await sendAll(store);
      await damage(url, -1);
      assert.equal((await readingsOf(store, "one")).totalItems, 8);
      assert.equal((await readingsOf(store, "two")).totalItems, 6);
    });
  }

  test("readings that were appended out of order, because the time of the latest one was damaged, are not served", async (t) => {
    const { store, url } = await open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    for (const at of [1000, 2000, 3000]) await ingest(store, { tank: "one", at, fill: 50 }, { tank: "two", at, fill: 50 });
    const table = name === "postgres" ? "head" : "fleet";
    await runSql(url, `UPDATE ${table} SET at = at - 2048`);
    // One is late, the other repeats an instant.
    await ingest(store, { tank: "one", at: 2500, fill: 40 }, { tank: "two", at: 3000, fill: 40 });
    for (const id of ["one", "two"]) await assert.rejects(readingsOf(store, id), DAMAGED);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: damaged heads`, () => damagedHeadTests(engine));
