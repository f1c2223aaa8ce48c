// Readings out of nothing but a seed: reading k of a tank can be worked out without those before it, so that any page of
// any contestant can be checked.

export type TankPlan = { readonly id: string; readonly readings: number; readonly seed: number };

export type PlannedReading = { readonly createdAt: number; readonly fill: number };

const FIRST = Date.parse("2022-01-01T00:00:00Z");
/** Four years, however many readings there are in them. */
const SPAN_MS = 1461 * 86_400_000;
/** Readings from one delivery to the next. */
const DELIVERY = 360;

/** Oldest first; about evenly spaced, never two at one instant. */
export function readingAt({ readings, seed }: TankPlan, k: number): PlannedReading {
  const step = SPAN_MS / readings;
  const noise = mixed(seed, k);
  const level = 95 - 80 * (((k + seed * 17) % DELIVERY) / DELIVERY);
  return {
    createdAt: FIRST + Math.floor(k * step) + (seed % 1000) + (noise % Math.max(1, Math.floor(step / 2) - 1000)),
    fill: Math.round((level + (noise >>> 22) / 1024) * 10) / 10,
  };
}

/** The page of the interface: newest first. */
export function expectedPage(tank: TankPlan, page: number, size: number): PlannedReading[] {
  const first = tank.readings - 1 - (page - 1) * size;
  return Array.from({ length: Math.max(0, Math.min(size, first + 1)) }, (_, i) => readingAt(tank, first - i));
}

/** A well mixed number of 32 bits for every pair. */
function mixed(seed: number, k: number): number {
  let x = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(k + 1, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}
