// Statements that meet others: lost against another transaction, waiting for a lock, too slow, too many at once.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Client } from "pg";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { at, command, executed, tankFields } from "../support/commands.ts";
import { type Database, isUnavailable, type Opened, openedOn, postgresDatabase } from "../support/postgres/database.ts";
import { ingest } from "../support/readings.ts";
import { putReadings } from "../support/records.ts";
import type { Lifetime } from "../support/service.ts";
import { until } from "../support/until.ts";
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
} from "./conformance/objects.ts";

/** A store with two tanks, on a database of its own. */
async function opened(life: Lifetime, settings: Parameters<typeof openedOn>[2] = {}): Promise<Opened & { database: Database }> {
  const database = await postgresDatabase(life);
  const found = await openedOn({ after: database.closeFirst }, database.url, settings);
  await putCustomers(found.store, customer("a"));
  await putTanks(found.store, tank("one", "a"), tank("two", "a"));
  return { ...found, database };
}

/** Somebody else's connection, for a transaction that stays open. */
async function other({ url, closeFirst }: Database): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  closeFirst(() => client.end());
  return client;
}

/** A function that is beaten the first `times` times it is called: a sequence counts on when a transaction is rolled back. */
const beatenFirst = (sqlstate: string, times: number): string => `
  CREATE SEQUENCE calls;
  CREATE FUNCTION beaten() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ BEGIN
    IF nextval('calls') <= ${times} THEN RAISE EXCEPTION 'beaten' USING ERRCODE = '${sqlstate}'; END IF;
    RETURN true;
  END $$;
  CREATE FUNCTION before_writing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM beaten(); RETURN NULL; END $$;`;
const ON_WRITING = "CREATE TRIGGER collide BEFORE UPDATE ON head EXECUTE FUNCTION before_writing()";

const waiting = (database: Database) =>
  database.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'tank-monitor' AND datname = current_database() AND wait_event_type = 'Lock'",
  );

const askTank = (store: Store) => store.tankById("one", UNRESTRICTED);

suite("a statement that meets others", { concurrency: 4 }, () => {
  test("a head that another holds is not waited for while others are held: that is done again, in order", async (t) => {
    const { store, eventKinds, database } = await opened(t);
    await putReadings(store, "one", [[5, 50]]);
    await putReadings(store, "two", [[5, 50]]);
    const blocker = await other(database);
    await blocker.query("BEGIN");
    await blocker.query("SELECT FROM head WHERE tank = 'one' FOR UPDATE");
    const delivered = ingest(store, { tank: "one", at: 4, fill: 1 }, { tank: "two", at: 6, fill: 2 });
    await until("it waits for the head", async () => (await waiting(database)).length === 1);
    // Held by one who waits, this would be in vain.
    await blocker.query("SELECT FROM head WHERE tank = 'two' FOR UPDATE NOWAIT").catch((error) => {
      assert.fail(`the other head is held meanwhile: ${error}`);
    });
    await blocker.query("COMMIT");
    assert.deepEqual(await delivered, ["new", "new"]);
    assert.deepEqual((await fillsOf(store, "one")).length + (await fillsOf(store, "two")).length, 4);
    assert.deepEqual([eventKinds(), (await checked(store)).findings], [[], []]);
  });

  test("what was sent with its commit, and cannot be appended as a whole, leaves nothing, and is taken in the other way", async (t) => {
    const { store, eventKinds, database } = await opened(t);
    for (let at = 5; at <= 10; at++) await ingest(store, { tank: "one", at, fill: 50 }, { tank: "two", at, fill: 50 });
    const versions = () => database.query("SELECT tank, data, xmin FROM head ORDER BY tank");
    const before = await versions();
    // In one pass this would be done in part.
    const mixed = [{ tank: "one", at: 11, fill: 51 } as const, { tank: "two", at: 4, fill: 52 } as const];
    await database.query(beatenFirst("22023", 1));
    await database.query("CREATE TRIGGER collide AFTER UPDATE ON head EXECUTE FUNCTION before_writing()");
    await assert.rejects(ingest(store, ...mixed), /beaten/);
    assert.deepEqual(await versions(), before);
    assert.deepEqual(await ingest(store, ...mixed), ["new", "new"]);
    assert.deepEqual([(await fillsOf(store, "one")).length, (await fillsOf(store, "two")).length], [7, 7]);
    assert.deepEqual([eventKinds(), (await checked(store)).findings], [[], []]);
  });

  for (const sqlstate of ["40001", "40P01"]) {
    test(`a write that is beaten (${sqlstate}) is made again, once, whole, and nobody hears of it`, async (t) => {
      const { store, eventKinds, database } = await opened(t);
      await database.query(beatenFirst(sqlstate, 4));
      await database.query(ON_WRITING);
      assert.deepEqual([...(await putReadings(store, "one", [[1, 50]]))], [0]);
      assert.equal((await readingsOf(store, "one")).totalItems, 1);
      assert.deepEqual(await database.query("SELECT last_value FROM calls"), [{ last_value: "6" }]);
      assert.deepEqual(eventKinds(), []);
    });

    test(`so is one that was sent with its commit (${sqlstate})`, async (t) => {
      const { store, eventKinds, database } = await opened(t);
      for (let at = 1; at <= 6; at++) await putReadings(store, "one", [[at, 50]]);
      await database.query(beatenFirst(sqlstate, 1));
      await database.query(ON_WRITING);
      assert.deepEqual([...(await putReadings(store, "one", [[7, 50]]))], [0]);
      assert.deepEqual(await database.query("SELECT last_value FROM calls"), [{ last_value: "2" }]);
      assert.deepEqual([(await fillsOf(store, "one")).length, eventKinds()], [7, []]);
    });

    test(`a write that is beaten (${sqlstate}) again and again is refused in the end, and leaves nothing`, async (t) => {
      const { store, eventKinds, database } = await opened(t);
      const before = await everything(store);
      await database.query(beatenFirst(sqlstate, 1000));
      await database.query(ON_WRITING);
      await assert.rejects(putReadings(store, "one", [[1, 50]]), isUnavailable);
      assert.deepEqual(await database.query("SELECT last_value FROM calls"), [{ last_value: "5" }]);
      await database.query("DROP TRIGGER collide ON head");
      assert.deepEqual(await everything(store), before);
      await putReadings(store, "one", [[1, 50]]);
      assert.deepEqual(eventKinds(), ["writes_recovered", "writes_unavailable"]);
    });

    test(`an order that is beaten (${sqlstate}) is carried out again, once, and noted down once`, async (t) => {
      const { store, eventKinds, database } = await opened(t);
      const { totalItems } = await store.auditPage(WHOLE_LOG);
      await database.query(beatenFirst(sqlstate, 4));
      await database.query("CREATE TRIGGER collide BEFORE INSERT ON audit EXECUTE FUNCTION before_writing()");
      await ingest(store, { device: "d", at: 1, fill: 50 });
      const once = { key: "k", fingerprint: "this" };
      await executed(store, command.createTank("new", tankFields("a", "d")), at(1), once);
      assert.deepEqual(await fillsOf(store, "new"), [[1, 50]]);
      assert.equal((await store.auditPage(WHOLE_LOG)).totalItems, totalItems + 1);
      assert.deepEqual(await database.query("SELECT last_value FROM calls"), [{ last_value: "5" }]);
      const again = await store.execute(command.createTank("newer", tankFields("a", "d")), at(2), once);
      assert.ok("replayed" in again && again.replayed);
      assert.deepEqual([eventKinds(), (await checked(store)).findings], [[], []]);
    });

    test(`readings that wait, and are beaten (${sqlstate}), wait once`, async (t) => {
      const { store, eventKinds, database } = await opened(t);
      await database.query(beatenFirst(sqlstate, 4));
      await database.query("CREATE TRIGGER collide BEFORE INSERT ON pending_reading EXECUTE FUNCTION before_writing()");
      assert.deepEqual(await ingest(store, { device: "d", at: 1, fill: 50 }, { tank: "one", at: 1, fill: 5 }), [
        "waiting",
        "new",
      ]);
      assert.deepEqual([await pendingCounts(store, "d"), await fillsOf(store, "one")], [[1, 0], [[1, 5]]]);
      assert.deepEqual(eventKinds(), []);
    });

    test(`a question that is beaten (${sqlstate}) is asked again`, async (t) => {
      const { store, eventKinds, database } = await opened(t);
      await database.query(beatenFirst(sqlstate, 1));
      await database.query("ALTER TABLE customer RENAME TO customers");
      await database.query("CREATE VIEW customer AS SELECT * FROM customers WHERE beaten()");
      assert.equal((await customersOf(store)).totalItems, 1);
      assert.deepEqual(eventKinds(), []);
    });
  }

  test("a real deadlock: the other transaction goes first, then the readings are in", async (t) => {
    const { store, eventKinds, database } = await opened(t);
    const rival = await other(database);
    const lock = (id: string) => rival.query("UPDATE head SET total = total WHERE tank = $1", [id]);
    await rival.query("BEGIN");
    await lock("two");
    const writing = ingest(store, { tank: "one", at: 1, fill: 50 }, { tank: "two", at: 1, fill: 50 });
    await until("the write holds one and waits for two", async () => (await waiting(database)).length === 1);
    await lock("one");
    await rival.query("COMMIT");
    assert.deepEqual(await writing, ["new", "new"]);
    assert.deepEqual(eventKinds(), []);
    const deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    await until(
      "the deadlock is counted",
      async () => (await database.query<{ deadlocks: string }>(deadlocks))[0]?.deadlocks === "1",
    );
  });

  test("a lock that another holds on and on: the write is refused, questions are not, and all is well after it", async (t) => {
    const { store, eventKinds, events, database } = await opened(t);
    const holder = await other(database);
    await holder.query("BEGIN; UPDATE head SET total = total WHERE tank = 'one'");
    const asked = performance.now();
    const writing = assert.rejects(putReadings(store, "one", [[1, 50]]), isUnavailable);
    await until("the write waits", async () => (await waiting(database)).length === 1);
    assert.equal((await readingsOf(store, "one")).totalItems, 0);
    await writing;
    assert.ok(performance.now() - asked < 11_000, "after the patience for a lock");
    assert.match(JSON.stringify(events), /lock timeout/);
    assert.equal((await waiting(database)).length, 0);
    await holder.query("ROLLBACK");
    await putReadings(store, "one", [[1, 50]]);
    assert.deepEqual(eventKinds(), ["writes_recovered", "writes_unavailable"]);
  });

  test("a statement that takes too long is ended, here and on the server, and refused", async (t) => {
    const { store, database } = await opened(t);
    await database.query("ALTER TABLE customer RENAME TO customers");
    await database.query("CREATE VIEW customer AS SELECT customers.* FROM pg_sleep(60), customers");
    const asked = performance.now();
    await assert.rejects(store.customerById("a", UNRESTRICTED), isUnavailable);
    assert.ok(performance.now() - asked < 13_000, "after the patience for a statement");
    const asleep = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    assert.deepEqual(await database.query(asleep), []);
  });

  test("200 questions at once, and writes beside them, are served by the connections there may be", async (t) => {
    const connections = 4;
    const { store, eventKinds, database } = await opened(t, { connections });
    const holder = await other(database);
    await holder.query("BEGIN; LOCK TABLE tank");
    const asked = Array.from({ length: 200 }, () => askTank(store));
    const written = Array.from({ length: 20 }, (_, i) => putReadings(store, "one", [[i, 50]]));
    const ours = "SELECT FROM pg_stat_activity WHERE application_name = 'tank-monitor' AND datname = current_database()";
    // Half of them are for questions; of the others, readings need one, and do not wait for tanks.
    const busy = connections / 2;
    await until("all that can be busy wait", async () => (await waiting(database)).length === busy);
    assert.ok((await database.query(ours)).length <= connections);
    await holder.query("COMMIT");
    for (const found of await Promise.all(asked)) assert.equal(typeof found, "object");
    await Promise.all(written);
    assert.ok((await database.query(ours)).length <= connections);
    assert.deepEqual(eventKinds(), []);
  });
});
