// Readings that are sent during a measurement: one of each tank every few seconds, in order of time. They are recent, so that no tank
// is silent, and never in the future.

import { fleet } from "./plans.ts";
import type { PlannedReading } from "./readings.ts";

const HOUR = 3_600_000;
const STEP_MS = 4000;
/** The same in all processes of a run. */
process.env["BENCH_STARTED"] ??= String(Date.now());
const BEGIN = Number(process.env["BENCH_STARTED"]) - 40 * HOUR;
/** Readings from one delivery to the next. */
const DELIVERY = 360;

/** Readings for figures of alerts: so recent that people are notified. */
export type Crossings = {
  readonly begin: number;
  /** Each tank becomes low, and recovers, once in this number of readings; null: none is ever low. */
  readonly every: number | null;
};

export const crossingsFromNow = (every: number | null): Crossings => ({ begin: Date.now() - 20 * HOUR, every });

/** Well below and above the threshold of the fleet. */
const [LOW_FILL, OK_FILL] = [5, 60];

/** Tanks change in turns: of as many readings of a fleet as it has tanks, the same number cross the threshold. */
const isLow = (tank: number, k: number, { every }: Crossings): boolean =>
  every !== null && Math.floor((k + tank) / every) % 2 !== 0;

function levelOf(tank: number, k: number, crossings: Crossings | undefined): number {
  if (crossings !== undefined) return (isLow(tank, k, crossings) ? LOW_FILL : OK_FILL) + (Math.abs(k + tank * 17) % 100) / 10;
  const sinceDelivery = (k + DELIVERY + tank * 17) % DELIVERY;
  return 95 - 80 * (sinceDelivery / DELIVERY);
}

/** How many alerts the initial readings and `sent` ones open. */
export function openedAlerts(tanks: number, sent: number, crossings: Crossings): number {
  let opened = 0;
  for (let tank = 0; tank < tanks; tank++) {
    let wasLow = false;
    for (let k = -1; k < ownReadings(tanks, sent, tank); k++) {
      const isLowNow = isLow(tank, k, crossings);
      if (isLowNow && !wasLow) opened++;
      wasLow = isLowNow;
    }
  }
  return opened;
}

/** Reading k of a tank, by the tank's number in the fleet. Negative ones are its initial readings. */
function readingOf(tank: number, k: number, crossings?: Crossings): PlannedReading {
  const fill = Math.round(levelOf(tank, k, crossings) * 10) / 10;
  return { createdAt: (crossings?.begin ?? BEGIN) + k * STEP_MS + (tank % 1000), fill };
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
function liveReading(tanks: number, n: number, crossings?: Crossings): LiveReading {
  const tank = n % tanks;
  return { tank, ...readingOf(tank, Math.floor(n / tanks), crossings) };
}

/** `count` readings from number `first` on. */
export function liveReadings(tanks: number, first: number, count: number, crossings?: Crossings): LiveReading[] {
  return Array.from({ length: count }, (_, i) => liveReading(tanks, first + i, crossings));
}

export function initialReadings(tanks: number, crossings?: Crossings): LiveReading[] {
  const past = (tank: number) =>
    Array.from({ length: initialCount(tank) }, (_, i) => ({ tank, ...readingOf(tank, -1 - i, crossings) }));
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
  crossings?: Crossings,
): { total: number; readings: PlannedReading[] } {
  const own = ownReadings(tanks, sent, tank);
  const readings = Array.from({ length: size }, (_, i) => readingOf(tank, own - 1 - i, crossings));
  return { total: initialCount(tank) + own, readings };
}

/** Of `sent` readings of the fleet, those of one tank. */
const ownReadings = (tanks: number, sent: number, tank: number): number => Math.max(0, Math.ceil((sent - tank) / tanks));
