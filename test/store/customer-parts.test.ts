// A customer with many tanks is deleted and restored in parts, on both engines: others write in between, and what was interrupted
// can be repeated.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Store } from "../../src/domain/store.ts";
import { ManagementService } from "../../src/http/management.ts";
import { at, command, executed, OPERATOR } from "../support/commands.ts";
import { putReadings } from "../support/records.ts";
import { checked, customer, DAY, NEW_YEAR, putCustomers, putTanks, tank, tankCounts, WHOLE_LOG } from "./conformance/objects.ts";
import { type Engine, type Opened, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

/** More than one part, and less than two. */
const TANKS = 300;
const LATER = NEW_YEAR + DAY;
const KEY = { key: "once", fingerprint: "f" };
const DELETE = command.deleteCustomer("a", true);
const RESTORE = command.restoreCustomer("a");

const managing = (store: Store, now: number) => new ManagementService(store, () => now);

/** A customer with many tanks and one that was deleted before, and a customer with one tank. */
async function openWithTanks(t: Parameters<Engine["open"]>[0], engine: Engine): Promise<Opened> {
  const opened = await engine.open(t);
  await putCustomers(opened.store, customer("a"), customer("b"));
  const tanks = Array.from({ length: TANKS }, (_, i) => tank(`t${String(i).padStart(3, "0")}`, "a"));
  await putTanks(opened.store, ...tanks, tank("before", "a"), tank("other", "b"));
  await executed(opened.store, command.deleteTank("before"), at(NEW_YEAR));
  return opened;
}

const deletedTanks = async ({ url }: Opened) =>
  Number((await runSql(url, "SELECT count(*) AS n FROM tank WHERE deleted_at IS NOT NULL"))[0]?.["n"]);
const totalOf = async (store: Store, filter: object) => (await store.auditPage({ ...WHOLE_LOG, ...filter })).totalItems;

function customerParts(engine: Engine): void {
  test("a reading of another customer is stored before all tanks are deleted", async (t) => {
    const opened = await openWithTanks(t, engine);
    const { store } = opened;
    let isComplete = false;
    const deleting = managing(store, LATER)
      .execute(DELETE, OPERATOR)
      .then(({ resource }) => {
        isComplete = true;
        return resource;
      });
    await putReadings(store, "other", [[LATER, 50]]);
    assert.equal(isComplete, false);
    const { object } = await deleting;
    assert.deepEqual([object["deleted"], object["tank_count"]], [true, 0]);
    assert.equal(await deletedTanks(opened), TANKS + 1);
    assert.deepEqual([await totalOf(store, { id: "a" }), await totalOf(store, { id: "t000" })], [2, 2], "one entry each");
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a deletion that is interrupted and repeated is undone as a whole, also by a restoration that is interrupted", async (t) => {
    const opened = await openWithTanks(t, engine);
    const { store } = opened;
    await executed(store, DELETE, at(LATER));
    assert.equal((await store.managedCustomer("a"))?.deleted, false, "only a part was deleted");
    await executed(store, command.changeCustomer("a", { phone: "1" }), at(LATER));
    await managing(store, LATER + DAY).execute(DELETE, OPERATOR);
    assert.deepEqual([await deletedTanks(opened), await tankCounts(store, "a")], [TANKS + 1, ["deleted"]]);
    await executed(store, RESTORE, at(LATER + 2 * DAY));
    assert.equal((await store.managedCustomer("a"))?.deleted, false, "the customer is restored first");
    await executed(store, command.changeCustomer("a", { phone: "2" }), at(LATER + 2 * DAY));
    const { resource } = await managing(store, LATER + 3 * DAY).execute(RESTORE, OPERATOR);
    assert.deepEqual(
      [resource.object["tank_count"], await tankCounts(store, "a"), await deletedTanks(opened)],
      [TANKS, [TANKS], 1],
    );
    assert.equal((await store.managedTank("before"))?.deleted, true);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("no tank is restored if the device of one is in use", async (t) => {
    const opened = await openWithTanks(t, engine);
    const { store } = opened;
    await managing(store, LATER).execute(DELETE, OPERATOR);
    const device = tank(`t${TANKS - 1}`, "a").assigned_device_id;
    await executed(store, command.changeTank("other", { assigned_device_id: device }), at(LATER + 1));
    await assert.rejects(managing(store, LATER + 2).execute(RESTORE, OPERATOR), { code: "device_in_use" });
    assert.deepEqual([(await store.managedCustomer("a"))?.deleted, await deletedTanks(opened)], [true, TANKS + 1]);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`customers with many tanks on ${engine.name}`, () => customerParts(engine));
}

test("a deletion that is interrupted continues with its Idempotency-Key, or is undone by a restoration", async (t) => {
  const opened = await openWithTanks(t, sqliteEngine);
  const { store } = opened;
  await executed(store, DELETE, at(LATER), KEY);
  await managing(store, LATER + 1).execute(RESTORE, OPERATOR);
  assert.deepEqual([await tankCounts(store, "a"), await deletedTanks(opened)], [[TANKS], 1]);
  const first = await managing(store, LATER + 2).execute(DELETE, OPERATOR, KEY);
  assert.deepEqual([first.replayed, first.resource.object["deleted"]], [false, true]);
  assert.deepEqual(await managing(store, LATER + 3).execute(DELETE, OPERATOR, KEY), { ...first, replayed: true });
});
