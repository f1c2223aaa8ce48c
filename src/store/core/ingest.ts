// Ingests a batch of readings: one ordered list of steps, in one transaction, for both engines.

import { ReleasedReadings } from "../../domain/commands/command.ts";
import { batchOfPending, placeReadings, resolvedReadings, withStoreOutcomes } from "../../domain/placement.ts";
import type { IncomingBatch, IngestResult } from "../../domain/reading.ts";
import { MAX_PENDING } from "../../domain/store.ts";
import { lookupsOn } from "./lookups.ts";
import { storeReadings } from "./telemetry.ts";
import type { StoreTransaction } from "./transaction.ts";

export type IngestedBatch = IngestResult & { readonly longHeads: readonly string[] };

/** "busy": nothing may be committed; run it again in a new transaction with `appendFirst` off. */
export async function ingestBatch(
  tx: StoreTransaction,
  batch: IncomingBatch,
  appendFirst: boolean,
): Promise<IngestedBatch | "busy"> {
  // Place and interpret. On PostgreSQL the lookups are sent right behind the lock.
  const hasDevices = batch.sources.some(({ kind }) => kind === "device");
  const locked = hasDevices ? tx.lockDevices("shared") : undefined;
  const [placement] = await Promise.all([placeReadings(lookupsOn(tx), batch), locked]);
  // Store, and update the latest reading of each tank.
  const stored = await storeReadings(tx, placement.readings, appendFirst);
  if (stored === "busy") return "busy";
  // Keep what cannot be stored yet.
  if (placement.superseded.length > 0) {
    await tx.resolvePending(placement.superseded.map((reading) => ({ ...reading, isRejected: false })));
  }
  if (placement.pending.length > 0) await tx.addPending(placement.pending);
  return {
    outcomes: withStoreOutcomes(placement, stored.outcomes),
    reasons: placement.reasons,
    longHeads: stored.longHeads,
  };
}

/** After a change of these devices or their tanks: stores their pending readings as far as possible. */
export async function releasePending(tx: StoreTransaction, deviceIds: readonly string[]): Promise<ReleasedReadings> {
  const released = new ReleasedReadings();
  const devices = await lookupsOn(tx).devices(deviceIds);
  const withPending = [...devices.values()].filter(({ waiting }) => waiting > 0);
  for (const group of groupsBelow(withPending, ({ waiting }) => waiting, MAX_PENDING)) {
    const pending = await tx.pendingReadings(group.map(({ device }) => device.id));
    const placement = await placeReadings(lookupsOn(tx), batchOfPending(pending));
    const stored = await storeReadings(tx, placement.readings, false);
    if (stored === "busy") throw new Error("heads that are waited for cannot be busy");
    const resolved = resolvedReadings(pending, withStoreOutcomes(placement, stored.outcomes));
    if (resolved.length > 0) await tx.resolvePending(resolved);
    for (const { created_at, isRejected } of resolved) released.add(created_at, isRejected);
  }
  return released;
}

/** Consecutive groups whose sizes add up to at most `max`, or of one item. */
function groupsBelow<T>(items: readonly T[], sizeOf: (item: T) => number, max: number): T[][] {
  const groups: T[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const item of items) {
    size += sizeOf(item);
    if (size > max) {
      groups.push([]);
      size = sizeOf(item);
    }
    groups.at(-1)?.push(item);
  }
  return groups;
}
