// The shape of a tank as the operator describes it, and the fill that a level of the surface means in it.

import type { FieldError } from "./errors.ts";
import { anyOf, array, literal, nullable, number, object, oneOf, partial, type Schema } from "./schema.ts";
import { inUnit, LENGTH_UNITS, type LengthUnit, percentOf } from "./units.ts";
import { errorsInObject, firstError, hasError, isObject } from "./validate.ts";

/** Height of the surface, and the volume below it. */
export type Point = readonly [height: number, volume: number];

/** All lengths are in `unit`. `sensor_height` is measured from the tank's bottom; only profiles that measure a distance need it. */
export type Shape = { readonly unit: LengthUnit; readonly sensor_height?: number } & (
  | { readonly kind: "upright" | "rectangular"; readonly height: number }
  | { readonly kind: "horizontal_cylinder"; readonly diameter: number; readonly heads: "flat"; readonly length?: number }
  | { readonly kind: "horizontal_cylinder"; readonly diameter: number; readonly heads: "elliptical"; readonly length: number }
  | { readonly kind: "strapping_table"; readonly points: readonly Point[] }
);

const KINDS = ["upright", "rectangular", "horizontal_cylinder", "strapping_table"] as const;
const HEADS = ["flat", "elliptical"] as const;
const POINTS = { minimum: 2, maximum: 1000 };
const MAX_VOLUME = 1e12;
/** In metres. A value outside has the wrong unit. */
const LENGTH = { minimum: 0.01, maximum: 100 };

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
    { description: "The manufacturer's table of volume by height, interpolated linearly" },
    ["sensor_height"],
  ),
};

export const ShapeSchema: Schema = anyOf(...Object.values(SCHEMAS));

const { kind: _, ...changeable } = Object.assign({}, ...Object.values(SCHEMAS).map(({ properties }) => properties)) as Record<
  string,
  Schema
>;
/** A merge patch of the existing shape; see `mergeShape`. */
export const ShapeChange = partial(
  { properties: Object.fromEntries(Object.entries(changeable).map(([name, schema]) => [name, nullable(schema)])) },
  { description: "Fields of the existing shape to change; `null` removes an optional one" },
);

/** All errors by field. */
export function errorsInShape(value: unknown): FieldError[] {
  if (!isObject(value)) return [{ field: "shape", message: "must be an object" }];
  const kind = KINDS.find((known) => known === value["kind"]);
  if (kind === undefined) {
    const message = Object.hasOwn(value, "kind") ? `must be one of ${KINDS.join(", ")}` : "is missing";
    return [{ field: "shape.kind", message }];
  }
  const errors = errorsInObject(SCHEMAS[kind], value, "shape");
  const add = (field: string, message: string | undefined) => {
    if (message !== undefined) errors.push({ field: `shape.${field}`, message });
  };
  const isValid = (name: string) => !hasError(errors, `shape.${name}`);
  if (kind === "horizontal_cylinder" && value["heads"] === "elliptical" && value["length"] === undefined) {
    add("length", "is missing: elliptical heads need the length of the straight part");
  }
  const unit = LENGTH_UNITS.find((known) => known === value["unit"]);
  if (kind === "strapping_table" && isValid("points")) {
    const points = value["points"] as readonly (readonly number[])[];
    if (points.length < POINTS.minimum) add("points", `must have at least ${POINTS.minimum} entries`);
    else for (const [i, point] of points.entries()) add(`points[${i}]`, errorInPoint(points, point, i, unit));
  }
  for (const name of ["height", "diameter", "length", "sensor_height"].filter(isValid)) {
    add(name, errorInLength(value[name], unit));
  }
  return errors;
}

function errorInLength(value: unknown, unit: LengthUnit | undefined): string | undefined {
  if (typeof value !== "number" || unit === undefined) return undefined;
  const metres = inUnit(value, unit, "m");
  if (metres >= LENGTH.minimum && metres <= LENGTH.maximum) return undefined;
  return `must be from 1 cm to 100 m, not ${value} ${unit}. Is the unit right?`;
}

type Pair = readonly number[];

function errorInPoint(points: readonly Pair[], point: Pair, i: number, unit: LengthUnit | undefined): string | undefined {
  if (point.length !== 2) return "must be a pair of height and volume, such as [10, 120]";
  const [height = 0, volume = 0] = point;
  if (i === 0) return height === 0 && volume === 0 ? undefined : "must be [0, 0], the empty tank";
  const [previousHeight = 0, previousVolume = 0] = points[i - 1] ?? [];
  if (height <= previousHeight) return `height ${height} must be above the previous one, ${previousHeight}`;
  if (volume < previousVolume) return `volume ${volume} must not be below the previous one, ${previousVolume}`;
  if (i < points.length - 1) return undefined;
  if (volume > 0 && volume <= MAX_VOLUME) return errorInLength(height, unit);
  return `volume of the full tank must be above 0 and at most ${MAX_VOLUME}`;
}

/** A valid shape, with defaults filled in. Throws if it is not valid. */
export function shapeOf(value: unknown): Shape {
  const error = firstError(errorsInShape(value));
  if (error !== undefined) throw new Error(error);
  const shape = value as Shape;
  if (shape.kind !== "horizontal_cylinder" || shape.heads === "elliptical") return shape;
  return { ...shape, heads: "flat" };
}

/** A merge patch of the shape: without `kind` it changes the existing shape, and null removes a field. */
export function mergeShape(before: Shape | null, patch: unknown): unknown {
  if (before === null || !isObject(patch) || patch["kind"] !== undefined) return patch;
  return Object.fromEntries(Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null));
}

/** The level of a full tank. */
export function fullLevel(shape: Shape): number {
  switch (shape.kind) {
    case "upright":
    case "rectangular":
      return shape.height;
    case "horizontal_cylinder":
      return shape.diameter;
    case "strapping_table":
      return shape.points.at(-1)?.[0] ?? 0;
  }
}

/** The fill in percent; undefined if the level is outside the shape. */
export function fillAtLevel(shape: Shape, level: number): number | undefined {
  if (!(level >= 0 && level <= fullLevel(shape))) return undefined;
  return percentOf(fractionBelow(shape, level));
}

function fractionBelow(shape: Shape, level: number): number {
  switch (shape.kind) {
    case "upright":
    case "rectangular":
      return level / shape.height;
    case "horizontal_cylinder": {
      const { diameter, heads, length = 0 } = shape;
      const straight = fractionOfCylinder(level / diameter);
      if (heads === "flat") return straight;
      // Volumes: pi/4 d² l of the straight part and pi/12 d³ of both heads, a ratio of 3 l to d.
      return (3 * length * straight + diameter * fractionOfHeads(level / diameter)) / (3 * length + diameter);
    }
    case "strapping_table":
      return interpolatedVolume(shape.points, level) / (shape.points.at(-1)?.[1] ?? 0);
  }
}

/** The fraction of a circle of diameter 1 below a height. The upper half mirrors the lower, so that both are equally exact. */
function fractionOfCylinder(height: number): number {
  if (height > 0.5) return 1 - fractionOfCylinder(1 - height);
  const angle = 4 * Math.asin(Math.sqrt(height));
  return (angle - Math.sin(angle)) / (2 * Math.PI);
}

/** The fraction of both heads together below a height, whatever their depth. */
function fractionOfHeads(height: number): number {
  return height > 0.5 ? 1 - fractionOfHeads(1 - height) : height * height * (3 - 2 * height);
}

function interpolatedVolume(points: readonly Point[], level: number): number {
  let low = 0;
  let high = points.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((points[middle]?.[0] ?? 0) <= level) low = middle;
    else high = middle;
  }
  const [lowHeight, lowVolume] = points[low] ?? [0, 0];
  const [highHeight, highVolume] = points[high] ?? [0, 0];
  return lowVolume + (highVolume - lowVolume) * ((level - lowHeight) / (highHeight - lowHeight));
}
