// A filtered page of the fleet is found in two ways: the matches are fetched and sorted, or, if they are many, the most urgent tanks
// are scanned. Both must return the same.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FLEET_SORTS, FLEET_STATES, type FleetQuery } from "../../src/domain/fleet.ts";
import { seeded } from "../../src/simulate/random.ts";
import { Parameters } from "../../src/store/core/dialect.ts";
import { onPool, openPool, statementOf } from "../../src/store/postgres/connection.ts";
import { fleetSql } from "../../src/store/postgres/management-reads.ts";
import { openedOn, postgresDatabase } from "../support/postgres/database.ts";
import { putReadings } from "../support/records.ts";
import { customer, NEW_YEAR, putCustomers, putTanks, tank } from "./conformance/objects.ts";

const CITIES = ["Bern", "Berlin", "BERGEN", "Oslo", null];
const HOUR = 3_600_000;

/** All combinations of filters. */
const QUERIES = [undefined, ...FLEET_STATES].flatMap((state) =>
  [undefined, NEW_YEAR - 10 * HOUR, NEW_YEAR + 1].flatMap((silentSince) =>
    [undefined, "a", "nobody"].flatMap((owner_id) =>
      [undefined, "ber", ""].flatMap((city) =>
        FLEET_SORTS.slice(1).flatMap((sort) =>
          [1, 3].map((page) => ({ sort, state, silentSince, owner_id, city, page, size: 7 })),
        ),
      ),
    ),
  ),
);

test("a filtered page of the fleet is the same, fetched or scanned", async (t) => {
  const { url, closeFirst } = await postgresDatabase(t, { locale: "en-US" });
  const { store } = await openedOn({ after: closeFirst }, url);
  const pool = openPool(url, 1, { schema: "public" });
  closeFirst(() => pool.end());
  const random = seeded("fleet");
  await putCustomers(store, customer("a"), customer("b"));
  const ids = Array.from({ length: 300 }, (_, i) => `tank ${i}`);
  const made = ids.map((id) => {
    const { location } = tank(id, "a");
    const fields = { min_fill_alert_percentage: random.whole(0, 40), location: { ...location, city: random.pick(CITIES) } };
    return tank(id, random.pick(["a", "b"]), fields);
  });
  await putTanks(store, ...made);
  for (const id of ids.filter(() => random.chance(0.9))) {
    await putReadings(store, id, [[NEW_YEAR - random.whole(0, 20) * HOUR, random.whole(0, 200) / 2]]);
  }
  await store.importTanks(ids.slice(0, 20).map((remove) => ({ remove })));

  const rowsOf = (query: FleetQuery, fetched?: number) => {
    const parameters = new Parameters();
    return onPool(pool).rows(statementOf(fleetSql(query, parameters, fetched)), parameters.values);
  };
  let found = 0;
  for (const query of QUERIES) {
    const fetched = await rowsOf(query);
    assert.deepEqual(await rowsOf(query, 0), fetched, JSON.stringify(query));
    found += fetched.filter(([, id]) => id !== null).length;
  }
  assert.ok(found > 500, `${found} entries`);
});
