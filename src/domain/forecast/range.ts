// How far a tank's forecasts have been off: they are repeated from days in its past, and compared with what followed. Use is learned
// from the levels until such a day. Outliers, refills, the size of a jump and the noise of the sensor are those of all readings.
// Nothing after the present enters the forecast itself.

import { type DailyLevel, fallAt } from "./daily.ts";
import type { Season } from "./season.ts";
import { type UseModel, useModels, useUntil } from "./use.ts";

/** The half-width of the 10–90 % range of use by days ahead, in shares of `scaleOf`. */
export type Widths = readonly { readonly days: number; readonly width: number }[];

const HORIZONS = [3, 7, 15, 30, 60, 120];
/** Days between the origins of the repeated forecasts: more where there is more history. */
const MIN_STEP = 3;
const MAX_ORIGINS = 32;
/** Levels before the first of them. */
const MIN_LEVELS = 30;
/** An outcome may be this share of the horizon late. */
const MAX_LATE_SHARE = 0.25;
/** The share of past errors within the range. Of what follows, which is less regular, about 80 % are. */
const RANGE_QUANTILE = 0.81;
/** The width at each horizon before a tank has errors of its own. */
const PRIOR_WIDTHS = [2.2, 1.1, 0.55, 0.42, 0.38, 0.38];

/** Indexes of the levels to repeat forecasts from. */
function pastOrigins(levels: readonly DailyLevel[]): number[] {
  const end = levels.at(-1)?.day ?? 0;
  const step = Math.max(MIN_STEP, (end - (levels[0]?.day ?? end)) / MAX_ORIGINS);
  const origins: number[] = [];
  let next = end - step;
  for (let i = levels.length - 2; i >= MIN_LEVELS; i--) {
    const day = levels[i]?.day ?? 0;
    if (day > next) continue;
    origins.push(i);
    next = day - step;
  }
  return origins;
}

export function widthsOf(levels: readonly DailyLevel[], models: ReadonlyMap<number, UseModel>, noise: number): Widths {
  const errors: number[][] = HORIZONS.map(() => []);
  const used = usedUntil(levels);
  for (const [origin, model] of models) {
    const from = levels[origin];
    if (from === undefined) continue;
    let i = origin + 1;
    const outcomes: { readonly horizon: number; readonly days: number; readonly use: number }[] = [];
    HORIZONS.forEach((days, horizon) => {
      while ((levels[i]?.day ?? Number.POSITIVE_INFINITY) < from.day + days) i++;
      const to = levels[i];
      if (to === undefined || to.day > from.day + days * (1 + MAX_LATE_SHARE)) return;
      const use = (used[i] ?? 0) - (used[origin] ?? 0) + model.level - from.fill;
      outcomes.push({ horizon, days: to.day - from.day, use });
    });
    const uses = useUntil(
      model,
      outcomes.map(({ days }) => days),
    );
    outcomes.forEach(({ horizon, days, use }, k) => {
      const expected = uses[k] ?? 0;
      errors[horizon]?.push(Math.abs(use - expected) / scaleOf(model, days, expected, noise));
    });
  }
  return HORIZONS.map((days, i) => ({ days, width: blended(errors[i] ?? [], PRIOR_WIDTHS[i] ?? 1) }));
}

/** Use from the first level to each one; during a refill it cannot be seen. */
function usedUntil(levels: readonly DailyLevel[]): Float64Array {
  const used = new Float64Array(levels.length);
  for (let i = 1; i < levels.length; i++) used[i] = (used[i - 1] ?? 0) + fallAt(levels, i);
  return used;
}

/** What errors are compared with: the expected use, or normal use where that is more, and the noise of the sensor. */
export function scaleOf({ day, base, heating, season }: UseModel, days: number, expected: number, noise: number): number {
  const normal = base * days + heating * (season.heatingUntil(day + days) - season.heatingUntil(day));
  return 2 * noise + (Math.max(expected, normal) + Math.max(0, base + heating) * days) / 2 + 1e-6;
}

/** The quantile of the errors and of some that are expected, which are those of a normal distribution with that width. */
function blended(errors: readonly number[], prior: number): number {
  const expected = PRIOR_QUANTILES.map((quantile) => quantile * prior);
  const all = [...errors, ...expected].sort((a, b) => a - b);
  const position = RANGE_QUANTILE * all.length - 0.5;
  const index = Math.floor(position);
  const [low = 0, high = low] = [all[index], all[index + 1]];
  return low + (position - index) * (high - low);
}
/** Six typical errors of a normal distribution, as shares of the width that contains 80 %. */
const PRIOR_QUANTILES = [0.08, 0.25, 0.43, 0.64, 0.9, 1.35];

export function widthAt(widths: Widths, days: number): number {
  const after = widths.findIndex((entry) => entry.days >= days);
  const to = widths[after] ?? widths.at(-1);
  const from = widths[after - 1] ?? to;
  if (from === undefined || to === undefined) return 1;
  if (from === to) return to.width;
  const share = Math.log(days / from.days) / Math.log(to.days / from.days);
  return from.width + share * (to.width - from.width);
}

export function modelsForRange(levels: readonly DailyLevel[], season: Season, noise: number): Map<number, UseModel> {
  return useModels(levels, season, noise, new Set([...pastOrigins(levels), levels.length - 1]));
}
