// The view `readings` and the function `readings_of`: they have what an export has, for roles that may read nothing else.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it, test } from "node:test";
import fc from "fast-check";
import { FIRST_INSTANT, LAST_INSTANT } from "../../src/domain/instant.ts";
import { at, command, executed } from "../support/commands.ts";
import { openedOn, postgresDatabase } from "../support/postgres/database.ts";
import { putReadings } from "../support/records.ts";
import type { Lifetime } from "../support/service.ts";
import { customer, everything, putCustomers, putTanks, tank } from "./conformance/objects.ts";

type Reading = readonly [instant: number, fill: number];
type Row = { readonly ms: string; readonly fill: number };

const COLUMNS = "extract(epoch FROM created_at) * 1000 AS ms, fill_percentage AS fill";
const byInstant = (a: Reading, b: Reading): number => a[0] - b[0];
/** Exact: an instant that is not a whole number of milliseconds stays one. */
const readingsIn = (rows: readonly Row[]): Reading[] => rows.map(({ ms, fill }): Reading => [Number(ms), fill]).sort(byInstant);

const MINUTE = 60_000;
const DAY = 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const BLOCKS = 40;

const database = await postgresDatabase({ after });
const { store } = await openedOn({ after: database.closeFirst }, database.url);
const ids = ["minutes", "days", "doubles", "old", "extreme", "late", "empty", "deleted", "random"];
const view = async (where = "true") => database.query<Row>(`SELECT ${COLUMNS} FROM readings WHERE ${where}`);
const readingsOf = async (id: string, from: unknown, to: unknown) =>
  readingsIn(await database.query<Row>(`SELECT ${COLUMNS} FROM readings_of($1, $2, $3)`, [id, from, to]));

async function exported(id: string): Promise<Reading[]> {
  const records = (await everything(store)).flatMap((record) =>
    record.kind === "readings" && record.tankId === id ? [record] : [],
  );
  return records.flatMap(({ readings }) => readings.map((one): Reading => [one.created_at, one.fill_percentage])).sort(byInstant);
}

const spaced = (count: number, start: number, gap: number, fill: (i: number) => number): Reading[] =>
  Array.from({ length: count }, (_, i) => [start + i * gap, fill(i)]);
const hundredths = (i: number): number => ((i * 37) % 10_001) / 100;

before(async () => {
  await putCustomers(store, customer("a"));
  await putTanks(store, ...ids.map((id) => tank(id, "a")));
  const minutes = spaced(BLOCKS * 128, START, MINUTE, hundredths);
  for (let i = 0; i < minutes.length; i += 100) await putReadings(store, "minutes", minutes.slice(i, i + 100));
  // A block of these is longer than the milliseconds that four bytes can count.
  await putReadings(store, "days", spaced(1000, START - 1000 * DAY, DAY, hundredths));
  await putReadings(
    store,
    "doubles",
    spaced(1000, START, 7 * MINUTE, (i) => (i / 999) * 100),
  );
  await putReadings(store, "old", spaced(700, -20_000_000_001, 60_000_001, hundredths));
  await putReadings(
    store,
    "late",
    spaced(500, START, MINUTE, hundredths).toSorted((a, b) => a[1] - b[1] || a[0] - b[0]),
  );
  await putReadings(store, "deleted", spaced(300, START, MINUTE, hundredths));
  await executed(store, command.deleteTank("deleted"), at(START));
  const fills = [
    0,
    -0,
    5e-324,
    2.2250738585072014e-308,
    2.225073858507201e-308,
    1e-7,
    0.1 + 0.2,
    100 / 3,
    64,
    99.99999999999999,
    100,
  ];
  const instants = [
    FIRST_INSTANT,
    -62_000_000_000_001,
    -1,
    0,
    1,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 47 - 1,
    2 ** 47,
    LAST_INSTANT - 1,
    LAST_INSTANT,
  ];
  await putReadings(
    store,
    "extreme",
    instants.map((instant, i): Reading => [instant, fills[i] as number]),
  );
});

describe("the view readings", () => {
  for (const id of ids) {
    it(`has what an export has of the tank "${id}"`, async () => {
      const expected = await exported(id);
      assert.equal(expected.length > 0, id !== "empty" && id !== "random");
      assert.deepEqual(readingsIn(await view(`tank_id = '${id}'`)), expected);
      assert.deepEqual(await readingsOf(id, null, null), expected);
    });
  }

  it("has the columns tank_id, created_at and fill_percentage, and the readings of all tanks", async () => {
    const columns = `SELECT column_name::text AS name, data_type::text AS type FROM information_schema.columns
      WHERE table_name = 'readings' ORDER BY ordinal_position`;
    assert.deepEqual(await database.query(columns), [
      { name: "tank_id", type: "text" },
      { name: "created_at", type: "timestamp with time zone" },
      { name: "fill_percentage", type: "double precision" },
    ]);
    const counts = await database.query("SELECT tank_id AS id, count(*)::int AS count FROM readings GROUP BY tank_id ORDER BY 1");
    const expected = await Promise.all(ids.map(async (id) => ({ id, count: (await exported(id)).length })));
    assert.deepEqual(
      counts,
      expected.filter(({ count }) => count > 0).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
  });

  it("has random readings exactly", async () => {
    const instants = fc.oneof(
      fc.integer({ min: START, max: START + 1000 * DAY }),
      fc.integer({ min: -1e12, max: 2e12 }),
      fc.maxSafeInteger().map((n) => Math.max(FIRST_INSTANT, Math.min(LAST_INSTANT, n))),
    );
    const fill = fc.oneof(
      fc.integer({ min: 0, max: 10_000 }).map((n) => n / 100),
      fc.double({ min: 0, max: 100, noNaN: true }),
    );
    const batch = fc.array(fc.tuple(instants, fill), { minLength: 1, maxLength: 400 });
    await fc.assert(
      fc.asyncProperty(batch, async (readings) => {
        await putReadings(store, "random", readings);
        const expected = await exported("random");
        assert.deepEqual(readingsIn(await view("tank_id = 'random'")), expected);
        const [from, to] = [readings[0]?.[0] ?? 0, readings.at(-1)?.[0] ?? 0];
        const inRange = expected.filter(([instant]) => instant >= from && instant < to);
        const bounds = [from, to].map(
          (ms) => `(timestamptz 'epoch' + ${ms} / 1000 * interval '1 second' + ${ms} % 1000 * interval '1 ms')`,
        );
        const rows = await database.query<Row>(`SELECT ${COLUMNS} FROM readings_of('random', ${bounds.join(", ")})`);
        assert.deepEqual(readingsIn(rows), inRange);
      }),
      { numRuns: 30 },
    );
  });
});

describe("the function readings_of", () => {
  it("has the readings of a range: the first bound is inclusive, the second exclusive, and each may be missing", async () => {
    const all = await exported("minutes");
    const time = (i: number): Date => new Date(all[i]?.[0] ?? Number.NaN);
    for (const [from, to] of [
      [0, 1],
      [127, 129],
      [128, 128 * 3],
      [1000, 1001],
      [1000, 1000],
      [2000, 1000],
      [all.length - 10, all.length - 1],
    ] as const) {
      assert.deepEqual(await readingsOf("minutes", time(from), time(to)), all.slice(from, Math.max(from, to)), `${from} ${to}`);
    }
    assert.deepEqual(await readingsOf("minutes", time(3000), null), all.slice(3000));
    assert.deepEqual(await readingsOf("minutes", null, time(300)), all.slice(0, 300));
    assert.deepEqual(await readingsOf("minutes", "-infinity", "infinity"), all);
    assert.deepEqual(await readingsOf("minutes", "infinity", null), []);
    assert.deepEqual(await readingsOf("minutes", "2026-01-01T00:00:00.0001Z", "2026-01-01T00:01:00.0001Z"), all.slice(1, 2));
    assert.deepEqual(await readingsOf("minutes", "1999-01-01", "2000-01-01"), []);
    assert.deepEqual(await readingsOf("nothing", null, null), []);
    assert.deepEqual(await readingsOf("'; DROP TABLE head; --", null, null), []);
  });

  it("reads the blocks of the range only, by their index, with and without statistics", async () => {
    for (const prepare of ["SELECT 1", "ANALYZE"]) {
      await database.query(prepare);
      await database.query("BEGIN");
      const read = `SELECT seq_scan::int AS scans, idx_tup_fetch::int AS rows FROM pg_stat_xact_user_tables WHERE relname = 'block'`;
      const [start] = await database.query<{ scans: number; rows: number }>(read);
      const middle = new Date(START + 20.5 * 128 * MINUTE);
      assert.equal((await readingsOf("minutes", middle, new Date(middle.getTime() + 128 * MINUTE))).length, 128);
      const [end] = await database.query<{ scans: number; rows: number }>(read);
      await database.query("COMMIT");
      assert.equal(end?.scans, start?.scans);
      // Two blocks, and the one whose start is looked up.
      assert.ok((end?.rows ?? 99) - (start?.rows ?? 0) <= 3, `${JSON.stringify([start, end])} of ${BLOCKS} blocks`);
    }
  });
});

/** The name of a role without any right. */
async function newRole(t: Lifetime): Promise<string> {
  const role = `reader_${randomBytes(4).toString("hex")}`;
  await database.query(`CREATE ROLE ${role}`);
  t.after(() => database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
  return role;
}

test("a role with SELECT on the view and EXECUTE on the function reads readings, and nothing else", async (t) => {
  const role = await newRole(t);
  const as = async (sql: string) => {
    await database.query(`SET ROLE ${role}`);
    return database.query<{ count: string }>(sql).finally(() => database.query("RESET ROLE"));
  };
  const denied = (sql: string) => assert.rejects(as(sql), /permission denied/, sql);
  await denied("SELECT count(*) FROM readings");
  await denied("SELECT count(*) FROM readings_of('minutes', NULL, NULL)");
  await database.query(`
    GRANT USAGE ON SCHEMA public TO ${role};
    GRANT SELECT ON readings TO ${role};
    GRANT EXECUTE ON FUNCTION readings_of TO ${role}`);
  const expected = (await exported("minutes")).length;
  for (const from of ["readings WHERE tank_id = 'minutes'", "readings_of('minutes', NULL, NULL)"]) {
    assert.deepEqual(await as(`SELECT count(*) FROM ${from}`), [{ count: `${expected}` }]);
  }
  for (const table of ["head", "block", "tank", "customer", "api_key", "fleet", "tank_monitor"])
    await denied(`SELECT * FROM ${table}`);
  for (const sql of ["INSERT INTO readings VALUES ('a', now(), 1)", "DELETE FROM readings"]) await assert.rejects(as(sql));
});

test("tables, operators and functions in front of ours, or temporary ones, change nothing", async (t) => {
  const role = await newRole(t);
  await database.query(`
    GRANT USAGE ON SCHEMA public TO ${role}; GRANT SELECT ON readings TO ${role}; GRANT EXECUTE ON FUNCTION readings_of TO ${role};
    CREATE SCHEMA AUTHORIZATION ${role};
    SET ROLE ${role};
    SET search_path = ${role}, public, pg_catalog;
    CREATE TEMPORARY TABLE block (tank text, start bigint, data bytea);
    CREATE TABLE ${role}.head (tank text, data bytea);
    CREATE FUNCTION ${role}.get_byte(bytea, integer) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RAISE ''hijacked as %'', current_user; END';
    CREATE FUNCTION ${role}.generate_series(integer, integer) RETURNS SETOF integer LANGUAGE sql AS 'SELECT 7'`);
  try {
    const expected = (await exported("minutes")).length;
    for (const from of ["readings WHERE tank_id = 'minutes'", "readings_of('minutes', NULL, NULL)"]) {
      assert.deepEqual(await database.query(`SELECT count(*)::int FROM ${from}`), [{ count: expected }]);
    }
  } finally {
    await database.query(`RESET ROLE; RESET search_path; DROP TABLE pg_temp.block; DROP SCHEMA ${role} CASCADE`);
  }
});
