// Device profiles: how the decoded payload of a device becomes a measure. An operator names one that comes with the software,
// or writes one down.

import { BUILTIN_PROFILES } from "./builtin-profiles.ts";
import type { FieldError } from "./errors.ts";
import { anyOf, array, number, object, oneOf, type Schema, text } from "./schema.ts";
import { quoted, suggestion } from "./text.ts";
import { LENGTH_UNITS, type LengthUnit, VOLUME_UNITS, type VolumeUnit } from "./units.ts";
import { errorInField, errorsInFields, isObject } from "./validate.ts";

/** A number that, where the payload has it, must be within the bounds. */
export type Check = { readonly path: string; readonly minimum?: number; readonly maximum?: number };

/** `distance`: from the sensor down to the surface; `level`: from the bottom up to it. */
type Measured =
  | { readonly measures: "percent" }
  | { readonly measures: "distance" | "level"; readonly unit: LengthUnit }
  | { readonly measures: "volume"; readonly unit: VolumeUnit };

type Conditions = {
  /** The sensor's own marks for "no reading". */
  readonly invalid: readonly number[];
  readonly checks: readonly Check[];
  /** Paths; a payload that has one of them is no reading. */
  readonly unless: readonly string[];
};

/** `value`: the path of the measure in the decoded object: names, or places in a list, with dots in between. */
export type Profile = { readonly value: string } & Measured & Conditions;

const builtin: Readonly<Record<string, Profile>> = BUILTIN_PROFILES;
export const PROFILE_NAMES: readonly string[] = Object.keys(builtin);

export function profileNamed(name: string): Profile | undefined {
  return Object.hasOwn(builtin, name) ? builtin[name] : undefined;
}

const UNITS = { percent: ["percent"], distance: LENGTH_UNITS, level: LENGTH_UNITS, volume: VOLUME_UNITS } as const;
const MEASURES = ["percent", "distance", "level", "volume"] as const;
const MAX = { invalid: 100, checks: 20, unless: 20 } as const;
/** None of its names is empty. */
const PATH = /^[^.\p{Cf}]+(?:\.[^.\p{Cf}]+)*$/u;

const path = (description: string, example: string) => text({ minLength: 1, maxLength: 200, description, examples: [example] });
const MarkerPath = path("Path of what a reading does not have", "distance_alarm");

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
    invalid: array(number(), { maxItems: MAX.invalid, description: 'The sensor\'s own marks for "no reading"' }),
    checks: array(CheckSchema, { maxItems: MAX.checks, description: "Numbers that say whether the reading counts" }),
    unless: array(MarkerPath, { maxItems: MAX.unless, description: "Paths; a payload that has one of them is no reading" }),
  },
  { description: "How the payloads of a device are read" },
  ["unit", "invalid", "checks", "unless"],
);

export const ProfileSchema: Schema = anyOf(oneOf(PROFILE_NAMES), DefinitionSchema);

/** All that is wrong, by the names of the fields; `at` is what the profile itself is called. */
export function errorsInProfile(value: unknown, at = "profile"): FieldError[] {
  if (typeof value === "string") return errorsInName(value, at);
  if (!isObject(value)) return [{ field: at, message: "must be the name of a profile, or an object" }];
  const faults = errorsInFields(DefinitionSchema, value, at);
  const isFine = (name: string) => !faults.some(({ field }) => field === `${at}.${name}`);
  const add = (field: string, fault: string | undefined) =>
    fault !== undefined && faults.push({ field: `${at}.${field}`, message: fault });
  if (isFine("value")) add("value", errorInPath(value["value"]));
  if (isFine("measures") && isFine("unit")) add("unit", errorInUnit(value["measures"], value["unit"]));
  faults.push(...errorsInList(value["invalid"], MAX.invalid, `${at}.invalid`, errorsInMark));
  faults.push(...errorsInList(value["checks"], MAX.checks, `${at}.checks`, errorsInCheck));
  faults.push(...errorsInList(value["unless"], MAX.unless, `${at}.unless`, errorsInUnless));
  return faults;
}

/** Of a value without faults: the profile of that name, or the definition with what was left out. */
export function profileOf(value: unknown): Profile {
  const [first] = errorsInProfile(value);
  if (first !== undefined) throw new Error(`${first.field}: ${first.message}`);
  const named = typeof value === "string" ? profileNamed(value) : undefined;
  if (named !== undefined) return named;
  const {
    invalid = [],
    checks = [],
    unless = [],
    ...rest
  } = value as Omit<Profile, keyof Conditions> & Measured & Partial<Conditions>;
  return { ...rest, invalid, checks, unless };
}

function errorsInName(name: string, at: string): FieldError[] {
  if (profileNamed(name) !== undefined) return [];
  const names = `The names are ${PROFILE_NAMES.join(", ")}.`;
  return [{ field: at, message: `is not the name of a profile: ${quoted(name)}.${suggestion(name, PROFILE_NAMES)} ${names}` }];
}

function errorInPath(value: unknown): string | undefined {
  if (typeof value !== "string" || PATH.test(value)) return undefined;
  return `${quoted(value)} is not a path such as "distance.value"`;
}

/** Real decoders send metres, centimetres and millimetres under one name, so no unit is ever supposed. */
function errorInUnit(measures: unknown, unit: unknown): string | undefined {
  const kind = MEASURES.find((one) => one === measures) ?? "percent";
  const units: readonly unknown[] = UNITS[kind];
  if (units.includes(unit) || (kind === "percent" && unit === undefined)) return undefined;
  if (kind === "percent") return "a percentage has no other unit";
  return `${unit === undefined ? "is missing: " : ""}must be one of ${units.join(", ")} for a ${kind}`;
}

type ListCheck = (value: unknown, at: string) => FieldError[];

function errorsInList(value: unknown, most: number, at: string, faultsIn: ListCheck): FieldError[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [{ field: at, message: "must be a list" }];
  if (value.length > most) return [{ field: at, message: `must have at most ${most} entries, not ${value.length}` }];
  return value.flatMap((entry, i) => faultsIn(entry, `${at}[${i}]`));
}

const errorsInMark: ListCheck = (value, at) => (Number.isFinite(value) ? [] : [{ field: at, message: "must be a number" }]);

const errorsInUnless: ListCheck = (value, at) => {
  const fault = errorInField(MarkerPath, value) ?? errorInPath(value);
  return fault === undefined ? [] : [{ field: at, message: fault }];
};

const errorsInCheck: ListCheck = (value, at) => {
  if (!isObject(value)) return [{ field: at, message: "must be an object" }];
  const faults = errorsInFields(CheckSchema, value, at);
  if (faults.length > 0) return faults;
  const { minimum, maximum } = value;
  const fault = errorInPath(value["path"]);
  if (fault !== undefined) faults.push({ field: `${at}.path`, message: fault });
  if (minimum === undefined && maximum === undefined) faults.push({ field: at, message: "must have a minimum or a maximum" });
  if (Number(minimum) > Number(maximum)) faults.push({ field: `${at}.minimum`, message: "must not be above the maximum" });
  return faults;
};
