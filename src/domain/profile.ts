// Device profiles: where in the decoded payload of a device the measured value is. The operator picks a built-in one or writes
// one.

import type { FieldError } from "./errors.ts";
import { anyOf, array, number, object, oneOf, type Schema, type Static, text } from "./schema.ts";
import { quoted, suggestion } from "./text.ts";
import { LENGTH_UNITS, type LengthUnit, VOLUME_UNITS, type VolumeUnit } from "./units.ts";
import { errorsInObject, firstError, hasError, isObject } from "./validate.ts";

/** If the payload has a number at `path`, it must be within the bounds. */
export type Check = { readonly path: string; readonly minimum?: number; readonly maximum?: number };

/** `distance`: from the sensor down to the surface; `level`: from the bottom up to it. */
type Measured =
  | { readonly measures: "percent" }
  | { readonly measures: "distance" | "level"; readonly unit: LengthUnit }
  | { readonly measures: "volume"; readonly unit: VolumeUnit };

type Conditions = {
  /** The sensor's codes for "no reading". */
  readonly invalid: readonly number[];
  readonly checks: readonly Check[];
  /** Payloads with one of these paths are not readings. */
  readonly unless: readonly string[];
};

/** `value` is the path of the measured value in the decoded payload: names or list indexes, separated by dots. */
type ProfileDefinition = { readonly value: string } & Measured & Partial<Conditions>;
export type Profile = ProfileDefinition & Conditions;

function complete({ invalid = [], checks = [], unless = [], ...rest }: ProfileDefinition): Profile {
  return { ...rest, invalid, checks, unless };
}

// Profiles for the decoders that vendors and network servers publish. Decoders that differ only in unit have one profile each.
const BUILTIN: Readonly<Record<string, Profile>> = {
  /** Milesight's own decoder. Its alarm frames have a tenth of the value in `distance`, so they are excluded. */
  "milesight-em500-udl": complete({
    value: "distance",
    measures: "distance",
    unit: "mm",
    invalid: [65535],
    unless: ["distance_alarm"],
  }),
  /** The decoder in The Things Network's device repository. It is signed: the error code 65535 becomes -0.001. */
  "milesight-em500-udl-metres": complete({ value: "distance", measures: "distance", unit: "m", invalid: [-0.001, 65.535] }),
  /** 0: no probe found; 20: closer than the 280 mm it can measure. */
  "dragino-dds75-lb": complete({
    value: "Distance",
    measures: "distance",
    unit: "mm",
    invalid: [0, 20],
    checks: [{ path: "Sensor_flag", minimum: 1 }],
  }),
  /** Mounted under the tank: `Distance` is the height of the liquid; it can measure 20 to 2000 mm. */
  "dragino-dds20-lb": complete({
    value: "Distance",
    measures: "level",
    unit: "mm",
    invalid: [0],
    checks: [
      { path: "Sensor_flag", minimum: 1 },
      { path: "Distance", minimum: 20, maximum: 2000 },
    ],
  }),
  "decentlab-dl-mbx": complete({
    value: "distance.value",
    measures: "distance",
    unit: "mm",
    checks: [{ path: "number_of_valid_samples.value", minimum: 1 }],
  }),
  elsys: complete({ value: "distance", measures: "distance", unit: "mm" }),
  /** Mounted under the tank, through a gateway with the Theengs decoder. Quality 0 means no confidence in the level. */
  mopeka: complete({ value: "lvl_cm", measures: "level", unit: "cm", checks: [{ path: "quality", minimum: 1 }] }),
};

export const PROFILE_NAMES: readonly string[] = Object.keys(BUILTIN);

export function profileNamed(name: string): Profile | undefined {
  return Object.hasOwn(BUILTIN, name) ? BUILTIN[name] : undefined;
}

const MEASURES = ["percent", "distance", "level", "volume"] as const;
const MAX_ITEMS = { invalid: 100, checks: 20, unless: 20 } as const;
/** Non-empty names separated by dots. */
const PATH = /^[^.\p{Cf}]+(?:\.[^.\p{Cf}]+)*$/u;

const path = (description: string, example: string) => text({ minLength: 1, maxLength: 200, description, examples: [example] });
const MarkerPath = path("Path of a field that marks a payload as no reading", "distance_alarm");

const CheckSchema = object(
  { path: path("Path of a number in the decoded object", "quality"), minimum: number(), maximum: number() },
  { description: "Where the payload has this number, it must be within the bounds" },
  ["minimum", "maximum"],
);

const DefinitionSchema = object(
  {
    value: path("Path of the measured value in the decoded object", "distance.value"),
    measures: oneOf(MEASURES, { description: "`distance` is from the sensor to the surface, `level` from the bottom to it" }),
    unit: oneOf([...LENGTH_UNITS, ...VOLUME_UNITS, "percent"], { description: "Unit of the value; a percentage needs none" }),
    invalid: array(number(), { maxItems: MAX_ITEMS.invalid, description: 'The sensor\'s own marks for "no reading"' }),
    checks: array(CheckSchema, {
      maxItems: MAX_ITEMS.checks,
      description: "Numbers that must be within bounds for a valid reading",
    }),
    unless: array(MarkerPath, { maxItems: MAX_ITEMS.unless, description: "Paths; a payload that has one of them is rejected" }),
  },
  { description: "How the payloads of a device are read" },
  ["unit", "invalid", "checks", "unless"],
);

export const ProfileSchema: Schema = anyOf(oneOf(PROFILE_NAMES), DefinitionSchema);

/** All errors by field. */
export function errorsInProfile(value: unknown): FieldError[] {
  if (typeof value === "string") return errorsInName(value);
  if (!isObject(value)) return [{ field: "profile", message: "must be the name of a profile, or an object" }];
  const errors = errorsInObject(DefinitionSchema, value, "profile");
  const isValid = (name: string) => !hasError(errors, `profile.${name}`);
  const add = (field: string, message: string | undefined) => {
    if (message !== undefined) errors.push({ field: `profile.${field}`, message });
  };
  const { value: path, measures, unit, checks = [], unless = [] } = value as Partial<Static<typeof DefinitionSchema>>;
  if (isValid("value")) add("value", errorInPath(path));
  if (isValid("measures") && isValid("unit")) add("unit", errorInUnit(measures, unit));
  if (isValid("unless")) for (const [i, marker] of unless.entries()) add(`unless[${i}]`, errorInPath(marker));
  for (const [i, check] of isValid("checks") ? checks.entries() : []) {
    add(`checks[${i}].path`, errorInPath(check.path));
    add(`checks[${i}]`, errorInBounds(check));
  }
  return errors;
}

/** A valid profile: the built-in one of that name, or the definition with defaults filled in. Throws if it is not valid. */
export function profileOf(value: unknown): Profile {
  const error = firstError(errorsInProfile(value));
  if (error !== undefined) throw new Error(error);
  const builtIn = typeof value === "string" ? profileNamed(value) : undefined;
  if (builtIn !== undefined) return builtIn;
  return complete(value as ProfileDefinition);
}

function errorsInName(name: string): FieldError[] {
  if (profileNamed(name) !== undefined) return [];
  const hint = `${suggestion(name, PROFILE_NAMES)} Built-in profiles: ${PROFILE_NAMES.join(", ")}.`;
  return [{ field: "profile", message: `${quoted(name)} is not a built-in profile.${hint}` }];
}

function errorInPath(path = ""): string | undefined {
  return PATH.test(path) ? undefined : `${quoted(path)} is not a path such as "distance.value"`;
}

/** There is no default: decoders send metres, centimetres and millimetres under the same name. */
function errorInUnit(measures: Profile["measures"] = "percent", unit: string | undefined): string | undefined {
  if (measures === "percent") return unit === undefined || unit === "percent" ? undefined : "must be percent, or left out";
  const units: readonly string[] = measures === "volume" ? VOLUME_UNITS : LENGTH_UNITS;
  if (unit !== undefined && units.includes(unit)) return undefined;
  return `${unit === undefined ? "is missing: " : ""}must be one of ${units.join(", ")} for a ${measures}`;
}

function errorInBounds({ minimum, maximum }: Check): string | undefined {
  if (minimum === undefined && maximum === undefined) return "must have a minimum or a maximum";
  return Number(minimum) > Number(maximum) ? "minimum must not be above maximum" : undefined;
}
