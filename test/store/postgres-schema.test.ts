// The telemetry tables can be distributed by tank: checked in the catalog.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openStore } from "../../src/store/open.ts";
import { COLUMN_TYPES } from "../../src/store/postgres/schema.ts";
import { openedOn, postgresDatabase } from "../support/postgres/database.ts";

/** They grow with the readings. */
const TELEMETRY_TABLES = ["head", "block", "reading_index"];

// Text sorts by locale where the schema does not say otherwise.
const database = await postgresDatabase({ after }, { locale: "en-US" });
await openedOn({ after: database.closeFirst }, database.url);

const columnsOf = (relation: string, numbers: string): string => `ARRAY(
  SELECT attname::text FROM unnest(${numbers}) WITH ORDINALITY AS part (number, place)
  JOIN pg_attribute ON attrelid = ${relation} AND attnum = part.number ORDER BY place)`;

test("every unique key of the telemetry tables begins with the tank", async () => {
  const keys = await database.query<{ name: string; columns: string[] }>(
    `SELECT indrelid::regclass::text AS name, ${columnsOf("indrelid", "indkey::smallint[]")} AS columns
     FROM pg_index WHERE indisunique AND indrelid::regclass::text = ANY ($1)`,
    [TELEMETRY_TABLES],
  );
  assert.deepEqual(new Set(keys.map(({ name }) => name)), new Set(TELEMETRY_TABLES), "each has one");
  for (const { name, columns } of keys) assert.equal(columns[0], "tank", `${name} (${columns})`);
});

test("/readyz depends on every column", async () => {
  const columns = await database.query<{ name: string }>(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns JOIN information_schema.tables
       USING (table_schema, table_name) WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`,
  );
  const names = columns.map(({ name }) => name).filter((name) => name !== "tank_monitor.fingerprint");
  assert.deepEqual(names.sort(), [...COLUMN_TYPES.keys()].sort());
});

test("there is no sequence, no identity and no generated column", async () => {
  const sequences = "SELECT relname FROM pg_class WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace";
  assert.deepEqual(await database.query(sequences), []);
  const generated = `
    SELECT attrelid::regclass::text, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = current_schema()::regnamespace AND (attidentity <> '' OR attgenerated <> '')`;
  assert.deepEqual(await database.query(generated), []);
});

test("constraints of the telemetry tables refer to the tank only", async () => {
  const foreign = await database.query<{ table: string; to: string; columns: string[]; targets: string[] }>(
    `SELECT conrelid::regclass::text AS table, confrelid::regclass::text AS to,
       ${columnsOf("conrelid", "conkey")} AS columns, ${columnsOf("confrelid", "confkey")} AS targets
     FROM pg_constraint WHERE contype = 'f'
       AND (conrelid::regclass::text = ANY ($1) OR confrelid::regclass::text = ANY ($1))`,
    [TELEMETRY_TABLES],
  );
  // Checked when a tank is created, and never with a reading.
  assert.deepEqual(foreign, [{ table: "head", to: "tank", columns: ["tank"], targets: ["id"] }]);

  const triggers = "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal";
  assert.deepEqual(await database.query(triggers), []);
  const others = await database.query(
    `SELECT conrelid::regclass::text, conname FROM pg_constraint
     WHERE conrelid::regclass::text = ANY ($1) AND contype NOT IN ('p', 'f', 'n')`,
    [TELEMETRY_TABLES],
  );
  assert.deepEqual(others, [], "primary keys, the one reference, and what may not be null");
});

test("indexed text is compared byte by byte", async () => {
  const collations = await database.query<{ index: string; sorting: string }>(
    `SELECT indexrelid::regclass::text AS index, collname::text AS sorting
     FROM pg_index JOIN pg_class ON pg_class.oid = indrelid AND relnamespace = current_schema()::regnamespace
     CROSS JOIN unnest(indcollation::oid[]) AS part (number) JOIN pg_collation ON pg_collation.oid = part.number`,
  );
  assert.ok(collations.length >= 10, `${collations.length} columns`);
  for (const { index, sorting } of collations) assert.equal(sorting, "C", index);
});

test("a database with another schema is refused, with what to do", async (t) => {
  const { url, query } = await postgresDatabase(t);
  await (await openStore(url, () => {})).close();
  await query("UPDATE tank_monitor SET fingerprint = 'other'");
  await assert.rejects(
    openStore(url, () => {}),
    /was created by another version of Tank Monitor\. Export it with that version/,
  );
});

test("a database whose commits may return before they are on disk is refused", async (t) => {
  const { url, query } = await postgresDatabase(t);
  const { pathname } = new URL(url);
  await query(`ALTER DATABASE ${pathname.slice(1)} SET synchronous_commit = off`);
  await assert.rejects(
    openStore(url, () => {}),
    /synchronous_commit is off .* ALTER ROLE … SET synchronous_commit = on\.$/,
  );
  await (await openStore(`${url}?options=-csynchronous_commit%3Dlocal`, () => {})).close();
});
