// A model of one tank over time: use that follows the seasons, a delivery some days after it falls below its threshold, and a
// sensor that is silent now and then. A tank's parameters depend only on the seed and the tank, so that they are the same
// whenever the demo is started.

import type { Instant } from "../domain/instant.ts";
import { FILL, type Reading, type ReadingBatch } from "../domain/reading.ts";
import type { Tank, UseCase } from "../domain/tank.ts";
import { type Random, type Seed, seeded } from "../simulate/random.ts";
import { coldAt } from "./countries.ts";

const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;

const REPORT_INTERVAL = 4 * HOUR;
/** Use is taken as constant within one step. */
const MAX_STEP = 4 * HOUR;
const MEAN_TIME_BETWEEN_DROPOUTS = 60 * DAY;
const NEVER = Number.POSITIVE_INFINITY;

type TankParameters = {
  /** Percent a day in midwinter. */
  readonly winterUse: number;
  /** The share of winter use that is absent in midsummer. */
  readonly heatingShare: number;
  readonly peaksPerDay: 1 | 2;
  /** Milliseconds from UTC to solar time at the tank. */
  readonly solarOffset: number;
  readonly noise: number;
  /** 10 if the sensor sends one decimal, 100 if it sends two. */
  readonly resolution: number;
  /** When the sensor reports within each interval. */
  readonly reportOffset: number;
};

const HEATING_SHARE: Readonly<Record<UseCase, number>> = { residential: 0.88, commercial: 0.6, industrial: 0.12 };

function parametersOf(tank: Tank, seed: Seed): TankParameters {
  const random = seeded(`${seed}/${tank.id}/habits`);
  const useCase = tank.use_case ?? "commercial";
  const weeksPerFill = random.between(3, 10);
  return {
    winterUse: 70 / (7 * weeksPerFill),
    heatingShare: HEATING_SHARE[useCase] * coldAt(tank.location),
    peaksPerDay: useCase === "industrial" ? 1 : 2,
    solarOffset: ((tank.location.longitude ?? 0) / 360) * DAY,
    noise: random.between(0.03, 0.2),
    resolution: random.chance(0.6) ? 10 : 100,
    reportOffset: Math.floor(random.next() * REPORT_INTERVAL),
  };
}

const YEAR_WITH_LEAP_DAYS = 365.2425 * DAY;
/** The coldest days are in the middle of January. */
const MIDWINTER = 15 * DAY;
const MORNING = 7 * HOUR;
const NOON = 12 * HOUR;
const DAILY_SWING = 0.3;

/** Percent a day at the instant. `coldness` is the weather: 1 is average, more is colder. */
function useAt(at: Instant, tank: TankParameters, coldness: number): number {
  const winter = (1 + Math.cos((2 * Math.PI * (at - MIDWINTER)) / YEAR_WITH_LEAP_DAYS)) / 2;
  const season = 1 - tank.heatingShare * (1 - winter);
  const weather = 1 + tank.heatingShare * winter * (coldness - 1);
  const sincePeak = at + tank.solarOffset - (tank.peaksPerDay === 1 ? NOON : MORNING);
  const timeOfDay = 1 + DAILY_SWING * Math.cos((2 * Math.PI * tank.peaksPerDay * sincePeak) / DAY);
  return tank.winterUse * season * weather * timeOfDay;
}

type TankState = { readonly at: Instant; readonly fill: number };

export class TankModel {
  readonly #parameters: TankParameters;
  readonly #random: Random;
  readonly #threshold: number;
  #at: Instant;
  #fill: number;
  #deliveryAt = NEVER;
  #coldness = 1;
  #silentFrom: Instant = NEVER;
  #silentUntil: Instant;

  constructor(tank: Tank, seed: Seed, start: TankState) {
    this.#parameters = parametersOf(tank, seed);
    this.#random = seeded(`${seed}/${tank.id}/${start.at}`);
    this.#threshold = tank.min_fill_alert_percentage;
    this.#at = start.at;
    this.#fill = start.fill;
    this.#silentUntil = start.at;
  }

  /** Advances to the instant. Undefined while the sensor is silent, or if the model is past the instant already. */
  readingAt(at: Instant): Reading | undefined {
    if (at <= this.#at) return undefined;
    while (this.#at < at) this.#advance(Math.min(at, this.#at + MAX_STEP, this.#deliveryAt));
    return this.#isSilent() ? undefined : { created_at: at, fill_percentage: this.#measure() };
  }

  #advance(until: Instant): void {
    const use = useAt((this.#at + until) / 2, this.#parameters, this.#coldness);
    this.#fill = Math.max(FILL.minimum, this.#fill - (use * (until - this.#at)) / DAY);
    if (Math.floor(until / DAY) !== Math.floor(this.#at / DAY)) this.#changeWeather();
    this.#at = until;
    if (until === this.#deliveryAt) {
      this.#fill = this.#random.between(80, 90);
      this.#deliveryAt = NEVER;
    } else if (this.#fill < this.#threshold && this.#deliveryAt === NEVER) {
      this.#deliveryAt = this.#nextDelivery(use);
    }
  }

  /** Correlated from day to day: cold and mild spells last some days. */
  #changeWeather(): void {
    const coldness = 1 + 0.85 * (this.#coldness - 1) + this.#random.normal(0, 0.12);
    this.#coldness = Math.min(1.6, Math.max(0.5, coldness));
  }

  /** In working hours, and usually before the tank is empty. */
  #nextDelivery(use: number): Instant {
    const delay = this.#random.between(1, 9) * DAY;
    const untilEmpty = (Math.max(0, this.#fill - 2) / use) * DAY;
    const earliest = this.#at + (this.#random.chance(0.03) ? delay : Math.min(delay, untilEmpty));
    const timeOfDay = this.#random.between(7, 16) * HOUR - this.#parameters.solarOffset;
    let deliveryAt = Math.floor(earliest / DAY) * DAY + Math.floor(timeOfDay);
    while (deliveryAt <= this.#at) deliveryAt += DAY;
    return deliveryAt;
  }

  #isSilent(): boolean {
    while (this.#at >= this.#silentUntil) {
      this.#silentFrom = this.#silentUntil - Math.log(1 - this.#random.next()) * MEAN_TIME_BETWEEN_DROPOUTS;
      // From two hours to five days, short ones more often.
      this.#silentUntil = this.#silentFrom + 2 * HOUR * 60 ** this.#random.next();
    }
    return this.#at >= this.#silentFrom;
  }

  #measure(): number {
    const { noise, resolution } = this.#parameters;
    const measured = Math.round(this.#random.normal(this.#fill, noise) * resolution) / resolution;
    // Adding 0 turns -0 into 0.
    return Math.min(FILL.maximum, Math.max(FILL.minimum, measured)) + 0;
  }
}

/** The readings of the last year, or since the tank was created: one batch per tank, one reading every four hours. */
export function* history(tanks: Iterable<Tank>, seed: Seed, now: Instant): Generator<ReadingBatch, void, undefined> {
  for (const tank of tanks) {
    const fill = seeded(`${seed}/${tank.id}/first fill`).between(tank.min_fill_alert_percentage, 88);
    yield readingsSince({ at: Math.max(tank.created_at, now - YEAR), fill }, tank, seed, now);
  }
}

/** The readings since the last one, at most those of the last year. */
export function catchUp(tank: Tank, seed: Seed, last: Reading, now: Instant): ReadingBatch {
  const start = { at: Math.max(last.created_at, now - YEAR), fill: last.fill_percentage };
  return readingsSince(start, tank, seed, now);
}

function readingsSince(start: TankState, tank: Tank, seed: Seed, now: Instant): ReadingBatch {
  const model = new TankModel(tank, seed, start);
  const { reportOffset } = parametersOf(tank, seed);
  const first = start.at - ((start.at - reportOffset) % REPORT_INTERVAL) + REPORT_INTERVAL;
  const createdAt: number[] = [];
  const fill: number[] = [];
  for (let at = first; at <= now; at += REPORT_INTERVAL) {
    const reading = model.readingAt(at);
    if (reading === undefined) continue;
    createdAt.push(reading.created_at);
    fill.push(reading.fill_percentage);
  }
  return {
    tankIds: [tank.id],
    tank: new Uint32Array(fill.length),
    createdAt: Float64Array.from(createdAt),
    fill: Float64Array.from(fill),
  };
}
