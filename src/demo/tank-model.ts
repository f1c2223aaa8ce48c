// One tank of the demo over time: use that follows the seasons and the time of day, deliveries, and a sensor that is silent now and
// then. All of it depends only on the seed, the tank and the instant, so that a restarted demo continues where it ended.

import { DAY, HOUR, type Instant } from "../domain/instant.ts";
import { FILL, type ReadingBatch } from "../domain/reading.ts";
import type { Tank, UseCase } from "../domain/tank.ts";
import { type Seed, seeded } from "../simulate/random.ts";
import { coldAt } from "./countries.ts";

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

type TankModel = {
  /** When the sensor reports within each interval. */
  readonly reportOffset: number;
  /** The measured fill; undefined while the sensor is silent. */
  readonly fillAt: (at: Instant) => number | undefined;
};

export function tankModel(tank: Tank, seed: Seed): TankModel {
  const name = `${seed}/${tank.id}`;
  const random = seeded(`${name}/habits`);
  const useCase = tank.use_case ?? "commercial";
  const top = random.between(80, 90);
  // What is used between two deliveries, in percent: until the fill is below the threshold.
  const delivered = top - tank.min_fill_alert_percentage + random.between(1, 9);
  const weeksPerFill = random.between(3, 10);
  const winterUsePerDay = 70 / (7 * weeksPerFill);
  const heating = (HEATING_SHARE[useCase] * coldAt(tank.location)) / 2;
  const [peaksPerDay, solarPeak] = useCase === "industrial" ? [1, NOON] : [2, MORNING];
  const peak = solarPeak - ((tank.location.longitude ?? 0) / 360) * DAY;
  const deviation = random.between(0.03, 0.2);
  // The sensor sends one or two decimals.
  const resolution = random.chance(0.6) ? 10 : 100;
  const noise = seeded(`${name}/noise`);
  let dropout = { period: -1, from: 0, until: 0 };

  /** Since 1970, in percent: the integral of a use that is highest in midwinter, and at the peaks of each day. */
  function usedUntil(at: Instant): number {
    const season = (2 * Math.PI * (at - MIDWINTER)) / SEASONS;
    const day = (2 * Math.PI * peaksPerDay * (at - peak)) / DAY;
    const seasonal = (1 - heating) * (at / DAY) + (heating * (SEASONS / DAY) * Math.sin(season)) / (2 * Math.PI);
    const useNow = 1 - heating + heating * Math.cos(season);
    const daily = (useNow * DAILY_SWING * Math.sin(day)) / (2 * Math.PI * peaksPerDay);
    return winterUsePerDay * (seasonal + daily);
  }

  /** From two hours to five days in each period, short ones more often. */
  function isSilent(at: Instant): boolean {
    const period = Math.floor(at / DROPOUT_PERIOD);
    if (period !== dropout.period) {
      const draw = seeded(`${name}/${period}`);
      const from = (period + draw.next()) * DROPOUT_PERIOD;
      dropout = { period, from, until: from + 2 * HOUR * 60 ** draw.next() };
    }
    return at >= dropout.from && at < dropout.until;
  }

  return {
    reportOffset: Math.floor(random.next() * REPORT_INTERVAL),
    fillAt(at) {
      if (isSilent(at)) return undefined;
      const fill = top - (usedUntil(at) % delivered);
      const measured = Math.round(noise.normal(fill, deviation) * resolution) / resolution;
      // Adding 0 turns -0 into 0.
      return Math.min(FILL.maximum, Math.max(FILL.minimum, measured)) + 0;
    },
  };
}

const BUSY_CYCLE = 6 * 60_000;
/** Above and below the threshold, in percentage points: after a delivery, and before the next. */
const BUSY = { top: 12, bottom: -6 } as const;

/** Used up and filled again every few minutes. `phase`, from 0 to 1, is where in the cycle it begins. */
export function busyTankModel({ min_fill_alert_percentage: threshold }: Tank, phase: number): Pick<TankModel, "fillAt"> {
  return {
    fillAt(at) {
      const used = (at / BUSY_CYCLE + phase) % 1;
      const fill = threshold + BUSY.top - (BUSY.top - BUSY.bottom) * used;
      return Math.min(FILL.maximum, Math.max(FILL.minimum, Math.round(fill * 10) / 10));
    },
  };
}

/** One reading every four hours after an instant, at most those of the last year. */
export function readingsSince(after: Instant, tank: Tank, seed: Seed, now: Instant): ReadingBatch {
  const { reportOffset, fillAt } = tankModel(tank, seed);
  const createdAt: number[] = [];
  const fills: number[] = [];
  const start = Math.max(after, now - YEAR);
  const first = start - ((start - reportOffset) % REPORT_INTERVAL) + REPORT_INTERVAL;
  for (let at = first; at <= now; at += REPORT_INTERVAL) {
    const fill = fillAt(at);
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
