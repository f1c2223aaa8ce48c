// The shape of a tank, as an operator writes it down: what turns the height of the surface into a fill. `geometry.ts` does
// the turning.

import type { FieldError } from "./errors.ts";
import { anyOf, array, literal, number, object, oneOf, type Schema } from "./schema.ts";
import { inUnit, LENGTH_UNITS, type LengthUnit } from "./units.ts";
import { errorsInFields, isObject } from "./validate.ts";

/** Height of the surface, and the volume below it. */
export type Point = readonly [height: number, volume: number];

/** `sensor_height`: how far above the tank's bottom the sensor sits; only a measured distance needs it. All in one unit. */
export type Shape = { readonly unit: LengthUnit; readonly sensor_height?: number } & (
  | { readonly kind: "upright" | "rectangular"; readonly height: number }
  | { readonly kind: "horizontal_cylinder"; readonly diameter: number; readonly heads: "flat"; readonly length?: number }
  | { readonly kind: "horizontal_cylinder"; readonly diameter: number; readonly heads: "elliptical"; readonly length: number }
  | { readonly kind: "strapping_table"; readonly points: readonly Point[] }
);

const KINDS = ["upright", "rectangular", "horizontal_cylinder", "strapping_table"] as const;
const HEADS = ["flat", "elliptical"] as const;
const POINTS = { minimum: 2, maximum: 1000 };
const LARGEST_VOLUME = 1e12;
/** In metres. Beyond this a unit was mistaken. */
const SMALLEST = 0.01;
const LARGEST = 100;

const length = (description: string, example: number) => number({ exclusiveMinimum: 0, description, examples: [example] });
const common = {
  unit: oneOf(LENGTH_UNITS, { description: "Unit of all lengths of the shape", examples: ["m"] }),
  sensor_height: length("How far above the tank's bottom the sensor sits; needed where a distance is measured", 2.3),
};

const upright = (kind: "upright" | "rectangular", description: string) =>
  object({ kind: literal(kind), height: length("Height of the tank, inside", 2.1), ...common }, { description }, [
    "sensor_height",
  ]);

const SCHEMAS = {
  upright: upright("upright", "An upright cylinder, or anything whose cross-section is the same at every height"),
  rectangular: upright("rectangular", "A box; read as an upright tank"),
  horizontal_cylinder: object(
    {
      kind: literal("horizontal_cylinder"),
      diameter: length("Diameter of the tank, inside", 1.25),
      heads: oneOf(HEADS, { description: "`elliptical` is 2:1, each head a quarter of the diameter deep", default: "flat" }),
      length: length("Length of the straight part, without heads; needed for elliptical heads", 3.2),
      ...common,
    },
    { description: "A cylinder that lies on its side" },
    ["sensor_height", "heads", "length"],
  ),
  strapping_table: object(
    {
      kind: literal("strapping_table"),
      points: array(array(number()), {
        maxItems: POINTS.maximum,
        description: "Pairs of height and volume, from [0, 0] to the full tank; volumes are in any unit, the same for all",
        examples: [
          [
            [0, 0],
            [10, 120],
            [200, 2700],
          ],
        ],
      }),
      ...common,
    },
    { description: "A table of the tank's maker: volume by height, straight lines in between" },
    ["sensor_height"],
  ),
};

export const ShapeSchema: Schema = anyOf(...Object.values(SCHEMAS));

/** All that is wrong, by the names of the fields; `at` is what the shape itself is called. */
export function errorsInShape(value: unknown, at = "shape"): FieldError[] {
  if (!isObject(value)) return [{ field: at, message: "must be an object" }];
  const kind = KINDS.find((known) => known === value["kind"]);
  if (kind === undefined) {
    const fault = Object.hasOwn(value, "kind") ? `must be one of ${KINDS.join(", ")}` : "is missing";
    return [{ field: `${at}.kind`, message: fault }];
  }
  const faults = errorsInFields(SCHEMAS[kind], value, at);
  const isFine = (name: string) => !faults.some(({ field }) => field === `${at}.${name}`);
  if (kind === "horizontal_cylinder" && value["heads"] === "elliptical" && value["length"] === undefined) {
    faults.push({ field: `${at}.length`, message: "is missing: elliptical heads need the length of the straight part" });
  }
  const unit = LENGTH_UNITS.find((known) => known === value["unit"]);
  if (kind === "strapping_table" && isFine("points")) faults.push(...errorsInPoints(value["points"], unit, `${at}.points`));
  for (const name of ["height", "diameter", "length", "sensor_height"].filter(isFine)) {
    const fault = errorInSize(value[name], unit);
    if (fault !== undefined) faults.push({ field: `${at}.${name}`, message: fault });
  }
  return faults;
}

/** Of a value without faults, with what was left out. */
/** A change without a kind is one of the shape that is there; null takes a value away. */
export function mergeShape(before: Shape | null, given: unknown): unknown {
  if (before === null || !isObject(given) || given["kind"] !== undefined) return given;
  return Object.fromEntries(Object.entries({ ...before, ...given }).filter(([, value]) => value !== null));
}

export function shapeOf(value: unknown): Shape {
  const [first] = errorsInShape(value);
  if (first !== undefined) throw new Error(`${first.field}: ${first.message}`);
  const shape = value as Shape;
  if (shape.kind !== "horizontal_cylinder" || shape.heads === "elliptical") return shape;
  return { ...shape, heads: "flat" };
}

function errorInSize(value: unknown, unit: LengthUnit | undefined): string | undefined {
  if (typeof value !== "number" || unit === undefined) return undefined;
  const metres = inUnit(value, unit, "m");
  if (metres >= SMALLEST && metres <= LARGEST) return undefined;
  return `${value} ${unit} is not from 1 cm to 100 m. Is the unit right?`;
}

function errorsInPoints(value: unknown, unit: LengthUnit | undefined, at: string): FieldError[] {
  if (!Array.isArray(value)) return [{ field: at, message: "must be a list of pairs of height and volume" }];
  if (value.length < POINTS.minimum || value.length > POINTS.maximum) {
    return [{ field: at, message: `must have from ${POINTS.minimum} to ${POINTS.maximum} points, not ${value.length}` }];
  }
  const points: readonly unknown[] = value;
  return points.flatMap((point, i) => {
    const fault = errorInPoint(point, points[i - 1]) ?? (i === points.length - 1 ? errorInLastPoint(point, unit) : undefined);
    return fault === undefined ? [] : [{ field: `${at}[${i}]`, message: fault }];
  });
}

function errorInPoint(point: unknown, before: unknown): string | undefined {
  if (!isPoint(point)) return "must be a pair of numbers, height and volume, such as [10, 120]";
  if (before === undefined) return point[0] === 0 && point[1] === 0 ? undefined : "must be [0, 0], the empty tank";
  if (!isPoint(before)) return undefined;
  if (point[0] <= before[0]) return `its height, ${point[0]}, must be above the one before, ${before[0]}`;
  if (point[1] < before[1]) return `its volume, ${point[1]}, must not be below the one before, ${before[1]}`;
  return undefined;
}

function errorInLastPoint(point: unknown, unit: LengthUnit | undefined): string | undefined {
  if (!isPoint(point)) return undefined;
  const [height, volume] = point;
  if (volume > 0 && volume <= LARGEST_VOLUME) return errorInSize(height, unit);
  return `its volume is that of the full tank and must be above 0 and at most ${LARGEST_VOLUME}`;
}

function isPoint(value: unknown): value is Point {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isFinite);
}
