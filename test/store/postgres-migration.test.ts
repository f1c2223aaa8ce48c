// A database of the version before devices and the fleet were kept: brought over whole, by however many processes start.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { FleetEntry } from "../../src/domain/management-reads.ts";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import { postgresDatabase } from "../support/postgres/database.ts";
import { putReadings } from "../support/records.ts";
import { checked, customer, putCustomers, putTanks, tank } from "./conformance/objects.ts";

/** What the step to devices and the fleet has made goes again. */
const BACK = `
  DROP VIEW fleet;
  DROP INDEX fleet_by_urgency, fleet_by_heard;
  ALTER TABLE telemetry DROP COLUMN at, DROP COLUMN fill, DROP COLUMN threshold, DROP COLUMN urgency, DROP COLUMN heard;
  DROP TABLE device, service, waiting, audit, once;
  DROP INDEX customer_by_name, customer_by_any_case_email, customer_deleted;
  DROP INDEX tank_by_name, tank_by_city, tank_by_custom_id, tank_deleted;
  ALTER TABLE customer DROP COLUMN deleted_at;
  ALTER TABLE tank DROP COLUMN deleted_at, DROP COLUMN shape;
  UPDATE tank_monitor SET version = 2`;

const EUI = "A84041C2F1827D3E";
const TANKS = 2300;

async function wholeFleet(store: Store): Promise<FleetEntry[]> {
  const entries: FleetEntry[] = [];
  for (let page = 1; ; page++) {
    const question = { page, size: 100, state: undefined, silentSince: undefined, owner_id: undefined, city: undefined };
    const { data, totalItems } = await store.fleetPage(question);
    entries.push(...data);
    if (page * 100 >= totalItems) return entries;
  }
}

test("an older database is brought over with its devices and its fleet, by several at once", async (t) => {
  const { url, query, closeFirst } = await postgresDatabase(t, { locale: "en-US" });
  const first = await openStore(url, () => {});
  await putCustomers(first, customer("a"));
  await putTanks(first, ...Array.from({ length: TANKS }, (_, i) => tank(`t${i}`, "a", { min_fill_alert_percentage: i % 50 })));
  await putTanks(first, tank("eui", "a", { assigned_device_id: EUI, created_at: 5 }), tank("gone", "a"));
  for (let i = 0; i < 40; i++) {
    const readings = Array.from({ length: i * 9 }, (_, j) => [j * 60_000, (i * 7 + j) % 101] as const);
    await putReadings(first, `t${i * 50}`, readings);
  }
  await first.importTanks([{ remove: "gone" }]);
  const fleet = await wholeFleet(first);
  assert.equal(fleet.length, TANKS + 1);
  await first.close();

  await query(BACK);
  // The version before could not know that these are one device.
  await query("UPDATE tank SET assigned_device_id = $1 WHERE id = 't7'", [EUI.toLowerCase()]);
  const stores = await Promise.all([1, 2, 3].map(() => openStore(url, () => {})));
  for (const store of stores) closeFirst(() => store.close());
  const [store] = stores as [Store, ...Store[]];

  const known = new Map((await wholeFleet(store)).map((entry) => [entry.tank.id, entry.latest]));
  assert.deepEqual(known, new Map(fleet.map((entry) => [entry.tank.id, entry.latest])));
  assert.equal((await store.managedDevice("device of t3"))?.device.tank_id, "t3");
  assert.equal((await store.managedDevice(EUI.toLowerCase()))?.device.tank_id, "eui", "the older one keeps it");
  assert.equal(await store.managedDevice("device of gone"), undefined);
  const { findings } = await checked(store);
  assert.deepEqual(
    findings.map(({ where }) => where),
    [`device ${EUI.toLowerCase()}`],
    "two tanks with one device are told, and nothing else",
  );
  await putTanks(store, tank("t7", "a", { min_fill_alert_percentage: 7 }));
  assert.deepEqual((await checked(store)).findings, []);
});
