// Computes the forecast of one tank from its readings of the last two years.

import { setImmediate } from "node:timers/promises";
import { hasCode } from "../domain/errors.ts";
import type { Level } from "../domain/forecast/variation.ts";
import { removeOutliers } from "../domain/forecast/outliers.ts";
import { findRefills } from "../domain/forecast/refills.ts";
import type { ComputedForecast, Forecast } from "../domain/forecast/stored.ts";
import { EARLIEST, type Instant } from "../domain/instant.ts";
import { UNRESTRICTED } from "../domain/key.ts";
import type { Reads } from "../domain/store.ts";
import type { Tank } from "../domain/tank.ts";

const TWO_YEARS = 2 * 365 * 24 * 3_600_000;

export async function computeForecast(
  store: Pick<Reads, "readingColumns">,
  tank: Tank,
  now: Instant,
): Promise<ComputedForecast> {
  const readings = await readingsOf(store, tank.id, now);
  const cleaned = removeOutliers(readings);
  const forecast: Forecast = {
    state: "insufficient_data",
    based_on_until: cleaned.at(-1)?.at ?? null,
    use_per_day: null,
    runs_low_at: { p10: null, p50: null, p90: null },
    runs_empty_at: { p10: null, p50: null, p90: null },
    suggested_delivery: null,
  };
  return { tankId: tank.id, latestAt: readings.at(-1)?.at ?? null, forecast, refills: findRefills(cleaned) };
}
