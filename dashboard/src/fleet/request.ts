// What the fleet screen requests, as the URL says.

import type { ListFleetOptions } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { query } from "../location.ts";

/** Parameters of the URL that are sent as they are. The service checks them. */
const FILTERS = ["search", "alert", "state", "silent_for", "owner_id", "city", "bbox", "sort"] as const;
export const PAGE_SIZE = 25;

export function filtersInUrl(): ListFleetOptions {
  const given = FILTERS.map((name) => [name, query.value.get(name)?.trim()]);
  return Object.fromEntries(given.filter(([, value]) => value));
}

export const loadFleet = (options: ListFleetOptions) => api.insight.fleet.list(options);
