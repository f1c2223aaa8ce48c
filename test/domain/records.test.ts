import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { type Customer, customerObject } from "../../src/domain/customer.ts";
import { isCleanText, isDotSegment } from "../../src/domain/id.ts";
import { telemetryJson, telemetryObject } from "../../src/domain/reading.ts";
import { CAPACITY_UNITS, NO_LOCATION, type Tank, tankObject, USE_CASES } from "../../src/domain/tank.ts";
import { decodeRecord } from "../../src/ingest/records.ts";

const CUSTOMER = { object: "customer", id: "c", created_at: "2026-01-01T00:00:00Z", email: "a@b", name: "C" };
const TANK = {
  object: "tank",
  id: "t",
  assigned_device_id: "d",
  capacity: 2700,
  capacity_unit: "liters",
  created_at: "2026-01-01T00:00:00Z",
  min_fill_alert_percentage: 20,
  name: "T",
  owner_id: "c",
};
const READING = { object: "telemetry", tank_id: "t", created_at: "2026-01-01T00:00:00Z", fill_percentage: 50 };

type Fields = Readonly<Record<string, unknown>>;

const reasonOf = (value: unknown): string | undefined => {
  const decoded = decodeRecord(value);
  return decoded.kind === "rejected" ? decoded.reason : undefined;
};

/** Each case: fields that replace those of a valid line, and the reason for rejection, if any. */
function check(line: Fields, cases: readonly (readonly [Fields, string | undefined])[]): void {
  for (const [fields, reason] of cases) assert.equal(reasonOf({ ...line, ...fields }), reason, JSON.stringify(fields));
}

const without = (line: Fields, name: string): Fields => Object.fromEntries(Object.entries(line).filter(([key]) => key !== name));

const DATETIME = 'must be a datetime such as "2026-11-14T09:30:00Z"';
const CLEAN = "must not contain control characters or broken Unicode";

test("a line must be an object of a known kind", () => {
  const reason = 'the line must be an object whose "object" is "customer", "tank", "device" or "telemetry"';
  const kinds = ["list", ["customer"], "Customer"].map((object) => ({ object }));
  for (const value of [null, undefined, 1, "customer", true, [], [CUSTOMER], {}, ...kinds])
    assert.equal(reasonOf(value), reason, JSON.stringify(value));
});

test("a customer needs few fields, and the others are empty", () => {
  const at = Date.parse("2026-01-01T00:00:00Z");
  const empty = { last_seen_at: null, phone: null, verified_at: null };
  const customer = { id: "c", created_at: at, email: "a@b", name: "C", updated_at: at, ...empty };
  assert.deepEqual(decodeRecord(CUSTOMER), { kind: "customer", record: { customer, deleted: false } });
});

test("required fields", () => {
  for (const line of [CUSTOMER, TANK, READING]) {
    for (const name of Object.keys(line).filter((field) => field !== "object")) {
      assert.match(reasonOf(without(line, name)) ?? "", new RegExp(`^${name}( or \\w+)?: (is missing|one of them is required)$`));
      assert.equal(reasonOf({ ...line, [name]: null }), `${name}: must not be null`);
    }
  }
});

test("rules for a customer's fields", () => {
  check(CUSTOMER, [
    [{ id: "" }, "id: must not be empty"],
    [{ id: "x".repeat(128) }, undefined],
    [{ id: "x".repeat(129) }, "id: must have at most 128 characters"],
    [{ id: "a\nb" }, `id: ${CLEAN}`],
    [{ email: "nobody" }, "email: must be an email address"],
    [{ email: "a@b@c" }, "email: must be an email address"],
    [{ email: "a b@c" }, "email: must be an email address"],
    [{ email: "" }, "email: must be an email address"],
    [{ email: `${"x".repeat(510)}@y` }, undefined],
    [{ email: `${"x".repeat(511)}@y` }, "email: must have at most 512 characters"],
    [{ email: "jos\u00e9@b\u00fccher.example" }, undefined],
    [{ name: "" }, "name: must not be empty"],
    [{ name: "x".repeat(512) }, undefined],
    [{ name: "x".repeat(513) }, "name: must have at most 512 characters"],
    [{ phone: null }, undefined],
    [{ phone: "" }, undefined],
    [{ phone: 112 }, "phone: must be a string"],
    [{ created_at: "2026-02-30" }, `created_at: ${DATETIME}`],
    [{ created_at: 1763112600 }, "created_at: must be a string"],
    [{ created_at: "2026-01-01" }, undefined],
    [{ last_seen_at: null }, undefined],
    [{ deleted: "yes" }, "deleted: must be true or false"],
    [{ deleted: null }, "deleted: must not be null"],
    [{ emial: "a@b" }, 'emial: is not a known field. Did you mean "email"?'],
  ]);
});

test("is_verified is true if and only if verified_at is set", () => {
  const reason = "is_verified: must be true if and only if verified_at is set";
  check(CUSTOMER, [
    [{ is_verified: true, verified_at: "2026-01-01" }, undefined],
    [{ is_verified: false, verified_at: null }, undefined],
    [{ is_verified: false }, undefined],
    [{ verified_at: "2026-01-01" }, undefined],
    [{ is_verified: true }, reason],
    [{ is_verified: true, verified_at: null }, reason],
    [{ is_verified: false, verified_at: "2026-01-01" }, reason],
    [{ is_verified: 1 }, "is_verified: must be true or false"],
  ]);
});

test("updated_at is not before created_at", () => {
  for (const line of [CUSTOMER, TANK]) {
    check(line, [
      [{ updated_at: "2026-01-01T00:00:00Z" }, undefined],
      [{ updated_at: "2026-01-01T01:00:00+02:00" }, "updated_at: must not be before created_at"],
      [{ updated_at: "2025-12-31T23:59:59.999Z" }, "updated_at: must not be before created_at"],
    ]);
  }
});

test("tank_count is derived and not read", () => {
  for (const tank_count of [0, 99, -1, "many", null, {}]) {
    assert.deepEqual(decodeRecord({ ...CUSTOMER, tank_count }), decodeRecord(CUSTOMER));
  }
  assert.equal(reasonOf({ ...TANK, tank_count: 1 }), "tank_count: is not a known field");
});

test("rules for a tank's fields", () => {
  check(TANK, [
    [{ capacity: 0 }, "capacity: must be above 0"],
    [{ capacity: -1 }, "capacity: must be above 0"],
    [{ capacity: 5e-324 }, undefined],
    [{ capacity: 1.7976931348623157e308 }, undefined],
    [{ capacity: JSON.parse("1e400") }, "capacity: must be a number"],
    [{ capacity: "2700" }, "capacity: must be a number"],
    [{ capacity_unit: "litres" }, "capacity_unit: must be one of liters, gallons"],
    [{ capacity_unit: "gallons" }, undefined],
    [{ min_fill_alert_percentage: 0 }, undefined],
    [{ min_fill_alert_percentage: 100 }, undefined],
    [{ min_fill_alert_percentage: 101 }, "min_fill_alert_percentage: must be from 0 to 100"],
    [{ min_fill_alert_percentage: -1 }, "min_fill_alert_percentage: must be from 0 to 100"],
    [{ min_fill_alert_percentage: 20.5 }, "min_fill_alert_percentage: must be a whole number"],
    [{ use_case: null }, undefined],
    [{ use_case: "industrial" }, undefined],
    [{ use_case: "farming" }, "use_case: must be one of residential, commercial, industrial"],
    [{ custom_id: null }, undefined],
    [{ custom_id: "x".repeat(513) }, "custom_id: must have at most 512 characters"],
    [{ assigned_device_id: "" }, "assigned_device_id: must not be empty"],
    [{ owner_id: "x".repeat(129) }, "owner_id: must have at most 128 characters"],
  ]);
});

test("rules for a tank's location", () => {
  check(TANK, [
    [{ location: {} }, undefined],
    [{ location: null }, "location: must not be null"],
    [{ location: "here" }, "location: must be an object"],
    [{ location: { city: null } }, undefined],
    [{ location: { city: 7 } }, "location.city: must be a string"],
    [{ location: { lattitude: 1 } }, 'location.lattitude: is not a known field. Did you mean "latitude"?'],
    [{ location: { latitude: 90, longitude: -180 } }, undefined],
    [{ location: { latitude: 90.1 } }, "location.latitude: must be from -90 to 90"],
    [{ location: { longitude: -180.1 } }, "location.longitude: must be from -180 to 180"],
    [{ location: { street: "a\tb" } }, `location.street: ${CLEAN}`],
  ]);
  const decoded = decodeRecord({ ...TANK, location: { city: "Ulm" } });
  assert.ok(decoded.kind === "tank" && "tank" in decoded.record);
  assert.deepEqual(
    Object.values(decoded.record.tank.location).filter((value) => value !== null),
    ["Ulm"],
  );
  assert.equal(Object.keys(decoded.record.tank.location).length, 9);
});

test("rules for a reading", () => {
  check(READING, [
    [{}, undefined],
    [{ fill_percentage: 0 }, undefined],
    [{ fill_percentage: 100 }, undefined],
    [{ fill_percentage: 100.00000000000001 }, "fill_percentage: must be from 0 to 100"],
    [{ fill_percentage: -0.1 }, "fill_percentage: must be from 0 to 100"],
    [{ fill_percentage: "50" }, "fill_percentage: must be a number"],
    [{ tank_id: "" }, "tank_id: must not be empty"],
    [{ created_at: "now" }, `created_at: ${DATETIME}`],
    [{ customer_id: "c" }, 'unknown field "customer_id". Sensor values other than a percentage belong in "payload".'],
  ]);
});

test("a reading's instant is rounded down to the millisecond, and minus zero is zero", () => {
  const decoded = decodeRecord({ ...READING, created_at: "1969-12-31T23:59:59.9999Z", fill_percentage: -0 });
  assert.ok(decoded.kind === "telemetry");
  const { createdAt, measurement } = decoded.record.reading;
  assert.equal(createdAt, -1);
  assert.ok("fill" in measurement && Object.is(measurement.fill, 0));
});

test("a line with id and deleted deletes; a complete line with deleted creates a deleted object", () => {
  for (const kind of ["customer", "tank"] as const) {
    assert.deepEqual(decodeRecord({ object: kind, id: "x", deleted: true }), { kind, record: { remove: "x" } });
    assert.notEqual(reasonOf({ object: kind, id: "x", deleted: false }), undefined);
    assert.notEqual(reasonOf({ object: kind, id: 7, deleted: true }), undefined);
    assert.notEqual(reasonOf({ object: kind, id: "x" }), undefined);
    assert.notEqual(reasonOf({ object: kind, id: "x", deleted: true, name: "y" }), undefined);
  }
  for (const line of [CUSTOMER, TANK]) {
    for (const deleted of [true, false]) {
      const decoded = decodeRecord({ ...line, deleted });
      assert.ok(decoded.kind !== "rejected" && "deleted" in decoded.record);
      assert.equal(decoded.record.deleted, deleted);
    }
    const deleted_at = "2026-03-01T00:00:00.000Z";
    const decoded = decodeRecord({ ...line, deleted: true, deleted_at });
    assert.ok(decoded.kind !== "rejected" && "deletedAt" in decoded.record);
    assert.equal(decoded.record.deletedAt, Date.parse(deleted_at));
    for (const more of [{}, { deleted: false }]) {
      assert.equal(reasonOf({ ...line, ...more, deleted_at }), "deleted_at: must not be given unless deleted is true");
    }
    assert.equal(reasonOf({ ...line, deleted: true, deleted_at: "yesterday" }), `deleted_at: ${DATETIME}`);
  }
});

// Round trips

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");
const RUNS = { numRuns: 500 };

const cleanText = (minLength: number, maxLength: number) =>
  fc
    .string({ unit: "grapheme", minLength, maxLength })
    .filter((text) => isCleanText(text) && text.length >= minLength && text.length <= maxLength);
const id = cleanText(1, 60).filter((text) => !isDotSegment(text));
const text = cleanText(1, 80);
const nullableText = fc.option(cleanText(0, 80));
const instant = fc.integer({ min: FIRST, max: LAST });
const dates = fc.tuple(instant, instant).map(([a, b]) => ({ created_at: Math.min(a, b), updated_at: Math.max(a, b) }));
const degrees = (max: number) => fc.option(fc.double({ min: -max, max, noNaN: true }).map((value) => value + 0));

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
  .map(({ dates: range, ...rest }) => ({ ...rest, ...range }));

const texts = Object.fromEntries(Object.keys(NO_LOCATION).map((name) => [name, nullableText]));
const locations = fc.record({ ...texts, latitude: degrees(90), longitude: degrees(180) }, { noNullPrototype: true });

const tanks: fc.Arbitrary<Tank> = fc
  .record({
    id,
    assigned_device_id: id,
    capacity: fc.double({ min: Number.MIN_VALUE, max: Number.MAX_VALUE, noNaN: true }),
    capacity_unit: fc.constantFrom(...CAPACITY_UNITS),
    custom_id: nullableText,
    dates,
    location: locations.map((location) => ({ ...NO_LOCATION, ...location })),
    min_fill_alert_percentage: fc.integer({ min: 0, max: 100 }),
    name: text,
    owner_id: id,
    use_case: fc.option(fc.constantFrom(...USE_CASES)),
  })
  .map(({ dates: range, ...rest }) => ({ ...rest, ...range }));

const viaJson = (value: object): unknown => JSON.parse(JSON.stringify(value));

test("an exported customer is imported as the same customer", () => {
  fc.assert(
    fc.property(customers, fc.boolean(), fc.nat(), (customer, deleted, tank_count) => {
      const line = { ...customerObject({ ...customer, tank_count }), ...(deleted ? { deleted } : {}) };
      assert.deepEqual(decodeRecord(viaJson(line)), { kind: "customer", record: { customer, deleted } });
    }),
    RUNS,
  );
});

test("an exported tank is imported as the same tank", () => {
  fc.assert(
    fc.property(tanks, fc.boolean(), (tank, deleted) => {
      const line = { ...tankObject(tank), ...(deleted ? { deleted } : {}) };
      assert.deepEqual(decodeRecord(viaJson(line)), { kind: "tank", record: { tank, deleted } });
    }),
    RUNS,
  );
});

test("an exported reading is imported as the same reading", () => {
  const fill = fc.double({ min: 0, max: 100, noNaN: true }).map((value) => value + 0);
  fc.assert(
    fc.property(id, instant, fill, (tankId, created_at, fill_percentage) => {
      const line = { ...telemetryObject({ created_at, fill_percentage }), tank_id: tankId };
      const reading = { source: { tankId }, createdAt: created_at, measurement: { fill: fill_percentage } };
      assert.deepEqual(decodeRecord(viaJson(line)), {
        kind: "telemetry",
        record: { reading, customerId: null },
        isAssumedUtc: false,
      });
    }),
    RUNS,
  );
});

test("telemetryJson is the JSON of the object, byte for byte", () => {
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

test("no JSON value makes decoding throw; a rejected one has a reason of one line", () => {
  const names = [...Object.keys({ ...CUSTOMER, ...TANK, ...READING }), "location", "deleted", "__proto__"];
  const objects = fc.oneof(
    customers.map((one) => customerObject({ ...one, tank_count: 0 })),
    tanks.map(tankObject),
  );
  const nearlyValid = fc
    .tuple(objects, fc.constantFrom(...names), fc.jsonValue())
    .map(([line, name, value]) =>
      JSON.parse(`${JSON.stringify(line).slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`),
    );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), nearlyValid, nearlyValid), (value: unknown) => {
      const decoded = decodeRecord(value);
      if (decoded.kind === "rejected") assert.match(decoded.reason, /^[^\n\r]{1,400}$/);
    }),
    { numRuns: 2000 },
  );
});
