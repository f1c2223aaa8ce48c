// From the decoded payload of a device to a fill, or the reason why it is refused, or what it has to wait for. A value that
// is not there is never read as 0, and one outside its bounds is never moved inside.

import { fillAtLevel, fullLevel } from "./geometry.ts";
import type { Check, Profile } from "./profile.ts";
import { FILL } from "./reading.ts";
import type { Shape } from "./shape.ts";
import type { CapacityUnit } from "./tank.ts";
import { quoted } from "./text.ts";
import { fractionOf, inUnit, type LengthUnit, percentOf, snapToBound, type VolumeUnit } from "./units.ts";

/** What of a tank is needed to read payloads. */
export type TankDimensions = { readonly shape: Shape | null; readonly capacity: number; readonly capacity_unit: CapacityUnit };

/** Both `waits` and `rejected` say why. */
export type Interpretation = { readonly fill: number } | { readonly waits: string } | { readonly rejected: string };

export function interpret(payload: unknown, profile: Profile | null, vessel: TankDimensions): Interpretation {
  if (profile === null) return withoutProfile(payload);
  const sign = profile.unless.find((path) => valueAt(payload, path) !== undefined);
  if (sign !== undefined) return { rejected: `${sign}: a payload that has this is no reading for this profile` };
  const value = valueAt(payload, profile.value);
  if (value === undefined) return { rejected: `${profile.value}: is not in the payload` };
  if (!isNumber(value)) return { rejected: `${profile.value}: ${notANumber(value)}` };
  if (profile.invalid.includes(value)) {
    return { rejected: `${profile.value}: ${value} is the sensor's mark for "no reading"` };
  }
  for (const check of profile.checks) {
    const fault = errorInCheck(payload, check);
    if (fault !== undefined) return { rejected: `${check.path}: ${fault}` };
  }
  switch (profile.measures) {
    case "percent":
      return fromPercent(profile.value, value);
    case "distance":
      return rounded(fromDistance(profile.value, value, profile.unit, vessel.shape));
    case "level":
      return rounded(fromLevel(profile.value, value, profile.unit, vessel.shape));
    case "volume":
      return rounded(fromVolume(profile.value, value, profile.unit, vessel));
  }
}

/** What is computed is kept to the hundredth of a percent: finer than sensors measure, and stored in two bytes. */
function rounded(end: Interpretation): Interpretation {
  return "fill" in end ? { fill: Math.round(end.fill * 100) / 100 } : end;
}

function withoutProfile(payload: unknown): Interpretation {
  const value = valueAt(payload, "fill_percentage");
  if (typeof value === "number") return fromPercent("fill_percentage", value);
  if (typeof value === "string") return { rejected: `fill_percentage: ${notANumber(value)}` };
  return { waits: "no profile is given for this device" };
}

const INDEX = /^\d{1,9}$/;

/** Own properties alone, and of a list its entries alone: what the payload says, not what JavaScript adds to it. */
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
  if (typeof value === "string") return `${quoted(value)} is a text where a number belongs`;
  if (Array.isArray(value)) return "is a list where a number belongs";
  if (typeof value === "object" && value !== null) return "is an object where a number belongs";
  return `${String(value)} stands where a number belongs`;
}

function errorInCheck(payload: unknown, { path, minimum, maximum }: Check): string | undefined {
  const value = valueAt(payload, path);
  if (value === undefined) return undefined;
  if (!isNumber(value)) return notANumber(value);
  if (minimum !== undefined && value < minimum) return `${value} is below ${minimum}, so the reading does not count`;
  if (maximum !== undefined && value > maximum) return `${value} is above ${maximum}, so the reading does not count`;
  return undefined;
}

function fromPercent(path: string, value: number): Interpretation {
  const { minimum, maximum } = FILL;
  if (!(value >= minimum && value <= maximum)) return { rejected: `${path}: ${value} is outside ${minimum} to ${maximum}` };
  // Adding 0 turns -0 into 0, which is how it would be read back.
  return { fill: value + 0 };
}

function fromDistance(path: string, value: number, unit: LengthUnit, shape: Shape | null): Interpretation {
  // Where the sensor sits below the top, this could still be a level inside the tank.
  if (value < 0) return { rejected: `${path}: ${value} ${unit} is below 0, which no distance is` };
  if (shape === null) return { waits: SHAPE_MISSING };
  if (shape.sensor_height === undefined) return { waits: "the tank's shape has no sensor_height, which a distance needs" };
  const full = fullLevel(shape);
  const level = shape.sensor_height - inUnit(value, unit, shape.unit);
  const fill = fillAtLevel(shape, snapToBound(level, [0, full], Math.max(shape.sensor_height, full)));
  if (fill !== undefined) return { fill };
  return {
    rejected: `${path}: ${value} ${unit} puts the surface at ${withoutRoundingDigits(level)} ${shape.unit}, ${outside(full, shape.unit)}`,
  };
}

function fromLevel(path: string, value: number, unit: LengthUnit, shape: Shape | null): Interpretation {
  if (shape === null) return { waits: SHAPE_MISSING };
  const full = fullLevel(shape);
  const fill = fillAtLevel(shape, snapToBound(inUnit(value, unit, shape.unit), [0, full], full));
  return fill !== undefined ? { fill } : { rejected: `${path}: ${value} ${unit} is ${outside(full, shape.unit)}` };
}

const SHAPE_MISSING = "the tank's shape is not given";

function fromVolume(path: string, value: number, unit: VolumeUnit, vessel: TankDimensions): Interpretation {
  const { capacity, capacity_unit } = vessel;
  const part = snapToBound(fractionOf(value, unit, capacity, capacity_unit), [0, 1], 1);
  if (part >= 0 && part <= 1) return { fill: percentOf(part) };
  return { rejected: `${path}: ${value} ${unit} is ${outside(capacity, capacity_unit)}` };
}

function outside(full: number, unit: string): string {
  return `outside the tank's 0 to ${full} ${unit}`;
}

/** A difference of decimals, without the digits that binary adds. */
function withoutRoundingDigits(length: number): number {
  return Number(length.toPrecision(12));
}
