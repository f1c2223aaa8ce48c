// Readings that are sent during a measurement: one per tank and minute, in order of time.

import { fleet } from "./plans.ts";
import type { PlannedReading } from "./readings.ts";

/** The end of the histories in readings.ts. */
const BEGIN = Date.parse("2026-01-01T00:00:00Z");
const STEP_MS = 60_000;
/** Readings from one delivery to the next. */
const DELIVERY = 360;

/** Reading k of a tank, by the tank's number in the fleet. Negative ones are its initial readings. */
function readingOf(tank: number, k: number): PlannedReading {
  const sinceDelivery = (k + DELIVERY + tank * 17) % DELIVERY;
  const level = 95 - 80 * (sinceDelivery / DELIVERY);
  return { createdAt: BEGIN + k * STEP_MS + (tank % 1000), fill: Math.round(level * 10) / 10 };
}

/** Readings before the measurement. It varies by tank, so that heads have all lengths and are not all split at the same time. */
const initialCount = (tank: number): number => 33 + ((tank * 79) % 128);

/** Whether readings carry a tank id or a device id. */
export type IdKind = "tank" | "device";

/** Of every tank, by its number. */
export function idsOf(tanks: number, idKind: IdKind): string[] {
  return fleet(tanks, 0).tanks.map(({ id }) => (idKind === "tank" ? id : `device-${id}`));
}

export type LiveReading = PlannedReading & { readonly tank: number };

/** Reading number n: one of every tank, then the next of every tank. */
function liveReading(tanks: number, n: number): LiveReading {
  const tank = n % tanks;
  return { tank, ...readingOf(tank, Math.floor(n / tanks)) };
}

/** `count` readings from number `first` on. */
export function liveReadings(tanks: number, first: number, count: number): LiveReading[] {
  return Array.from({ length: count }, (_, i) => liveReading(tanks, first + i));
}

export function initialReadings(tanks: number): LiveReading[] {
  const past = (tank: number) => Array.from({ length: initialCount(tank) }, (_, i) => ({ tank, ...readingOf(tank, -1 - i) }));
  return Array.from({ length: tanks }, (_, tank) => past(tank)).flat();
}

/** Allocates numbers of readings, each once. */
export class ReadingNumbers {
  #allocated = 0;

  get allocated(): number {
    return this.#allocated;
  }

  /** Returns the first of `count` numbers. */
  allocate(count: number): number {
    this.#allocated += count;
    return this.#allocated - count;
  }
}

/** A tank's first page and total after `sent` readings of the fleet. */
export function expectedFirstPage(
  tanks: number,
  sent: number,
  tank: number,
  size: number,
): { total: number; readings: PlannedReading[] } {
  const own = Math.ceil((sent - tank) / tanks);
  return { total: initialCount(tank) + own, readings: Array.from({ length: size }, (_, i) => readingOf(tank, own - 1 - i)) };
}
