// Simulated weather of a place, day by day: seasons by latitude, spells that last for days, and years that differ.

import type { Instant } from "../../../src/domain/instant.ts";
import { type Seed, seeded } from "../../../src/simulate/random.ts";

const DAY = 86_400_000;
const YEAR_DAYS = 365.2425;
/** The coldest days of the north are in the middle of January. */
const COLDEST_DAY = 15;

export type Weather = {
  /** Mean temperature in °C, by day since the start. */
  readonly means: Float64Array;
  /** Difference between the coldest and the warmest hour of the day. */
  readonly ranges: Float64Array;
};

export function weatherOf(latitude: number, seed: Seed, start: Instant, days: number): Weather {
  const random = seeded(`${seed}/weather`);
  const distance = Math.abs(latitude);
  const annualMean = 29 - 0.42 * distance + random.normal(0, 1);
  const amplitude = 0.21 * distance * random.between(0.75, 1.15);
  const shift = latitude < 0 ? YEAR_DAYS / 2 : 0;
  const means = new Float64Array(days);
  const ranges = new Float64Array(days);
  let [front, regime, clouds, spellDays, spell] = [0, 0, 0, 0, 0];
  let year = { number: -1, warmer: 0, late: 0, winter: 0 };
  for (let day = 0; day < days; day++) {
    const absolute = start / DAY + day - COLDEST_DAY - shift;
    // A year begins in midsummer, so that a winter belongs to one.
    const number = Math.floor(absolute / YEAR_DAYS + 0.5);
    if (number !== year.number) {
      year = { number, warmer: random.normal(0, 0.7), late: random.normal(0, 9), winter: random.normal(0, 1.5) };
    }
    const winter = Math.cos((2 * Math.PI * (absolute - year.late)) / YEAR_DAYS);
    // Fronts last for days, regimes for weeks; both are stronger in winter.
    const strength = 1 + 0.3 * winter;
    front = 0.75 * front + random.normal(0, 1.7 * strength);
    regime = 0.97 * regime + random.normal(0, 0.4 * strength);
    if (spellDays > 0) spellDays--;
    else if (random.chance(0.012))
      [spellDays, spell] = [random.whole(4, 12), winter > 0.3 ? -random.between(3, 8) : random.between(2, 6)];
    else spell = 0;
    means[day] = annualMean + year.warmer - (amplitude - year.winter) * winter + front + regime + spell;
    clouds = 0.6 * clouds + random.normal(0, 0.8);
    ranges[day] = Math.min(22, Math.max(1, 9 - 2.5 * winter + 4 * clouds));
  }
  return { means, ranges };
}

/** Temperature at an hour since the start; warmest in the afternoon. */
export function temperatureAt({ means, ranges }: Weather, hour: number): number {
  const day = Math.min(means.length - 1, Math.max(0, Math.floor(hour / 24)));
  // From noon to noon, so that midnights do not jump.
  const middle = Math.floor(hour / 24 - 0.5);
  const share = hour / 24 - 0.5 - middle;
  const mean = (1 - share) * (means[Math.max(0, middle)] ?? 0) + share * (means[Math.min(means.length - 1, middle + 1)] ?? 0);
  return mean + ((ranges[day] ?? 0) / 2) * Math.cos((2 * Math.PI * ((hour % 24) - 15)) / 24);
}
