// A tank that may have been refilled: its latest reading is far above the level that its forecast starts from.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { daysLeft } from "../../src/domain/fleet.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { computeForecast } from "../../src/forecast/compute.ts";
import { computeDueForecasts } from "../../src/forecast/due-forecasts.ts";
import { customer, putCustomers, putTanks, tank } from "../store/conformance/objects.ts";
import { postgresEngine, sqliteEngine } from "../store/engines.ts";
import { ingest } from "../support/readings.ts";

const DAY = 24 * 3_600_000;

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`${engine.name}: a rise that may be a refill`, () => {
    test("a tank with weekly readings is not urgent after it, and the suggested delivery fits into the tank", async (t) => {
      const { store } = await engine.open(t);
      await putCustomers(store, customer("a", { verified_at: 1 }));
      await putTanks(store, tank("risen", "a", { capacity: 3000 }), tank("empty", "a"), tank("silent", "a"));
      const now = Date.now();
      const weekly = (id: string, last: number, weeks: number) =>
        Array.from({ length: 15 }, (_, i) => ({ tank: id, at: now - (weeks + 15 - i) * 7 * DAY, fill: last + (14 - i) * 5 }));
      await ingest(store, ...weekly("risen", 22, 0), ...weekly("empty", 22, -1), ...weekly("silent", 28, 2));
      await ingest(store, { tank: "risen", at: now, fill: 92 });
      await store.updateSortKeys(["risen", "empty", "silent"], now);
      const observe = () => {};
      await computeDueForecasts({
        store,
        clock: () => now,
        observe,
        everyMs: 0,
        isStopping: () => false,
        compute: computeForecast,
      });
      const query = {
        page: 1,
        size: 10,
        sort: "urgency",
        state: undefined,
        silentSince: undefined,
        owner_id: undefined,
      } as const;
      const { data } = await store.fleetPage({ ...query, city: undefined, alert: undefined, search: undefined, area: undefined });
      assert.equal(data.at(-1)?.tank.id, "risen");
      for (const entry of data) assert.equal(daysLeft(entry, now) === null, entry.tank.id === "risen", entry.tank.id);
      const risen = await store.fleetEntry("risen", UNRESTRICTED);
      assert.ok(typeof risen === "object");
      const { volume = 0 } = risen.forecast?.suggested_delivery ?? {};
      assert.ok(volume <= 240, `${volume} liters`);
    });
  });
}
