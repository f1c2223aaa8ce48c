// Long reads on PostgreSQL: they do not delay other reads, and one that takes too long fails alone. They wait for a lock here, as they would for their result.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RequestError } from "../../src/domain/errors.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { openedOn, postgresDatabase, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import { customerRecord } from "../support/records.ts";
import { sqlOn } from "../support/sql.ts";
import { until } from "../support/until.ts";
import { WHOLE_LOG } from "./conformance/objects.ts";

const WAITING = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

test("other reads return while long reads are in progress", async (t) => {
  const database = await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true });
  const { store } = await openedOn({ after: database.closeFirst }, database.url);
  await store.importCustomers([customerRecord("c")]);
  const sql = await sqlOn({ after: database.closeFirst }, database.url);
  await sql("BEGIN");
  await sql("LOCK TABLE audit IN ACCESS EXCLUSIVE MODE");
  const long = Promise.all([store.auditPage(WHOLE_LOG), store.auditPage(WHOLE_LOG)]);
  await until("both wait", async () => (await database.query(WAITING)).length === 2);
  const others = Promise.all(Array.from({ length: 8 }, () => store.customerById("c", UNRESTRICTED)));
  const found = await Promise.race([others, sleep(3000, "delayed")]);
  await sql("COMMIT");
  assert.equal((await long).length, 2);
  assert.notEqual(found, "delayed");
});

test("a read that takes too long gets 503 and the reason, and the database does not count as unavailable", async (t) => {
  const database = await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true });
  const { store, events } = await openedOn({ after: database.closeFirst }, database.url);
  await store.ping();
  const sql = await sqlOn({ after: database.closeFirst }, database.url);
  await sql("BEGIN");
  await sql("LOCK TABLE audit, customer IN ACCESS EXCLUSIVE MODE");
  const isTooLong = (error: unknown): boolean =>
    error instanceof RequestError && error.code === "overloaded" && /takes too long/.test(error.message);
  const reads = [store.customerById("c", UNRESTRICTED), store.auditPage(WHOLE_LOG)];
  const rejected = Promise.all(reads.map((read) => assert.rejects(read, isTooLong)));
  await until("both wait", async () => (await database.query(WAITING)).length === 2);
  // The same error as at the end of the time limit for statements.
  await database.query(`SELECT pg_cancel_backend(pid) FROM (${WAITING}) AS waiting`);
  await rejected;
  await sql("COMMIT");
  assert.equal((await store.auditPage(WHOLE_LOG)).totalItems, 0);
  assert.deepEqual(events, []);
});
