// Brings the order of the fleet up to date with the latest readings.

import { setImmediate } from "node:timers/promises";
import { type FleetOrderReads, type FleetOrderWrites, FORECAST_MAX_AGE_MS } from "../domain/fleet-order.ts";
import type { Instant } from "../domain/instant.ts";

/** Tanks in one write: readings wait for no more of them. */
const TANKS_PER_WRITE = 50;

export type FleetOrderUpdate = { readonly isComplete: boolean; readonly scanned: number; readonly moved: number };

/** Scans the whole fleet. After it the order includes all readings that were stored before it began. */
export async function updateFleetOrder(
  store: FleetOrderReads & FleetOrderWrites,
  now: Instant,
  isStopping: () => boolean = () => false,
): Promise<FleetOrderUpdate> {
  let [after, scanned, moved] = ["", 0, 0];
  for (;;) {
    const scan = await store.scanFleet(after, now - FORECAST_MAX_AGE_MS);
    if (scan.scanned === 0) return { isComplete: true, scanned, moved };
    for (let from = 0; from < scan.moved.length; from += TANKS_PER_WRITE) {
      if (isStopping()) return { isComplete: false, scanned, moved };
      await store.updateSortKeys(scan.moved.slice(from, from + TANKS_PER_WRITE), now);
      await setImmediate();
    }
    scanned += scan.scanned;
    moved += scan.moved.length;
    after = scan.last;
  }
}
