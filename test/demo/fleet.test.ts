import assert from "node:assert/strict";
import test from "node:test";
import { makeFleet } from "../../src/demo/fleet.ts";
import { customerObject } from "../../src/domain/customer.ts";
import { tankObject } from "../../src/domain/tank.ts";
import { decodeRecord } from "../../src/ingest/records.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const DAY = 86_400_000;
const { customers, tanks } = makeFleet("demo", NOW);

test("the same seed and instant make the same fleet, another seed another", () => {
  assert.deepEqual(makeFleet("demo", NOW), { customers, tanks });
  const other = makeFleet("another", NOW);
  assert.notDeepEqual(other.customers, customers);
  assert.notDeepEqual(other.tanks, tanks);
});

for (const seed of ["demo", "another", 3, 4, 5]) {
  test(`seed ${seed}: 200 customers and 500 tanks, a few of them deleted, some never verified or seen`, () => {
    const fleet = makeFleet(seed, NOW);
    const number = (i: number) => String(i + 1).padStart(3, "0");
    assert.deepEqual(
      fleet.customers.map(({ customer }) => customer.id),
      Array.from({ length: 200 }, (_, i) => `cus_demo${number(i)}`),
    );
    assert.deepEqual(
      fleet.tanks.map(({ tank }) => tank.id),
      Array.from({ length: 500 }, (_, i) => `tank_demo${number(i)}`),
    );
    assert.equal(fleet.customers.filter(({ deleted }) => deleted).length, 6);
    assert.equal(fleet.tanks.filter(({ deleted }) => deleted).length, 15);
    assert.ok(!fleet.customers[0]?.deleted && !fleet.tanks[0]?.deleted);
    const without = (field: "verified_at" | "last_seen_at" | "phone") =>
      fleet.customers.filter(({ customer }) => customer[field] === null).length;
    for (const field of ["verified_at", "last_seen_at", "phone"] as const) {
      assert.ok(without(field) >= 5 && without(field) <= 60, `${without(field)} without ${field}`);
    }
  });

  test(`seed ${seed}: every record passes the check of an import`, () => {
    const fleet = makeFleet(seed, NOW);
    for (const record of fleet.customers) {
      const line = { ...customerObject({ ...record.customer, tank_count: 0 }), deleted: record.deleted };
      assert.deepEqual(decodeRecord(JSON.parse(JSON.stringify(line))), { kind: "customer", record });
    }
    for (const record of fleet.tanks) {
      const line = { ...tankObject(record.tank), deleted: record.deleted };
      assert.deepEqual(decodeRecord(JSON.parse(JSON.stringify(line))), { kind: "tank", record });
    }
  });

  test(`seed ${seed}: tanks belong to customers who were there before them; a deleted owner has deleted tanks only`, () => {
    const fleet = makeFleet(seed, NOW);
    const owners = new Map(fleet.customers.map((record) => [record.customer.id, record]));
    for (const { tank, deleted } of fleet.tanks) {
      const owner = owners.get(tank.owner_id);
      assert.ok(owner !== undefined, tank.id);
      assert.ok(owner.customer.created_at <= tank.created_at, tank.id);
      assert.ok(deleted || !owner.deleted, tank.id);
    }
  });
}

test("some own one tank, a few own fifteen or more, some own none", () => {
  const owned = new Map(customers.map(({ customer }) => [customer.id, 0]));
  for (const { tank } of tanks) owned.set(tank.owner_id, (owned.get(tank.owner_id) ?? 0) + 1);
  const counts = [...owned.values()];
  assert.ok(counts.filter((count) => count === 1).length > 50);
  assert.ok(counts.filter((count) => count >= 15).length >= 2);
  assert.ok(counts.filter((count) => count === 0).length >= 3);
});

test("dates run forward: none after now, customers past thirteen months, most tanks past twelve", () => {
  for (const { customer } of customers) {
    assert.ok(customer.created_at >= NOW - 3 * 366 * DAY && customer.created_at <= NOW - 395 * DAY, customer.id);
    for (const date of [customer.updated_at, customer.last_seen_at ?? NOW, customer.verified_at ?? NOW]) {
      assert.ok(date >= customer.created_at && date <= NOW, customer.id);
    }
    assert.ok(customer.updated_at >= (customer.verified_at ?? 0), customer.id);
  }
  for (const { tank } of tanks) assert.ok(tank.updated_at >= tank.created_at && tank.updated_at <= NOW, tank.id);
  const settled = tanks.filter(({ tank }) => tank.created_at <= NOW - 366 * DAY).length;
  assert.ok(settled >= 450 && settled < 500, `${settled} settled`);
});

test("names differ, e-mails lie under .example, phones are international where there are any", () => {
  assert.equal(new Set(customers.map(({ customer }) => customer.name)).size, 200);
  for (const { customer } of customers) {
    assert.match(customer.email, /^[a-z0-9.-]+@[a-z0-9-]+\.example$/);
    assert.doesNotMatch(customer.name, /[{}]/);
    if (customer.phone !== null) assert.match(customer.phone, /^\+[0-9 ]+$/);
  }
});

test("each tank has a device of its own, a threshold of 10 to 35, and a name its owner can tell apart", () => {
  assert.equal(new Set(tanks.map(({ tank }) => tank.assigned_device_id)).size, 500);
  assert.equal(new Set(tanks.map(({ tank }) => `${tank.owner_id} ${tank.name}`)).size, 500);
  for (const { tank } of tanks) {
    assert.match(tank.assigned_device_id, /^[0-9a-f]{16}$/);
    assert.ok(tank.min_fill_alert_percentage >= 10 && tank.min_fill_alert_percentage <= 35, tank.id);
  }
});

test("tanks stand in at least six countries, near their town, with gaps in some addresses", () => {
  const countries = new Set(tanks.map(({ tank }) => tank.location.country).filter((country) => country !== null));
  assert.ok(countries.size >= 6, [...countries].join());
  for (const field of ["district", "latitude", "street"] as const) {
    const gaps = tanks.filter(({ tank }) => tank.location[field] === null).length;
    assert.ok(gaps > 5 && gaps < 300, `${gaps} without ${field}`);
  }
  const spots = tanks.flatMap(({ tank }) =>
    tank.location.latitude === null ? [] : [`${tank.location.latitude} ${tank.location.longitude}`],
  );
  assert.equal(new Set(spots).size, spots.length);
});

test("Americans count gallons, and a works holds more than a house", () => {
  const median = (unit: string, useCase: string) => {
    const sizes = tanks
      .filter(({ tank }) => tank.capacity_unit === unit && tank.use_case === useCase)
      .map(({ tank }) => tank.capacity);
    return sizes.sort((a, b) => a - b)[Math.floor(sizes.length / 2)] ?? 0;
  };
  for (const { tank } of tanks) {
    const { country } = tank.location;
    if (country !== null) assert.equal(tank.capacity_unit, country === "United States" ? "gallons" : "liters", tank.id);
  }
  assert.ok(median("liters", "industrial") > median("liters", "commercial"));
  assert.ok(median("liters", "commercial") > median("liters", "residential"));
  assert.ok(tanks.some(({ tank }) => tank.use_case === null));
});
