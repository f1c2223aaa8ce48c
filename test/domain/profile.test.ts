import assert from "node:assert/strict";
import test from "node:test";
import { errorsInProfile, PROFILE_NAMES, profileNamed, profileOf } from "../../src/domain/profile.ts";

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
  assert.deepEqual(errorsInProfile({ ...OWN, value: 1 }, "device.profile"), [
    { field: "device.profile.value", message: "must be a string" },
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
    [withChecks({ path: "q", min: 1 }), "profile.checks[0].min: is not a known field."],
    [withChecks({ path: "q", minimum: 1 }, "quality"), "profile.checks[1]: must be an object"],
    [withChecks(...Array(21).fill({ path: "q", minimum: 1 })), "profile.checks: must have at most 20 entries"],
  ]);
});
