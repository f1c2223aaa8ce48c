// What the fleet screen requests, as the URL says.

import type { FleetTank, ListFleetOptions } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { query } from "../location.ts";

/** Parameters of the URL that are sent as they are. The service checks them. */
const FILTERS = ["search", "alert", "state", "silent_for", "owner_id", "city", "bbox", "sort"] as const;
export const PAGE_SIZE = 25;

export function filtersInUrl(): ListFleetOptions {
  const given = FILTERS.map((name) => [name, query.value.get(name)?.trim()]);
  return Object.fromEntries(given.filter(([, value]) => value));
}

const MAX_PASSES = 5;

/**
 * Every tank that the filters find, once. A tank that becomes urgent moves to pages that were read already: the list is read again
 * until nothing is missing.
 */
export async function* wholeFleet(options: ListFleetOptions): AsyncGenerator<FleetTank, void, undefined> {
  const seen = new Set<string>();
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const before = seen.size;
    let found = 0;
    for await (const entry of api.insight.fleet.list(options)) {
      found++;
      if (seen.has(entry.tank.id)) continue;
      seen.add(entry.tank.id);
      yield entry;
    }
    const { total_items } = await api.insight.fleet.list({ ...options, page: 1, size: 1 });
    if (found >= total_items || seen.size === before) return;
  }
  throw new Error("The fleet changes faster than it can be read. Try again.");
}
