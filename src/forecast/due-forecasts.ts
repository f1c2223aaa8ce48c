// Computes and stores forecasts that are due.

import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../domain/errors.ts";
import type { ComputedForecast, DueTank, ForecastReads, ForecastWrites } from "../domain/forecast/stored.ts";
import { type Clock, DAY, type Instant, LATEST } from "../domain/instant.ts";
import type { Observe } from "../domain/log-events.ts";
import type { ReadingColumns } from "../domain/reading.ts";
import { computeForecast, type ForecastTask } from "./compute.ts";
import { FailedTanks } from "./failed-tanks.ts";

const HISTORY_MS = 2 * 365 * DAY;
/** One every half minute in this time. A device that sends more must not use up the memory of the service. */
export const MAX_READINGS = 2_000_000;
/** Too short for a forecast. */
const MIN_HISTORY_MS = DAY;

const FORECASTS_PER_WRITE = 20;

export type ForecastStore = ForecastReads & ForecastWrites;

export type ComputingOptions = {
  readonly store: ForecastStore;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly compute: (task: ForecastTask) => ComputedForecast | Promise<ComputedForecast>;
  /** The least time from one to the next. */
  readonly everyMs: number;
  readonly isStopping: () => boolean;
  readonly failed?: FailedTanks;
  readonly maxReadings?: number;
};

/** Oldest first, until none is due. */
export async function computeDueForecasts(options: ComputingOptions): Promise<void> {
  const { store, clock, observe, everyMs, isStopping, failed = new FailedTanks(observe) } = options;
  let next = performance.now();
  for (let hasMore = true; hasMore && !isStopping(); ) {
    const skipped = failed.skippedTanks(clock());
    const found = await store.dueForecasts(clock(), FORECASTS_PER_WRITE + skipped.size);
    const outdated = found.filter(({ tank }) => !skipped.has(tank.id)).slice(0, FORECASTS_PER_WRITE);
    const computed: ComputedForecast[] = [];
    for (const one of outdated) {
      if (isStopping()) break;
      computed.push(await computeOne(options, one));
      // Catches up after a slow write.
      next = Math.max(next + everyMs, performance.now() - FORECASTS_PER_WRITE * everyMs);
      await delay(Math.max(0, next - performance.now()));
    }
    const now = clock();
    const write = (some: readonly ComputedForecast[]): Promise<void> => store.storeForecasts(some, now);
    if (computed.length > 0) await failed.write(computed, now, ({ tankId }) => tankId, write);
    hasMore = outdated.length === FORECASTS_PER_WRITE;
  }
}

/** If it fails, the tank has a forecast as without readings until it is outdated again, and the others go on. */
async function computeOne(options: ComputingOptions, { dueAt, ...known }: DueTank): Promise<ComputedForecast> {
  const { clock, observe, compute } = options;
  const now = clock();
  try {
    // A tank that has been silent for years still needs a history: its forecast is stale.
    const parts = await readingsOf(options, known.tank.id, Math.min(now, known.latestAt));
    return await compute({ ...known, parts, now });
  } catch (error) {
    if (hasCode(error, "store_unavailable")) throw error;
    // The store has already reported damage.
    if (!hasCode(error, "data_damaged")) observe({ kind: "forecast_failed", tankId: known.tank.id, error });
    return { ...computeForecast({ ...known, parts: [], now }), refills: null };
  }
}

/** Readings from two years before the instant on, or from later if these are too many. */
async function readingsOf(options: ComputingOptions, tankId: string, until: Instant): Promise<readonly ReadingColumns[]> {
  for (let history = HISTORY_MS; history > MIN_HISTORY_MS; history /= 2) {
    const parts = await readingsSince(options, tankId, until - history);
    if (parts !== undefined) return parts;
  }
  return [];
}

/** Undefined if there are too many. */
async function readingsSince(
  { store, maxReadings = MAX_READINGS }: ComputingOptions,
  tankId: string,
  start: Instant,
): Promise<readonly ReadingColumns[] | undefined> {
  const parts: ReadingColumns[] = [];
  let readings = 0;
  for (let from: Instant | undefined = start; from !== undefined; ) {
    const part = await store.historyColumns(tankId, { from, to: LATEST });
    if (part === undefined || part === "deleted") return [];
    readings += part.instants.length;
    if (readings > maxReadings) return undefined;
    parts.push(part);
    from = part.next;
  }
  return parts;
}
