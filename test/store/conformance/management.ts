// The audit log, the fleet and searches.

import assert from "node:assert/strict";
import test from "node:test";
import { FLEET_STATES, marginOf } from "../../../src/domain/fleet.ts";
import { formatInstant } from "../../../src/domain/instant.ts";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Store } from "../../../src/domain/store.ts";
import { NO_LOCATION } from "../../../src/domain/tank.ts";
import { at, command, executed, OPERATOR, tankFields } from "../../support/commands.ts";
import { updateWholeOrder } from "../../support/fleet-order.ts";
import { ingest, ingestFills } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import { ModelStore } from "../model.ts";
import {
  checked,
  customer,
  DAY,
  fleetOf,
  key,
  NEW_YEAR,
  NO_TANK_SEARCH,
  putCustomers,
  putTanks,
  scopeOf,
  tank,
  WHOLE,
  WHOLE_FLEET,
  WHOLE_LOG,
} from "./objects.ts";

/** Oldest first. */
const logOf = async (store: Store) => [...(await store.auditPage(WHOLE_LOG)).data].reverse();

export function auditConformance(engine: Engine): void {
  test("the log has who changed what and when, from which value to which", async (t) => {
    const { store } = await engine.open(t);
    await executed(store, command.createCustomer("a", { email: "a@b.example", name: "A" }), at(NEW_YEAR));
    await executed(store, command.changeCustomer("a", { name: "B", phone: "1" }), at(NEW_YEAR + 1, "key_other"));
    await executed(store, command.deleteCustomer("a"), at(NEW_YEAR + 2));
    await executed(store, command.restoreCustomer("a"), at(NEW_YEAR + 3));
    const entry = { object: "customer", id: "a", by: OPERATOR } as const;
    const created = {
      created_at: { from: null, to: formatInstant(NEW_YEAR) },
      email: { from: null, to: "a@b.example" },
      name: { from: null, to: "A" },
    };
    const changed = { name: { from: "A", to: "B" }, phone: { from: null, to: "1" } };
    assert.deepEqual(await logOf(store), [
      { ...entry, number: 1, at: NEW_YEAR, action: "created", changes: created },
      { ...entry, number: 2, at: NEW_YEAR + 1, by: "key_other", action: "changed", changes: changed },
      { ...entry, number: 3, at: NEW_YEAR + 2, action: "deleted", changes: {} },
      { ...entry, number: 4, at: NEW_YEAR + 3, action: "restored", changes: {} },
    ]);
  });

  test("it has all objects that commands and imports change; nothing of readings, and of what did not change", async (t) => {
    const { store } = await engine.open(t);
    await store.importCustomers([{ customer: customer("a"), deleted: false }], at(NEW_YEAR, "key_importer"));
    await putCustomers(store, customer("a"));
    await store.updateLastSeen(new Map([["a", 5]]));
    const steps = [
      command.createTank("one", tankFields("a", "d1", { shape: { kind: "upright", height: 2, unit: "m" } })),
      command.createTank("two", tankFields("a", "d2")),
      command.changeTank("one", { assigned_device_id: "d2", shape: null }, { swap: true }),
      command.putDevice("d3", { tank_id: "one", profile: "elsys" }),
      command.putDevice("d3", { tank_id: "one", profile: "elsys" }),
      command.deleteCustomer("a", true),
      command.restoreCustomer("a"),
      command.removeDevice("d2"),
      command.createKey(key("k"), "h"),
      command.rotateKey("k", 0, "k2", "h2"),
      command.revokeKey("k2"),
      command.revokeKey("k2"),
    ];
    for (const [i, step] of steps.entries()) await executed(store, step, at(NEW_YEAR + i));
    await putReadings(store, "one", [[1, 50]]);
    await ingestFills(store, "d", [[1, 5]]);
    const log = await logOf(store);
    assert.deepEqual(log.map(({ object, id, action, at: when }) => `${when - NEW_YEAR} ${object} ${id} ${action}`).toSorted(), [
      "0 customer a created",
      "0 tank one changed",
      "0 tank one created",
      "1 tank two created",
      "10 key k2 revoked",
      "2 tank one changed",
      "2 tank one changed",
      "2 tank two changed",
      "3 device d3 changed",
      "3 tank one changed",
      "5 customer a deleted",
      "5 tank one deleted",
      "5 tank two deleted",
      "6 customer a restored",
      "6 tank one restored",
      "6 tank two restored",
      "7 device d2 deleted",
      "8 key k created",
      "9 key k rotated",
      "9 key k2 created",
    ]);
    assert.deepEqual(
      log.map(({ number }) => number),
      log.map((_, i) => i + 1),
    );
    assert.deepEqual(new Set(log.map(({ by }) => by)), new Set(["key_importer", OPERATOR]));
  });

  test("it never goes back in time, whatever the clock does", async (t) => {
    const { store } = await engine.open(t);
    for (const [i, now] of [NEW_YEAR, NEW_YEAR - DAY, NEW_YEAR, NEW_YEAR + 5, 0].entries()) {
      await executed(store, command.createCustomer(`c${i}`, { email: "a@b.example", name: "A" }), at(now));
    }
    assert.deepEqual(
      (await logOf(store)).map((entry) => entry.at - NEW_YEAR),
      [0, 0, 0, 5, 5],
    );
  });

  test("of writes through several stores at once it is numbered without gaps, and each change begins where the one before ended", async (t) => {
    const { store, reopen } = await engine.open(t);
    const stores = [store, await reopen()];
    await putCustomers(store, customer("a"));
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const mine = stores[i % 2] as Store;
        const change = executed(mine, command.changeCustomer("a", { phone: String(i) }), at(NEW_YEAR + i));
        await Promise.all([change, putCustomers(mine, customer(`c${i}`))]);
      }),
    );
    const log = await logOf(store);
    assert.deepEqual(
      log.map(({ number }) => number),
      Array.from({ length: 81 }, (_, i) => i + 1),
    );
    const phones = log.flatMap(({ changes, id }) => (id === "a" && changes["phone"] !== undefined ? [changes["phone"]] : []));
    assert.equal(phones.length, 40);
    for (const [i, { from }] of phones.entries()) assert.equal(from, i === 0 ? null : phones[i - 1]?.to);
    assert.deepEqual((await checked(store)).findings, []);
  });
}

export function fleetConformance(engine: Engine): void {
  test("the tank furthest below its threshold comes first, then by id; margins are exact; without a reading last", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const thresholds = { z: 20, a: 20, "\ue000": 20, "\u{10000}": 20, high: 0, fifty: 50, low: 100, unknown: 20 };
    const near = [20.000000000000004, 19.999999999999996, 20.1, 20.3, 20.2, 19.1, 20 + 1 / 3, 5e-324];
    await putTanks(
      store,
      ...Object.entries(thresholds).map(([id, min_fill_alert_percentage]) => tank(id, "a", { min_fill_alert_percentage })),
      ...near.map((fill) => tank(`${fill}`, "a")),
    );
    const fills = { z: 20, a: 20, "\ue000": 20, "\u{10000}": 20, high: 0.1, fifty: 49.9, low: 0 };
    for (const [id, fill] of Object.entries(fills)) await putReadings(store, id, [[1, fill]]);
    for (const fill of near) await putReadings(store, `${fill}`, [[1, fill]]);
    const { data } = await fleetOf(store);
    const ids = data.map((entry) => entry.tank.id);
    assert.deepEqual(
      ids.filter((id) => id in thresholds),
      ["low", "fifty", "a", "z", "\ue000", "\u{10000}", "high", "unknown"],
    );
    // To a billionth of a percentage point, as they are shown.
    const margins = data.slice(0, -1).map((entry) => Math.round((marginOf(entry) ?? 0) * 1e9) / 1e9);
    assert.deepEqual(
      margins,
      margins.toSorted((a, b) => a - b),
    );
    const low = (await fleetOf(store, { state: "low" })).data.map((entry) => entry.tank.id);
    assert.deepEqual(low, ids.slice(0, low.length));
    assert.equal(low.length, data.filter((entry) => (marginOf(entry) ?? 1) <= 0).length);
  });

  test("the fleet has the latest reading: a new one, a corrected one, never a late one", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a", { assigned_device_id: "d" }));
    const latest = async () => (await fleetOf(store)).data.map((entry) => entry.latest);
    assert.deepEqual(await latest(), [null]);
    for (const [sent, expected] of [
      [
        [
          [100, 40],
          [50, 10],
          [200, 60],
        ],
        [200, 60],
      ],
      [
        [
          [199, 1],
          [-5, 1],
        ],
        [200, 60],
      ],
      [[[200, 30]], [200, 30]],
      [Array.from({ length: 500 }, (_, i) => [300 + i, 70 + (i % 10)] as const), [799, 79]],
      [[[900, 90]], [900, 90]],
    ] as const) {
      await ingestFills(store, "d", sent);
      assert.deepEqual(await latest(), [{ created_at: expected[0], fill_percentage: expected[1] }]);
    }
  });

  test("every page of a long fleet follows the one before", async (t) => {
    const { store } = await engine.open(t);
    const model = new ModelStore();
    const tanks = Array.from({ length: 900 }, (_, i) => {
      return tank(`t${i}`, i % 3 === 0 ? "b" : "a", { location: { ...NO_LOCATION, city: i % 5 === 0 ? "Ulm" : "Bonn" } });
    });
    const readings = tanks.flatMap(({ id }, i) =>
      i % 9 === 0 ? [] : [{ tank: id, at: i * 60_000, fill: ((i * 7919) % 1000) / 10 }],
    );
    for (const one of [store, model]) {
      await putCustomers(one, customer("a"), customer("b"));
      await putTanks(one, ...tanks);
      await ingest(one, ...readings);
    }
    const sorts = ["margin", "silent"] as const;
    await updateWholeOrder(store, Date.now());
    for (const state of [undefined, ...FLEET_STATES]) {
      for (const filter of [{}, { owner_id: "a" }, { owner_id: "a", size: 10 }, { city: "u" }, { silentSince: 450 * 60_000 }]) {
        for (const [i, page] of [1, 2, 5, 9, 10].entries()) {
          for (const sort of i < 4 ? sorts : [sorts[i % 2] ?? "margin"]) {
            const query = { ...WHOLE_FLEET, ...filter, sort, state, page };
            assert.deepEqual(await store.fleetPage(query), await model.fleetPage(query), JSON.stringify(query));
          }
        }
      }
    }
  });

  test("tanks are counted by state: low also if silent, silent to the millisecond, unknown without a reading", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const since = NEW_YEAR + 12_345;
    const HOURS = 3_600_000;
    const latest = {
      unknown: [],
      ok: [[since, 20.000000000000004]],
      later: [[since + 12 * HOURS, 100]],
      silent: [[since - 1, 21]],
      older: [[since - 54 * HOURS, 90]],
      low: [[since + 1, 20]],
      "low and silent": [[since - 1, 20]],
      "low and older": [[since - 12 * HOURS, 0]],
      sold: [[since, 10]],
    } as const;
    await putTanks(store, ...Object.keys(latest).map((id) => tank(id, "a")));
    for (const [id, readings] of Object.entries(latest)) await putReadings(store, id, readings);
    await store.importTanks([{ remove: "sold" }]);
    await ingestFills(store, "no tank", [
      [1, 5],
      [2, 6],
    ]);
    await ingestFills(store, "no tank either", [[1, 5]]);
    assert.deepEqual((await store.fleetCounts(since)).tanks, { low: 0, ok: 0, silent: 0, unknown: 8 });
    await updateWholeOrder(store, Date.now());
    const tanks = { low: 3, ok: 2, silent: 2, unknown: 1 };
    assert.deepEqual(await store.fleetCounts(since), { tanks, pendingReadings: 3 });
  });

  test("one entry of the fleet is found within the scope; a deleted tank is not in the fleet", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    const [own, sold] = [tank("own", "a"), tank("sold", "a")];
    await putTanks(store, own, sold);
    const entry = {
      tank: own,
      customer: { name: "Customer a", phone: null },
      forecast: null,
      pausedUntil: null,
      silentAfter: null,
    };
    assert.deepEqual(await store.fleetEntry("own", UNRESTRICTED), { ...entry, latest: null });
    await ingest(store, { tank: "own", at: 5, fill: 40.5 });
    await store.importTanks([{ remove: "sold" }]);
    const latest = { created_at: 5, fill_percentage: 40.5 };
    for (const scope of [UNRESTRICTED, scopeOf("a")]) {
      assert.deepEqual(await store.fleetEntry("own", scope), { ...entry, latest });
      assert.equal(await store.fleetEntry("sold", scope), "deleted");
      assert.equal(await store.fleetEntry("nothing", scope), undefined);
    }
    for (const id of ["own", "sold"]) assert.equal(await store.fleetEntry(id, scopeOf("b")), undefined);
  });
}

const TEXTS = [
  "Ulm",
  "ULM",
  "ulm",
  "Ulmen",
  "Um",
  "Übach",
  "übach",
  "UBACH",
  "100%",
  "100 m",
  "a_b",
  "axb",
  "a\\b",
  "aß",
  "😀 x",
  "'; --",
  "*",
];

export function searchConformance(engine: Engine): void {
  test("texts are found by prefix, in either case of A to Z, and no character is special", async (t) => {
    const { store } = await engine.open(t);
    const model = new ModelStore();
    const names = [...TEXTS, "x\u{10ffff}y", "x\uffff"];
    for (const one of [store, model]) {
      await putCustomers(one, ...names.map((name, i) => customer(`c${i}`, { name, email: `${names.at(-1 - i)}@b.example` })));
      const places = names.map((city, i) =>
        tank(`t${i}`, "c0", { name: city, custom_id: city, location: { ...NO_LOCATION, city } }),
      );
      await putTanks(one, ...places);
    }
    for (const prefix of [
      ...names,
      "u",
      "U",
      "Ü",
      "ü",
      "ul",
      "LM",
      "%",
      "_",
      "\\",
      "a_",
      "A\\",
      "1",
      "X",
      "x\u{10ffff}",
      "zzz",
      "",
    ]) {
      for (const filter of [
        { name: prefix, email: undefined },
        { name: undefined, email: prefix },
        { name: prefix, email: "x" },
        { name: undefined, email: undefined, search: prefix },
        { name: "u", email: undefined, search: `${prefix} x` },
      ]) {
        const query = { ...WHOLE, deleted: false, search: undefined, ...filter };
        assert.deepEqual(await store.customerSearch(query), await model.customerSearch(query), JSON.stringify(query));
      }
      for (const filter of [
        { name: prefix },
        { city: prefix },
        { custom_id: prefix },
        { owner_id: prefix },
        { device_id: prefix },
      ]) {
        const query = { ...NO_TANK_SEARCH, ...filter };
        assert.deepEqual(await store.tankSearch(query), await model.tankSearch(query), JSON.stringify(query));
      }
      const fleet = { ...WHOLE_FLEET, city: prefix };
      assert.deepEqual(await fleetOf(store, fleet), await model.fleetPage(fleet), JSON.stringify(fleet));
    }
    assert.deepEqual(
      (await store.customerSearch({ ...WHOLE, deleted: false, name: "ulm", email: undefined, search: undefined })).data.map(
        ({ customer: { name } }) => name,
      ),
      ["Ulmen", "ulm", "ULM", "Ulm"],
    );
  });
}
