import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { type Customer, customerObject } from "../../src/domain/customer.ts";
import { telemetryJson, telemetryObject } from "../../src/domain/reading.ts";
import { CAPACITY_UNITS, type Location, type Tank, tankObject, USE_CASES } from "../../src/domain/tank.ts";
import { isCleanText } from "../../src/domain/text.ts";
import { decodeRecord } from "../../src/ingest/records.ts";

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");
const RUNS = { numRuns: 500 };

const cleanText = (minLength: number, maxLength: number) =>
  fc
    .string({ unit: "grapheme", minLength, maxLength })
    .filter((text) => isCleanText(text) && text.length >= minLength && text.length <= maxLength);
const id = cleanText(1, 60);
const text = cleanText(1, 80);
const nullableText = fc.option(cleanText(0, 80));
const instant = fc.integer({ min: FIRST, max: LAST });
const dates = fc.tuple(instant, instant).map(([a, b]) => ({ created_at: Math.min(a, b), updated_at: Math.max(a, b) }));
const degrees = (most: number) => fc.option(fc.double({ min: -most, max: most, noNaN: true }).map((value) => value + 0));

const customers: fc.Arbitrary<Customer> = fc
  .record({
    id,
    dates,
    email: fc.emailAddress(),
    last_seen_at: fc.option(instant),
    name: text,
    phone: nullableText,
    verified_at: fc.option(instant),
  })
  .map(({ dates: between, ...rest }) => ({ ...rest, ...between }));

const locations: fc.Arbitrary<Location> = fc.record(
  {
    city: nullableText,
    country: nullableText,
    district: nullableText,
    latitude: degrees(90),
    longitude: degrees(180),
    postal_code: nullableText,
    region: nullableText,
    street: nullableText,
    street_number: nullableText,
  },
  { noNullPrototype: true },
);

const tanks: fc.Arbitrary<Tank> = fc
  .record({
    id,
    assigned_device_id: id,
    capacity: fc.double({ min: Number.MIN_VALUE, max: Number.MAX_VALUE, noNaN: true }),
    capacity_unit: fc.constantFrom(...CAPACITY_UNITS),
    custom_id: nullableText,
    dates,
    location: locations,
    min_fill_alert_percentage: fc.integer({ min: 0, max: 100 }),
    name: text,
    owner_id: id,
    use_case: fc.option(fc.constantFrom(...USE_CASES)),
  })
  .map(({ dates: between, ...rest }) => ({ ...rest, ...between }));

const overTheWire = (value: object): unknown => JSON.parse(JSON.stringify(value));

test("a customer as the interface answers it is read back as the same customer", () => {
  fc.assert(
    fc.property(customers, fc.boolean(), fc.nat(), (customer, deleted, tank_count) => {
      const line = { ...customerObject({ ...customer, tank_count }), ...(deleted ? { deleted } : {}) };
      assert.deepEqual(decodeRecord(overTheWire(line)), { kind: "customer", record: { customer, deleted } });
    }),
    RUNS,
  );
});

test("a tank as the interface answers it is read back as the same tank", () => {
  fc.assert(
    fc.property(tanks, fc.boolean(), (tank, deleted) => {
      const line = { ...tankObject(tank), ...(deleted ? { deleted } : {}) };
      assert.deepEqual(decodeRecord(overTheWire(line)), { kind: "tank", record: { tank, deleted } });
    }),
    RUNS,
  );
});

test("a reading as the interface answers it, with its tank, is read back as the same reading", () => {
  const fill = fc.double({ min: 0, max: 100, noNaN: true }).map((value) => value + 0);
  fc.assert(
    fc.property(id, instant, fill, (tankId, created_at, fill_percentage) => {
      const reading = { created_at, fill_percentage };
      const line = { ...telemetryObject(reading), tank_id: tankId };
      assert.deepEqual(decodeRecord(overTheWire(line)), { kind: "telemetry", record: { tankId, reading } });
    }),
    RUNS,
  );
});

test("a reading written by hand is the JSON of its object, byte by byte", () => {
  const hundredths = fc.integer({ min: 0, max: 10_000 }).map((value) => value / 100);
  const fill = fc.oneof(hundredths, fc.constant(-0), fc.double({ min: 0, max: 100, noNaN: true }));
  fc.assert(
    fc.property(instant, fill, (created_at, fill_percentage) => {
      const reading = { created_at, fill_percentage };
      assert.equal(telemetryJson(reading), JSON.stringify(telemetryObject(reading)));
    }),
    RUNS,
  );
});

test("no JSON value makes decoding throw, and each is taken or has a reason on one line", () => {
  const field = fc.constantFrom(
    "object",
    "id",
    "location",
    "created_at",
    "email",
    "capacity",
    "deleted",
    "fill_percentage",
    "__proto__",
    "name",
  );
  const nearlyRight = fc
    .tuple(
      fc.oneof(
        customers.map((one) => customerObject({ ...one, tank_count: 0 })),
        tanks.map(tankObject),
      ),
      field,
      fc.jsonValue(),
    )
    .map(([line, name, value]) =>
      JSON.parse(`${JSON.stringify(line).slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`),
    );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), nearlyRight, nearlyRight), (value: unknown) => {
      const decoded = decodeRecord(value);
      if (decoded.kind === "rejected") assert.match(decoded.reason, /^[^\n\r]{1,400}$/);
    }),
    { numRuns: 2000 },
  );
});
