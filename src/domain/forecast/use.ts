// What a tank uses: a base load and heating, each in percentage points a day, fitted to its history, and how far recent use
// is from that.

import type { DailyLevel } from "./daily.ts";
import type { Season } from "./season.ts";
import { theilSen } from "./slope.ts";

export type UseModel = {
  /** The time of the last level, in days since 1970. */
  readonly day: number;
  readonly base: number;
  /** Use for heating on an average day of the year. */
  readonly heating: number;
  /** Recent use ÷ what the tank uses normally at that time of the year. */
  readonly recent: number;
  readonly season: Season;
};

/** After this time, a day in the history of a tank counts half. */
const HALF_LIFE = 365;
/** The expected shares of base load and heating count like this many days of readings. */
const PRIOR_DAYS = 60;
/** Recent use is that of these days, or longer for as few levels as this, up to a limit. Weights fall by e in `fade` days. */
const RECENT = { days: 21, levels: 5, maxDays: 60, step: 2, fade: 8 } as const;
/** The weight of normal use among the recent, which decides where there is hardly any. */
const NORMAL_WEIGHT = 0.2;
/** Recent use returns to normal by a factor of e in this many days: heating as the weather does, habits later. */
const RETURN_DAYS = { heating: 20, base: 200 } as const;

/** Models at some of the levels, each from the levels up to it alone; undefined where there is no use to see yet. */
export function useModels(levels: readonly DailyLevel[], season: Season, wanted: ReadonlySet<number>): Map<number, UseModel> {
  const heating = levels.map(({ day }) => season.heatingUntil(day));
  const models = new Map<number, UseModel>();
  const sums = { days: 0, heat: 0, heatSquare: 0, use: 0, useHeat: 0 };
  let before: DailyLevel | undefined;
  levels.forEach((level, i) => {
    if (before !== undefined) {
      const days = level.day - before.day;
      const faded = 2 ** (-days / HALF_LIFE);
      sums.days *= faded;
      sums.heat *= faded;
      sums.heatSquare *= faded;
      sums.use *= faded;
      sums.useHeat *= faded;
      if (before.segment === level.segment && days > 0) {
        const heat = (heating[i] ?? 0) - (heating[i - 1] ?? 0);
        const use = before.fill - level.fill;
        sums.days += days;
        sums.heat += heat;
        sums.heatSquare += heat ** 2 / days;
        sums.use += use;
        sums.useHeat += (use * heat) / days;
      }
    }
    before = level;
    if (!wanted.has(i) || sums.days === 0) return;
    const normal = leastSquares(sums, season.baseShare);
    models.set(i, { day: level.day, ...normal, recent: recentUse(levels, heating, i, normal), season });
  });
  return models;
}

type Sums = {
  readonly days: number;
  readonly heat: number;
  readonly heatSquare: number;
  readonly use: number;
  readonly useHeat: number;
};
type NormalUse = Pick<UseModel, "base" | "heating">;

/** Least squares of use = base + heating × h by day, with a penalty for other shares than expected. Neither is negative. */
function leastSquares({ days, heat, heatSquare, use, useHeat }: Sums, baseShare: number): NormalUse {
  const heatingShare = 1 - baseShare;
  const a = days + PRIOR_DAYS * heatingShare ** 2;
  const b = heat - PRIOR_DAYS * heatingShare * baseShare;
  const c = heatSquare + PRIOR_DAYS * baseShare ** 2;
  const determinant = a * c - b ** 2;
  const base = (use * c - useHeat * b) / determinant;
  const heating = (useHeat * a - use * b) / determinant;
  if (!(heating > 0)) return { base: Math.max(0, use / days), heating: 0 };
  return base < 0 ? { base: 0, heating: Math.max(0, useHeat / heatSquare) } : { base, heating };
}

/** The robust slope of the level over normal use instead of time: 1 where the tank uses what it normally does. */
function recentUse(levels: readonly DailyLevel[], heating: readonly number[], last: number, normal: NormalUse): number {
  const end = levels[last]?.day ?? 0;
  const points = recentLevels(levels, last).map((i) => {
    const { day, fill, segment } = levels[i] ?? { day: 0, fill: 0, segment: -1 };
    return {
      x: normal.base * day + normal.heating * (heating[i] ?? 0),
      y: fill,
      segment,
      fade: Math.exp((day - end) / (2 * RECENT.fade)),
    };
  });
  const slope = theilSen(points, (from, to) => (to.x - from.x) * from.fade * to.fade, { slope: -1, share: NORMAL_WEIGHT });
  return Number.isNaN(slope) ? 1 : Math.max(0, -slope);
}

/** Indexes, oldest first. */
function recentLevels(levels: readonly DailyLevel[], last: number): number[] {
  const end = levels[last]?.day ?? 0;
  const indexes: number[] = [];
  let next = end;
  for (let i = last; i >= 0; i--) {
    const day = levels[i]?.day ?? 0;
    const age = end - day;
    if (age > RECENT.maxDays || (age > RECENT.days && indexes.length >= RECENT.levels)) break;
    if (day > next) continue;
    indexes.push(i);
    next = day - RECENT.step;
  }
  return indexes.reverse();
}

/** Use from the last level to each of the days after it, which are ascending. */
export function useUntil({ day, base, heating, recent, season }: UseModel, daysAhead: readonly number[]): number[] {
  let used = 0;
  let from = 0;
  let heat = season.heatingUntil(day);
  return daysAhead.map((ahead) => {
    const steps = Math.ceil((ahead - from) / MAX_STEP);
    const size = (ahead - from) / steps;
    for (let step = 0; step < steps; step++) {
      const heatAfter = season.heatingUntil(day + from + size);
      const middle = from + size / 2;
      const ofBase = 1 + (recent - 1) * Math.exp(-middle / RETURN_DAYS.base);
      const ofHeating = 1 + (recent - 1) * Math.exp(-middle / RETURN_DAYS.heating);
      used += ofBase * base * size + ofHeating * heating * (heatAfter - heat);
      from += size;
      heat = heatAfter;
    }
    return used;
  });
}
const MAX_STEP = 10;
