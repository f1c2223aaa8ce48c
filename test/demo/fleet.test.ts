import assert from "node:assert/strict";
import test from "node:test";
import { createFleet } from "../../src/demo/fleet.ts";
import { customerObject } from "../../src/domain/customer.ts";
import { tankObject } from "../../src/domain/tank.ts";
import { decodeRecord } from "../../src/ingest/records.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const DAY = 86_400_000;
const { customers, tanks } = createFleet("demo", NOW);

test("the same seed and instant give the same fleet, another seed another", () => {
  assert.deepEqual(createFleet("demo", NOW), { customers, tanks });
  const other = createFleet("another", NOW);
  assert.notDeepEqual(other.customers, customers);
  assert.notDeepEqual(other.tanks, tanks);
});

for (const seed of ["demo", "another"]) {
  const { customers, tanks } = createFleet(seed, NOW);

  test(`seed ${seed}: 200 customers and 500 tanks, a few deleted, some never verified or seen`, () => {
    const ids = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${prefix}${String(i + 1).padStart(3, "0")}`);
    const customerIds = customers.map(({ customer }) => customer.id);
    assert.deepEqual(customerIds, ids("cus_demo", 200));
    const tankIds = tanks.map(({ tank }) => tank.id);
    assert.deepEqual(tankIds, ids("tank_demo", 500));
    assert.equal(customers.filter(({ deleted }) => deleted).length, 6);
    assert.equal(tanks.filter(({ deleted }) => deleted).length, 15);
    assert.ok(!customers[0]?.deleted && !tanks[0]?.deleted);
    for (const field of ["verified_at", "last_seen_at", "phone"] as const) {
      const without = customers.filter(({ customer }) => customer[field] === null).length;
      assert.ok(without >= 5 && without <= 60, `${without} without ${field}`);
    }
  });

  test(`seed ${seed}: every record can be imported`, () => {
    for (const record of customers) {
      const line = { ...customerObject({ ...record.customer, tank_count: 0 }), deleted: record.deleted };
      assert.deepEqual(decodeRecord(JSON.parse(JSON.stringify(line))), { kind: "customer", record });
    }
    for (const record of tanks) {
      const line = { ...tankObject(record.tank), deleted: record.deleted };
      assert.deepEqual(decodeRecord(JSON.parse(JSON.stringify(line))), { kind: "tank", record });
    }
  });

  test(`seed ${seed}: tanks are younger than their owners; all tanks of a deleted owner are deleted`, () => {
    const owners = new Map(customers.map((record) => [record.customer.id, record]));
    for (const { tank, deleted } of tanks) {
      const owner = owners.get(tank.owner_id);
      assert.ok(owner !== undefined && owner.customer.created_at <= tank.created_at, tank.id);
      assert.ok(deleted || !owner.deleted, tank.id);
    }
  });
}

test("dates are in order and not after now; most tanks are older than a year", () => {
  for (const { customer } of customers) {
    assert.ok(customer.created_at >= NOW - 3 * 366 * DAY && customer.created_at <= NOW - 395 * DAY, customer.id);
    for (const date of [customer.updated_at, customer.last_seen_at ?? NOW, customer.verified_at ?? NOW]) {
      assert.ok(date >= customer.created_at && date <= NOW, customer.id);
    }
    assert.ok(customer.updated_at >= (customer.verified_at ?? 0), customer.id);
  }
  for (const { tank } of tanks) assert.ok(tank.updated_at >= tank.created_at && tank.updated_at <= NOW, tank.id);
  const old = tanks.filter(({ tank }) => tank.created_at <= NOW - 366 * DAY).length;
  assert.ok(old >= 450 && old < 500, `${old} older than a year`);
});

test("names are unique, e-mail addresses end in .example, phone numbers are international", () => {
  assert.equal(new Set(customers.map(({ customer }) => customer.name)).size, 200);
  for (const { customer } of customers) {
    assert.match(customer.email, /^[a-z0-9.-]+@[a-z0-9-]+\.example$/);
    assert.doesNotMatch(customer.name, /[{}]/);
    if (customer.phone !== null) assert.match(customer.phone, /^\+[0-9 ]+$/);
  }
});

test("each tank has its own device, a threshold from 10 to 35, and a name that is unique for its owner", () => {
  assert.equal(new Set(tanks.map(({ tank }) => tank.assigned_device_id)).size, 500);
  assert.equal(new Set(tanks.map(({ tank }) => `${tank.owner_id} ${tank.name}`)).size, 500);
  for (const { tank } of tanks) {
    assert.match(tank.assigned_device_id, /^[0-9a-f]{16}$/);
    assert.ok(tank.min_fill_alert_percentage >= 10 && tank.min_fill_alert_percentage <= 35, tank.id);
  }
});

test("a tank that is named after an address is at that address", () => {
  const streets = [...new Set(tanks.flatMap(({ tank }) => tank.location.street ?? []))];
  const named = tanks.filter(({ tank }) => tank.location.street !== null && streets.some((one) => tank.name.includes(one)));
  assert.ok(named.length > 50, `${named.length} of them`);
  for (const { tank } of named) {
    const { street, street_number } = tank.location;
    const name = tank.name.replace(/ \(\d+\)$/, "");
    assert.ok([`${street} ${street_number}`, `${street_number} ${street}`].includes(name), `${name}: ${street} ${street_number}`);
  }
});

test("tanks are in four countries, at different coordinates, some with incomplete addresses", () => {
  const locations = tanks.map(({ tank }) => tank.location);
  const countries = new Set(locations.map(({ country }) => country).filter((country) => country !== null));
  assert.equal(countries.size, 4, [...countries].join());
  for (const field of ["district", "latitude", "street"] as const) {
    const without = locations.filter((location) => location[field] === null).length;
    assert.ok(without > 5 && without < 300, `${without} without ${field}`);
  }
  const coordinates = locations.flatMap(({ latitude, longitude }) => (latitude === null ? [] : [`${latitude} ${longitude}`]));
  assert.equal(new Set(coordinates).size, coordinates.length);
});
