// What a database of the first version is made of, and what must have become of it.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { Store } from "../../src/domain/store.ts";
import { seeded } from "../../src/simulate/random.ts";
import type { Lifetime } from "../support/service.ts";
import { type DatabaseFolder, databaseFolder } from "../support/stores.ts";
import { NaiveStore } from "./conformance/model.ts";
import { checked, NEW_YEAR } from "./conformance/objects.ts";
import { FirstVersion, fillFleet, MANY, OWNER, TELLING } from "./first-version.ts";
import { compareAnyPage, compareEveryPage, compareExport, customersOf, tanksOf, telemetryOf } from "./histories/compare.ts";
import { note, send, type Write } from "./histories/write.ts";

const SERIES = [...[undefined, MANY].map(customersOf), ...[undefined, OWNER, "c1"].map(tanksOf), ...TELLING.map(telemetryOf)];
export const seed = Date.now() % 1_000_000;

export function firstVersion(life: Lifetime, readings: number) {
  const folder = databaseFolder(life);
  const model = new NaiveStore();
  fillFleet(model, readings);
  const old = new FirstVersion(folder.file, model);
  const all = TELLING.reduce((sum, id) => sum + model.readings(id).length, 0);
  return { folder, model, old, all };
}

/** Everything is as the model says, and goes on from there. */
export async function expectWhole(store: Store, model: NaiveStore): Promise<void> {
  await compareExport(store, model);
  assert.deepEqual((await checked(store)).findings, []);
  const random = seeded(seed);
  const compareSome = async (): Promise<void> => {
    for (const series of SERIES) for (let i = 0; i < 10; i++) await compareAnyPage(random, series, store, model);
  };
  for (const series of SERIES) await compareEveryPage(series, store, model);
  await compareSome();
  const writes: Write[] = [
    {
      kind: "customers",
      records: model
        .customers()
        .slice(0, 900)
        .map((customer) => ({ customer, deleted: true })),
    },
    {
      kind: "tanks",
      records: model
        .tanks(OWNER)
        .slice(0, 90)
        .map((one) => ({ tank: { ...one, owner_id: "c1" }, deleted: false })),
    },
    { kind: "readings", readings: TELLING.flatMap((id) => [2, 1, 0, -1].map((i) => [id, NEW_YEAR + i * 450_000, 7] as const)) },
  ];
  for (const write of writes) assert.deepEqual(await send(store, write), note(model, write));
  await compareSome();
}

export function expectNewest({ file }: DatabaseFolder, isLarge = true): void {
  const db = new DatabaseSync(file, { readOnly: true });
  assert.equal(db.prepare("PRAGMA user_version").get()?.["user_version"], 5);
  assert.equal(db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'reading'").get(), undefined);
  assert.equal(db.prepare("SELECT 1 FROM pragma_table_info('tank') WHERE name = 'reading_count'").get(), undefined);
  const levels = db.prepare("SELECT count(DISTINCT level) AS levels FROM list_milestone WHERE series = 'customer'").get();
  assert.equal(levels?.["levels"], isLarge ? 1 : 0);
  db.close();
}
