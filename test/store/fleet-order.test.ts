// Pages of the fleet on both engines, against a plain sort: while readings and forecasts come, and tanks are created, deleted,
// restored, moved and changed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FLEET_SORTS, FLEET_STATES, type FleetEntry, type FleetQuery } from "../../src/domain/fleet.ts";
import type { Area } from "../../src/domain/fleet-map.ts";
import { type ForecastValues, forecastSettings } from "../../src/domain/forecast/stored.ts";
import type { Page } from "../../src/domain/page.ts";
import type { Store } from "../../src/domain/store.ts";
import { type Random, seeded } from "../../src/simulate/random.ts";
import { at, command, executedInParts } from "../support/commands.ts";
import { updateWholeOrder } from "../support/fleet-order.ts";
import { ingest } from "../support/readings.ts";
import { checked, customer, NEW_YEAR, putCustomers, putTanks, tank } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { ModelStore } from "./model.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const CITIES = ["Bern", "Berlin", "BERGEN", "Oslo", "Österby", null];
const OWNERS = ["a", "b", "c"];
const SEARCHES = ["TANK", "tank 1", "bERG", "9 oslo", "öST", "ÖSTERBY", "305550", "030 555", "555", "100%", "_", "nothing", " "];
/** Two without a limit, one around the date line. */
const AREAS: readonly (Area | undefined)[] = [
  undefined,
  undefined,
  "none",
  { west: -20, south: -10, east: 30, north: 40 },
  { west: 170, south: -90, east: -170, north: 90 },
];

/** Some of all combinations of filters; a page at random of each. */
function* queries(random: Random): Generator<FleetQuery> {
  for (const sort of FLEET_SORTS) {
    for (const state of [undefined, ...FLEET_STATES]) {
      for (const silentSince of [undefined, NEW_YEAR - 10 * HOUR, NEW_YEAR + 1]) {
        for (const owner_id of [undefined, "a", "nobody"]) {
          for (const city of [undefined, "ber", ""]) {
            if (!random.chance(0.08)) continue;
            const area = AREAS[random.whole(0, AREAS.length - 1)];
            const size = random.pick([7, 40, 100]);
            const search = random.chance(0.3) ? random.pick(SEARCHES) : undefined;
            const filters = { state, silentSince, owner_id, city, area, alert: undefined, search };
            yield { sort, ...filters, page: random.whole(1, Math.ceil(600 / size)), size };
          }
        }
      }
    }
  }
}

/** Whole degrees, so that some tanks are on the edge of an area. */
function randomPlace(random: Random) {
  const [latitude, longitude] = [random.whole(-90, 90), random.whole(-180, 180)];
  const isKnown = random.chance(0.8);
  return { city: random.pick(CITIES), latitude: isKnown ? latitude : null, longitude: random.chance(0.95) ? longitude : null };
}

/** When the tanks with a forecast run low, and when they are empty; a deleted tank has none. */
type Forecasts = Map<string, { readonly low: number | null; readonly empty: number }>;

async function storeForecasts(store: Store, model: ModelStore, forecasts: Forecasts, random: Random): Promise<void> {
  const computed = model.tanks().flatMap((tank) => {
    const { id } = tank;
    const [latest] = model.readings(id);
    if (latest === undefined || !random.chance(0.6)) return [];
    // Few dates, so that some tanks run low at the same time, and in another order than they are empty.
    const low = random.chance(0.1) ? null : NEW_YEAR + random.whole(-5, 200) * DAY;
    const empty = NEW_YEAR + random.whole(200, 400) * DAY;
    forecasts.set(id, { low, empty });
    const forecast: ForecastValues = {
      state: "ok",
      use_per_day: null,
      runs_low_at: { p10: null, p50: low, p90: null },
      runs_empty_at: { p10: null, p50: empty, p90: null },
      suggested_delivery: null,
      based_on_until: latest.created_at,
      level: latest.fill_percentage,
      leak: "none",
    };
    const known = { settings: forecastSettings(tank), latestAt: latest.created_at, latestFill: latest.fill_percentage };
    return { tankId: id, ...known, forecast, refills: [] };
  });
  await store.storeForecasts(computed, NEW_YEAR);
}

/** Low tanks first, then those that run low, then the others, then those without a reading. */
function urgencyOf({ tank, latest }: FleetEntry, forecasts: Forecasts): readonly [rank: number, within: number] {
  if (latest === null) return [4, 0];
  const margin = latest.fill_percentage - tank.min_fill_alert_percentage;
  const { low = null, empty } = forecasts.get(tank.id) ?? {};
  if (margin <= 0) return empty === undefined ? [0, margin] : [1, empty];
  return low === null ? [3, margin] : [2, low];
}

async function expectedPage(model: ModelStore, query: FleetQuery, forecasts: Forecasts): Promise<Page<FleetEntry>> {
  if (query.sort !== "urgency") return model.fleetPage(query);
  const { data, ...rest } = await model.fleetPage({ ...query, page: 1, size: 1000 });
  const sorted = data
    .map((entry) => ({ entry, urgency: urgencyOf(entry, forecasts) }))
    .sort((a, b) => {
      const byUrgency = a.urgency[0] - b.urgency[0] || a.urgency[1] - b.urgency[1];
      return byUrgency || (a.entry.tank.id < b.entry.tank.id ? -1 : 1);
    });
  const start = (query.page - 1) * query.size;
  return { ...rest, data: sorted.slice(start, start + query.size).map(({ entry }) => entry) };
}

async function comparePages(store: Store, model: ModelStore, forecasts: Forecasts, random: Random): Promise<void> {
  await updateWholeOrder(store, NEW_YEAR);
  for (const query of queries(random)) {
    const { data, ...rest } = await expectedPage(model, query, forecasts);
    const expected = data.map((entry) => ({ ...entry, forecast: forecasts.get(entry.tank.id)?.low }));
    const page = await store.fleetPage(query);
    const shown = page.data.map((entry) => ({ ...entry, forecast: entry.forecast?.runs_low_at.p50 }));
    assert.deepEqual({ ...page, data: shown }, { ...rest, data: expected }, JSON.stringify(query));
  }
}

async function writeAtRandom(
  stores: readonly (Store | ModelStore)[],
  random: Random,
  ids: readonly string[],
  forecasts: Forecasts,
): Promise<void> {
  const sent = Array.from({ length: 150 }, () => {
    return { tank: random.pick(ids), at: NEW_YEAR - random.whole(0, 30 * HOUR), fill: random.whole(0, 200) / 2 };
  });
  const [deleted, moved, changed] = [random.pick(ids), random.pick(ids), random.pick(ids)];
  const owner = random.pick(OWNERS);
  const threshold = random.whole(0, 90);
  forecasts.delete(deleted);
  for (const one of stores) {
    await ingest(one, ...sent);
    await one.execute(command.deleteTank(deleted), at(NEW_YEAR));
    await one.execute(command.changeTank(moved, { owner_id: owner }), at(NEW_YEAR));
    await one.execute(command.changeTank(changed, { min_fill_alert_percentage: threshold }), at(NEW_YEAR));
  }
}

/** `rounds` of writes, with a comparison after each. */
function suite(engine: Engine, rounds: number): void {
  test(`${engine.name}: every page of the fleet is that of a plain sort, whatever changes`, async (t) => {
    const random = seeded(process.env["TEST_SEED"] ?? `${engine.name} fleet`);
    const { store } = await engine.open(t);
    const model = new ModelStore();
    const forecasts: Forecasts = new Map();
    const ids = Array.from({ length: 600 }, (_, i) => `tank ${i}`);
    const made = ids.map((id) => {
      const { location } = tank(id, "a");
      const fields = { min_fill_alert_percentage: random.whole(0, 40), location: { ...location, ...randomPlace(random) } };
      return tank(id, random.chance(0.6) ? "a" : random.pick(OWNERS), fields);
    });
    const first = ids
      .filter(() => random.chance(0.9))
      .map((id) => ({ tank: id, at: NEW_YEAR - random.whole(0, 20) * HOUR, fill: random.whole(0, 200) / 2 }));
    for (const one of [store, model]) {
      await putCustomers(one, ...OWNERS.map((id, i) => customer(id, { phone: `+49 30/555-${i}0` })));
      await putTanks(one, ...made);
      await ingest(one, ...first);
    }
    await comparePages(store, model, forecasts, random);
    for (let round = 0; round < rounds; round++) {
      await storeForecasts(store, model, forecasts, random);
      for (let step = 0; step < 3; step++) await writeAtRandom([store, model], random, ids, forecasts);
      await comparePages(store, model, forecasts, random);
    }
    for (const { id, owner_id } of model.tanks()) if (owner_id === "a") forecasts.delete(id);
    for (const one of [store, model]) {
      await executedInParts(one as Store, command.deleteCustomer("a", true), at(NEW_YEAR + 1));
      await ingest(one, ...first.slice(0, 100).map((reading) => ({ ...reading, at: NEW_YEAR + HOUR })));
    }
    await comparePages(store, model, forecasts, random);
    for (const one of [store, model]) await executedInParts(one as Store, command.restoreCustomer("a", true), at(NEW_YEAR + 2));
    await comparePages(store, model, forecasts, random);
    assert.deepEqual((await checked(store)).findings, []);
  });
}

suite(sqliteEngine, 3);
suite(postgresEngine, 1);
