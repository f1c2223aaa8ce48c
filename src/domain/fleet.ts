// The fleet: live tanks with their latest readings, and what follows from both.

import type { AlertKind } from "./alerts/alert.ts";
import { SILENT_INTERVALS } from "./alerts/evaluate.ts";
import type { Customer } from "./customer.ts";
import type { Area } from "./fleet-map.ts";
import type { StoredForecast } from "./forecast/stored.ts";
import { DAY, HOUR, type Instant } from "./instant.ts";
import type { Scope } from "./key.ts";
import type { Page, PageQuery } from "./page.ts";
import type { Reading } from "./reading.ts";
import type { Tank, Volume } from "./tank.ts";

/** A live tank, its owner, its latest reading and its forecast. */
export type FleetEntry = {
  readonly tank: Tank;
  readonly customer: Pick<Customer, "name" | "phone">;
  readonly latest: Reading | null;
  readonly forecast: StoredForecast | null;
  /** No alert of the tank opens until then. */
  readonly pausedUntil: Instant | null;
  /** Milliseconds without a reading after which it is silent; null: the setting of the service. */
  readonly silentAfter: number | null;
};

/** States of the fleet list, by the latest reading alone. Low: at its threshold or below it; unknown: without a reading. */
export const FLEET_STATES = ["low", "ok", "unknown"] as const;
export type FleetState = (typeof FLEET_STATES)[number];

/**
 * Urgency: low tanks first, by when they are empty (see `sortKeysOf`); then those with a stale forecast or a sudden fall; then those
 * that run low, by when; then the others, by margin.
 * Margin: the smallest first.
 * Both: those without a reading last. Silent: the oldest latest reading first, those without a reading before all. Then by id.
 */
export const FLEET_SORTS = ["urgency", "margin", "silent"] as const;
export type FleetSort = (typeof FLEET_SORTS)[number];

export type FleetQuery = Pick<PageQuery, "page" | "size"> & {
  readonly sort: FleetSort;
  readonly state: FleetState | undefined;
  /** Without a reading since then. */
  readonly silentSince: Instant | undefined;
  readonly owner_id: string | undefined;
  /** By its beginning, as in a search. */
  readonly city: string | undefined;
  /** With an alert of this kind that is not closed. */
  readonly alert: AlertKind | undefined;
  /** Every word is in a text of the tank or of its owner: see search.ts. */
  readonly search: string | undefined;
  readonly area: Area | undefined;
};

/** In metrics, a tank above its threshold without a reading for this fixed time is `silent`, whatever SILENT_AFTER is. */
export const METRICS_SILENT_MS = 48 * HOUR;

/**
 * States that the metrics count live tanks by, each in one. Unknown: without a reading; low: at its threshold or below it, also
 * if silent; silent: without a reading since an instant.
 */
export const METRIC_STATES = ["low", "ok", "silent", "unknown"] as const;
export type FleetCounts = {
  readonly tanks: Readonly<Record<(typeof METRIC_STATES)[number], number>>;
  readonly pendingReadings: number;
};

export interface FleetReads {
  fleetPage(query: FleetQuery): Promise<Page<FleetEntry>>;
  fleetCounts(silentSince: Instant): Promise<FleetCounts>;
  /** `undefined`: there is no such tank, or it is out of scope. */
  fleetEntry(id: string, scope: Scope): Promise<FleetEntry | "deleted" | undefined>;
}

/** How far above its threshold a tank stands; below it, less than 0. */
export function marginOf({ tank, latest }: Pick<FleetEntry, "tank" | "latest">): number | null {
  return latest === null ? null : latest.fill_percentage - tank.min_fill_alert_percentage;
}

/** As the condition of a silent alert, apart from downtime of the service. `defaultSilentAfter`: the setting of the service. */
export function isSilent({ latest, silentAfter, forecast }: FleetEntry, defaultSilentAfter: number, now: Instant): boolean {
  const limit = Math.max(silentAfter ?? defaultSilentAfter, SILENT_INTERVALS * (forecast?.interval ?? 0));
  return latest !== null && now - latest.created_at > limit;
}

/** Until it is low. Null: it is not known, as after a sudden rise or fall that is not certain yet. */
export function daysLeft(entry: FleetEntry, now: Instant): DaysLeft | null {
  const margin = marginOf(entry);
  if (margin !== null && margin <= 0) return { p10: 0, p50: 0, p90: 0 };
  if (entry.forecast?.state !== "ok" || entry.forecast.isRisen || entry.forecast.isFallen) return null;
  const { p10, p50, p90 } = entry.forecast.runs_low_at;
  const days = (at: Instant | null): number | null =>
    at === null ? null : Math.max(0, Math.round((10 * (at - now)) / DAY) / 10);
  return { p10: days(p10), p50: days(p50), p90: days(p90) };
}

export type DaysLeft = { readonly p10: number | null; readonly p50: number | null; readonly p90: number | null };

/** What is in the tank, and what fits into it. */
export function volumesOf({ tank, latest }: Pick<FleetEntry, "tank" | "latest">): {
  readonly remaining: Volume | null;
  readonly room: Volume | null;
} {
  if (latest === null) return { remaining: null, room: null };
  return { remaining: volumeAt(tank, latest.fill_percentage), room: volumeAt(tank, 100 - latest.fill_percentage) };
}

export function volumeAt({ capacity, capacity_unit }: Tank, percentage: number): Volume {
  return { volume: exactVolume(capacity * (percentage / 100)), unit: capacity_unit };
}

/** Without the noise of floating-point arithmetic. */
export const exactVolume = (volume: number): number => Number(volume.toPrecision(12));
