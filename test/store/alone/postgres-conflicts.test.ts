// Conflicts between transactions: serialization failures, deadlocks, locks, slow statements, too many reads at once.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Client } from "pg";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import { at, command, executed, tankFields } from "../../support/commands.ts";
import {
  type Database,
  isUnavailable,
  type Opened,
  openedOn,
  postgresDatabase,
  TEMPLATE_LOCALE,
} from "../../support/postgres/database.ts";
import { ingest } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import type { Lifetime } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import {
  checked,
  customer,
  customersOf,
  everything,
  fillsOf,
  pendingCounts,
  putCustomers,
  putTanks,
  readingsOf,
  tank,
  WHOLE_LOG,
} from "../conformance/objects.ts";

/** A store with two tanks, on a database of its own. */
async function opened(life: Lifetime, settings: Parameters<typeof openedOn>[2] = {}): Promise<Opened & { database: Database }> {
  const database = await postgresDatabase(life, { locale: TEMPLATE_LOCALE, withSchema: true });
  const found = await openedOn({ after: database.closeFirst }, database.url, settings);
  await putCustomers(found.store, customer("a"));
  await putTanks(found.store, tank("one", "a"), tank("two", "a"));
  return { ...found, database };
}

/** Another connection, for a transaction that stays open. */
async function other({ url, closeFirst }: Database): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  closeFirst(() => client.end());
  return client;
}

/** A function that fails the first `times` times it is called: a sequence is not rolled back with its transaction. */
const failFirst = (sqlstate: string, times: number): string => `
  CREATE SEQUENCE calls;
  CREATE FUNCTION fail_first() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ BEGIN
    IF nextval('calls') <= ${times} THEN RAISE EXCEPTION 'failed' USING ERRCODE = '${sqlstate}'; END IF;
    RETURN true;
  END $$;
  CREATE FUNCTION before_writing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM fail_first(); RETURN NULL; END $$;`;
const ON_HEAD_UPDATE = "CREATE TRIGGER collide BEFORE UPDATE ON head EXECUTE FUNCTION before_writing()";

const lockWaits = (database: Database) =>
  database.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'tank-monitor' AND datname = current_database() AND wait_event_type = 'Lock'",
  );

suite("conflicts on PostgreSQL", { concurrency: 4 }, () => {
  // Those that wait for a timeout come first, and the others run meanwhile.
  test("while another transaction holds a lock for too long a write is unavailable, and reads are not", async (t) => {
    const { store, eventKinds, events, database } = await opened(t);
    const holder = await other(database);
    await holder.query("BEGIN; UPDATE head SET total = total WHERE tank = 'one'");
    const started = performance.now();
    const writing = assert.rejects(putReadings(store, "one", [[1, 50]]), isUnavailable);
    await until("the write waits", async () => (await lockWaits(database)).length === 1);
    assert.equal((await readingsOf(store, "one")).totalItems, 0);
    await writing;
    assert.ok(performance.now() - started < 11_000, "after the lock timeout");
    assert.match(JSON.stringify(events), /lock timeout/);
    assert.equal((await lockWaits(database)).length, 0);
    await holder.query("ROLLBACK");
    await putReadings(store, "one", [[1, 50]]);
    assert.deepEqual(eventKinds(), ["writes_recovered", "writes_unavailable"]);
  });

  test("a read that takes too long is cancelled, also on the server; the database counts as available", async (t) => {
    const { store, database, eventKinds } = await opened(t);
    await database.query("ALTER TABLE customer RENAME TO customers");
    await database.query("CREATE VIEW customer AS SELECT customers.* FROM pg_sleep(60), customers");
    const started = performance.now();
    await assert.rejects(store.customerById("a", UNRESTRICTED), { code: "overloaded" });
    assert.ok(performance.now() - started < 13_000, "after the statement timeout");
    assert.deepEqual(eventKinds(), []);
    const asleep = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    assert.deepEqual(await database.query(asleep), []);
  });

  test("the check of a provisioning does not wait for a change of its customers", async (t) => {
    const { store, database } = await opened(t);
    const holder = await other(database);
    await holder.query("BEGIN; UPDATE customer SET name = 'B' WHERE id = 'a'");
    const fields = { name: "A", email: "office@a.example" };
    await store.checkProvision({ customers: [{ newId: "a", fields }], tanks: [] }, { by: "test", at: 0 });
    await holder.query("ROLLBACK");
  });

  test("a batch does not wait for a locked head while it holds others: it is rolled back and run again in order", async (t) => {
    const { store, eventKinds, database } = await opened(t);
    await putReadings(store, "one", [[5, 50]]);
    await putReadings(store, "two", [[5, 50]]);
    const blocker = await other(database);
    await blocker.query("BEGIN");
    await blocker.query("SELECT FROM head WHERE tank = 'one' FOR UPDATE");
    const delivered = ingest(store, { tank: "one", at: 4, fill: 1 }, { tank: "two", at: 6, fill: 2 });
    await until("the batch waits for the head", async () => (await lockWaits(database)).length === 1);
    // It would fail if the batch held this head.
    await blocker.query("SELECT FROM head WHERE tank = 'two' FOR UPDATE NOWAIT").catch((error) => {
      assert.fail(`the other head is locked: ${error}`);
    });
    await blocker.query("COMMIT");
    assert.deepEqual(await delivered, ["stored", "stored"]);
    assert.deepEqual((await fillsOf(store, "one")).length + (await fillsOf(store, "two")).length, 4);
    assert.deepEqual([eventKinds(), (await checked(store)).findings], [[], []]);
  });

  test("a batch that fails after some of it was appended leaves nothing, and is stored when it is sent again", async (t) => {
    const { store, eventKinds, database } = await opened(t);
    for (let at = 5; at <= 10; at++) await ingest(store, { tank: "one", at, fill: 50 }, { tank: "two", at, fill: 50 });
    const versions = () => database.query("SELECT tank, data, xmin FROM head ORDER BY tank");
    const before = await versions();
    // The first reading can be appended, the second has to be merged.
    const mixed = [{ tank: "one", at: 11, fill: 51 } as const, { tank: "two", at: 4, fill: 52 } as const];
    await database.query(failFirst("22023", 1));
    await database.query("CREATE TRIGGER collide AFTER UPDATE ON head EXECUTE FUNCTION before_writing()");
    await assert.rejects(ingest(store, ...mixed), /failed/);
    assert.deepEqual(await versions(), before);
    assert.deepEqual(await ingest(store, ...mixed), ["stored", "stored"]);
    assert.deepEqual([(await fillsOf(store, "one")).length, (await fillsOf(store, "two")).length], [7, 7]);
    assert.deepEqual([eventKinds(), (await checked(store)).findings], [[], []]);
  });

  for (const sqlstate of ["40001", "40P01"]) {
    test(`a write that fails with ${sqlstate} is retried, and stored once`, async (t) => {
      const { store, eventKinds, database } = await opened(t);
      await database.query(failFirst(sqlstate, 4));
      await database.query(ON_HEAD_UPDATE);
      assert.deepEqual([...(await putReadings(store, "one", [[1, 50]]))], [0]);
      assert.equal((await readingsOf(store, "one")).totalItems, 1);
      // After the failures: the readings, and when the tank will be silent.
      assert.deepEqual(await database.query("SELECT last_value FROM calls"), [{ last_value: "7" }]);
      assert.deepEqual(eventKinds(), []);
    });

    test(`an append that fails with ${sqlstate} is retried, and stored once`, async (t) => {
      const { store, eventKinds, database } = await opened(t);
      for (let at = 1; at <= 6; at++) await putReadings(store, "one", [[at, 50]]);
      await database.query(failFirst(sqlstate, 1));
      await database.query(ON_HEAD_UPDATE);
      assert.deepEqual([...(await putReadings(store, "one", [[7, 50]]))], [0]);
      assert.deepEqual(await database.query("SELECT last_value FROM calls"), [{ last_value: "2" }]);
      assert.deepEqual([(await fillsOf(store, "one")).length, eventKinds()], [7, []]);
    });

    test(`a write that fails with ${sqlstate} again and again is unavailable in the end, and leaves nothing`, async (t) => {
      const { store, eventKinds, database } = await opened(t);
      const before = await everything(store);
      await database.query(failFirst(sqlstate, 1000));
      await database.query(ON_HEAD_UPDATE);
      await assert.rejects(putReadings(store, "one", [[1, 50]]), isUnavailable);
      assert.deepEqual(await database.query("SELECT last_value FROM calls"), [{ last_value: "5" }]);
      await database.query("DROP TRIGGER collide ON head");
      assert.deepEqual(await everything(store), before);
      await putReadings(store, "one", [[1, 50]]);
      assert.deepEqual(eventKinds(), ["writes_recovered", "writes_unavailable"]);
    });

    test(`a command that fails with ${sqlstate} is retried, and executed and audited once`, async (t) => {
      const { store, eventKinds, database } = await opened(t);
      const { totalItems } = await store.auditPage(WHOLE_LOG);
      await database.query(failFirst(sqlstate, 4));
      await database.query("CREATE TRIGGER collide BEFORE INSERT ON audit EXECUTE FUNCTION before_writing()");
      await ingest(store, { device: "d", at: 1, fill: 50 });
      const idempotencyKey = { key: "k", fingerprint: "this" };
      await executed(store, command.createTank("new", tankFields("a", "d")), at(1), idempotencyKey);
      assert.deepEqual(await fillsOf(store, "new"), [[1, 50]]);
      assert.equal((await store.auditPage(WHOLE_LOG)).totalItems, totalItems + 1);
      assert.deepEqual(await database.query("SELECT last_value FROM calls"), [{ last_value: "5" }]);
      const again = await store.execute(command.createTank("newer", tankFields("a", "d")), at(2), idempotencyKey);
      assert.ok("replayed" in again && again.replayed);
      assert.deepEqual([eventKinds(), (await checked(store)).findings], [[], []]);
    });

    test(`pending readings that fail with ${sqlstate} are retried, and pending once`, async (t) => {
      const { store, eventKinds, database } = await opened(t);
      await database.query(failFirst(sqlstate, 4));
      await database.query("CREATE TRIGGER collide BEFORE INSERT ON pending_reading EXECUTE FUNCTION before_writing()");
      assert.deepEqual(await ingest(store, { device: "d", at: 1, fill: 50 }, { tank: "one", at: 1, fill: 5 }), [
        "pending",
        "stored",
      ]);
      assert.deepEqual([await pendingCounts(store, "d"), await fillsOf(store, "one")], [[1, 0], [[1, 5]]]);
      assert.deepEqual(eventKinds(), []);
    });
  }

  test("a read is read committed, whatever the default of the database, so that it never fails because of a write", async (t) => {
    const { database } = await opened(t);
    const isolation = "current_setting('transaction_isolation')";
    await database.query("ALTER TABLE customer RENAME TO customers");
    await database.query(`CREATE VIEW customer AS SELECT * FROM customers WHERE ${isolation} = 'read committed'`);
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`ALTER DATABASE ${name} SET default_transaction_isolation = serializable`);
    const { store } = await openedOn({ after: database.closeFirst }, database.url);
    assert.equal((await customersOf(store)).totalItems, 1);
  });

  test("after a real deadlock the readings are stored", async (t) => {
    const { store, eventKinds, database } = await opened(t);
    const rival = await other(database);
    const lock = (id: string) => rival.query("UPDATE head SET total = total WHERE tank = $1", [id]);
    let isOurs = false;
    for (let at = 1; !isOurs; at++) {
      await rival.query("BEGIN");
      await lock("two");
      const writing = ingest(store, { tank: "one", at, fill: 50 }, { tank: "two", at, fill: 50 });
      await until("the write holds one and waits for two", async () => (await lockWaits(database)).length === 1);
      // The transaction that has waited longer fails: ours, unless the other waits a second or more after it.
      isOurs = await lock("one").then(
        () => true,
        (error: { readonly code?: string }) => (error.code === "40P01" ? false : Promise.reject(error)),
      );
      await rival.query("COMMIT");
      assert.deepEqual(await writing, ["stored", "stored"]);
    }
    assert.deepEqual(eventKinds(), []);
    const deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    await until(
      "the deadlock is counted",
      async () => Number((await database.query<{ deadlocks: string }>(deadlocks))[0]?.deadlocks) > 0,
    );
  });

  test("200 reads at once, and writes beside them, use no more than the configured connections", async (t) => {
    const connections = 4;
    const { store, eventKinds, database } = await opened(t, { connections });
    for (let at = 1; at <= 6; at++) await putReadings(store, "one", [[at, 50]]);
    const holder = await other(database);
    await holder.query("BEGIN; LOCK TABLE tank");
    const reads = Array.from({ length: 200 }, () => store.tankById("one", UNRESTRICTED));
    const written = Array.from({ length: 20 }, (_, i) => putReadings(store, "one", [[7 + i, 50]]));
    const ours = "SELECT FROM pg_stat_activity WHERE application_name = 'tank-monitor' AND datname = current_database()";
    // Half of them are for reads; the writes need one, and do not wait for the locked table: they append.
    const busy = connections / 2;
    await until("all connections for reads wait", async () => (await lockWaits(database)).length === busy);
    assert.ok((await database.query(ours)).length <= connections);
    await holder.query("COMMIT");
    for (const found of await Promise.all(reads)) assert.equal(typeof found, "object");
    await Promise.all(written);
    assert.ok((await database.query(ours)).length <= connections);
    assert.deepEqual(eventKinds(), []);
  });
});
