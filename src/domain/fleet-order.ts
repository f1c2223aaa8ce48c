// The fleet orders. Each sorts tanks by a key, a whole number, and then by id. A job updates the sort keys from the latest
// readings, so that storing a reading does not have to.

import type { FleetSort, FleetState } from "./fleet.ts";
import type { ForecastValues } from "./forecast/stored.ts";
import { DAY, type Instant, isInstant, MINUTE } from "./instant.ts";
import type { Reading } from "./reading.ts";
import { isObject, parseJson } from "./validate.ts";

/** Margins are compared to a billionth of a percentage point, which is how exactly they are shown. */
const MARGIN_UNITS = 1e9;

/**
 * Ascending by urgency: 1. low tanks without a forecast, by margin; 2. low tanks with a forecast, by when they are empty; 3. low tanks
 * without use, by margin; 4. tanks with a stale forecast, or after a sudden fall, by margin: they may have much less time than expected,
 * or be empty by now; 5. tanks with a forecast, by when they run low; 6. other tanks, by margin; 7. tanks without a reading. The margin
 * or the instant is added to the constant of its range; instants are limited to ±LATEST_FORECAST.
 */
const LOW = -6e15;
const LOW_WITH_FORECAST = -4e15;
const LOW_UNUSED = -2e15;
const UNCERTAIN = -1.5e15;
const WITHOUT_FORECAST = 2e15;
const UNKNOWN = 4e15;
const LATEST_FORECAST = 1e15;
/** The lowest sort key of a tank by when it runs low. */
export const FIRST_RUNS_LOW_KEY = -LATEST_FORECAST;
/** A tank that is not used below this fill is empty: few sensors go down to 0. */
const UNUSED_MIN_FILL = 5;

type FleetSortKeys = { readonly margin: number; readonly urgency: number };

export function sortKeysOf(threshold: number, latest: Reading | null, forecast: ForecastValues | null): FleetSortKeys {
  if (latest === null) return { margin: UNKNOWN, urgency: UNKNOWN };
  const margin = marginUnits(latest.fill_percentage - threshold);
  if (margin <= 0) return { margin, urgency: lowSortKey(margin, latest, forecast) };
  // After a rise, a tank that is not low is not urgent until the forecast counts it as a delivery or as a false reading.
  const known = forecast?.isRisen ? null : forecast;
  if (known?.isFallen || known?.state === "stale") return { margin, urgency: UNCERTAIN + margin };
  const runsLowAt = known?.runs_low_at.p50 ?? null;
  return { margin, urgency: runsLowAt === null ? WITHOUT_FORECAST + margin : instantSortKey(runsLowAt) };
}

function lowSortKey(margin: number, latest: Reading, forecast: ForecastValues | null): number {
  if (forecast?.state === "ok") return LOW_WITH_FORECAST + instantSortKey(emptyAt(latest, forecast) ?? LATEST_FORECAST);
  const isUnused = forecast?.state === "no_use" && !forecast.isFallen && latest.fill_percentage >= UNUSED_MIN_FILL;
  return (isUnused ? LOW_UNUSED : LOW) + margin;
}

/** After a sudden fall, with the usual use from the latest reading on. */
function emptyAt(
  { fill_percentage, created_at }: Reading,
  { isFallen, use_per_day, runs_empty_at }: ForecastValues,
): Instant | null {
  if (!isFallen) return runs_empty_at.p50;
  const usePerDay = use_per_day?.percentage ?? 0;
  return usePerDay > 0 ? created_at + (fill_percentage / usePerDay) * DAY : null;
}

const instantSortKey = (instant: Instant): number => Math.max(-LATEST_FORECAST, Math.min(LATEST_FORECAST, Math.round(instant)));

/** Whatever is above the threshold stays above it. Adding 0 turns -0 into 0. */
function marginUnits(margin: number): number {
  const rounded = Math.round(margin * MARGIN_UNITS) + 0;
  return margin > 0 ? Math.max(1, rounded) : rounded;
}

type Range = { readonly from: number | undefined; readonly to: number | undefined };

/** The sort keys of the tanks in a state. */
export function sortKeyRange(state: FleetState | undefined, order: "urgency" | "margin"): Range {
  const lastLow = order === "urgency" ? LOW_UNUSED : 0;
  switch (state) {
    case undefined:
      return { from: undefined, to: undefined };
    case "low":
      return { from: undefined, to: lastLow };
    case "ok":
      return { from: lastLow + 1, to: UNKNOWN - 1 };
    case "unknown":
      return { from: UNKNOWN, to: UNKNOWN };
  }
}

/** The column of each order: in the table `forecast`. */
export const SORT_COLUMNS = { urgency: "urgency", margin: "margin", silent: "at" } as const satisfies Record<FleetSort, string>;

/**
 * `asOf`: the order includes all readings stored before it. `holder`: the process that maintains the order; `at`: when it last renewed
 * its lease.
 */
export type FleetOrderState = { readonly asOf: Instant; readonly holder: string; readonly at: Instant };

/** Undefined if what is stored is not a state: the order is then updated as if for the first time. */
export function fleetOrderStateOf(stored: string): FleetOrderState | undefined {
  const state = parseJson(stored)?.value;
  return isObject(state) && isFleetOrderState(state as FleetOrderState) ? (state as FleetOrderState) : undefined;
}

const isFleetOrderState = ({ asOf, holder, at }: FleetOrderState): boolean =>
  isInstant(asOf) && isInstant(at) && typeof holder === "string";

/** A forecast is computed again after a day, also without a new reading: its range widens. */
export const FORECAST_MAX_AGE_MS = DAY;
/** After new readings it is computed again no sooner than this: some devices send every second. No forecast is scheduled later than that. */
export const FORECAST_MIN_AGE_MS = MINUTE;

/** The next tanks by id: how many were looked at, the last of them, and those whose sort keys or forecasts are outdated. */
export type FleetScan = { readonly scanned: number; readonly last: string; readonly outdated: readonly string[] };

export interface FleetOrderReads {
  /** Undefined before the first update. */
  fleetOrderState(): Promise<FleetOrderState | undefined>;
  /** `after`: a tank's id. */
  scanFleet(after: string, now: Instant): Promise<FleetScan>;
}

export interface FleetOrderWrites {
  /** Sets the sort keys from the latest readings. */
  updateSortKeys(tankIds: readonly string[], at: Instant): Promise<void>;
  /** False if it is not `before` any more. */
  putFleetOrderState(before: FleetOrderState | undefined, after: FleetOrderState): Promise<boolean>;
}
