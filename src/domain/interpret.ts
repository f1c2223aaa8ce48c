// Computes the fill from the decoded payload of a device, or says why that is not possible (yet). A missing value is never read
// as 0, and one outside its bounds is never moved inside.

import type { Check, Profile } from "./profile.ts";
import { FILL } from "./reading.ts";
import { fillAtLevel, fullLevel, type Shape } from "./shape.ts";
import type { CapacityUnit } from "./tank.ts";
import { quoted } from "./text.ts";
import { fractionOf, inUnit, type LengthUnit, percentOf, snapToBound, type VolumeUnit } from "./units.ts";

export type TankDimensions = { readonly shape: Shape | null; readonly capacity: number; readonly capacity_unit: CapacityUnit };

/** `pending` and `rejected` are the reason. */
type Interpretation = { readonly fill: number } | { readonly pending: string } | { readonly rejected: string };

export function interpret(payload: unknown, profile: Profile | null, tank: TankDimensions): Interpretation {
  if (profile === null) return withoutProfile(payload);
  const excluded = profile.unless.find((path) => valueAt(payload, path) !== undefined);
  if (excluded !== undefined) return { rejected: `${excluded}: the profile excludes payloads with this field` };
  const value = valueAt(payload, profile.value);
  if (value === undefined) return { rejected: `${profile.value}: is missing from the payload` };
  if (!isNumber(value)) return { rejected: `${profile.value}: ${notANumber(value)}` };
  if (profile.invalid.includes(value)) {
    return { rejected: `${profile.value}: ${value} is the sensor's code for "no reading"` };
  }
  for (const check of profile.checks) {
    const error = errorInCheck(payload, check);
    if (error !== undefined) return { rejected: `${check.path}: ${error}` };
  }
  switch (profile.measures) {
    case "percent":
      return fromPercent(profile.value, value);
    case "distance":
      return rounded(fromDistance(profile.value, value, profile.unit, tank.shape));
    case "level":
      return rounded(fromLevel(profile.value, value, profile.unit, tank.shape));
    case "volume":
      return rounded(fromVolume(profile.value, value, profile.unit, tank));
  }
}

/** A hundredth of a percent is finer than sensors measure, and stored in two bytes. */
function rounded(result: Interpretation): Interpretation {
  return "fill" in result ? { fill: Math.round(result.fill * 100) / 100 } : result;
}

function withoutProfile(payload: unknown): Interpretation {
  const value = valueAt(payload, "fill_percentage");
  if (typeof value === "number") return fromPercent("fill_percentage", value);
  if (typeof value === "string") return { rejected: `fill_percentage: ${notANumber(value)}` };
  return { pending: "the device has no profile" };
}

const INDEX = /^\d{1,9}$/;

/** Own properties only, and of a list only its entries: nothing that JavaScript adds. */
function valueAt(payload: unknown, path: string): unknown {
  let value = payload;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    if (Array.isArray(value) && !INDEX.test(name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function notANumber(value: unknown): string {
  return `must be a number, not ${describe(value)}`;
}

function describe(value: unknown): string {
  if (typeof value === "string") return `the string ${quoted(value)}`;
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function errorInCheck(payload: unknown, { path, minimum, maximum }: Check): string | undefined {
  const value = valueAt(payload, path);
  if (value === undefined) return undefined;
  if (!isNumber(value)) return notANumber(value);
  if (minimum !== undefined && value < minimum) return `${value} is below the profile's minimum of ${minimum}`;
  if (maximum !== undefined && value > maximum) return `${value} is above the profile's maximum of ${maximum}`;
  return undefined;
}

function fromPercent(path: string, value: number): Interpretation {
  const { minimum, maximum } = FILL;
  if (!(value >= minimum && value <= maximum)) return { rejected: `${path}: ${value} is outside ${minimum} to ${maximum}` };
  // Adding 0 turns -0 into 0.
  return { fill: value + 0 };
}

function fromDistance(path: string, value: number, unit: LengthUnit, shape: Shape | null): Interpretation {
  // With a sensor below the top of the tank, this could still give a level inside it.
  if (value < 0) return { rejected: `${path}: ${value} ${unit} is negative, which a distance cannot be` };
  if (shape === null) return { pending: SHAPE_MISSING };
  if (shape.sensor_height === undefined)
    return { pending: "the tank's shape has no sensor_height, which is needed to read a distance" };
  const full = fullLevel(shape);
  const level = shape.sensor_height - inUnit(value, unit, shape.unit);
  const fill = fillAtLevel(shape, snapToBound(level, [0, full], Math.max(shape.sensor_height, full)));
  if (fill !== undefined) return { fill };
  const surface = `${withoutRoundingErrors(level)} ${shape.unit}`;
  return { rejected: `${path}: ${value} ${unit} puts the surface at ${surface}, ${outside(full, shape.unit)}` };
}

function fromLevel(path: string, value: number, unit: LengthUnit, shape: Shape | null): Interpretation {
  if (shape === null) return { pending: SHAPE_MISSING };
  const full = fullLevel(shape);
  const fill = fillAtLevel(shape, snapToBound(inUnit(value, unit, shape.unit), [0, full], full));
  return fill !== undefined ? { fill } : { rejected: `${path}: ${value} ${unit} is ${outside(full, shape.unit)}` };
}

const SHAPE_MISSING = "the tank has no shape";

function fromVolume(path: string, value: number, unit: VolumeUnit, tank: TankDimensions): Interpretation {
  const { capacity, capacity_unit } = tank;
  const fraction = snapToBound(fractionOf(value, unit, capacity, capacity_unit), [0, 1], 1);
  if (fraction >= 0 && fraction <= 1) return { fill: percentOf(fraction) };
  return { rejected: `${path}: ${value} ${unit} is ${outside(capacity, capacity_unit)}` };
}

function outside(full: number, unit: string): string {
  return `outside the tank's 0 to ${full} ${unit}`;
}

/** Removes the last digits, which come from binary arithmetic. */
function withoutRoundingErrors(length: number): number {
  return Number(length.toPrecision(12));
}
