// Readings that come in: a fleet that goes on measuring, one reading a tank and minute, in the order of time.

import { fleet } from "./plans.ts";
import type { PlannedReading } from "./readings.ts";

/** Where the histories of readings.ts end. */
const BEGIN = Date.parse("2026-01-01T00:00:00Z");
const STEP_MS = 60_000;
/** Readings from one delivery to the next. */
const DELIVERY = 360;

/** Reading k of a tank, by its number in the fleet. Those below 0 are its past. */
function arrivalAt(tank: number, k: number): PlannedReading {
  const sinceDelivery = (k + DELIVERY + tank * 17) % DELIVERY;
  const level = 95 - 80 * (sinceDelivery / DELIVERY);
  return { createdAt: BEGIN + k * STEP_MS + (tank % 1000), fill: Math.round(level * 10) / 10 };
}

/** How many readings a tank has before any come in: so many that heads are of every length, and are not all cut at once. */
const pastOf = (tank: number): number => 33 + ((tank * 79) % 128);

/** How its readings name a tank. */
export type Named = "tank" | "device";

/** Of every tank of the fleet, by its number. */
export function namesOf(tanks: number, named: Named): string[] {
  return fleet(tanks, 0).tanks.map(({ id }) => (named === "tank" ? id : `device-${id}`));
}

export type Arriving = PlannedReading & { readonly tank: number };

/** Reading number n of all that come in: one of every tank, then the next of every tank. */
function arriving(tanks: number, n: number): Arriving {
  const tank = n % tanks;
  return { tank, ...arrivalAt(tank, Math.floor(n / tanks)) };
}

/** So many of them, from number `first` on. */
export function arrivingFrom(tanks: number, first: number, count: number): Arriving[] {
  return Array.from({ length: count }, (_, i) => arriving(tanks, first + i));
}

export function pastReadings(tanks: number): Arriving[] {
  const past = (tank: number) => Array.from({ length: pastOf(tank) }, (_, i) => ({ tank, ...arrivalAt(tank, -1 - i) }));
  return Array.from({ length: tanks }, (_, tank) => past(tank)).flat();
}

/** Hands out the numbers of readings, each once. */
export class Numbers {
  #taken = 0;

  get taken(): number {
    return this.#taken;
  }

  /** The first of so many. */
  take(count: number): number {
    this.#taken += count;
    return this.#taken - count;
  }
}

/** What a tank's first page says after so many readings have come in: its total, and the newest. */
export function pageAfter(
  tanks: number,
  sent: number,
  tank: number,
  size: number,
): { total: number; readings: PlannedReading[] } {
  const own = Math.ceil((sent - tank) / tanks);
  return { total: pastOf(tank) + own, readings: Array.from({ length: size }, (_, i) => arrivalAt(tank, own - 1 - i)) };
}
