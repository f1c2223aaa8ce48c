// How full a tank is when its surface stands at a height. All lengths are in the unit of the shape.

import type { Point, Shape } from "./shape.ts";
import { percentOf } from "./units.ts";

/** The height of the surface in a full tank. */
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

/** In percent; nothing where the level is outside the shape. */
export function fillAtLevel(shape: Shape, level: number): number | undefined {
  if (!(level >= 0 && level <= fullLevel(shape))) return undefined;
  return percentOf(partBelow(shape, level));
}

function partBelow(shape: Shape, level: number): number {
  switch (shape.kind) {
    case "upright":
    case "rectangular":
      return level / shape.height;
    case "horizontal_cylinder": {
      const { diameter, heads, length = 0 } = shape;
      const round = partOfCylinder(level / diameter);
      if (heads === "flat") return round;
      // Volumes: pi/4 d² l of the straight part, pi/12 d³ of both heads, that is as 3 l to d.
      return (3 * length * round + diameter * partOfHeads(level / diameter)) / (3 * length + diameter);
    }
    case "strapping_table":
      return volumeAt(shape.points, level) / (shape.points.at(-1)?.[1] ?? 0);
  }
}

/** The part of a circle below a height from 0 to 1. The upper half mirrors the lower, so that both are equally exact. */
function partOfCylinder(height: number): number {
  if (height > 0.5) return 1 - partOfCylinder(1 - height);
  const angle = 4 * Math.asin(Math.sqrt(height));
  return (angle - Math.sin(angle)) / (2 * Math.PI);
}

/** The same of both heads together; it does not depend on how deep they are. */
function partOfHeads(height: number): number {
  return height > 0.5 ? 1 - partOfHeads(1 - height) : height * height * (3 - 2 * height);
}

function volumeAt(points: readonly Point[], level: number): number {
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
