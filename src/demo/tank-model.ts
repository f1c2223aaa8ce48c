// One tank of the demo over time: use that follows the seasons and the time of day, deliveries, and a sensor that is silent now and
// then. All of it depends only on the seed, the tank and the instant, so that a restarted demo continues where it ended.

import type { Instant } from "../domain/instant.ts";
import { FILL, type ReadingBatch } from "../domain/reading.ts";
import type { Tank, UseCase } from "../domain/tank.ts";
import { type Random, type Seed, seeded } from "../simulate/random.ts";
import { coldAt } from "./countries.ts";

const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;

const REPORT_INTERVAL = 4 * HOUR;
const SEASONS = 365.2425 * DAY;
/** The coldest days are in the middle of January. */
const MIDWINTER = 15 * DAY;
const MORNING = 7 * HOUR;
const NOON = 12 * HOUR;
const DAILY_SWING = 0.3;
/** A sensor is silent once in this time. */
const DROPOUT_PERIOD = 60 * DAY;
/** The share of midwinter use that is absent in midsummer, where winters are severe. */
const HEATING_SHARE: Readonly<Record<UseCase, number>> = { residential: 0.88, commercial: 0.6, industrial: 0.12 };

export class TankModel {
  /** When the sensor reports within each interval. */
  readonly reportOffset: number;
  readonly #name: string;
  readonly #noise: Random;
  readonly #deviation: number;
  /** 10 if the sensor sends one decimal, 100 if it sends two. */
  readonly #resolution: number;
  readonly #top: number;
  /** What is used between two deliveries, in percent: until the fill is below the threshold. */
  readonly #delivered: number;
  /** Percent a day in midwinter. */
  readonly #winterUse: number;
  readonly #heatingShare: number;
  readonly #peaksPerDay: 1 | 2;
  /** The time of a peak, in UTC. */
  readonly #peak: number;
  /** Of the period that was read last. */
  #dropout = { period: -1, from: 0, until: 0 };

  constructor(tank: Tank, seed: Seed) {
    this.#name = `${seed}/${tank.id}`;
    const random = seeded(`${this.#name}/habits`);
    const useCase = tank.use_case ?? "commercial";
    const weeksPerFill = random.between(3, 10);
    this.#noise = seeded(`${this.#name}/noise`);
    this.#deviation = random.between(0.03, 0.2);
    this.#resolution = random.chance(0.6) ? 10 : 100;
    this.reportOffset = Math.floor(random.next() * REPORT_INTERVAL);
    this.#top = random.between(80, 90);
    this.#delivered = this.#top - tank.min_fill_alert_percentage + random.between(1, 9);
    this.#winterUse = 70 / (7 * weeksPerFill);
    this.#heatingShare = HEATING_SHARE[useCase] * coldAt(tank.location);
    this.#peaksPerDay = useCase === "industrial" ? 1 : 2;
    const solarOffset = ((tank.location.longitude ?? 0) / 360) * DAY;
    this.#peak = (useCase === "industrial" ? NOON : MORNING) - solarOffset;
  }

  /** The measured fill; undefined while the sensor is silent. */
  fillAt(at: Instant): number | undefined {
    if (this.#isSilent(at)) return undefined;
    const fill = this.#top - (this.#usedUntil(at) % this.#delivered);
    const measured = Math.round(this.#noise.normal(fill, this.#deviation) * this.#resolution) / this.#resolution;
    // Adding 0 turns -0 into 0.
    return Math.min(FILL.maximum, Math.max(FILL.minimum, measured)) + 0;
  }

  /** Since 1970, in percent: the integral of a use that is highest in midwinter, and at the peaks of each day. */
  #usedUntil(at: Instant): number {
    const half = this.#heatingShare / 2;
    const season = (2 * Math.PI * (at - MIDWINTER)) / SEASONS;
    const day = (2 * Math.PI * this.#peaksPerDay * (at - this.#peak)) / DAY;
    const seasonal = (1 - half) * (at / DAY) + (half * (SEASONS / DAY) * Math.sin(season)) / (2 * Math.PI);
    const useNow = 1 - half + half * Math.cos(season);
    const daily = (useNow * DAILY_SWING * Math.sin(day)) / (2 * Math.PI * this.#peaksPerDay);
    return this.#winterUse * (seasonal + daily);
  }

  /** From two hours to five days in each period, short ones more often. */
  #isSilent(at: Instant): boolean {
    const period = Math.floor(at / DROPOUT_PERIOD);
    if (period !== this.#dropout.period) {
      const random = seeded(`${this.#name}/${period}`);
      const from = (period + random.next()) * DROPOUT_PERIOD;
      this.#dropout = { period, from, until: from + 2 * HOUR * 60 ** random.next() };
    }
    return at >= this.#dropout.from && at < this.#dropout.until;
  }
}

/** One reading every four hours after an instant, at most those of the last year. */
export function readingsSince(after: Instant, tank: Tank, seed: Seed, now: Instant): ReadingBatch {
  const model = new TankModel(tank, seed);
  const createdAt: number[] = [];
  const fills: number[] = [];
  const start = Math.max(after, now - YEAR);
  const first = start - ((start - model.reportOffset) % REPORT_INTERVAL) + REPORT_INTERVAL;
  for (let at = first; at <= now; at += REPORT_INTERVAL) {
    const fill = model.fillAt(at);
    if (fill === undefined) continue;
    createdAt.push(at);
    fills.push(fill);
  }
  return {
    tankIds: [tank.id],
    tank: new Uint32Array(fills.length),
    createdAt: Float64Array.from(createdAt),
    fill: Float64Array.from(fills),
  };
}
