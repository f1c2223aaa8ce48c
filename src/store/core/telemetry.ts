// Stores readings of tanks: appends where it can, merges the rest.

import { chunksOf } from "../../domain/chunks.ts";
import { LATEST } from "../../domain/instant.ts";
import { OUTCOME, type ReadingBatch, type ReadingSource } from "../../domain/reading.ts";
import type { Block } from "../packed/block.ts";
import { type HeadRow, isIntactHead, openBlock, openHead } from "../packed/checksum.ts";
import {
  appendsOf,
  type BatchColumns,
  instantsNeeded,
  lateReadings,
  mergeReadings,
  positionsById,
  splitLongHead,
  type TelemetryUpdate,
} from "../packed/merge.ts";
import { RankIndex } from "../packed/rank-index.ts";
import { loadIndexes, saveIndexes } from "./rank-indexes.ts";
import type { AppendResult, StoreTransaction } from "./transaction.ts";

/** Outcomes are indexes into `READING_OUTCOMES`. */
export type StoredReadings = { readonly outcomes: Uint8Array; readonly longHeads: readonly string[] };

/**
 * Merges all readings. Waits for the locks of heads: the transaction must not hold others. Alerts that the readings may change are
 * evaluated when the transaction ends.
 */
export async function storeReadings(tx: StoreTransaction, batch: ReadingBatch): Promise<StoredReadings> {
  const positions = positionsOf(batch);
  const heads = positions.size === 0 ? NO_HEADS : await tx.lockHeads([...positions.keys()]);
  return { outcomes: await mergeAll(tx, batch, positions, heads), longHeads: [] };
}

/**
 * The same for a transaction that may hold heads. Heads are locked in the order of their tanks, so that a transaction that holds
 * some does not wait for more: if it would have to, the result is "busy". With `append`, readings that are newer than all their
 * tank has, nearly all of them, are appended without reading the head.
 */
export async function tryStoreReadings(
  tx: StoreTransaction,
  batch: ReadingBatch,
  { append }: { readonly append: boolean },
): Promise<StoredReadings | "busy"> {
  const remaining = positionsOf(batch);
  const { longHeads } = append ? await appendReadings(tx, "tank", batch, remaining) : NOTHING_APPENDED;
  const heads = remaining.size === 0 ? NO_HEADS : await tx.tryLockHeads([...remaining.keys()]);
  return heads === "busy" ? heads : { outcomes: await mergeAll(tx, batch, remaining, heads), longHeads };
}

const NO_HEADS: ReadonlyMap<string, HeadRow> = new Map();

const positionsOf = ({ tankIds, tank, createdAt }: ReadingBatch): Map<string, Uint32Array> =>
  positionsById(tankIds, tank, createdAt);

/** Another transaction has locked heads that this one needs beside those it has locked: it must be run again. */
export class HeadsBusyError extends Error {}

export const NOTHING_APPENDED: AppendResult = { appended: [], longHeads: [], toEvaluate: [] };

/** Appends what it can, and removes it from `positions`, which are by tank or by device. */
export async function appendReadings(
  tx: StoreTransaction,
  by: ReadingSource["kind"],
  batch: BatchColumns,
  positions: Map<string, Uint32Array>,
): Promise<AppendResult> {
  const appends = appendsOf(batch, positions);
  const result = appends.length === 0 ? NOTHING_APPENDED : await tx.append(by, batch, appends);
  for (const { id } of result.appended) positions.delete(id);
  tx.alertWork.addTanks(result.toEvaluate);
  return result;
}

/** Tanks that are merged at a time. On PostgreSQL the thread that serves requests does it, and must not be kept busy for long. */
const TANKS_PER_CHUNK = 50;
type HeadChunk = readonly (readonly [tankId: string, head: HeadRow])[];

const headChunks = (heads: ReadonlyMap<string, HeadRow>): HeadChunk[] => chunksOf([...heads], TANKS_PER_CHUNK);

/** Returns the outcome of each reading of the batch; those that are not in `positions` are stored already. */
async function mergeAll(
  tx: StoreTransaction,
  batch: ReadingBatch,
  positions: ReadonlyMap<string, Uint32Array>,
  heads: ReadonlyMap<string, HeadRow>,
): Promise<Uint8Array> {
  const outcomes = new Uint8Array(batch.tank.length).fill(OUTCOME.stored);
  for (const [tankId, own] of positions)
    if (!heads.has(tankId)) for (const position of own) outcomes[position] = OUTCOME.tank_unknown;
  for (const chunk of headChunks(heads)) tx.alertWork.addTanks(await mergeChunk(tx, batch, positions, chunk, outcomes));
  if (tx.damagedTanks.size > 0) for (const tankId of heads.keys()) tx.damagedTanks.delete(tankId);
  return outcomes;
}

/** Returns the tanks that were changed. */
async function mergeChunk(
  tx: StoreTransaction,
  batch: ReadingBatch,
  positions: ReadonlyMap<string, Uint32Array>,
  heads: HeadChunk,
  outcomes: Uint8Array,
): Promise<readonly string[]> {
  const tanks = heads.map(([tankId, row]) => ({
    tankId,
    head: openHead(tankId, row),
    positions: positions.get(tankId) as Uint32Array,
  }));
  const needed = tanks.flatMap(({ tankId, head, positions: own }) =>
    instantsNeeded(head, batch, own).map((instant) => ({ index: tankId, at: [instant] })),
  );
  const indexes = await loadIndexes(tx, "readings", needed);
  const indexOf = (tankId: string): RankIndex => indexes.get(tankId) ?? new RankIndex();
  const late = tanks.flatMap(({ tankId, head, positions: own }) =>
    Array.from(lateReadings(head, indexOf(tankId), batch, own), ({ start }) => ({ tankId, start })),
  );
  const blocks = await tx.blocks(late);
  const updates = new Map<string, TelemetryUpdate>();
  for (const { tankId, head, positions: own } of tanks) {
    const blockAt = (start: number): Block => openBlock(tankId, blocks.get({ tankId, start }));
    const update = mergeReadings(head, indexOf(tankId), blockAt, batch, own, outcomes);
    if (update !== undefined) updates.set(tankId, update);
  }
  await writeUpdates(tx, updates, indexes);
  return [...updates.keys()];
}

/** Splits heads that `append` has made too long. */
export async function splitLongHeads(tx: StoreTransaction, tankIds: readonly string[]): Promise<void> {
  for (const chunk of headChunks(await tx.lockHeads(tankIds))) await splitChunk(tx, chunk);
}

async function splitChunk(tx: StoreTransaction, heads: HeadChunk): Promise<void> {
  const indexes = await loadIndexes(
    tx,
    "readings",
    heads.map(([tankId]) => ({ index: tankId, at: [LATEST] })),
  );
  const updates = new Map<string, TelemetryUpdate>();
  for (const [tankId, row] of heads) {
    // A damaged one is left alone, and the others are split.
    const update = isIntactHead(tankId, row) ? splitLongHead(openHead(tankId, row), indexes.get(tankId) as RankIndex) : undefined;
    if (update !== undefined) updates.set(tankId, update);
  }
  await writeUpdates(tx, updates, indexes);
}

async function writeUpdates(
  tx: StoreTransaction,
  updates: ReadonlyMap<string, TelemetryUpdate>,
  indexes: ReadonlyMap<string, RankIndex>,
): Promise<void> {
  if (updates.size === 0) return;
  await Promise.all([
    tx.writeHeads(new Map(Array.from(updates, ([tankId, { head }]) => [tankId, head]))),
    tx.writeBlocks(Array.from(updates, ([tankId, { blocks }]) => blocks.map((block) => ({ tankId, ...block }))).flat()),
    saveIndexes(tx, "readings", indexes),
  ]);
}
