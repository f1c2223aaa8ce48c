// Ingests a batch of readings: one ordered list of steps, in one transaction, for both engines.

import { ReleasedReadings } from "../../domain/commands/command.ts";
import { deviceKey } from "../../domain/id.ts";
import type { Lookups } from "../../domain/lookups.ts";
import { batchOfPending, type Placement, placeReadings, resolvedReadings, setStoreOutcomes } from "../../domain/placement.ts";
import { type IncomingBatch, type IngestResult, OUTCOME, type ReadingSource } from "../../domain/reading.ts";
import { MAX_PENDING_PER_DEVICE } from "../../domain/store.ts";
import { type Append, positionsById } from "../packed/merge.ts";
import { lookupsOn } from "./lookups.ts";
import {
  appendReadings,
  HeadsBusyError,
  NOTHING_APPENDED,
  type StoredReadings,
  storeReadings,
  tryStoreReadings,
} from "./telemetry.ts";
import type { AppendResult, StoreTransaction } from "./transaction.ts";

type IngestedBatch = IngestResult & { readonly longHeads: readonly string[] };

/** Appends what it can, and merges the rest. "retry": nothing may be committed; run `mergeBatch` in a new transaction. */
export const appendBatch = (tx: StoreTransaction, batch: IncomingBatch): Promise<IngestedBatch | "retry"> =>
  withDevicesLocked(tx, batch, appendLocked);

/** Merges all readings. */
export const mergeBatch = (tx: StoreTransaction, batch: IncomingBatch): Promise<IngestedBatch> =>
  withDevicesLocked(tx, batch, mergeLocked);

async function withDevicesLocked<T>(
  tx: StoreTransaction,
  batch: IncomingBatch,
  ingest: (tx: StoreTransaction, batch: IncomingBatch) => Promise<T>,
): Promise<T> {
  tx.alertWork.setTime(batch.receivedAt ?? Date.now());
  const hasDevices = batch.sources.some(({ kind }) => kind === "device");
  // On PostgreSQL the first step is sent right behind the lock.
  const locked = hasDevices ? tx.lockDevices("shared") : undefined;
  const [result] = await Promise.all([ingest(tx, batch), locked]);
  return result;
}

async function appendLocked(tx: StoreTransaction, batch: IncomingBatch): Promise<IngestedBatch | "retry"> {
  // Append readings of devices to their tanks, as far as that needs no lookup: nearly all of them.
  const appendsByDevice = batch.sources.every(isUnboundDevice) && batch.payloads.size === 0;
  const { appended, longHeads, remaining } = appendsByDevice ? await appendByDevice(tx, batch) : NO_DEVICE_APPENDS;
  if (remaining?.length === 0)
    return { outcomes: new Uint8Array(batch.sourceOf.length).fill(OUTCOME.stored), reasons: new Map(), longHeads };
  // Place and interpret.
  const lookups = lookupsOn(tx);
  const placement = await placeReadings(lookups, batch, remaining);
  // Of two readings for one instant the later one counts: what was appended may have been too early.
  if (appended.length > 0 && (await sharesTank(lookups, placement, appended))) return "retry";
  // Store, and update the latest reading of each tank; alerts are evaluated when the transaction ends.
  const stored = await tryStoreReadings(tx, placement.readings, { append: !appendsByDevice });
  if (stored === "busy") return "retry";
  return finishBatch(tx, placement, { ...stored, longHeads: [...longHeads, ...stored.longHeads] });
}

async function mergeLocked(tx: StoreTransaction, batch: IncomingBatch): Promise<IngestedBatch> {
  const placement = await placeReadings(lookupsOn(tx), batch);
  return finishBatch(tx, placement, await storeReadings(tx, placement.readings));
}

/** The last step: removes pending readings that these replace, then keeps those that cannot be stored yet. */
async function finishBatch(tx: StoreTransaction, placement: Placement, stored: StoredReadings): Promise<IngestedBatch> {
  if (placement.superseded.length > 0) {
    await tx.resolvePending(placement.superseded.map((reading) => ({ ...reading, isRejected: false })));
  }
  if (placement.pending.length > 0) await tx.addPending(placement.pending);
  return {
    outcomes: setStoreOutcomes(placement, stored.outcomes),
    reasons: placement.reasons,
    longHeads: stored.longHeads,
  };
}

const isUnboundDevice = ({ kind, customerId }: ReadingSource): boolean => kind === "device" && customerId === null;

/** `remaining`: the positions that are not stored yet; all if undefined. */
type DeviceAppends = AppendResult & { readonly remaining: Uint32Array | undefined };
const NO_DEVICE_APPENDS: DeviceAppends = { ...NOTHING_APPENDED, remaining: undefined };

async function appendByDevice(
  tx: StoreTransaction,
  { sources, sourceOf, createdAt, fill }: IncomingBatch,
): Promise<DeviceAppends> {
  const ids = sources.map(({ id }) => id);
  const byDevice = positionsById(ids, sourceOf, createdAt);
  const result = await appendReadings(tx, "device", { createdAt, fill }, byDevice);
  const remaining = Uint32Array.from([...byDevice.values()].flatMap((positions) => [...positions])).sort();
  return { ...result, remaining };
}

async function sharesTank(lookups: Lookups, placement: Placement, appended: readonly Append[]): Promise<boolean> {
  const devices = new Set(appended.map(({ id }) => id));
  const tanks = await lookups.tanks(placement.readings.tankIds);
  return [...tanks.values()].some(({ tank, deleted }) => !deleted && devices.has(deviceKey(tank.assigned_device_id)));
}

/** After a change of these devices or their tanks: stores their pending readings as far as possible. */
export async function releasePending(tx: StoreTransaction, deviceIds: readonly string[]): Promise<ReleasedReadings> {
  const released = new ReleasedReadings();
  const devices = await lookupsOn(tx).devices(deviceIds);
  const withPending = [...devices.values()].filter(({ pending }) => pending > 0);
  for (const group of groupsBelow(withPending, ({ pending }) => pending, MAX_PENDING_PER_DEVICE)) {
    const pending = await tx.pendingReadings(group.map(({ device }) => device.id));
    const placement = await placeReadings(lookupsOn(tx), batchOfPending(pending));
    // Heads of tanks that the same command changes are locked already.
    const stored = await tryStoreReadings(tx, placement.readings, { append: false });
    if (stored === "busy") throw new HeadsBusyError();
    const resolved = resolvedReadings(pending, setStoreOutcomes(placement, stored.outcomes));
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
