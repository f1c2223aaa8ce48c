// Where tanks are, and which of them need somebody: for a map of the whole fleet.

import { DAY, type Instant } from "./instant.ts";
import type { Scope } from "./key.ts";

/** In degrees. West is greater than east where it crosses the date line. */
export type Box = { readonly west: number; readonly south: number; readonly east: number; readonly north: number };

/** "none": only tanks without coordinates. */
export type Area = Box | "none";

/**
 * States on the map, the most urgent first; each tank is in the first that holds. Low: at its threshold or below it; leak:
 * with an alert that suspects one; soon: as likely as not low within a week; unknown: without a reading.
 */
export const MAP_STATES = ["low", "leak", "soon", "silent", "unknown", "ok"] as const;
export type MapState = (typeof MAP_STATES)[number];

export const SOON_MS = 7 * DAY;

/** Coordinates are in ten-thousandths of a degree, about ten metres. */
export const POSITION_UNITS = 10_000;

export const MAX_TOWNS = 1000;

/** Its coordinates are the mean of those of its tanks. */
export type Town = { readonly name: string; readonly latitude: number; readonly longitude: number; readonly tanks: number };

export type FleetMap = {
  /** Latitude and longitude of each tank, one after the other, ordered by id. */
  readonly positions: Readonly<Record<MapState, readonly number[]>>;
  /** Number of tanks. */
  readonly without_coordinates: number;
  /** Those with the most tanks, up to `MAX_TOWNS`. */
  readonly towns: readonly Town[];
};

/** `soonBy`: low by then; `silentAfter`: as `defaultSilentAfter` of `isSilent`. */
export type FleetMapQuery = { readonly now: Instant; readonly soonBy: Instant; readonly silentAfter: number };

export interface FleetMapReads {
  fleetMap(query: FleetMapQuery, scope: Scope): Promise<FleetMap>;
}
