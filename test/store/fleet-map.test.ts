// The map of the fleet, on both engines.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isSilent } from "../../src/domain/fleet.ts";
import type { FleetMapQuery } from "../../src/domain/fleet-map.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Location } from "../../src/domain/tank.ts";
import { at as changeAt, command, executed } from "../support/commands.ts";
import { updateWholeOrder } from "../support/fleet-order.ts";
import { putReadings } from "../support/records.ts";
import { putForecast } from "./alert-support.ts";
import { customer, NEW_YEAR, putCustomers, putTanks, scopeOf, tank, WHOLE_FLEET } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const QUERY: FleetMapQuery = { now: NEW_YEAR, soonBy: NEW_YEAR + 7 * DAY, silentAfter: 2 * DAY };
const NEVER = { p10: null, p50: null, p90: null };
const SILENT_SINCE = NEW_YEAR - QUERY.silentAfter;
const at = (latitude: number | null, longitude: number | null, city: string | null = null, country = "Norway") =>
  ({ ...tank("", "").location, latitude, longitude, city, country }) satisfies Location;

function suite(engine: Engine): void {
  test(`${engine.name}: every tank in scope is on the map, in the first state that holds, or counted as without coordinates`, async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    const empty = {
      positions: { low: [], leak: [], soon: [], silent: [], unknown: [], ok: [] },
      without_coordinates: 0,
      towns: [],
    };
    assert.deepEqual(await store.fleetMap(QUERY, UNRESTRICTED), empty);
    const tanks = [
      tank("1 ok", "a", { location: at(60.39299, 5.32414, "Bergen") }),
      tank("2 ok", "b", { location: at(-89.99996, -180, "Bergen", "Germany") }),
      tank("3 low", "a", { location: { ...at(60.4, 5.3, "Bergen"), region: "Vestland" } }),
      tank("4 low and silent", "b", { location: at(0, 0) }),
      tank("5 silent", "a", { location: at(60.39301, 5.3, "Os \"<b>' 🛢") }),
      tank("6 unknown", "a", { location: at(90, 180) }),
      tank("7 nowhere", "a", { location: at(null, null, "Bergen") }),
      tank("8 half", "b", { location: at(50, null) }),
      tank("9 sold", "a", { location: at(1, 1, "Bergen") }),
    ];
    await putTanks(store, ...tanks);
    await putTanks(
      store,
      tank("leak and soon", "a", { location: at(10, 11) }),
      tank("soon", "a", { location: at(10, 12) }),
      tank("low and leak", "a", { location: at(10, 13) }),
    );
    for (const [id, at, fill] of [
      ["leak and soon", NEW_YEAR, 50],
      ["soon", NEW_YEAR, 50],
      ["low and leak", NEW_YEAR, 10],
      ["1 ok", NEW_YEAR, 50],
      ["2 ok", SILENT_SINCE, 50],
      ["3 low", NEW_YEAR, 20],
      ["4 low and silent", NEW_YEAR - 99 * HOUR, 1],
      ["5 silent", SILENT_SINCE - 1, 50],
      ["8 half", NEW_YEAR, 50],
      ["9 sold", NEW_YEAR, 50],
    ] as const) {
      await putReadings(store, id, [[at, fill]]);
    }
    await store.importTanks([{ remove: "9 sold" }]);
    const leak = { since: NEW_YEAR - 99 * HOUR, excess: 2, isSudden: false };
    await putForecast(store, "leak and soon", { days: 5, leak, now: NEW_YEAR });
    await putForecast(store, "soon", { days: 5, now: NEW_YEAR });
    await putForecast(store, "low and leak", { leak, now: NEW_YEAR });
    await updateWholeOrder(store, NEW_YEAR);
    const [ok, low, silent] = [
      [603930, 53241],
      [604000, 53000],
      [603930, 53000],
    ];
    assert.deepEqual(await store.fleetMap(QUERY, UNRESTRICTED), {
      positions: {
        low: [...low, 0, 0, 100000, 130000],
        leak: [100000, 110000],
        soon: [100000, 120000],
        silent,
        unknown: [900000, 1800000],
        ok: [...ok, -900000, -1800000],
      },
      without_coordinates: 2,
      towns: [
        { name: "Bergen", latitude: 603965, longitude: 53121, tanks: 2 },
        { name: "Bergen", latitude: -900000, longitude: -1800000, tanks: 1 },
        { name: "Os \"<b>' 🛢", latitude: 603930, longitude: 53000, tanks: 1 },
      ],
    });
    assert.deepEqual(await store.fleetMap(QUERY, scopeOf("b")), {
      positions: { low: [0, 0], leak: [], soon: [], silent: [], unknown: [], ok: [-900000, -1800000] },
      without_coordinates: 1,
      towns: [{ name: "Bergen", latitude: -900000, longitude: -1800000, tanks: 1 }],
    });
    assert.deepEqual(await store.fleetMap(QUERY, scopeOf("nobody")), empty);
  });

  test(`${engine.name}: a tank is silent by its own setting or three times its interval, if these are longer or it has a shorter one`, async (t) => {
    const { store, url } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const silences = { weekly: 10, "weekly, silent": 22, patient: 4, "patient, silent": 6, hasty: 0.5, "weekly, damaged": 10 };
    await putTanks(store, ...Object.keys(silences).map((id, i) => tank(id, "a", { location: at(i, i) })));
    for (const [id, days] of Object.entries(silences)) {
      await putReadings(store, id, [[NEW_YEAR - days * DAY, 50]]);
      if (id.startsWith("weekly")) await putForecast(store, id, { now: NEW_YEAR, interval: 7 * DAY });
      const silent_after = id.startsWith("patient") ? "5d" : id === "hasty" ? "2h" : null;
      await executed(store, command.changeTank(id, { alerts: { silent_after } }), changeAt(NEW_YEAR));
    }
    await updateWholeOrder(store, NEW_YEAR);
    await runSql(
      url,
      "UPDATE forecast SET forecast = replace(forecast, '\"interval\":6', '\"interval\":\"x') WHERE id = 'weekly, damaged'",
    );
    await putForecast(store, "weekly, silent", { now: NEW_YEAR, interval: 7 * DAY, state: "stale", runs_low_at: NEVER });
    const { positions } = await store.fleetMap(QUERY, UNRESTRICTED);
    const places = (...indexes: number[]) => indexes.flatMap((i) => [i * 10_000, i * 10_000]);
    assert.deepEqual({ ok: positions.ok, silent: positions.silent }, { ok: places(2, 0), silent: places(4, 3, 5, 1) });
    const entries = (await store.fleetPage(WHOLE_FLEET)).data;
    const silent = entries.filter((entry) => isSilent(entry, QUERY.silentAfter, NEW_YEAR)).map((entry) => entry.tank.id);
    assert.deepEqual(silent.sort(), ["hasty", "patient, silent", "weekly, damaged", "weekly, silent"]);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(engine);
