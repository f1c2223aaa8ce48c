// What the devices of the fleet report: new readings, some late, some repeated, and corrections of earlier ones.

import { SOURCES, sourceOf } from "./fleet.ts";
import type { Reading } from "./ledger.ts";
import type { Random } from "./random.ts";

const MINUTE = 60_000;
const BEGIN = Math.floor(Date.now() / MINUTE) * MINUTE - 60 * 24 * 60 * MINUTE;
/** Late readings fall into these minutes, in any order; others come one after the other behind them. */
const LATE = 2000;
/** Instants of an unknown device, within the limit of pending readings. */
const WAITING = 900;
/** Readings of a place that may be repeated or corrected. */
const REMEMBERED = 100;
/** Values differ, so that each reading can be recognised. */
const VALUES = 1_000_000;

export class Measurements {
  readonly #random: Random;
  readonly #heads = new Map<string, number>();
  readonly #reported = new Map<string, Reading[]>();
  #values = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Of any source, or of one place alone. */
  some(count: number, place?: string): Reading[] {
    return Array.from({ length: count }, () => this.#next(place ?? this.#random.pick(SOURCES).place));
  }

  /** At instants that are not repeated. */
  fresh(count: number, place: string): Reading[] {
    return Array.from({ length: count }, () => ({ place, at: this.#ahead(place), fill: this.#value() }));
  }

  #next(place: string): Reading {
    const reported = this.#reported.get(place) ?? [];
    this.#reported.set(place, reported);
    const before = reported[this.#random.whole(0, reported.length)];
    const isAgain = before !== undefined && this.#random.of(0.3);
    if (isAgain && this.#random.of(0.6)) return before;
    const reading = { ...(isAgain ? before : this.#moment(place)), fill: this.#value() };
    reported[reported.length < REMEMBERED ? reported.length : this.#random.whole(0, REMEMBERED - 1)] = reading;
    return reading;
  }

  #moment(place: string): Omit<Reading, "fill"> {
    const isStray = sourceOf(place).tankId === undefined;
    const isLate = isStray || this.#random.of(0.5);
    const late = this.#random.whole(0, (isStray ? WAITING : LATE) - 1);
    return { place, at: isLate ? BEGIN + late * MINUTE : this.#ahead(place) };
  }

  #ahead(place: string): number {
    const head = this.#heads.get(place) ?? LATE;
    this.#heads.set(place, head + 1);
    return BEGIN + head * MINUTE;
  }

  #value(): number {
    this.#values = (this.#values + 1) % VALUES;
    return this.#values / (VALUES / 100);
  }
}
