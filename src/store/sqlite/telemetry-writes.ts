// Writes of readings: heads, blocks, and the latest reading of each tank in the fleet.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { EARLIEST } from "../../domain/instant.ts";
import type { ReadingSource } from "../../domain/reading.ts";
import type { AppendResult, BlockKey, StoredEvaluation } from "../core/transaction.ts";
import { changesNoAlert, fleetRow } from "../fleet-row.ts";
import { Block, lastReading } from "../packed/block.ts";
import { type BlockRow, blockChecksum, type HeadRow, headChecksum } from "../packed/checksum.ts";
import {
  type Append,
  appendSize,
  type BatchColumns,
  type HeadUpdate,
  maxHeadSize,
  type StoredBlock,
  writeAppend,
} from "../packed/merge.ts";
import { rankIndexOperations } from "./rank-index.ts";
import { query, upsert } from "./statements.ts";

/** In a damaged file a tank may have no head: its columns are null, and its checksum is wrong. */
export const headRow = (total: unknown, start: unknown, data: unknown, checksum: unknown): HeadRow =>
  ({ total, start: start ?? EARLIEST, data: data ?? new Uint8Array(), checksum }) as HeadRow;

/** The head of a tank, by the unique index of tank on id. */
export function headReads(db: DatabaseSync): (tankId: string) => HeadRow | undefined {
  const headOf = query(
    db,
    "SELECT h.total, h.start, h.data, h.checksum FROM tank t LEFT JOIN head h ON h.tank = t.pk WHERE t.id = ?",
  );
  return (tankId) => {
    const row = headOf.get(tankId);
    if (row === undefined) return undefined;
    const [total, start, data, checksum] = row;
    return headRow(total, start, data, checksum);
  };
}

/** Returns whether alerts stay as they are. A tank without a reading is left out: an empty head cannot be appended to. */
const UPDATE_LATEST = `
  UPDATE fleet SET at = ?3, fill = ?4
  WHERE tank = ?1 AND at < ?2 AND fill IS NOT NULL RETURNING ${changesNoAlert("?4", "?5", "min")}`;
/** `||` makes a text of two blobs, with the same bytes. The first byte is the layout. */
const APPEND = `
  UPDATE head SET total = total + ?2, data = CAST(data || ?3 AS BLOB), checksum = checksum + ?6
  WHERE tank = (SELECT pk FROM tank WHERE id = ?1) AND substr(data, 1, 1) = ?4 AND length(data) <= ?5`;

export function telemetryWrites(db: DatabaseSync, pause: () => void, closeMargin: number, damagedTanks: ReadonlySet<string>) {
  const updateLatest = query(db, UPDATE_LATEST);
  const append = db.prepare(APPEND);
  const currentTank = query(db, "SELECT tank FROM device WHERE id = ? AND since <= ? AND pending = 0");
  const tankKey = query(db, "SELECT pk FROM tank WHERE id = ?");
  const storedHead = headReads(db);
  const blockOf = query(db, "SELECT data, checksum FROM block WHERE tank = ? AND start = ?"); // block_by_start
  const writeHead = db.prepare("UPDATE head SET total = ?, start = ?, data = ?, checksum = ? WHERE tank = ?");
  const putBlock = upsert(db, "block", ["tank", "start", "data", "checksum"], 2);
  const setLatest = db.prepare("UPDATE fleet SET at = ?2, fill = ?3 WHERE tank = ?1 AND (at, fill) IS NOT (?2, ?3)");
  const setEvaluation = db.prepare("UPDATE fleet SET active_conditions = ?, evaluate_at = ? WHERE tank = ?");
  const keyOf = (tankId: string): SQLInputValue => tankKey.get(tankId)?.[0] ?? null;
  const update = (statement: StatementSync, ...values: SQLInputValue[]): boolean => statement.run(...values).changes === 1;

  /** Adds the tank to `toEvaluate` if the readings may open or close an alert. */
  function tryAppend(by: ReadingSource["kind"], batch: BatchColumns, candidate: Append, toEvaluate: string[]): boolean {
    const { id, positions } = candidate;
    const [first, last] = [positions[0] as number, positions.at(-1) as number];
    const lastAt = batch.createdAt[last] as number;
    const firstAt = batch.createdAt[first] as number;
    const tankId = by === "tank" ? id : currentTank.get(id, firstAt)?.[0];
    if (typeof tankId !== "string" || damagedTanks.has(tankId)) return false;
    const updated = updateLatest.get(tankId, firstAt, lastAt, batch.fill[last] as number, closeMargin);
    if (updated === undefined) return false;
    if (updated[0] === 0) toEvaluate.push(tankId);
    const bytes = new Uint8Array(appendSize(candidate));
    const checksum = writeAppend(new DataView(bytes.buffer), 0, batch, candidate);
    const [layout, rows] = [bytes.subarray(0, 1), bytes.subarray(1)];
    // If the head has no room the readings are merged, and are the latest in any case.
    return update(append, tankId, positions.length, rows, layout, maxHeadSize(candidate), checksum);
  }

  function storedHeads(tankIds: readonly string[]): Map<string, HeadRow> {
    const heads = new Map<string, HeadRow>();
    for (const id of tankIds) {
      const head = storedHead(id);
      if (head !== undefined) heads.set(id, head);
    }
    return heads;
  }

  return {
    async append(by: ReadingSource["kind"], batch: BatchColumns, appends: readonly Append[]): Promise<AppendResult> {
      const toEvaluate: string[] = [];
      const appended = appends.filter((candidate) => {
        pause();
        return tryAppend(by, batch, candidate, toEvaluate);
      });
      return { appended, longHeads: [], toEvaluate };
    },

    lockHeads: async (tankIds: readonly string[]): Promise<Map<string, HeadRow>> => storedHeads(tankIds),
    tryLockHeads: async (tankIds: readonly string[]): Promise<Map<string, HeadRow>> => storedHeads(tankIds),

    blocks: async () => ({
      get({ tankId, start }: BlockKey): BlockRow {
        const [data, checksum] = blockOf.get(keyOf(tankId), start) ?? [];
        return { start, data, checksum } as BlockRow;
      },
    }),

    async writeHeads(heads: ReadonlyMap<string, HeadUpdate>): Promise<void> {
      for (const [tankId, head] of heads) {
        pause();
        writeHead.run(head.total, head.start, head.data, headChecksum(tankId, head), keyOf(tankId));
        const { at, fill } = fleetRow(lastReading(new Block(head.data)));
        setLatest.run(tankId, at, fill);
      }
    },

    async setEvaluations(states: ReadonlyMap<string, StoredEvaluation>): Promise<void> {
      for (const [tankId, { activeConditions, evaluateAt }] of states) setEvaluation.run(activeConditions, evaluateAt, tankId);
    },

    async writeBlocks(blocks: readonly (StoredBlock & { readonly tankId: string })[]): Promise<void> {
      for (const block of blocks) {
        putBlock.run(keyOf(block.tankId), block.start, block.data, blockChecksum(block.tankId, block));
      }
    },

    ...rankIndexOperations(db, keyOf),
  };
}
