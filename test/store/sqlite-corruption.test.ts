// A SQLite database is corrupted, in one or more places at a time: the check reports each, repairs what can be derived, and says
// what to do about the rest.

import assert from "node:assert/strict";
import { closeSync, copyFileSync, openSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { after, before, suite, type TestContext, test } from "node:test";
import type { RequestError } from "../../src/domain/errors.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { translateError } from "../../src/store/sqlite/connection.ts";
import { incomingBatch } from "../support/readings.ts";
import { databaseFolder } from "../support/stores.ts";
import { checked, customer, putCustomers, readingsOf } from "./conformance/objects.ts";
import {
  DAMAGED_ROWS,
  expectDamageKept,
  expectRepair,
  expectReport,
  fill,
  READINGS,
  roundsOf,
  sampleReads,
} from "./corruption/sample.ts";
import { FLEET_CORRUPTIONS, REPAIRABLE as SHARED_REPAIRABLE, UNREPAIRABLE as SHARED_UNREPAIRABLE } from "./corruption/shared.ts";
import {
  behindIndex,
  blockStart,
  LONG,
  REPAIRABLE,
  type SqliteCorruption,
  TWO_TANKS_OF_ONE_DEVICE,
  UNREPAIRABLE,
} from "./corruption/sqlite.ts";

suite("a corrupted SQLite database", () => {
  const sound = databaseFolder({ after });
  /** What is corrupted and repaired, one round after the other. */
  const repaired = databaseFolder({ after });
  let store: Store;
  let reads: unknown;

  before(async () => {
    const filled = await sound.open();
    await fill(filled);
    reads = await sampleReads(filled);
    assert.deepEqual((await checked(filled)).findings, []);
    await filled.close();
    copyFileSync(sound.file, repaired.file);
    store = await repaired.open();
  });

  function change(file: string, corrupt: SqliteCorruption["corrupt"]): void {
    const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    if (typeof corrupt === "string") db.exec(corrupt);
    else corrupt(db);
    db.close();
  }

  /** A corrupted copy. */
  async function corrupted(t: TestContext, ...corruptions: readonly SqliteCorruption["corrupt"][]): Promise<Store> {
    const { file, open } = databaseFolder(t);
    copyFileSync(sound.file, file);
    for (const corrupt of corruptions) change(file, corrupt);
    return open();
  }

  const shared = [...FLEET_CORRUPTIONS.sqlite, ...SHARED_REPAIRABLE].map(({ sql, ...rest }) => ({ ...rest, corrupt: sql }));
  for (const { names, round } of roundsOf([...REPAIRABLE, ...shared])) {
    test(`is repaired: ${names}`, async () => {
      for (const { corrupt } of round) change(repaired.file, corrupt);
      await expectRepair(store, round, reads);
    });
  }
  const sharedUnrepairable = SHARED_UNREPAIRABLE.map(({ sql, ...rest }) => ({ ...rest, corrupt: sql }));
  for (const { names, round } of roundsOf([...UNREPAIRABLE, ...sharedUnrepairable])) {
    test(`is reported: ${names}`, async (t) => {
      await expectReport(await corrupted(t, ...round.map(({ corrupt }) => corrupt)), round);
    });
  }

  test("reads and changes of a list whose rank index cannot be read are refused as damaged", async (t) => {
    const store = await corrupted(t, "UPDATE list_index SET ids = 'x' || ids WHERE list = 'customer'");
    await assert.rejects(
      store.customerPage({ page: 1, size: 10, from: undefined, to: undefined, email: undefined }, UNRESTRICTED),
      {
        code: "data_damaged",
      },
    );
    await assert.rejects(putCustomers(store, customer("new")), { code: "data_damaged" });
  });

  test("tanks behind one with an absurd total are checked, too", async (t) => {
    const totals = { t0: 600_000, t1: 600_000, t2: -9e15 };
    const changes = Object.entries(totals).map(
      ([id, total]) => `UPDATE head SET total = ${total} WHERE tank = (SELECT pk FROM tank WHERE id = '${id}')`,
    );
    const { findings } = await checked(await corrupted(t, changes.join(";")));
    const places = new Set(findings.map(({ where }) => where));
    for (const id of Object.keys(totals)) assert.ok(places.has(`tank ${id}`), id);
  });

  test("damaged rows are reported until the whole of them is replaced", async (t) => {
    await expectDamageKept(await corrupted(t, DAMAGED_ROWS.sql));
  });

  test("a missing head is created again, and its readings are reported as lost", async (t) => {
    const store = await corrupted(t, "DELETE FROM head WHERE tank IN (SELECT pk FROM tank WHERE id IN ('long', 'short'))");
    await assert.rejects(readingsOf(store, "short"), { code: "data_damaged" });
    const sent = incomingBatch([{ tank: "short", at: 1_000_000_000_000, fill: 50 }]);
    await assert.rejects(store.ingest(sent), { code: "data_damaged" }, "a reading is not rejected permanently");
    const { findings } = await checked(store, true);
    assert.ok(findings.every(({ repaired }) => repaired));
    for (const id of ["long", "short"]) {
      const what = findings.filter(({ where }) => where === `tank ${id}`).map((finding) => finding.what);
      assert.match(what.join("\n"), /its head is missing; up to 192 of its newest readings may be lost\n.*the fleet says/s);
    }
    assert.deepEqual((await checked(store)).findings, []);
    assert.deepEqual(await readingsOf(store, "short"), { data: [], totalItems: 0 });
    const { totalItems, data } = await readingsOf(store, "long");
    assert.ok(totalItems < READINGS && totalItems >= READINGS - 160);
    assert.equal(data[0]?.created_at, (totalItems - 1) * 1000);
  });

  test("a missing block is reported by the total and the rank index, and a repair keeps the rest", async (t) => {
    const store = await corrupted(t, `DELETE FROM block WHERE tank = ${LONG} AND start = ${blockStart(LONG, 10)}`);
    const { findings } = await checked(store, true);
    assert.match(findings[0]?.what ?? "", /it has 16872 readings, the total says 17000/);
    assert.ok(findings.every(({ where, repaired }) => where === "tank long" && repaired));
    assert.deepEqual((await checked(store)).findings, []);
    assert.equal((await readingsOf(store, "long", { from: 1_281_000 })).totalItems, READINGS - 1281 - 127);
  });

  test("an invalid deletion mark is reported, and counts are of what is not deleted", async (t) => {
    const store = await corrupted(t, "UPDATE tank SET deleted = 2 WHERE id = 't7'");
    const { findings } = await checked(store, true);
    assert.deepEqual(
      findings.map(({ where, repaired }) => `${where} ${repaired}`),
      ["customer c0 true", "tank t7 false", "list of all tanks true", "list of the tanks of customer c0 true"],
    );
    assert.deepEqual(
      (await checked(store)).findings.map(({ what }) => what),
      ["deleted: should be 0 or 1, it is 2; correct it and import it again"],
    );
  });

  test("an index that cannot be rebuilt is left, and the reason is reported", async (t) => {
    const store = await corrupted(t, (db) => behindIndex(db, "tank_by_device", TWO_TANKS_OF_ONE_DEVICE));
    const { findings } = await checked(store, true);
    assert.deepEqual(new Set(findings.map(({ where }) => where)), new Set(["the database", "device moved", "tank long"]));
    assert.ok(findings.every(({ repaired }) => !repaired));
  });

  test("a file with an overwritten page is reported, and nothing is written to it", async (t) => {
    const store = await corrupted(t, (db) => {
      const [page] = Object.values(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'tank_by_owner'").get() ?? {});
      const { file } = db.prepare("SELECT file FROM pragma_database_list").get() ?? {};
      const descriptor = openSync(String(file), "r+");
      writeSync(descriptor, Buffer.alloc(2000, 0x5a), 0, 2000, (Number(page) - 1) * 4096);
      closeSync(descriptor);
    });
    for (const repair of [false, true]) {
      const { findings } = await checked(store, repair);
      assert.ok(findings.length > 0);
      for (const { where, what, repaired } of findings) {
        assert.deepEqual([where, repaired], ["the database", false]);
        assert.match(what, /: restore a backup$/);
      }
    }
  });
});

test("a sector that the disk cannot read is damage, one that it cannot write an outage", () => {
  // Result codes of https://sqlite.org/rescode.html: SQLITE_IOERR_READ and SQLITE_IOERR_WRITE.
  const codes = [266, 778].map((errcode) => translateError(Object.assign(new Error("disk I/O error"), { errcode })));
  assert.deepEqual(
    codes.map((error) => (error as RequestError).code),
    ["data_damaged", "store_unavailable"],
  );
});
