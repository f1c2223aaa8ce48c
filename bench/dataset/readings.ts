// Readings derived from a seed: reading k of a tank is computed without those before it, so that any page can be verified.

export type TankPlan = { readonly id: string; readonly readings: number; readonly seed: number };

export type PlannedReading = { readonly createdAt: number; readonly fill: number };

const FIRST = Date.parse("2022-01-01T00:00:00Z");
/** Four years, whatever the number of readings. */
const SPAN_MS = 1461 * 86_400_000;
/** Readings from one delivery to the next. */
const DELIVERY = 360;

/** Oldest first; about evenly spaced, never two at one instant. */
export function readingAt({ readings, seed }: TankPlan, k: number): PlannedReading {
  const step = SPAN_MS / readings;
  const noise = hash(seed, k);
  const level = 95 - 80 * (((k + seed * 17) % DELIVERY) / DELIVERY);
  return {
    createdAt: FIRST + Math.floor(k * step) + (seed % 1000) + (noise % Math.max(1, Math.floor(step / 2) - 1000)),
    fill: Math.round((level + (noise >>> 22) / 1024) * 10) / 10,
  };
}

/** Newest first, as in the API. */
export function expectedPage(tank: TankPlan, page: number, size: number): PlannedReading[] {
  const first = tank.readings - 1 - (page - 1) * size;
  return Array.from({ length: Math.max(0, Math.min(size, first + 1)) }, (_, i) => readingAt(tank, first - i));
}

/** A 32-bit hash of the pair. */
function hash(seed: number, k: number): number {
  let x = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(k + 1, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}
