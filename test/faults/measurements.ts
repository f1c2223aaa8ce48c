// What the devices of the fleet have to say: new readings, some of them late; some once more, as devices and networks do; and
// another value for an instant that was told before.

import type { Chance } from "./chance.ts";
import { SOURCES, sourceOf } from "./fleet.ts";
import type { Reading } from "./ledger.ts";

const MINUTE = 60_000;
const BEGIN = Math.floor(Date.now() / MINUTE) * MINUTE - 60 * 24 * 60 * MINUTE;
/** Late readings fall into these minutes, in any order; others come one after the other behind them. */
const LATE = 2000;
/** So many readings of an unknown device wait, and no more. */
const WAITING = 900;
/** Of a place, to be told again. */
const REMEMBERED = 100;
/** Every value is told from the others. */
const VALUES = 1_000_000;

export class Measurements {
  readonly #chance: Chance;
  readonly #heads = new Map<string, number>();
  readonly #told = new Map<string, Reading[]>();
  #values = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** Of any source, or of one place alone. */
  some(count: number, place?: string): Reading[] {
    return Array.from({ length: count }, () => this.#next(place ?? this.#chance.pick(SOURCES).place));
  }

  /** Of a tank, at instants that nobody tells of again. */
  fresh(count: number, place: string): Reading[] {
    return Array.from({ length: count }, () => ({ place, at: this.#ahead(place), fill: this.#value() }));
  }

  #next(place: string): Reading {
    const told = this.#told.get(place) ?? [];
    this.#told.set(place, told);
    const before = told[this.#chance.whole(0, told.length)];
    const isAgain = before !== undefined && this.#chance.of(0.3);
    if (isAgain && this.#chance.of(0.6)) return before;
    const reading = { ...(isAgain ? before : this.#moment(place)), fill: this.#value() };
    told[told.length < REMEMBERED ? told.length : this.#chance.whole(0, REMEMBERED - 1)] = reading;
    return reading;
  }

  #moment(place: string): Omit<Reading, "fill"> {
    const isStray = sourceOf(place).tankId === undefined;
    const isLate = isStray || this.#chance.of(0.5);
    const late = this.#chance.whole(0, (isStray ? WAITING : LATE) - 1);
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
