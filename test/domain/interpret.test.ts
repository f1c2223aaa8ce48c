import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { interpret, type TankDimensions } from "../../src/domain/interpret.ts";
import { type Profile, profileOf } from "../../src/domain/profile.ts";
import { shapeOf } from "../../src/domain/shape.ts";
import { LENGTH_UNITS, type LengthUnit, VOLUME_UNITS } from "../../src/domain/units.ts";

const BARE: TankDimensions = { shape: null, capacity: 2700, capacity_unit: "liters" };
const tank = (shape: object): TankDimensions => ({ ...BARE, shape: shapeOf(shape) });
const UPRIGHT = tank({ kind: "upright", height: 2.1, unit: "m", sensor_height: 2.3 });

const DISTANCE = profileOf({ value: "distance", measures: "distance", unit: "mm" });
const LEVEL = profileOf({ value: "level", measures: "level", unit: "cm" });
const PERCENT = profileOf({ value: "fill", measures: "percent" });
const VOLUME = profileOf({ value: "volume", measures: "volume", unit: "liters" });

test("without a profile, a number named fill_percentage is the fill", () => {
  for (const fill of [0, 63.4, 100, 12.3456789012345, 5e-324]) {
    assert.deepEqual(interpret({ fill_percentage: fill, other: "x" }, null, BARE), { fill });
  }
  const empty = interpret({ fill_percentage: -0 }, null, BARE);
  assert.ok("fill" in empty && Object.is(empty.fill, 0));
});

test("without a profile, a fill outside 0 to 100, or a text, is rejected", () => {
  const cases: [unknown, string][] = [
    [-0.1, "-0.1 is outside 0 to 100"],
    [100.00001, "100.00001 is outside 0 to 100"],
    [JSON.parse("1e400"), "Infinity is outside 0 to 100"],
    [Number.NaN, "NaN is outside 0 to 100"],
    ["63.4", 'must be a number, not the string "63.4"'],
  ];
  for (const [fill_percentage, reason] of cases) {
    assert.deepEqual(interpret({ fill_percentage }, null, BARE), { rejected: `fill_percentage: ${reason}` });
  }
});

test("without a profile, everything else stays pending", () => {
  const others: unknown[] = [
    {},
    { distance: 30 },
    { fill_percentage: null },
    { fill_percentage: { value: 5 } },
    { nested: { fill_percentage: 5 } },
    Object.create({ fill_percentage: 5 }),
    JSON.parse('{"__proto__": {"fill_percentage": 5}}'),
    [],
    null,
    undefined,
    5,
    "fill_percentage",
  ];
  for (const payload of others) {
    assert.deepEqual(interpret(payload, null, UPRIGHT), { pending: "the device has no profile" });
  }
});

test("a distance, a level, a percentage and a volume become a fill", () => {
  const cylinder = tank({ kind: "horizontal_cylinder", diameter: 1.25, unit: "m", sensor_height: 1.5 });
  assert.deepEqual(interpret({ distance: 1250 }, DISTANCE, UPRIGHT), { fill: 50 });
  assert.deepEqual(interpret({ distance: 875 }, DISTANCE, cylinder), { fill: 50 });
  assert.deepEqual(interpret({ level: 105 }, LEVEL, UPRIGHT), { fill: 50 });
  assert.deepEqual(interpret({ level: 21 }, LEVEL, UPRIGHT), { fill: 10 });
  assert.deepEqual(interpret({ fill: 12.345678901234 }, PERCENT, BARE), { fill: 12.345678901234 });
  assert.deepEqual(interpret({ volume: 675 }, VOLUME, BARE), { fill: 25 });
});

test("a missing value is rejected with its path, never read as 0", () => {
  for (const payload of [{}, { distances: 5 }, null, undefined, [], 5, "distance", Object.create({ distance: 5 })]) {
    assert.deepEqual(interpret(payload, DISTANCE, UPRIGHT), { rejected: "distance: is missing from the payload" });
  }
});

test("a value that is not a number is rejected, and quoted short", () => {
  const cases: [unknown, string][] = [
    ["Invalid Reading", 'must be a number, not the string "Invalid Reading"'],
    ["1250", 'must be a number, not the string "1250"'],
    ["", 'must be a number, not the string ""'],
    ["a\u001b[31m\nb", 'must be a number, not the string "a\ufffd[31m\ufffdb"'],
    ["x".repeat(5_000_000), `must be a number, not the string "${"x".repeat(80)}…"`],
    [null, "must be a number, not null"],
    [true, "must be a number, not true"],
    [JSON.parse("-1e400"), "must be a number, not -Infinity"],
    [Number.NaN, "must be a number, not NaN"],
    [[1250], "must be a number, not a list"],
    [{ value: 1250 }, "must be a number, not an object"],
  ];
  for (const [distance, reason] of cases) {
    assert.deepEqual(interpret({ distance }, DISTANCE, UPRIGHT), { rejected: `distance: ${reason}` });
  }
});

test("a path leads through objects and lists, along their own properties alone", () => {
  const at = (value: string, payload: unknown) => interpret(payload, { ...PERCENT, value }, BARE);
  assert.deepEqual(at("a.b.c", { a: { b: { c: 5 } } }), { fill: 5 });
  assert.deepEqual(at("list.1.fill", { list: [{ fill: 1 }, { fill: 2 }] }), { fill: 2 });
  assert.deepEqual(at("0", [7]), { fill: 7 });
  assert.deepEqual(at("0", { 0: 7 }), { fill: 7 });
  assert.deepEqual(at("__proto__.fill", JSON.parse('{"__proto__": {"fill": 9}}')), { fill: 9 });
  const missing: [string, unknown][] = [
    ["list.length", { list: [1, 2] }],
    ["list.2", { list: [1, 2] }],
    ["list.-1", { list: [1, 2] }],
    ["list.01", { list: [1, 2] }],
    ["list.0.x", { list: [1, 2] }],
    ["text.length", { text: "abc" }],
    ["text.0", { text: "123" }],
    ["__proto__.fill", Object.create({ fill: 5 })],
    ["constructor.length", {}],
    ["toString.length", {}],
    ["a.b", { "a.b": 5 }],
    ["a.b.c", { a: { b: null } }],
  ];
  for (const [path, payload] of missing)
    assert.deepEqual(at(path, payload), { rejected: `${path}: is missing from the payload` });
});

test("error values, failed checks and other frames are rejected", () => {
  const profile = profileOf({
    ...DISTANCE,
    invalid: [65535, 0],
    checks: [{ path: "quality", minimum: 1, maximum: 3 }],
    unless: ["alarm"],
  });
  const cases: [object, string][] = [
    [{ distance: 65535 }, 'distance: 65535 is the sensor\'s code for "no reading"'],
    [{ distance: -0 }, 'distance: 0 is the sensor\'s code for "no reading"'],
    [{ distance: 1250, quality: 0 }, "quality: 0 is below the profile's minimum of 1"],
    [{ distance: 1250, quality: 4 }, "quality: 4 is above the profile's maximum of 3"],
    [{ distance: 1250, quality: "3" }, 'quality: must be a number, not the string "3"'],
    [{ distance: 1250, quality: null }, "quality: must be a number, not null"],
    [{ distance: 1250, alarm: false }, "alarm: the profile excludes payloads with this field"],
  ];
  for (const dimensions of [UPRIGHT, BARE]) {
    for (const [payload, rejected] of cases) assert.deepEqual(interpret(payload, profile, dimensions), { rejected });
  }
  for (const payload of [{ distance: 1250 }, { distance: 1250, quality: 1 }, { distance: 1250, quality: 3 }]) {
    assert.deepEqual(interpret(payload, profile, UPRIGHT), { fill: 50 });
  }
});

test("a reading stays pending until the tank has the shape it needs", () => {
  const withoutSensor = tank({ kind: "upright", height: 2.1, unit: "m" });
  assert.deepEqual(interpret({ distance: 1250 }, DISTANCE, BARE), { pending: "the tank has no shape" });
  assert.deepEqual(interpret({ level: 105 }, LEVEL, BARE), { pending: "the tank has no shape" });
  assert.deepEqual(interpret({ distance: 1250 }, DISTANCE, withoutSensor), {
    pending: "the tank's shape has no sensor_height, which is needed to read a distance",
  });
  assert.deepEqual(interpret({ level: 105 }, LEVEL, withoutSensor), { fill: 50 });
});

test("a value outside the tank is rejected with the range, never clamped", () => {
  const low = tank({ kind: "upright", height: 2.1, unit: "m", sensor_height: 1 });
  const cases: [object, Profile, TankDimensions, string][] = [
    [{ distance: 2301 }, DISTANCE, UPRIGHT, "distance: 2301 mm puts the surface at -0.001 m, outside the tank's 0 to 2.1 m"],
    [{ distance: 199 }, DISTANCE, UPRIGHT, "distance: 199 mm puts the surface at 2.101 m, outside the tank's 0 to 2.1 m"],
    [
      { distance: 199.9999999 },
      DISTANCE,
      UPRIGHT,
      "distance: 199.9999999 mm puts the surface at 2.1000000001 m, outside the tank's 0 to 2.1 m",
    ],
    [{ distance: -5 }, DISTANCE, low, "distance: -5 mm is negative, which a distance cannot be"],
    [{ distance: -5 }, DISTANCE, BARE, "distance: -5 mm is negative, which a distance cannot be"],
    [{ level: 210.1 }, LEVEL, UPRIGHT, "level: 210.1 cm is outside the tank's 0 to 2.1 m"],
    [{ level: -0.1 }, LEVEL, UPRIGHT, "level: -0.1 cm is outside the tank's 0 to 2.1 m"],
    [{ level: 1e308 }, LEVEL, UPRIGHT, "level: 1e+308 cm is outside the tank's 0 to 2.1 m"],
    [{ fill: 100.1 }, PERCENT, BARE, "fill: 100.1 is outside 0 to 100"],
    [{ fill: -1 }, PERCENT, BARE, "fill: -1 is outside 0 to 100"],
    [{ volume: 2700.1 }, VOLUME, BARE, "volume: 2700.1 liters is outside the tank's 0 to 2700 liters"],
    [{ volume: -1 }, VOLUME, BARE, "volume: -1 liters is outside the tank's 0 to 2700 liters"],
  ];
  for (const [payload, profile, dimensions, rejected] of cases)
    assert.deepEqual(interpret(payload, profile, dimensions), { rejected });
  for (const distance of [1e308, 1e305, 1e300]) assert.ok("rejected" in interpret({ distance }, DISTANCE, UPRIGHT));
});

/** Decimals as in JSON: a whole number and the position of its point. */
const decimal = (digits: number, places: number) => Number(`${digits}e-${places}`);
/** In tenths of a millimetre. */
const SIZE: Readonly<Record<LengthUnit, number>> = { mm: 10, cm: 100, m: 10_000, in: 254, ft: 3048 };
const LENGTHS = fc.record({
  unit: fc.constantFrom(...LENGTH_UNITS),
  other: fc.constantFrom(...LENGTH_UNITS),
  digits: fc.integer({ min: 1, max: 99_999 }),
  more: fc.integer({ min: 0, max: 99_999 }),
  places: fc.integer({ min: 0, max: 6 }),
});
/** The same length, exactly, as a decimal in either unit. */
const inBoth = ({ unit, other, places }: { unit: LengthUnit; other: LengthUnit; places: number }, digits: number) =>
  [decimal(digits * SIZE[other], places), decimal(digits * SIZE[unit], places)] as const;

test("exactly full and exactly empty are 100 and 0 in any pair of units, and slightly outside is outside", () => {
  fc.assert(
    fc.property(LENGTHS, (lengths) => {
      const { unit, other, digits, more } = lengths;
      const [height, level] = inBoth(lengths, digits);
      const [sensor_height, farthest] = inBoth(lengths, digits + more);
      const [, nearest] = inBoth(lengths, more);
      // Beyond what an operator may write, too: the arithmetic does not mind.
      const dimensions: TankDimensions = { ...BARE, shape: { kind: "upright", height, unit, sensor_height } };
      const byLevel = profileOf({ ...LEVEL, unit: other });
      const byDistance = profileOf({ ...DISTANCE, unit: other });
      assert.deepEqual(interpret({ level }, byLevel, dimensions), { fill: 100 });
      assert.deepEqual(interpret({ distance: nearest }, byDistance, dimensions), { fill: 100 });
      assert.deepEqual(interpret({ distance: farthest }, byDistance, dimensions), { fill: 0 });
      assert.ok("rejected" in interpret({ level: level * (1 + 1e-12) }, byLevel, dimensions));
      assert.ok("rejected" in interpret({ distance: farthest * (1 + 1e-12) }, byDistance, dimensions));
    }),
    { numRuns: 5000 },
  );
});

/** In nanolitres. */
const CONTENT = { liters: 1_000_000_000n, gallons: 3_785_411_784n, m3: 1_000_000_000_000n };

test("exactly the capacity is 100 in any pair of units, and slightly more is rejected", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...VOLUME_UNITS),
      fc.constantFrom("liters" as const, "gallons" as const),
      fc.bigInt({ min: 1n, max: 9_999_999n }),
      (unit, capacity_unit, digits) => {
        const capacity = Number(`${digits * CONTENT[unit]}e-10`);
        const volume = Number(`${digits * CONTENT[capacity_unit]}e-10`);
        const profile = profileOf({ ...VOLUME, unit });
        const dimensions = { shape: null, capacity, capacity_unit };
        assert.deepEqual(interpret({ volume }, profile, dimensions), { fill: 100 });
        assert.ok("rejected" in interpret({ volume: volume * (1 + 1e-12) }, profile, dimensions));
      },
    ),
    { numRuns: 2000 },
  );
});

test("volumes are converted by the US gallon", () => {
  const gallons = profileOf({ ...VOLUME, unit: "gallons" });
  assert.deepEqual(interpret({ volume: 500 }, gallons, { ...BARE, capacity: 3785.411784 }), { fill: 50 });
  assert.deepEqual(interpret({ volume: 500 }, gallons, { ...BARE, capacity: 1000, capacity_unit: "gallons" }), { fill: 50 });
  assert.deepEqual(interpret({ volume: 1.35 }, profileOf({ ...VOLUME, unit: "m3" }), BARE), { fill: 50 });
});

test("the largest and smallest capacity work", () => {
  for (const capacity of [5e-324, 1.7976931348623157e308]) {
    for (const unit of VOLUME_UNITS) {
      const profile = profileOf({ ...VOLUME, unit });
      for (const volume of [0, 1, 1e300]) {
        const result = interpret({ volume }, profile, { ...BARE, capacity });
        assert.ok("rejected" in result || ("fill" in result && result.fill >= 0), JSON.stringify(result));
      }
    }
  }
});

test("any payload gives a fill from 0 to 100 or a short reason", () => {
  const profiles = [null, DISTANCE, LEVEL, PERCENT, VOLUME, profileOf("mopeka"), profileOf("decentlab-dl-mbx")];
  const names = ["distance", "level", "fill", "volume", "value", "lvl_cm", "quality", "fill_percentage", "__proto__"];
  const values = [fc.double(), fc.integer(), fc.string(), fc.constant(null), fc.boolean()];
  const payloads = fc.anything({ key: fc.constantFrom(...names), values, maxDepth: 3 });
  fc.assert(
    fc.property(payloads, fc.constantFrom(...profiles), fc.constantFrom(BARE, UPRIGHT), (payload, profile, dimensions) => {
      const result = interpret(payload, profile, dimensions);
      if ("fill" in result) assert.ok(result.fill >= 0 && result.fill <= 100 && !Object.is(result.fill, -0));
      else assert.ok(("pending" in result ? result.pending : result.rejected).length < 300);
    }),
    { numRuns: 2000 },
  );
});

test("a deeply nested payload is followed as far as the path goes", () => {
  let deep: unknown = 5;
  for (let i = 0; i < 1_000_000; i++) deep = { distance: deep };
  assert.deepEqual(interpret(deep, DISTANCE, UPRIGHT), { rejected: "distance: must be a number, not an object" });
  assert.deepEqual(interpret(deep, null, UPRIGHT), { pending: "the device has no profile" });
});
