// Pages of the fleet on both engines, against a plain sort: while readings come, and tanks are created, deleted, restored, moved and
// changed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FLEET_SORTS, type FleetQuery, LEVEL_STATES } from "../../src/domain/fleet.ts";
import type { Area } from "../../src/domain/fleet-map.ts";
import type { Store } from "../../src/domain/store.ts";
import { type Random, seeded } from "../../src/simulate/random.ts";
import { at, command, executed } from "../support/commands.ts";
import { updateWholeOrder } from "../support/fleet-order.ts";
import { ingest } from "../support/readings.ts";
import { checked, customer, NEW_YEAR, putCustomers, putTanks, tank } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { ModelStore } from "./model.ts";

const HOUR = 3_600_000;
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
    for (const state of [undefined, ...LEVEL_STATES]) {
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

async function comparePages(store: Store, model: ModelStore, random: Random): Promise<void> {
  await updateWholeOrder(store, NEW_YEAR);
  for (const query of queries(random)) {
    const expected = await model.fleetPage(query);
    assert.deepEqual(await store.fleetPage(query), expected, JSON.stringify(query));
  }
}

async function writeAtRandom(stores: readonly (Store | ModelStore)[], random: Random, ids: readonly string[]): Promise<void> {
  const sent = Array.from({ length: 150 }, () => {
    return { tank: random.pick(ids), at: NEW_YEAR - random.whole(0, 30 * HOUR), fill: random.whole(0, 200) / 2 };
  });
  const [deleted, moved, changed] = [random.pick(ids), random.pick(ids), random.pick(ids)];
  const owner = random.pick(OWNERS);
  const threshold = random.whole(0, 90);
  for (const one of stores) {
    await ingest(one, ...sent);
    await one.execute(command.deleteTank(deleted), at(NEW_YEAR));
    await one.execute(command.changeTank(moved, { owner_id: owner }), at(NEW_YEAR));
    await one.execute(command.changeTank(changed, { min_fill_alert_percentage: threshold }), at(NEW_YEAR));
  }
}

function suite(engine: Engine): void {
  test(`${engine.name}: every page of the fleet is that of a plain sort, whatever changes`, async (t) => {
    const random = seeded(process.env["TEST_SEED"] ?? `${engine.name} fleet`);
    const { store } = await engine.open(t);
    const model = new ModelStore();
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
    await comparePages(store, model, random);
    for (let round = 0; round < 3; round++) {
      for (let step = 0; step < 3; step++) await writeAtRandom([store, model], random, ids);
      await comparePages(store, model, random);
    }
    for (const one of [store, model]) {
      await executed(one as Store, command.deleteCustomer("a", true), at(NEW_YEAR + 1));
      await ingest(one, ...first.slice(0, 100).map((reading) => ({ ...reading, at: NEW_YEAR + HOUR })));
    }
    await comparePages(store, model, random);
    for (const one of [store, model]) await executed(one as Store, command.restoreCustomer("a", true), at(NEW_YEAR + 2));
    await comparePages(store, model, random);
    assert.deepEqual((await checked(store)).findings, []);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(engine);
