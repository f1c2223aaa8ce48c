// What stays the same in a tank's life: how much is burned and when, and how its sensor reports. Drawn from the seed and
// the tank alone, so that a demo started again finds every tank with the habits it had.

import type { Instant } from "../domain/instant.ts";
import type { Tank, UseCase } from "../domain/tank.ts";
import { DAY, HOUR } from "../simulate/durations.ts";
import { type Seed, seeded } from "../simulate/random.ts";
import { coldAt } from "./places.ts";

/** From one midwinter to the next, leap days included. */
const SEASONS = 365.2425 * DAY;
/** The coldest days of the north come in the middle of January. */
const MIDWINTER = 15 * DAY;

export const REPORT_INTERVAL = 4 * HOUR;

export type Habits = {
  /** Percent a day in midwinter. */
  readonly appetite: number;
  /** The share of midwinter's consumption that is gone at midsummer. */
  readonly heating: number;
  readonly peaksPerDay: 1 | 2;
  /** Milliseconds from UTC to the sun's time at the tank. */
  readonly sunShift: number;
  readonly noise: number;
  /** 10 where the sensor sends one decimal, 100 where it sends two. */
  readonly resolution: number;
  /** Where in each interval of four hours the sensor reports. */
  readonly phase: number;
};

const HEATING: Readonly<Record<UseCase, number>> = { residential: 0.88, commercial: 0.6, industrial: 0.12 };

export function habitsOf(tank: Tank, seed: Seed): Habits {
  const random = seeded(`${seed}/${tank.id}/habits`);
  const useCase = tank.use_case ?? "commercial";
  const weeksPerFill = random.between(3, 10);
  return {
    appetite: 70 / (7 * weeksPerFill),
    heating: HEATING[useCase] * coldAt(tank.location),
    peaksPerDay: useCase === "industrial" ? 1 : 2,
    sunShift: ((tank.location.longitude ?? 0) / 360) * DAY,
    noise: random.between(0.03, 0.2),
    resolution: random.chance(0.6) ? 10 : 100,
    phase: Math.floor(random.next() * REPORT_INTERVAL),
  };
}

const MORNING = 7 * HOUR;
const NOON = 12 * HOUR;
const DAILY_SWING = 0.3;

/** Percent a day that is burned at the instant. `chill` is the weather: 1 is as usual, more is colder. */
export function consumptionAt(at: Instant, habits: Habits, chill: number): number {
  const winter = (1 + Math.cos((2 * Math.PI * (at - MIDWINTER)) / SEASONS)) / 2;
  const season = 1 - habits.heating * (1 - winter);
  const weather = 1 + habits.heating * winter * (chill - 1);
  const clock = at + habits.sunShift - (habits.peaksPerDay === 1 ? NOON : MORNING);
  const hour = 1 + DAILY_SWING * Math.cos((2 * Math.PI * habits.peaksPerDay * clock) / DAY);
  return habits.appetite * season * weather * hour;
}
