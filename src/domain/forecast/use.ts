// What a tank uses: a base load and heating, each in percentage points a day, and how far both are from normal at present. A Kalman
// filter estimates them from the tank's levels, one after the other.

import { type Bursts, burstsIn } from "./bursts.ts";
import type { DailyLevel } from "./daily.ts";
import type { Season } from "./season.ts";
import { theilSen } from "./slope.ts";

export type UseModel = {
  /** The time of the last level, in days since 1970. */
  readonly day: number;
  /** The last level, or one nearer to what was expected, if it is not confirmed. */
  readonly level: number;
  /** Negative where heating begins on colder days than elsewhere. Use as a whole never is. */
  readonly base: number;
  /** Use for heating on an average day of the year. */
  readonly heating: number;
  /** What is used at present beyond the base load, and beyond normal heating on a day on which there is any. May be negative. */
  readonly baseExcess: number;
  readonly heatingExcess: number;
  /** Undefined if the tank is not used in bursts. */
  readonly bursts: Bursts | undefined;
  readonly season: Season;
};

/** What a tank is expected to use on an average day, in points. It counts like this many days of the first levels, and more for heating. */
const TYPICAL = { use: 0.3, days: 15, heatingDays: 45, levels: 30 } as const;
// The following are standard deviations, in shares of the use on an average day.
/** Of use, and of the part of it that is heating, before anything is known of the tank. */
const UNKNOWN = { use: 0.5, heating: 0.35 } as const;
/** How far use is from normal. It decays with this time constant, in days: heating as the weather changes, habits later. */
const EXCESS = { heating: { deviation: 0.4, days: 25 }, base: { deviation: 0.5, days: 100 } } as const;
const MIN_EXCESS = 0.01;
/** How far use on a day is from that: on any day, and more with heating. */
const DAILY = { base: 0.4, heating: 0.15 } as const;
/** The standard deviation of the sensor in units of `noiseOf`, which is a median. */
const NOISE = 1.2;
/** A level that is further off than this many standard deviations does not change the estimate of use by more than that: a burst. */
const BURST = 7;
/**
 * After levels in a row that were each further below what was expected than these deviations, the tank is used more than before: after
 * `unconfirmed` of them, a level counts in full without being confirmed, and after `levels`, no fall counts as a burst. The deviations
 * are a little less than those of a daily level that is not confirmed.
 */
const LASTING = { levels: 3, unconfirmed: 2, deviations: 0.95 } as const;
/**
 * A level that is not confirmed counts as no further off than this: a single false reading must not move the forecast. Less if the one
 * before it is at most two days older, since the next, which may confirm it, comes as soon.
 */
const UNCONFIRMED = { deviations: 2, daily: 1, dailyDays: 2 } as const;
/** The variance of a level that is not known. */
const UNKNOWN_LEVEL = 1e4;

/**
 * Models at some of the levels, each from the noise and the levels up to it alone, but with the bursts of all; undefined where there is no
 * use to see yet.
 */
export function useModels(
  levels: readonly DailyLevel[],
  season: Season,
  noise: number,
  wanted: ReadonlySet<number>,
): Map<number, UseModel> {
  const models = new Map<number, UseModel>();
  const typical = typicalUse(levels, season);
  const bursts = burstsIn(levels, noise);
  const filter = initialFilter(typical, season);
  let before: DailyLevel | undefined;
  let isSeen = false;
  levels.forEach((level, i) => {
    if (before !== undefined) predict(filter, before.day, level.day, typical, season);
    if (before?.segment === level.segment) isSeen = true;
    else resetLevel(filter, level.fill);
    const sensorVariance = (NOISE * noise) ** 2;
    if (wanted.has(i) && isSeen) {
      const newest = { ...level, fill: credibleFill(filter, before, level, undefined, sensorVariance) };
      models.set(i, { ...modelAfter(filter, newest, sensorVariance), bursts, season });
    }
    correct(filter, credibleFill(filter, before, level, levels[i + 1], sensorVariance), sensorVariance);
    before = level;
  });
  return models;
}

/** The level, or, if it is not confirmed, one nearer to what is expected. The next level confirms it as far as it is on the same side. */
function credibleFill(
  { state, covariance, lowInRow }: Filter,
  before: DailyLevel | undefined,
  level: DailyLevel,
  next: DailyLevel | undefined,
  sensorVariance: number,
): number {
  if (level.isConfirmed || before === undefined) return level.fill;
  const expected = state[LEVEL] ?? 0;
  if (lowInRow >= LASTING.unconfirmed && level.fill < expected) return level.fill;
  const deviations = level.day - before.day <= UNCONFIRMED.dailyDays ? UNCONFIRMED.daily : UNCONFIRMED.deviations;
  const most = deviations * Math.sqrt((covariance[LEVEL] ?? 0) + sensorVariance);
  const confirmed = next?.segment === level.segment ? next.fill : expected;
  return Math.min(Math.max(expected + most, confirmed), Math.max(Math.min(expected - most, confirmed), level.fill));
}

/** The model if this level, which the filter has not seen yet, is the newest. */
function modelAfter(
  { state, covariance, ofLevel, lowInRow }: Filter,
  newest: DailyLevel,
  sensorVariance: number,
): Omit<UseModel, "bursts" | "season"> {
  const filter = { state: state.slice(), covariance: covariance.slice(), ofLevel, lowInRow };
  correct(filter, newest.fill, sensorVariance);
  const [, base = 0, heating = 0, baseExcess = 0, heatingExcess = 0] = filter.state;
  return { day: newest.day, level: newest.fill, base, heating, baseExcess, heatingExcess };
}

/** Use on an average day of the year: the robust slope of the first levels over normal use instead of time, and what is expected. */
function typicalUse(levels: readonly DailyLevel[], { heatingUntil, heatingWeight, baseShare }: Season): number {
  const points = levels.slice(0, TYPICAL.levels).map(({ day, fill, segment }) => {
    return { x: baseShare * day + (1 - baseShare) * heatingUntil(day), y: fill, segment };
  });
  const slope = theilSen(points);
  if (Number.isNaN(slope)) return TYPICAL.use;
  const days = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
  const expectedDays = TYPICAL.days + TYPICAL.heatingDays * heatingWeight;
  return (Math.max(0, -slope) * days + TYPICAL.use * expectedDays) / (days + expectedDays);
}

type Filter = {
  readonly state: Float64Array;
  /** By rows. */
  readonly covariance: Float64Array;
  /** Memory for one of the rows. */
  readonly ofLevel: Float64Array;
  /** How many of the latest levels, one after the other, were below what was expected. */
  lowInRow: number;
};
/** What the state consists of. */
const [LEVEL, BASE, HEATING, BASE_EXCESS, HEATING_EXCESS, SIZE] = [0, 1, 2, 3, 4, 5] as const;
const variance = (index: number): number => index * SIZE + index;

function initialFilter(typical: number, { baseShare, heatingWeight }: Season): Filter {
  const heatingShare = 1 - baseShare;
  const state = Float64Array.of(0, baseShare * typical, heatingShare * typical, 0, 0);
  const covariance = new Float64Array(SIZE * SIZE);
  // Base load and heating are unknown together, as the use of the tank is, and against each other, as their shares are.
  const length = baseShare ** 2 + heatingShare ** 2;
  const ofUse = ((UNKNOWN.use * typical) / length) ** 2;
  const ofShares = ((UNKNOWN.heating * heatingWeight * typical) / length) ** 2;
  covariance[variance(BASE)] = ofUse * baseShare ** 2 + ofShares * heatingShare ** 2;
  covariance[variance(HEATING)] = ofUse * heatingShare ** 2 + ofShares * baseShare ** 2;
  const ofBoth = (ofUse - ofShares) * baseShare * heatingShare;
  covariance[BASE * SIZE + HEATING] = covariance[HEATING * SIZE + BASE] = ofBoth;
  covariance[variance(BASE_EXCESS)] = (EXCESS.base.deviation * baseShare ** 2 * typical) ** 2;
  covariance[variance(HEATING_EXCESS)] = (EXCESS.heating.deviation * heatingWeight * typical) ** 2;
  return { state, covariance, ofLevel: new Float64Array(SIZE), lowInRow: 0 };
}

/** From a level to the next: the level falls by what is used, the excess returns to zero, and all becomes less certain. */
function predict({ state, covariance, ofLevel }: Filter, from: number, to: number, typical: number, season: Season): void {
  const { days, heat, baseExcessDays, heatingExcessDays, baseKept, heatingKept } = useOver(from, to, season);
  const effects = [1, -days, -heat, -baseExcessDays, -heatingExcessDays];
  const kept = [1, 1, 1, baseKept, heatingKept];
  const [base, heating] = [state[BASE] ?? 0, state[HEATING] ?? 0];
  // A base load beside heating is hot water, which is steady; without heating it is a process.
  const unsteady = base > 0 ? base ** 2 / (base + Math.max(0, heating)) : 0;
  const baseDeviation = EXCESS.base.deviation * Math.max(MIN_EXCESS * typical, unsteady);
  const heatingDeviation = EXCESS.heating.deviation * season.heatingWeight * typical;

  state[LEVEL] = product(effects, state, 0, 1);
  for (let i = 0; i < SIZE; i++) ofLevel[i] = product(effects, covariance, i, SIZE);
  for (let i = 1; i < SIZE; i++) {
    const share = kept[i] ?? 1;
    state[i] = share * (state[i] ?? 0);
    covariance[i] = covariance[i * SIZE] = share * (ofLevel[i] ?? 0);
    for (let j = 1; j < SIZE; j++) covariance[i * SIZE + j] = share * (kept[j] ?? 1) * (covariance[i * SIZE + j] ?? 0);
  }
  covariance[LEVEL] = product(effects, ofLevel, 0, 1) + typical ** 2 * (DAILY.base + DAILY.heating * (heat / days)) ** 2 * days;
  increase(covariance, BASE_EXCESS, baseDeviation ** 2 * (1 - baseKept ** 2));
  increase(covariance, HEATING_EXCESS, heatingDeviation ** 2 * (1 - heatingKept ** 2));
}

function increase(covariance: Float64Array, index: number, by: number): void {
  covariance[variance(index)] = (covariance[variance(index)] ?? 0) + by;
}

/** After a refill, or a jump that is not use. */
function resetLevel({ state, covariance }: Filter, fill: number): void {
  for (let i = 0; i < SIZE; i++) covariance[i] = covariance[i * SIZE] = 0;
  covariance[LEVEL] = UNKNOWN_LEVEL;
  state[LEVEL] = fill;
}

/** Learns from a level. */
function correct(filter: Filter, fill: number, sensorVariance: number): void {
  const { state, covariance, ofLevel } = filter;
  const difference = fill - (state[LEVEL] ?? 0);
  const known = (covariance[LEVEL] ?? 0) + sensorVariance;
  filter.lowInRow = difference < -LASTING.deviations * Math.sqrt(known) ? filter.lowInRow + 1 : 0;
  const expected = filter.lowInRow > LASTING.levels ? known : Math.max(known, (difference / BURST) ** 2);
  covariance[LEVEL] = expected - sensorVariance;
  for (let i = 0; i < SIZE; i++) ofLevel[i] = covariance[i] ?? 0;
  for (let i = 0; i < SIZE; i++) {
    const gain = (ofLevel[i] ?? 0) / expected;
    state[i] = (state[i] ?? 0) + gain * difference;
    for (let j = 0; j < SIZE; j++) covariance[i * SIZE + j] = (covariance[i * SIZE + j] ?? 0) - gain * (ofLevel[j] ?? 0);
  }
}

/** The sum of the products of the factors and every `step`th value. */
function product(factors: readonly number[], values: ArrayLike<number>, start: number, step: number): number {
  let sum = 0;
  for (let i = 0; i < SIZE; i++) sum += (factors[i] ?? 0) * (values[start + i * step] ?? 0);
  return sum;
}

/** How many average days of base load, heating, and the excess of each a time has, and which share of the excess remains after it. */
function useOver(from: number, to: number, { heatingUntil, heatingShareOn }: Season) {
  const baseKept = Math.exp((from - to) / EXCESS.base.days);
  const heatingKept = Math.exp((from - to) / EXCESS.heating.days);
  return {
    days: Math.max(to - from, ONE_SECOND_IN_DAYS),
    heat: heatingUntil(to) - heatingUntil(from),
    baseExcessDays: EXCESS.base.days * (1 - baseKept),
    heatingExcessDays: EXCESS.heating.days * (1 - heatingKept) * heatingShareOn((from + to) / 2),
    baseKept,
    heatingKept,
  };
}

/** Use from the last level to each of the days after it, which are ascending. With bursts, at least their mean use after the wait. */
export function useUntil(model: UseModel, daysAhead: readonly number[]): number[] {
  const uses = steadyUseUntil(model, daysAhead);
  const { bursts } = model;
  if (bursts === undefined) return uses;
  return uses.map((use, i) => Math.max(use, bursts.use * ((daysAhead[i] ?? 0) - bursts.medianWait)));
}

function steadyUseUntil({ day, base, heating, season, ...model }: UseModel, daysAhead: readonly number[]): number[] {
  let { baseExcess, heatingExcess } = model;
  let [used, from] = [0, day];
  return daysAhead.map((ahead) => {
    const steps = Math.ceil((day + ahead - from) / MAX_STEP);
    const size = (day + ahead - from) / steps;
    for (let step = 0; step < steps; step++) {
      const over = useOver(from, from + size, season);
      const normal = base * over.days + heating * over.heat;
      used += Math.max(0, normal + baseExcess * over.baseExcessDays + heatingExcess * over.heatingExcessDays);
      baseExcess *= over.baseKept;
      heatingExcess *= over.heatingKept;
      from += size;
    }
    return used;
  });
}
const MAX_STEP = 10;
const ONE_SECOND_IN_DAYS = 1 / 86_400;
