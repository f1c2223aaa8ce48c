import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { interpret } from "../../src/domain/interpret.ts";
import { errorsInProfile, PROFILE_NAMES, profileNamed, profileOf } from "../../src/domain/profile.ts";
import { errorsInShape, fillAtLevel, type Shape, shapeOf } from "../../src/domain/shape.ts";

const OWN = { value: "distance", measures: "distance", unit: "mm" };

const errorsOf = (value: unknown): string[] => errorsInProfile(value).map(({ field, message }) => `${field}: ${message}`);

/** Each case: a profile, and all its errors. */
const check = (cases: readonly (readonly [unknown, ...string[]])[]) => {
  for (const [value, ...errors] of cases) assert.deepEqual(errorsOf(value), errors, JSON.stringify(value));
};

test("every built-in profile is known by its name, and is a valid definition", () => {
  assert.deepEqual(PROFILE_NAMES, [
    "milesight-em500-udl",
    "milesight-em500-udl-metres",
    "dragino-dds75-lb",
    "dragino-dds20-lb",
    "decentlab-dl-mbx",
    "elsys",
    "mopeka",
  ]);
  for (const name of PROFILE_NAMES) {
    const profile = profileNamed(name);
    assert.ok(profile !== undefined);
    check([[name], [profile]]);
    assert.equal(profileOf(name), profile);
    assert.deepEqual(profileOf(profile), profile);
  }
});

test("an unknown name is rejected with a suggestion and all known names", () => {
  const names = `Built-in profiles: ${PROFILE_NAMES.join(", ")}.`;
  check([
    ["milesight-em500", `profile: "milesight-em500" is not a built-in profile. Did you mean "milesight-em500-udl"? ${names}`],
    ["Dragino DDS75", `profile: "Dragino DDS75" is not a built-in profile. Did you mean "dragino-dds75-lb"? ${names}`],
    ["", `profile: "" is not a built-in profile. ${names}`],
    ["x".repeat(1e6), `profile: "${"x".repeat(80)}…" is not a built-in profile. ${names}`],
  ]);
  for (const name of ["constructor", "__proto__", "toString", "MOPEKA"]) {
    assert.equal(profileNamed(name), undefined);
    assert.equal(errorsOf(name).length, 1);
  }
});

test("a custom definition is accepted, and missing fields are empty", () => {
  const good = [
    OWN,
    { ...OWN, measures: "level", unit: "in" },
    { value: "a.0.b", measures: "volume", unit: "gallons" },
    { value: "fill", measures: "percent" },
    { value: "fill", measures: "percent", unit: "percent" },
    { ...OWN, invalid: [65535, -1, 0.5], checks: [{ path: "quality", minimum: 1 }], unless: ["alarm"] },
    {
      ...OWN,
      checks: [
        { path: "a", maximum: 3 },
        { path: "b.c", minimum: 3, maximum: 3 },
      ],
    },
  ];
  for (const value of good) check([[value]]);
  assert.deepEqual(profileOf(OWN), { ...OWN, invalid: [], checks: [], unless: [] });
  assert.throws(() => profileOf({ ...OWN, unit: "miles" }), /profile\.unit/);
  assert.throws(() => profileOf("nonesuch"), /"nonesuch" is not a built-in profile/);
});

test("a profile must be a name or an object", () => {
  for (const value of [null, undefined, 1, true, [], [OWN]]) {
    check([[value, "profile: must be the name of a profile, or an object"]]);
  }
});

test("all errors are reported at once, each with its field", () => {
  check([
    [{}, "profile.value: is missing", "profile.measures: is missing"],
    [
      { valeu: "x", measures: "depth", unit: "km", invalid: "65535", checks: [{}], unless: [1] },
      'profile.valeu: is not a known field. Did you mean "value"?',
      "profile.value: is missing",
      "profile.measures: must be one of percent, distance, level, volume",
      "profile.unit: must be one of mm, cm, m, in, ft, liters, gallons, m3, percent",
      "profile.invalid: must be a list",
      "profile.checks[0].path: is missing",
      "profile.unless[0]: must be a string",
    ],
  ]);
});

test("a unit is required, and fits what is measured", () => {
  const lengths = "must be one of mm, cm, m, in, ft";
  const volumes = "must be one of liters, gallons, m3";
  check([
    [{ value: "x", measures: "distance" }, `profile.unit: is missing: ${lengths} for a distance`],
    [{ value: "x", measures: "level" }, `profile.unit: is missing: ${lengths} for a level`],
    [{ value: "x", measures: "volume" }, `profile.unit: is missing: ${volumes} for a volume`],
    [{ value: "x", measures: "distance", unit: "liters" }, `profile.unit: ${lengths} for a distance`],
    [{ value: "x", measures: "volume", unit: "m" }, `profile.unit: ${volumes} for a volume`],
    [{ value: "x", measures: "level", unit: "percent" }, `profile.unit: ${lengths} for a level`],
    [{ value: "x", measures: "percent", unit: "mm" }, "profile.unit: must be percent, or left out"],
    [{ value: "x", measures: "percent", unit: null }, "profile.unit: must not be null"],
  ]);
});

test("a path is names with dots in between", () => {
  const good = ["distance", "distance.value", "history.0.distance", "Distance (mm)", "Füllstand", "__proto__.x", "a".repeat(200)];
  for (const value of good) check([[{ ...OWN, value }]]);
  for (const value of [".", ".a", "a.", "a..b", "a\u202eb"]) {
    const [error] = errorsOf({ ...OWN, value });
    assert.match(error ?? "", /^profile\.value: ".*" is not a path such as "distance\.value"$/);
  }
  check([
    [{ ...OWN, value: "" }, "profile.value: must not be empty"],
    [{ ...OWN, value: "a".repeat(201) }, "profile.value: must have at most 200 characters"],
    [{ ...OWN, value: "a\nb" }, "profile.value: must not contain control characters or broken Unicode"],
    [{ ...OWN, value: ["distance"] }, "profile.value: must be a string"],
    [{ ...OWN, unless: ["a..b"] }, 'profile.unless[0]: "a..b" is not a path such as "distance.value"'],
    [{ ...OWN, unless: ["a".repeat(201)] }, "profile.unless[0]: must have at most 200 characters"],
  ]);
});

test("error values are numbers", () => {
  check([
    [{ ...OWN, invalid: [0, "65535", Number.NaN] }, ...[1, 2].map((i) => `profile.invalid[${i}]: must be a number`)],
    [{ ...OWN, invalid: [null] }, "profile.invalid[0]: must not be null"],
    [{ ...OWN, invalid: null }, "profile.invalid: must not be null"],
    [{ ...OWN, invalid: Array(101).fill(0) }, "profile.invalid: must have at most 100 entries"],
  ]);
});

test("a check has a path and at least one bound", () => {
  const withChecks = (...checks: unknown[]) => ({ ...OWN, checks });
  check([
    [withChecks({ path: "q" }), "profile.checks[0]: must have a minimum or a maximum"],
    [withChecks({ path: "q", minimum: 2, maximum: 1 }), "profile.checks[0]: minimum must not be above maximum"],
    [withChecks({ path: "q", minimum: "1" }), "profile.checks[0].minimum: must be a number"],
    [withChecks({ path: "q", minimum: null }), "profile.checks[0].minimum: must not be null"],
    [withChecks({ path: "a..b", minimum: 1 }), 'profile.checks[0].path: "a..b" is not a path such as "distance.value"'],
    [withChecks({ path: "q", min: 1 }), "profile.checks[0].min: is not a known field"],
    [withChecks({ path: "q", minimum: 1 }, "quality"), "profile.checks[1]: must be an object"],
    [withChecks(...Array(21).fill({ path: "q", minimum: 1 })), "profile.checks: must have at most 20 entries"],
  ]);
});

// Payloads as the vendors' decoders write them. The tank is 2 m high, its sensor 3 m above the bottom: a distance of 2 m is
// a level of 1 m, half full.
const shape = shapeOf({ kind: "upright", height: 2, unit: "m", sensor_height: 3 });

/** Each case: the payload, and its fill or the reason for rejection. */
const checkPayloads = (profile: string, cases: readonly (readonly [string, number | string])[]) => {
  for (const [payload, expected] of cases) {
    const result = interpret(JSON.parse(payload), profileOf(profile), { shape, capacity: 2700, capacity_unit: "liters" });
    assert.deepEqual(result, typeof expected === "number" ? { fill: expected } : { rejected: expected }, payload);
  }
};

test("Milesight EM500-UDL, by Milesight's decoder: millimetres", () => {
  checkPayloads("milesight-em500-udl", [
    ['{"battery":100,"distance":2000}', 50],
    ['{"distance":1000}', 100],
    ['{"distance":3000.0}', 0],
    ['{"battery":100,"distance":30}', "distance: 30 mm puts the surface at 2.97 m, outside the tank's 0 to 2 m"],
    ['{"battery":100,"distance":65535}', 'distance: 65535 is the sensor\'s code for "no reading"'],
    ['{"battery":100}', "distance: is missing from the payload"],
    ['{"history":[{"timestamp":1763112600,"distance":2000}]}', "distance: is missing from the payload"],
    [
      '{"ipso_version":"v0.1","hardware_version":"v1.1","firmware_version":"v1.10","sn":"6126a10412345678","device_status":"on"}',
      "distance: is missing from the payload",
    ],
    [
      '{"distance":200,"distance_mutation":1,"distance_alarm":"threshold_alarm"}',
      "distance_alarm: the profile excludes payloads with this field",
    ],
  ]);
});

test("Milesight EM500-UDL, by the decoder of The Things Network's device repository: metres under the same name", () => {
  checkPayloads("milesight-em500-udl-metres", [
    ['{"battery":100,"distance":2}', 50],
    ['{"battery":100,"distance":2.1}', 45],
    ['{"battery":100,"distance":0.03}', "distance: 0.03 m puts the surface at 2.97 m, outside the tank's 0 to 2 m"],
    ['{"battery":100,"distance":-0.001}', 'distance: -0.001 is the sensor\'s code for "no reading"'],
    ['{"battery":100,"distance":65.535}', 'distance: 65.535 is the sensor\'s code for "no reading"'],
    ['{"battery":100}', "distance: is missing from the payload"],
  ]);
});

test("Dragino DDS75-LB", () => {
  const frame = (distance: string, flag = 1) =>
    `{"Node_type":"DDS75-LB","Bat":2.885,"Distance":${distance},"Interrupt_flag":0,"TempC_DS18B20":"26.10","Sensor_flag":${flag}}`;
  checkPayloads("dragino-dds75-lb", [
    [frame("2821"), 8.95],
    [frame("2000"), 50],
    [frame("0"), 'Distance: 0 is the sensor\'s code for "no reading"'],
    [frame("20"), 'Distance: 20 is the sensor\'s code for "no reading"'],
    [frame("2821", 0), "Sensor_flag: 0 is below the profile's minimum of 1"],
    [frame('"2821 mm"'), 'Distance: must be a number, not the string "2821 mm"'],
    [frame('"No Sensor"'), 'Distance: must be a number, not the string "No Sensor"'],
    [frame('"Invalid Reading"'), 'Distance: must be a number, not the string "Invalid Reading"'],
    ['{"Bat":3.384,"Additional_Distance_Data":[2821,2820,2819]}', "Distance: is missing from the payload"],
    ['{"Node_type":"DDS75-LB","DATALOG":"[2821,1],[2820,1],","PNACKMD":"True"}', "Distance: is missing from the payload"],
    [
      '{"SENSOR_MODEL":"DDS75-LB","FIRMWARE_VERSION":"1.0.0","FREQUENCY_BAND":"EU868","SUB_BAND":"NULL","BAT":3.3}',
      "Distance: is missing from the payload",
    ],
    [
      '{"battery":2.885,"distance1":261,"distance2":0,"distance3":0,"s_flag":1,"i_flag":0}',
      "Distance: is missing from the payload",
    ],
    // An older decoder sends no flag.
    ['{"Bat":2.885,"Distance":2000,"Interrupt_flag":0,"TempC_DS18B20":"26.10"}', 50],
  ]);
});

test("Dragino DDS20-LB: the same payload, but the liquid's height from below", () => {
  const frame = (distance: number, flag = 1) =>
    `{"Node_type":"DDS20-LB","Bat":2.885,"Distance":${distance},"Interrupt_flag":0,"TempC_DS18B20":"26.10","Sensor_flag":${flag}}`;
  checkPayloads("dragino-dds20-lb", [
    [frame(500), 25],
    [frame(20), 1],
    [frame(2000), 100],
    [frame(0), 'Distance: 0 is the sensor\'s code for "no reading"'],
    [frame(19), "Distance: 19 is below the profile's minimum of 20"],
    [frame(2001), "Distance: 2001 is above the profile's maximum of 2000"],
    [frame(500, 0), "Sensor_flag: 0 is below the profile's minimum of 1"],
  ]);
});

test("Decentlab DL-MBX", () => {
  const frame = (distance: number, samples: number) =>
    `{"protocol_version":2,"device_id":303,"distance":{"displayName":"Distance","value":${distance},"unit":"mm"},` +
    `"number_of_valid_samples":{"displayName":"Number of valid samples","value":${samples}},` +
    `"battery_voltage":{"displayName":"Battery voltage","value":2.993,"unit":"V"}}`;
  checkPayloads("decentlab-dl-mbx", [
    [frame(1234, 1), 88.3],
    [frame(2000, 15), 50],
    [frame(1234, 0), "number_of_valid_samples.value: 0 is below the profile's minimum of 1"],
    [
      '{"protocol_version":2,"device_id":303,"battery_voltage":{"displayName":"Battery voltage","value":2.993,"unit":"V"}}',
      "distance.value: is missing from the payload",
    ],
    ['{"distance":1234}', "distance.value: is missing from the payload"],
  ]);
});

test("Elsys", () => {
  const frame = (distance: number) =>
    `{"temperature":22.6,"humidity":41,"x":1,"y":39,"z":5,"pressure":100729.105,"distance":${distance}}`;
  checkPayloads("elsys", [
    [frame(2000), 50],
    [frame(8977), "distance: 8977 mm puts the surface at -5.977 m, outside the tank's 0 to 2 m"],
    ['{"temperature":22.6,"humidity":41,"vdd":3642}', "distance: is missing from the payload"],
  ]);
});

test("Mopeka Pro Check, through a gateway: a level, and only with some confidence", () => {
  const frame = (level: number, quality: number) =>
    `{"brand":"Mopeka/Lippert","model":"Pro Check (Universal)/BottleCheck Sensor","model_id":"M1017","type":"UNIQ","cidc":false,` +
    `"tempc":25,"tempf":77,"lvl_cm":${level},"lvl_in":6.068689961,"sync":false,"volt":2.90625,"batt":100,"quality":${quality},"accx":3,"accy":35}`;
  checkPayloads("mopeka", [
    [frame(15.4144725, 3), 7.71],
    [frame(100, 1), 50],
    [frame(0, 0), "quality: 0 is below the profile's minimum of 1"],
    [frame(39.4, 0), "quality: 0 is below the profile's minimum of 1"],
    [frame(412.2, 1), "lvl_cm: 412.2 cm is outside the tank's 0 to 2 m"],
    ['{"model_id":"M1017","tempc":19,"volt":2.90625,"quality":3}', "lvl_cm: is missing from the payload"],
  ]);
});

// docs/devices.md

const page = readFileSync(new URL("../../docs/devices.md", import.meta.url), "utf8");

const blocks = (text: string, kind: string): unknown[] =>
  [...text.matchAll(new RegExp(`\`\`\`json ${kind}\n(.*?)\`\`\``, "gs"))].map(([, json]) => JSON.parse(json ?? ""));

test("every shape and profile in docs/devices.md is valid", () => {
  const shapes = blocks(page, "shape");
  assert.equal(shapes.length, 3);
  for (const one of shapes) assert.deepEqual(errorsInShape(one), []);
  const profiles = blocks(page, "profile");
  assert.equal(profiles.length, 1);
  for (const profile of profiles) assert.deepEqual(errorsInProfile(profile), []);
});

test("every built-in profile has a section in docs/devices.md, with a payload that it reads", () => {
  const sections = page.split(/^### /m).slice(1);
  assert.deepEqual(
    sections.map((section) => section.split("\n")[0]),
    PROFILE_NAMES.map((name) => `\`${name}\``),
  );
  const deep = shapeOf({ kind: "upright", height: 10, unit: "m", sensor_height: 10 });
  for (const [i, name] of PROFILE_NAMES.entries()) {
    const payloads = blocks(sections[i] ?? "", "payload");
    assert.equal(payloads.length, 1, name);
    assert.ok("fill" in interpret(payloads[0], profileOf(name), { shape: deep, capacity: 1, capacity_unit: "liters" }), name);
  }
});

test("the table of fills in docs/devices.md is correct", () => {
  const rows = [...page.matchAll(/^\| (height|flat heads|elliptical heads)[^|]* \|(.*)\|$/gm)].map(([, , cells]) =>
    (cells ?? "").split("|").map((cell) => cell.trim()),
  );
  const [heights = [], ...fills] = rows;
  const flat: Shape = { kind: "horizontal_cylinder", unit: "m", diameter: 1, heads: "flat" };
  const shapes: Shape[] = [flat, { ...flat, heads: "elliptical", length: 2.5 }];
  assert.deepEqual(
    fills,
    shapes.map((one) => heights.map((height) => fillAtLevel(one, Number(height))?.toFixed(2))),
  );
});

test("a definition with more errors than are reported is rejected, whatever its other fields are", () => {
  const invalid = Array.from({ length: 60 }, () => "x");
  for (const other of [{ checks: {} }, { checks: [1] }, { unless: 1 }, { unless: [1] }]) {
    const errors = errorsInProfile({ value: "distance", measures: "percent", invalid, ...other });
    assert.equal(errors[0]?.field, "profile.invalid[0]");
  }
});
