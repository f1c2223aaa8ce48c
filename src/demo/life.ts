// How one tank lives: it is burned down with the seasons, a truck comes some days after it falls under its threshold, and
// now and then its sensor is not heard.

import type { Instant } from "../domain/instant.ts";
import { FILL, type Reading } from "../domain/reading.ts";
import type { Tank } from "../domain/tank.ts";
import { DAY, HOUR } from "../simulate/durations.ts";
import { type Random, type Seed, seeded } from "../simulate/random.ts";
import { consumptionAt, type Habits, habitsOf } from "./habits.ts";

/** Consumption is taken as even over one step. */
const LONGEST_STEP = 4 * HOUR;
const BETWEEN_DROPOUTS = 60 * DAY;
const NEVER = Number.POSITIVE_INFINITY;

export type Start = { readonly at: Instant; readonly fill: number };

export class TankLife {
  readonly #habits: Habits;
  readonly #random: Random;
  readonly #threshold: number;
  #at: Instant;
  #fill: number;
  #truckAt = NEVER;
  #chill = 1;
  #silentFrom: Instant = NEVER;
  #silentUntil: Instant;

  constructor(tank: Tank, seed: Seed, start: Start) {
    this.#habits = habitsOf(tank, seed);
    this.#random = seeded(`${seed}/${tank.id}/${start.at}`);
    this.#threshold = tank.min_fill_alert_percentage;
    this.#at = start.at;
    this.#fill = start.fill;
    this.#silentUntil = start.at;
  }

  /** Lives on until then. `undefined`: the sensor is not heard, or this life is past that instant already. */
  readingAt(at: Instant): Reading | undefined {
    if (at <= this.#at) return undefined;
    while (this.#at < at) this.#liveUntil(Math.min(at, this.#at + LONGEST_STEP, this.#truckAt));
    return this.#isSilent() ? undefined : { created_at: at, fill_percentage: this.#measured() };
  }

  #liveUntil(until: Instant): void {
    const rate = consumptionAt((this.#at + until) / 2, this.#habits, this.#chill);
    this.#fill = Math.max(FILL.minimum, this.#fill - (rate * (until - this.#at)) / DAY);
    if (Math.floor(until / DAY) !== Math.floor(this.#at / DAY)) this.#changeWeather();
    this.#at = until;
    if (until === this.#truckAt) {
      this.#fill = this.#random.between(80, 90);
      this.#truckAt = NEVER;
    } else if (this.#fill < this.#threshold && this.#truckAt === NEVER) {
      this.#truckAt = this.#orderTruck(rate);
    }
  }

  /** Cold and mild spells last some days. */
  #changeWeather(): void {
    const chill = 1 + 0.85 * (this.#chill - 1) + this.#random.normal(0, 0.12);
    this.#chill = Math.min(1.6, Math.max(0.5, chill));
  }

  /** Trucks drive by day, and mostly before the tank runs dry. */
  #orderTruck(rate: number): Instant {
    const wait = this.#random.between(1, 9) * DAY;
    const untilDry = (Math.max(0, this.#fill - 2) / rate) * DAY;
    const arrival = this.#at + (this.#random.chance(0.03) ? wait : Math.min(wait, untilDry));
    const workingHour = this.#random.between(7, 16) * HOUR - this.#habits.sunShift;
    let truckAt = Math.floor(arrival / DAY) * DAY + Math.floor(workingHour);
    while (truckAt <= this.#at) truckAt += DAY;
    return truckAt;
  }

  #isSilent(): boolean {
    while (this.#at >= this.#silentUntil) {
      this.#silentFrom = this.#silentUntil - Math.log(1 - this.#random.next()) * BETWEEN_DROPOUTS;
      // From two hours to five days, the short ones more often.
      this.#silentUntil = this.#silentFrom + 2 * HOUR * 60 ** this.#random.next();
    }
    return this.#at >= this.#silentFrom;
  }

  #measured(): number {
    const { noise, resolution } = this.#habits;
    const measured = Math.round(this.#random.normal(this.#fill, noise) * resolution) / resolution;
    // Adding 0 turns -0 into 0, which is how it would be read back.
    return Math.min(FILL.maximum, Math.max(FILL.minimum, measured)) + 0;
  }
}
