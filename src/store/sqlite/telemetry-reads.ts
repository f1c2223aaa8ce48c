// Pages and ranges of a tank's readings.

import type { DatabaseSync } from "node:sqlite";
import { EARLIEST } from "../../domain/instant.ts";
import type { Scope } from "../../domain/key.ts";
import type { Page, PageQuery } from "../../domain/page.ts";
import type { InstantRange, Reading, ReadingColumns } from "../../domain/reading.ts";
import type { Found } from "../../domain/store.ts";
import { type Block, readingsOf } from "../packed/block.ts";
import { type BlockRow, openBlock, openHead } from "../packed/checksum.ts";
import { missingGroup, type Position, SEGMENT_SIZE } from "../packed/rank-index.ts";
import { PART_BLOCKS, readingPart } from "../packed/reading-part.ts";
import { type PackedGroup, type RankedSegment, rankIndexReads } from "./rank-index.ts";
import { type Query, query } from "./statements.ts";
import { headRow } from "./telemetry-writes.ts";

type HeadColumns = readonly [tank: number, deleted: 0 | 1, total: number, start: number, data: Uint8Array, checksum: number];

export function telemetryReads(db: DatabaseSync) {
  // By the unique index of tank on id, then by primary key.
  const headOf = query(
    db,
    `SELECT t.pk, t.deleted, h.total, h.start, h.data, h.checksum FROM tank t LEFT JOIN head h ON h.tank = t.pk
     WHERE t.id = ? AND t.owner_id = coalesce(?, t.owner_id)`,
  );
  // Both by block_by_start.
  const blockAt = query(db, "SELECT start, data, checksum FROM block WHERE tank = ? AND start = ?");
  const blockAfter = query(db, "SELECT start, data, checksum FROM block WHERE tank = ? AND start > ? ORDER BY start LIMIT 1");
  // By block_by_start, and so is the subquery.
  const blocksOf = query(
    db,
    `SELECT start, data, checksum FROM block WHERE tank = ?1
       AND start >= coalesce((SELECT start FROM block WHERE tank = ?1 AND start <= ?2 ORDER BY start DESC LIMIT 1), ?2) AND start < ?3
     ORDER BY start LIMIT ${PART_BLOCKS + 1}`,
  );
  const index = rankIndexReads(db, "readings");

  /** The readings of one tank, by rank: reading 0 is the oldest. */
  class Telemetry {
    readonly total: number;
    readonly #id: string;
    readonly #tank: number;
    readonly #start: number;
    readonly #head: Block;
    readonly #inBlocks: number;
    #segment: RankedSegment | undefined;
    #root: PackedGroup | undefined;

    constructor(id: string, [tank, , total, start, data, checksum]: HeadColumns) {
      this.#id = id;
      this.#tank = tank;
      this.total = total;
      this.#start = start;
      this.#head = openHead(id, headRow(total, start, data, checksum)).block;
      this.#inBlocks = total - this.#head.length;
    }

    /** How many readings are before the instant. */
    rankOf(instant: number): number {
      if (instant >= this.#start) return this.#inBlocks + this.#head.countBefore(instant);
      this.#segment = index.segmentBefore(this.#tank, this.#indexRoot(), instant);
      return this.#segment.rank + this.#block(blockAt, this.#segment.at).countBefore(instant);
    }

    /** Readings `from` to `to` (exclusive), newest first. */
    readings(from: number, to: number): Reading[] {
      const newest = readingsOf(this.#head, from - this.#inBlocks, to - this.#inBlocks);
      const end = Math.min(to, this.#inBlocks);
      if (from >= end) return newest;
      const { at, rank, next } = this.#segmentOf(from);
      const first = this.#block(blockAt, at);
      const oldest = readingsOf(first, from - rank, end - rank);
      const remaining = end - rank - first.length;
      if (remaining <= 0) return [...newest, ...oldest];
      // A block holds at least 128 readings and a page at most 100: two blocks hold any page.
      const second = next === undefined ? this.#block(blockAfter, at) : this.#block(blockAt, [next]);
      return [...newest, ...readingsOf(second, 0, remaining), ...oldest];
    }

    #segmentOf(rank: number): RankedSegment {
      const known = this.#segment;
      // The segment of a bound is often that of the page.
      if (known !== undefined && rank >= known.rank && rank < known.rank + SEGMENT_SIZE) return known;
      return index.segmentOfRank(this.#tank, this.#indexRoot(), rank);
    }

    #block(wanted: Query, [at]: Position): Block {
      const [start = at, data, checksum] = wanted.get(this.#tank, at as number) ?? [];
      return openBlock(this.#id, { start, data, checksum } as BlockRow);
    }

    #indexRoot(): PackedGroup {
      this.#root ??= index.root(this.#tank);
      if (this.#root === undefined) throw missingGroup(0, [EARLIEST]);
      return this.#root;
    }
  }

  return {
    telemetryPage(tankId: string, { from, to, page, size }: PageQuery, { customerId }: Scope): Found<Page<Reading>> {
      const row = headOf.get(tankId, customerId) as HeadColumns | undefined;
      if (row === undefined) return undefined;
      if (row[1] === 1) return "deleted";
      const telemetry = new Telemetry(tankId, row);
      const lower = from === undefined ? 0 : telemetry.rankOf(from);
      const upper = to === undefined ? telemetry.total : telemetry.rankOf(to + 1);
      const end = upper - (page - 1) * size;
      const start = Math.max(lower, end - size);
      return { data: start < end ? telemetry.readings(start, end) : [], totalItems: Math.max(0, upper - lower) };
    },

    readingColumns(tankId: string, range: InstantRange, { customerId }: Scope): Found<ReadingColumns> {
      const row = headOf.get(tankId, customerId) as HeadColumns | undefined;
      if (row === undefined) return undefined;
      const [tank, isDeleted, total, start, data, checksum] = row;
      if (isDeleted === 1) return "deleted";
      const blocks = range.from >= start ? [] : blocksOf.all(tank, range.from, range.to);
      const rows = blocks.map(([at, bytes, sum]) => ({ start: at, data: bytes, checksum: sum }) as BlockRow);
      return readingPart(tankId, { total, start, data, checksum }, rows, range);
    },
  };
}
