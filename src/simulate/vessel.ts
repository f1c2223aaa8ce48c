// Tanks as sensors meet them: their shapes, and where the surface stands in them, in whole millimetres.

import { fillAtLevel, fullLevel, type Shape } from "../domain/shape.ts";
import { inUnit } from "../domain/units.ts";
import type { Random } from "./random.ts";

/** No ultrasonic sensor sees what is nearer: the common ones begin at 280 to 500 mm. */
const ABOVE_MM = 550;
/** Length of a lying tank's straight part, in diameters. */
const SLENDER = 2.5;
const LITRES = 1e6;

/** Gas lies: most tanks do. */
export function shapeFor(litres: number, random: Random): Shape {
  const mm3 = litres * LITRES;
  const draw = random.next();
  if (draw < 0.5) {
    const diameter = Math.round(Math.cbrt(mm3 / (Math.PI * (SLENDER / 4 + 1 / 12))));
    const length = Math.round(diameter * SLENDER);
    const sensor_height = diameter + ABOVE_MM;
    return { kind: "horizontal_cylinder", heads: "elliptical", unit: "mm", diameter, length, sensor_height };
  }
  if (draw < 0.7) {
    const diameter = Math.round(Math.cbrt(mm3 / ((Math.PI * SLENDER) / 4)));
    const sensor_height = metres(diameter + ABOVE_MM);
    return { kind: "horizontal_cylinder", heads: "flat", unit: "m", diameter: metres(diameter), sensor_height };
  }
  const height = Math.round(Math.cbrt(mm3 * 2));
  if (draw < 0.9) return { kind: "upright", unit: "m", height: metres(height), sensor_height: metres(height + ABOVE_MM) };
  return {
    kind: "strapping_table",
    unit: "cm",
    points: [0, 0.1, 0.5, 0.9, 1].map((part) => [Math.round(height * part) / 10, Math.round(litres * bulge(part))] as const),
    sensor_height: (height + ABOVE_MM) / 10,
  };
}

const metres = (millimetres: number): number => millimetres / 1000;

/** The share of the volume below a part of the height, in a tank that is narrower at both ends. */
const bulge = (part: number): number => part * part * (3 - 2 * part);

/** Where the surface of so full a tank stands: to the millimetre below, from its bottom up. */
export function levelAt(shape: Shape, fill: number): number {
  const full = Math.round(inUnit(fullLevel(shape), shape.unit, "mm"));
  if (fill >= 100) return full;
  let [low, high] = [0, full];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (fillAt(shape, middle) <= fill) low = middle;
    else high = middle;
  }
  return low;
}

/** How far below the sensor that is. */
export function distanceTo(shape: Shape, level: number): number {
  return Math.round(inUnit(shape.sensor_height ?? 0, shape.unit, "mm")) - level;
}

/** What a level of so many millimetres means. */
export function fillAt(shape: Shape, level: number): number {
  const fill = fillAtLevel(shape, inUnit(level, "mm", shape.unit));
  if (fill === undefined) throw new Error(`${level} mm is outside of ${JSON.stringify(shape)}`);
  return fill;
}
