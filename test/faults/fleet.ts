// The fleet that readings are sent for: tanks with their devices, and devices that nobody knows. They report new readings, some late,
// some repeated, and corrections of earlier ones.

import type { Random } from "../../src/simulate/random.ts";
import { customer, type Line, tank } from "../e2e/fixtures.ts";

export type Source = {
  readonly deviceId: string;
  readonly isKnown: boolean;
  /** An unknown device is assigned to it in the end. */
  readonly tankId: string;
};

export type Reading = { readonly source: Source; readonly at: number; readonly fill: number };

const TANKS = 12;
const UNKNOWN_DEVICES = 3;

const sourceNumber = (i: number): Source => ({ deviceId: `device-t${i}`, isKnown: i < TANKS, tankId: `t${i}` });

/** A known one. */
export const FIRST_SOURCE = sourceNumber(0);
export const SOURCES = [FIRST_SOURCE, ...Array.from({ length: TANKS + UNKNOWN_DEVICES - 1 }, (_, i) => sourceNumber(i + 1))];

export const CUSTOMER = "ada";
export const FLEET: readonly Line[] = [
  customer(CUSTOMER),
  ...SOURCES.map(({ deviceId, isKnown, tankId }) =>
    tank(tankId, CUSTOMER, { assigned_device_id: isKnown ? deviceId : `spare-${tankId}` }),
  ),
];

const MINUTE = 60_000;
const BEGIN = Math.floor(Date.now() / MINUTE) * MINUTE - 60 * 24 * 60 * MINUTE;
/** Late readings are in these minutes, in any order; others follow them one by one. */
const LATE_MINUTES = 2000;
/** Instants of an unknown device, within the limit of pending readings. */
const PENDING_MINUTES = 900;
/** Readings of a source that may be repeated or corrected. */
const MAX_REPEATABLE = 100;
/** Values differ, so that each reading can be recognised. */
const DISTINCT_FILLS = 1_000_000;

export class Measurements {
  readonly #random: Random;
  readonly #appended = new Map<Source, number>();
  readonly #reported = new Map<Source, Reading[]>();
  #values = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Of any source, or of one alone. */
  some(count: number, source?: Source): Reading[] {
    return Array.from({ length: count }, () => this.#next(source ?? this.#random.pick(SOURCES)));
  }

  /** At instants that are not repeated. */
  fresh(count: number, source: Source): Reading[] {
    return Array.from({ length: count }, () => ({ source, at: this.#append(source), fill: this.#value() }));
  }

  #next(source: Source): Reading {
    const reported = this.#reported.get(source) ?? [];
    this.#reported.set(source, reported);
    const earlier = reported[this.#random.whole(0, reported.length)];
    const isAgain = earlier !== undefined && this.#random.chance(0.3);
    if (isAgain && this.#random.chance(0.6)) return earlier;
    const reading = { source, at: isAgain ? earlier.at : this.#instant(source), fill: this.#value() };
    reported[reported.length < MAX_REPEATABLE ? reported.length : this.#random.whole(0, MAX_REPEATABLE - 1)] = reading;
    return reading;
  }

  #instant(source: Source): number {
    if (source.isKnown && this.#random.chance(0.5)) return this.#append(source);
    return BEGIN + this.#random.whole(0, (source.isKnown ? LATE_MINUTES : PENDING_MINUTES) - 1) * MINUTE;
  }

  #append(source: Source): number {
    const minute = this.#appended.get(source) ?? LATE_MINUTES;
    this.#appended.set(source, minute + 1);
    return BEGIN + minute * MINUTE;
  }

  #value(): number {
    this.#values = (this.#values + 1) % DISTINCT_FILLS;
    return this.#values / (DISTINCT_FILLS / 100);
  }
}
