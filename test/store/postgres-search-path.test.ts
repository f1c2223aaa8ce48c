// Where the tables are found: nobody who may create schemas and tables in the database can put theirs in front of ours.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test from "node:test";
import { isUnavailable, openedOn, postgresDatabase } from "../support/postgres/database.ts";
import { sharedServer } from "../support/postgres/server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { checked, customer, customersOf, putCustomers } from "./conformance/objects.ts";

const FORGED = "forged-hash";

/** A database with two roles: its owner, whose URL is returned, and one that may create schemas. */
async function shared(t: Parameters<typeof postgresDatabase>[0]) {
  const { pool } = await sharedServer();
  const name = randomBytes(4).toString("hex");
  const [role, other] = [`service ${name}`, `other ${name}`];
  const { url, query, closeFirst } = await postgresDatabase(t);
  await query(`CREATE ROLE "${role}" LOGIN PASSWORD 'secret'; CREATE ROLE "${other}"`);
  t.after(() => pool.query(`DROP ROLE "${role}", "${other}"`));
  const database = new URL(url).pathname.slice(1);
  await query(`ALTER DATABASE ${database} OWNER TO "${role}"; GRANT CREATE ON DATABASE ${database} TO "${other}"`);
  const own = Object.assign(new URL(url), { username: role, password: "secret" });
  return { url: own.href, query, role, other, life: { after: closeFirst } };
}

test("a schema of another role that is named like ours is not used, by new connections or after a restart", async (t) => {
  const { url, query, role, other, life } = await shared(t);
  const { store } = await openedOn(life, url);
  await putCustomers(store, customer("a"));
  await query(`
    SET ROLE "${other}";
    CREATE SCHEMA "${role}";
    RESET ROLE;
    CREATE TABLE "${role}".api_key AS SELECT 'k' AS id, '${FORGED}' AS hash, 'n' AS name, 'manage' AS role, NULL AS customer_id,
      NULL AS device_id, NULL::double precision AS rate, 0::bigint AS created_at, NULL::bigint AS expires_at,
      NULL::bigint AS revoked_at, NULL::text AS replaced_by;
    CREATE TABLE "${role}".tank_monitor AS SELECT fingerprint FROM public.tank_monitor;
    CREATE TABLE "${role}".customer AS SELECT * FROM public.customer;
    GRANT USAGE ON SCHEMA "${role}" TO PUBLIC;
    GRANT SELECT ON ALL TABLES IN SCHEMA "${role}" TO PUBLIC`);
  await query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [role]);
  for (const one of [store, (await openedOn(life, url)).store]) {
    for (let attempt = 0; attempt < 20; attempt++) {
      const found = await one.keyByHash(FORGED).catch((error) => assert.ok(isUnavailable(error)));
      assert.equal(found, undefined);
    }
    assert.equal((await customersOf(one)).totalItems, 1);
    assert.deepEqual((await checked(one)).findings, []);
    await one.backup(`${temporaryFolder(t)}/copy.sql`, () => {});
    const copy = await one.scratchCopy(() => {});
    assert.equal((await customersOf(copy)).totalItems, 1);
    await copy.close();
  }
});

test("a schema of our role is used, and one that the URL names, whatever its name", async (t) => {
  const { url, query, role, life } = await shared(t);
  await query(`CREATE SCHEMA "${role}" AUTHORIZATION "${role}"; CREATE SCHEMA "we ""ird\\" AUTHORIZATION "${role}"`);
  const named = Object.assign(new URL(url), { search: `options=${encodeURIComponent(`-c search_path="we\\ ""ird\\\\"`)}` });
  await putCustomers((await openedOn(life, url)).store, customer("a"));
  await putCustomers((await openedOn(life, named.href)).store, customer("b"));
  const rows = await query(`SELECT id, 1 AS at FROM "${role}".customer UNION SELECT id, 2 FROM "we ""ird\\".customer`);
  assert.deepEqual(rows, [
    { id: "a", at: 1 },
    { id: "b", at: 2 },
  ]);
});

test("tables of ours stay in use in a schema of another role", async (t) => {
  const { url, query, role, other, life } = await shared(t);
  await query(`CREATE SCHEMA "${role}" AUTHORIZATION "${role}"`);
  await putCustomers((await openedOn(life, url)).store, customer("a"));
  await query(`ALTER SCHEMA "${role}" OWNER TO "${other}"; GRANT USAGE ON SCHEMA "${role}" TO "${role}"`);
  assert.equal((await customersOf((await openedOn(life, url)).store)).totalItems, 1);
});
