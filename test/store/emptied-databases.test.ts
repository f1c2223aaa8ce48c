// Tests that reuse a database must not see what an earlier one has left: an emptied database is like a new one.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Store } from "../../src/domain/store.ts";
import { createUser, startSession } from "../support/browser.ts";
import { at, createKey, executed } from "../support/commands.ts";
import { putReadings } from "../support/records.ts";
import type { Lifetime } from "../support/service.ts";
import { openAlert, putFleet, putForecast } from "./alert-support.ts";
import { putChannel } from "./compose-support.ts";
import { key, NEW_YEAR } from "./conformance/objects.ts";
import { createPostgres, createSqlite, type ReusedDatabase } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

async function fill(store: Store): Promise<void> {
  await putFleet(store, { a: ["a1", "a2"], b: ["b1"] });
  await putChannel(store, "chn_a", { type: "webhook", url: "https://hooks.example.com/tanks" });
  await executed(store, { type: "test_channel", id: "chn_a", newId: "msg_a" }, at(NEW_YEAR));
  await putReadings(
    store,
    "b1",
    Array.from({ length: 1000 }, (_, i) => [NEW_YEAR + i, 50]),
  );
  await openAlert(store, "a1");
  await putForecast(store, "a1", {});
  await createKey(store, key("k"), "hash");
  await createUser({ store }, "admin");
  await startSession(store, Date.now, "admin@operator.example");
}

/** Some of the tables that `fill` writes. */
const FILLED = [
  "alert",
  "api_key",
  "app_user",
  "block",
  "channel",
  "customer",
  "event",
  "head",
  "notification",
  "session",
  "tank",
];

const ENGINES = [
  {
    name: "sqlite",
    create: createSqlite,
    tables: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    version:
      "SELECT application_id, user_version, schema_version FROM pragma_application_id, pragma_user_version, pragma_schema_version",
  },
  {
    name: "postgres",
    create: createPostgres,
    tables:
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S') ORDER BY relname",
    version: "SELECT fingerprint FROM tank_monitor",
  },
] as const;

type Content = { readonly version: unknown; readonly rows: Readonly<Record<string, readonly unknown[]>> };

async function contentOf(
  life: Lifetime,
  { opened }: ReusedDatabase,
  { tables, version }: (typeof ENGINES)[number],
): Promise<Content> {
  const { url } = await opened(life);
  const rows: Record<string, readonly unknown[]> = {};
  for (const { name } of await runSql(url, tables)) rows[`${name}`] = await runSql(url, `SELECT * FROM ${name}`);
  return { version: await runSql(url, version), rows };
}

for (const engine of ENGINES) {
  describe(`a database that is emptied for the next test, ${engine.name}`, () => {
    it("has the rows and the schema version of a new one", async (t) => {
      const [used, unused] = [await engine.create(t, () => {}), await engine.create(t, () => {})];
      const isNew = await contentOf(t, unused, engine);
      await fill(used.store);
      const { rows } = await contentOf(t, used, engine);
      assert.deepEqual(
        FILLED.filter((name) => rows[name]?.length === 0),
        [],
      );
      assert.equal(await used.empty(), true);
      assert.deepEqual(await contentOf(t, used, engine), isNew);
    });
  });
}
