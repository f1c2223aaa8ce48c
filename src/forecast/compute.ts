// Computes the forecast of one tank from its readings of the last two years.

import { hasCode } from "../domain/errors.ts";
import { removeOutliers } from "../domain/forecast/outliers.ts";
import { findRefills } from "../domain/forecast/refills.ts";
import type { ComputedForecast, Forecast, OutdatedTank, WhenRange } from "../domain/forecast/stored.ts";
import type { Level } from "../domain/forecast/variation.ts";
import type { Instant } from "../domain/instant.ts";
import { UNRESTRICTED } from "../domain/key.ts";
import type { Reads } from "../domain/store.ts";

const TWO_YEARS = 2 * 365 * 24 * 3_600_000;

export async function computeForecast(
  store: Pick<Reads, "readingColumns">,
  { tank, latestAt }: OutdatedTank,
  now: Instant,
): Promise<ComputedForecast> {
  const cleaned = removeOutliers(await readingsOf(store, tank.id, now));
  const never: WhenRange = { p10: null, p50: null, p90: null };
  const forecast: Forecast = {
    state: "insufficient_data",
    based_on_until: cleaned.at(-1)?.at ?? null,
    use_per_day: null,
    runs_low_at: never,
    runs_empty_at: never,
    suggested_delivery: null,
  };
  return { tankId: tank.id, latestAt, forecast, refills: findRefills(cleaned) };
}

/** Those of a damaged tank, which is reported, are none. */
async function readingsOf(store: Pick<Reads, "readingColumns">, tankId: string, now: Instant): Promise<readonly Level[]> {
  const readings: Level[] = [];
  try {
    for (let from: Instant | undefined = now - TWO_YEARS; from !== undefined; ) {
      const part = await store.readingColumns(tankId, { from, to: Number.MAX_SAFE_INTEGER }, UNRESTRICTED);
      if (part === undefined || part === "deleted") return [];
      const { instants, fills, next } = part;
      instants.forEach((at, i) => {
        readings.push({ at, fill: fills[i] as number });
      });
      from = next;
    }
  } catch (error) {
    if (!hasCode(error, "data_damaged")) throw error;
    return [];
  }
  return readings;
}
