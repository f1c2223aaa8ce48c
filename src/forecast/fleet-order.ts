// Brings the fleet order up to date with the latest readings.

import { setImmediate } from "node:timers/promises";
import { chunksOf } from "../domain/chunks.ts";
import type { FleetOrderReads, FleetOrderWrites } from "../domain/fleet-order.ts";
import type { Instant } from "../domain/instant.ts";
import type { FailedTanks } from "./failed-tanks.ts";

/** Tanks in one write: readings wait for no more of them. */
const TANKS_PER_WRITE = 50;

type FleetOrderUpdate = { readonly isComplete: boolean; readonly scanned: number; readonly outdated: number };

type FleetOrderOptions = { readonly failed: FailedTanks; readonly isStopping?: () => boolean };

/** Scans the whole fleet. After it the order includes all readings that were stored before it began, except of tanks in `failed`. */
export async function updateFleetOrder(
  store: FleetOrderReads & FleetOrderWrites,
  now: Instant,
  { failed, isStopping = () => false }: FleetOrderOptions,
): Promise<FleetOrderUpdate> {
  const skipped = failed.skippedTanks(now);
  const write = (tankIds: readonly string[]): Promise<void> => store.updateSortKeys(tankIds, now);
  let [after, scanned, outdated] = ["", 0, 0];
  for (;;) {
    const scan = await store.scanFleet(after, now);
    if (scan.scanned === 0) return { isComplete: true, scanned, outdated };
    const tanks = scan.outdated.filter((id) => !skipped.has(id));
    for (const some of chunksOf(tanks, TANKS_PER_WRITE)) {
      if (isStopping()) return { isComplete: false, scanned, outdated };
      await failed.write(some, now, (id) => id, write);
      await setImmediate();
    }
    scanned += scan.scanned;
    outdated += tanks.length;
    after = scan.last;
  }
}
