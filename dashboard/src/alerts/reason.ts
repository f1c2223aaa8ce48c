// Why an alert was opened, in words.

import type { Alert, FleetTank } from "../../../client/src/index.ts";
import { isRefillUnconfirmed } from "../components/tank-state.ts";
import { ago, date, dateTime, percent, thresholdPercent, timeUntil } from "../format.ts";

/** While it is not closed, a tank that runs low soon has its current forecast, as in the fleet; the alert has that of its opening. */
export function reasonOf(alert: Alert, entry: FleetTank | undefined): string {
  const { kind, state, fill_percentage, threshold, runs_low_at, leak, latest_reading_at } = alert;
  if (kind === "low") return `${percent(fill_percentage)}, at or below ${thresholdPercent(threshold)}`;
  // The latest reading of a closed one may be the reading that closed it.
  if (kind === "silent")
    return state === "closed" ? "No reading for too long" : `No reading since ${dateTime(latest_reading_at)}`;
  if (kind === "leak") return leakReason(leak);
  if (state === "closed") return runs_low_at === null ? "Was low soon" : `Was expected to be low on ${date(runs_low_at)}`;
  if (entry !== undefined && isRefillUnconfirmed(entry)) return "Low soon before a refill; new forecast in a day or two";
  const expected = entry?.forecast.runs_low_at.p50 ?? null;
  const left = expected === null ? undefined : timeUntil(expected);
  return left === undefined ? "Low soon" : `Low in about ${left}`;
}

function leakReason(leak: Alert["leak"]): string {
  if (leak === null) return "Use far above normal";
  const { since, percentage_per_day, percentage_lost } = leak;
  if (percentage_lost !== null) return `${percent(percentage_lost)} lost at once, ${ago(since)}`;
  return percentage_per_day === null ? "Use far above normal" : `${percent(percentage_per_day)} a day above normal use`;
}
