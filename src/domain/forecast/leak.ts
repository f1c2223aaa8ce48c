// Finds leaks: use that is steadily and far above what the tank has shown for the season, or a sudden loss. Theft of a little every
// day, and of much at once, look the same. docs/forecasts.md explains the method.

import { DAY, type Instant } from "../instant.ts";
import { type DailyLevel, noiseOf } from "./daily.ts";
import type { History } from "./forecast.ts";
import { suddenLosses } from "./loss.ts";
import type { Season } from "./season.ts";

export type Leak = {
  /** The level after which use was too high. */
  readonly since: Instant;
  /** Points a day above what is expected; of a sudden loss the points that were lost. */
  readonly excess: number;
  readonly isSudden: boolean;
};

/** Use is judged over this many days, or three levels where they are rare. */
const WINDOW = { days: 5.5, levels: 3 } as const;
/** A window that takes longer, because levels are rare or missing, is not judged. */
const MAX_WINDOW_DAYS = 8.5;
/** Normal use is learned from what is older than this, so that a leak does not become normal before it is found. */
const LEARNED_AFTER_DAYS = 6;
/** After this time, a day counts half for what is normal. */
const HALF_LIFE_DAYS = 150;
/** Nothing is judged before use is known for this many days. */
const MIN_KNOWN_DAYS = 45;
/** Points a day. */
const MIN_EXCESS = 0.7;
/** Deviations above normal. */
const MIN_DEVIATIONS = 2.5;
/** Tanks that use more than this many points a day are not judged: a leak of a point a day is lost in their use. */
const MAX_USE = 6;
/** A leak has ended when its excess is below this share of the limit. */
const ENDED_BELOW = 0.4;
/** High use that ends by itself within this time was no leak, and is learned as normal. */
const MAX_HIGH_USE_DAYS = 14;
/** A sudden loss is reported for this long. */
const LOSS_DAYS = 7;

/** After each level that can be judged, the leak that has not ended then. The last one is the current state. */
export type LeakAtLevel = { readonly day: number; readonly leak: Leak | undefined };

/** None of a sensor that fails. */
export function leakStates({ cleaned, refills, daily, sensorStep, isErratic }: History, season: Season): LeakAtLevel[] {
  if (isErratic) return [];
  const losses = suddenLosses(cleaned, refills, sensorStep);
  const steady = new Map(steadyLeaks(daily, season, sensorStep).map((state) => [state.day, state]));
  let judged: LeakAtLevel | undefined;
  return daily.flatMap(({ day }) => {
    judged = steady.get(day) ?? judged;
    // Compared by day: the level of the day may be earlier than the reading that confirmed the loss.
    const loss = losses.findLast(({ foundAt }) => Math.floor(foundAt / DAY) <= day);
    const hasEnded =
      loss === undefined ||
      day - loss.since / DAY >= LOSS_DAYS ||
      refills.some(({ startedAt, endedAt }) => startedAt >= loss.since && endedAt <= day * DAY);
    if (!hasEnded) return [{ day, leak: { since: loss.since, excess: loss.points, isSudden: true } }];
    if (judged?.day === day) return [judged];
    // After a loss, use that has not been judged since counts as normal, unless it was too high before.
    const isNormal = loss !== undefined && judged?.leak === undefined && (judged?.day ?? 0) < loss.foundAt / DAY;
    return isNormal ? [{ day, leak: undefined }] : [];
  });
}

function steadyLeaks(levels: readonly DailyLevel[], season: Season, sensorStep: number): LeakAtLevel[] {
  const states: LeakAtLevel[] = [];
  const steps = stepsOf(levels, season);
  const noise = noiseOf(levels, sensorStep);
  const normal = new NormalUse();
  const judgements: (Judgement | undefined)[] = [];
  let learned = 0;
  let open: { since: number; excess: number; openedAt: number } | undefined;
  for (const [i, { end }] of steps.entries()) {
    const window = windowBefore(steps, i + 1);
    const start = steps[window]?.start ?? end;
    if (open === undefined) {
      const until = Math.min(start, end - LEARNED_AFTER_DAYS);
      for (; (steps[learned]?.end ?? end) <= until; learned++) normal.learn(stepAt(steps, learned), judgements[learned]);
    }
    if (normal.days < MIN_KNOWN_DAYS || end - start > MAX_WINDOW_DAYS) continue;
    const judgement = judge(steps, window, i + 1, normal, recentFactor(steps, learned, normal), noise);
    const { excess, limit } = judgement;
    judgements[i] = judgement;
    if (open === undefined) {
      if (excess > limit) open = { since: start, excess, openedAt: end };
    } else if (excess >= ENDED_BELOW * limit) open.excess = excess;
    else {
      if (end - open.openedAt > MAX_HIGH_USE_DAYS) {
        learned = window;
        judgements.fill(undefined, window, i + 1);
      }
      open = undefined;
    }
    states.push({ day: end, leak: open && { since: Math.round(open.since * DAY), excess: open.excess, isSudden: false } });
  }
  return states;
}

/** From one level to the next, without a refill between. Times in days, `use` in points, `heat` in average days of heating. */
type UseStep = {
  readonly start: number;
  readonly end: number;
  readonly days: number;
  readonly use: number;
  readonly heat: number;
};

function stepsOf(levels: readonly DailyLevel[], season: Season): UseStep[] {
  const steps: UseStep[] = [];
  let [before, heatBefore] = [levels[0], 0];
  for (const level of levels) {
    const heatUntil = season.heatingUntil(level.day);
    if (before !== undefined && before.segment === level.segment && level.day > before.day) {
      const days = level.day - before.day;
      steps.push({ start: before.day, end: level.day, days, use: before.fill - level.fill, heat: heatUntil - heatBefore });
    }
    [before, heatBefore] = [level, heatUntil];
  }
  return steps;
}

function stepAt(steps: readonly UseStep[], index: number): UseStep {
  const step = steps[index];
  if (step === undefined) throw new RangeError(`no step ${index}`);
  return step;
}

/** The index of the first step of the window that ends before `end`. */
function windowBefore(steps: readonly UseStep[], end: number): number {
  let [start, days] = [end, 0];
  while (start > 0 && (days < WINDOW.days || end - start < WINDOW.levels)) {
    start--;
    days += stepAt(steps, start).days;
  }
  return start;
}

/** Where little heating has been seen, it may be `perDay` points on an average day; `heat` seen halves that. */
const UNKNOWN_HEATING = { perDay: 0.5, heat: 40 } as const;
/** A tank with a day far above its normal use is used in bursts, like a generator. */
const BURST = { least: 1.5, noise: 4, normal: 5 } as const;
/** The initial spread, 1, has the weight of `initialDays` days of readings. Deviations beyond a bound are clipped to it. */
const SPREAD = { initialDays: 60, minDeviations: -1.5, maxDeviations: 3, minimum: 0.2 } as const;

/** Use = base + heating × heat, fitted by least squares to what has been learned; older days count less. */
class NormalUse {
  days = 0;
  base = 0;
  heating = 0;
  /** How much more heating a day may take than has been seen. */
  unknownHeating: number = UNKNOWN_HEATING.perDay;
  /** The largest use of a day, and the largest of the lowest of each window. */
  largestUse = 0;
  private largestLowest = 0;
  private heat = 0;
  private heatSquare = 0;
  private use = 0;
  private useHeat = 0;
  private learnedAt = Number.NEGATIVE_INFINITY;
  private judgedDays = 0;
  private squares = 0;

  /** `judgement`: of the window that ends with the step. */
  learn({ end, days, use, heat }: UseStep, judgement: Judgement | undefined): void {
    const faded = 2 ** (-(end - this.learnedAt) / HALF_LIFE_DAYS);
    this.learnedAt = end;
    this.days = this.days * faded + days;
    this.heat = this.heat * faded + heat;
    this.heatSquare = this.heatSquare * faded + heat ** 2 / days;
    this.use = this.use * faded + use;
    this.useHeat = this.useHeat * faded + (use * heat) / days;
    this.largestUse = Math.max(use / Math.max(days, 0.7), this.largestUse * faded);
    this.largestLowest = Math.max(judgement?.lowest ?? 0, this.largestLowest * faded);
    const deviations = Math.max(SPREAD.minDeviations, Math.min(SPREAD.maxDeviations, judgement?.deviations ?? 0));
    this.squares = this.squares * faded + days * deviations ** 2;
    this.judgedDays = this.judgedDays * faded + (judgement === undefined ? 0 : days);
    this.fit();
  }

  /** The typical deviation of this tank's use, in units of `DEVIATION`; 1 until it is known. */
  get spread(): number {
    return Math.max(SPREAD.minimum, Math.sqrt((this.squares + SPREAD.initialDays) / (this.judgedDays + SPREAD.initialDays)));
  }

  private fit(): void {
    const { days, heat, use, useHeat } = this;
    // Regularisation: keeps heating near 0 while little heating weather has been seen.
    const heatSquare = this.heatSquare + 5;
    const determinant = days * heatSquare - heat ** 2;
    this.base = (use * heatSquare - useHeat * heat) / determinant;
    this.heating = (useHeat * days - use * heat) / determinant;
    if (this.heating < 0) [this.base, this.heating] = [Math.max(0, use / days), 0];
    else if (this.base < 0) [this.base, this.heating] = [0, Math.max(0, useHeat / heatSquare)];
    this.unknownHeating = (UNKNOWN_HEATING.perDay * UNKNOWN_HEATING.heat) / (UNKNOWN_HEATING.heat + this.heatSquare);
  }

  isInBursts(noise: number): boolean {
    const coldDay = this.base + 2.5 * this.heating;
    return this.largestUse > BURST.least + BURST.noise * noise + BURST.normal * coldDay;
  }

  limitInBursts(): number {
    return Math.max(LOWEST_DAY.minUse, LOWEST_DAY.ofEarlier * this.largestLowest);
  }
}

/** Use of the last learned days ÷ normal use, where it was higher: a cold winter, or a new habit. */
const RECENT = { days: 10, most: 3, weightOfNormal: 0.3, leastUse: 0.5 } as const;

function recentFactor(steps: readonly UseStep[], learned: number, { base, heating }: NormalUse): number {
  const since = (steps[learned - 1]?.end ?? 0) - RECENT.days;
  let [used, expected] = [0, 0];
  for (let i = learned - 1; i >= 0 && stepAt(steps, i).end > since; i--) {
    const { use, days, heat } = stepAt(steps, i);
    used += use;
    expected += base * days + heating * heat;
  }
  const weight = RECENT.weightOfNormal * expected + RECENT.leastUse;
  return Math.min(RECENT.most, Math.max(1, (used + weight) / (expected + weight)));
}

/** How far use differs from normal, as a share of base load and of heating on an average day, and by noise of the level. */
const DEVIATION = { base: 0.28, heating: 0.48, level: 0.1, noise: 3 } as const;
/** A leak is steady: the excess of each third of the window is at least these shares of the average and of the highest third. */
const STEADINESS = { ofAverage: 0.8, ofHighest: 0.35, tolerance: 0.05, noise: 4.5 } as const;

/** Use in bursts is judged by the day of the lowest use, if there are enough steps and they are alike. */
const LOWEST_DAY = { steps: 5, minUse: 0.5, ofEarlier: 1.5, ofHighest: 0.25 } as const;

type Judgement = {
  /** Points a day. A leak is an excess above the limit. */
  readonly excess: number;
  readonly limit: number;
  /** Use above normal. */
  readonly deviations: number;
  /** Points on the day of the lowest use. */
  readonly lowest: number;
};

/** Judges the steps from `start` up to `end`. */
function judge(
  steps: readonly UseStep[],
  start: number,
  end: number,
  normal: NormalUse,
  factor: number,
  noise: number,
): Judgement {
  let [days, heat, use, expected, lowest, highest] = [0, 0, 0, 0, Number.POSITIVE_INFINITY, 0];
  let [lowestDay, highestDay] = [Number.POSITIVE_INFINITY, 0];
  let [part, partDays, partExcess] = [1, 0, 0];
  for (let i = start; i < end; i++) {
    const step = stepAt(steps, i);
    const stepExpected = factor * (normal.base * step.days + normal.heating * step.heat);
    days += step.days;
    heat += step.heat;
    use += step.use;
    expected += stepExpected;
    partDays += step.days;
    partExcess += step.use - stepExpected;
    if (step.days > 0.5) {
      lowestDay = Math.min(lowestDay, step.use / step.days);
      highestDay = Math.max(highestDay, step.use / step.days);
    }
    if (i - start + 1 < (part * (end - start)) / 3) continue;
    lowest = Math.min(lowest, partExcess / partDays);
    highest = Math.max(highest, partExcess / partDays);
    [part, partDays, partExcess] = [part + 1, 0, 0];
  }
  const unknown = normal.unknownHeating * (heat / days);
  const weather = DEVIATION.heating * (normal.heating + normal.unknownHeating) * Math.min(1, heat / days / 0.4);
  const deviation = Math.hypot((DEVIATION.level + DEVIATION.noise * noise) / days, DEVIATION.base * normal.base, weather);
  const deviations = ((use - expected) / days - unknown) / deviation;
  if (normal.isInBursts(noise)) {
    const areAlike = end - start >= LOWEST_DAY.steps && lowestDay >= LOWEST_DAY.ofHighest * highestDay;
    return { excess: areAlike ? lowestDay : 0, limit: normal.limitInBursts(), deviations, lowest: lowestDay };
  }
  // A leak goes on day and night: what is much less in one third of the window was a burst of use, or a change of weather.
  const atLeast = lowest + STEADINESS.tolerance + (STEADINESS.noise * noise) / days;
  const isSteady = atLeast >= STEADINESS.ofHighest * highest;
  const excess = isSteady ? Math.min((use - expected) / days, atLeast / STEADINESS.ofAverage) : Math.min(0, lowest);
  const limit = Math.max(MIN_EXCESS, MIN_DEVIATIONS * normal.spread * deviation + unknown);
  return { excess, limit: expected / days > MAX_USE ? Number.POSITIVE_INFINITY : limit, deviations, lowest: lowestDay };
}
