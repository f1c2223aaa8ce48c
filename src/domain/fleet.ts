// The fleet: live tanks with their latest readings, and what follows from both.

import type { Instant } from "./instant.ts";
import type { Scope } from "./key.ts";
import type { Page, PageQuery } from "./page.ts";
import type { Reading } from "./reading.ts";
import type { CapacityUnit, Tank } from "./tank.ts";

/** A live tank and its latest reading. */
export type FleetEntry = { readonly tank: Tank; readonly latest: Reading | null };

/** Low: at its threshold or below it; unknown: without a reading. */
export const FLEET_STATES = ["low", "ok", "unknown"] as const;
export type FleetState = (typeof FLEET_STATES)[number];

/**
 * Urgency and margin: the smallest margin first, those without a reading last. Silent: the oldest latest reading first, those
 * without a reading before all. Then by id.
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
};

/** After which a tank that has sent readings counts as silent. */
export const SILENT_AFTER_MS = 48 * 3_600_000;

/**
 * Live tanks, each in one state. Unknown: without a reading; low: at its threshold or below it, also if silent; silent: without a
 * reading since an instant.
 */
export const TANK_STATES = ["low", "ok", "silent", "unknown"] as const;
export type FleetCounts = {
  readonly tanks: Readonly<Record<(typeof TANK_STATES)[number], number>>;
  readonly pendingReadings: number;
};

export interface FleetReads {
  fleetPage(query: FleetQuery): Promise<Page<FleetEntry>>;
  fleetCounts(silentSince: Instant): Promise<FleetCounts>;
  /** `undefined`: there is no such tank, or it is out of scope. */
  fleetEntry(id: string, scope: Scope): Promise<FleetEntry | "deleted" | undefined>;
}

/** How far above its threshold a tank stands; below it, less than 0. */
export function marginOf({ tank, latest }: FleetEntry): number | null {
  return latest === null ? null : latest.fill_percentage - tank.min_fill_alert_percentage;
}

export type Volume = { readonly volume: number; readonly unit: CapacityUnit };

/** What is in the tank, and what fits into it. */
export function volumesOf({ tank, latest }: FleetEntry): { readonly remaining: Volume | null; readonly room: Volume | null } {
  if (latest === null) return { remaining: null, room: null };
  const volumeOf = (percentage: number): Volume => ({
    // Without the noise of floating-point multiplication.
    volume: Number((tank.capacity * (percentage / 100)).toPrecision(12)),
    unit: tank.capacity_unit,
  });
  return { remaining: volumeOf(latest.fill_percentage), room: volumeOf(100 - latest.fill_percentage) };
}
