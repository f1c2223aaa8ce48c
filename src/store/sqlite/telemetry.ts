// Telemetry: the pages of a tank's readings, for the serving thread.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Scope } from "../../domain/key.ts";
import type { Page, PageQuery } from "../../domain/page.ts";
import type { Reading } from "../../domain/reading.ts";
import type { Found } from "../../domain/store.ts";
import { Block, readingsOf } from "../series/block.ts";
import { EARLIEST, GAP, missingGroup, type Position } from "../series/levels.ts";
import { type FoundGap, Milestones, type MilestoneTable } from "./milestones.ts";
import type { PackedGroup } from "./packed-group.ts";
import { arrayRow, arrayStatement } from "./rows.ts";

export const READING_MILESTONES: MilestoneTable = {
  table: "reading_milestone",
  series: "tank",
  key: ["start"],
  nodes: ["starts"],
};

/** By `tank`'s unique index on id, then by primary key. */
const HEAD = `SELECT t.pk, t.deleted, t.owner_id, h.total, h.start, h.data
  FROM tank t JOIN telemetry h ON h.tank = t.pk WHERE t.id = ?`;
/** By block_by_start. */
export const BLOCK = "SELECT data FROM block WHERE tank = ? AND start = ?";
const BLOCK_AFTER = "SELECT data FROM block WHERE tank = ? AND start > ? ORDER BY start LIMIT 1";

type HeadRow = readonly [tank: number, deleted: 0 | 1, owner: string, total: number, start: number, data: Uint8Array];

export function telemetryQuestions(db: DatabaseSync) {
  const headOf = arrayStatement(db, HEAD);
  const blockAt = arrayStatement(db, BLOCK);
  const blockAfter = arrayStatement(db, BLOCK_AFTER);
  const milestones = new Milestones(db, READING_MILESTONES);

  /** The telemetry of one tank, as ranks: reading 0 is the oldest. */
  class Telemetry {
    readonly total: number;
    readonly #tank: number;
    readonly #start: number;
    readonly #head: Block;
    /** How many readings lie in blocks. */
    readonly #older: number;
    #gap: FoundGap | undefined;
    #root: PackedGroup | undefined;

    constructor([tank, , , total, start, data]: HeadRow) {
      this.#tank = tank;
      this.total = total;
      this.#start = start;
      this.#head = new Block(data);
      this.#older = total - this.#head.length;
    }

    /** How many readings are before the instant. */
    rank(instant: number): number {
      if (instant >= this.#start) return this.#older + this.#head.before(instant);
      this.#gap = milestones.gapBefore(this.#tank, this.#highest(), instant);
      return this.#gap.ahead + this.#block(blockAt, this.#gap.at).before(instant);
    }

    /** Readings `from` to `to` (not included), newest first. */
    readings(from: number, to: number): Reading[] {
      const newest = readingsOf(this.#head, from - this.#older, to - this.#older);
      const end = Math.min(to, this.#older);
      if (from >= end) return newest;
      const { at, ahead } = this.#gapOf(from);
      const first = this.#block(blockAt, at);
      const oldest = readingsOf(first, from - ahead, end - ahead);
      const behind = end - ahead - first.length;
      if (behind <= 0) return [...newest, ...oldest];
      // A block holds at least 128 readings and a page at most 100: two hold any page.
      const second = this.#block(blockAfter, at);
      return [...newest, ...readingsOf(second, 0, behind), ...oldest];
    }

    #gapOf(rank: number): FoundGap {
      const known = this.#gap;
      // The gap that a bound was found in is often that of the page.
      if (known !== undefined && rank >= known.ahead && rank < known.ahead + GAP) return known;
      return milestones.gapOf(this.#tank, this.#highest(), rank);
    }

    #block(wanted: StatementSync, [start]: Position): Block {
      return new Block(arrayRow(wanted.get(this.#tank, start as number))?.[0] as Uint8Array);
    }

    #highest(): PackedGroup {
      this.#root ??= milestones.root(this.#tank);
      if (this.#root === undefined) throw missingGroup(0, [EARLIEST]);
      return this.#root;
    }
  }

  return {
    telemetryPage(tankId: string, question: PageQuery, { customerId }: Scope): Found<Page<Reading>> {
      const row = arrayRow(headOf.get(tankId)) as HeadRow | undefined;
      if (row === undefined || (customerId !== null && customerId !== row[2])) return undefined;
      if (row[1] === 1) return "deleted";
      const telemetry = new Telemetry(row);
      const lower = question.from === undefined ? 0 : telemetry.rank(question.from);
      const upper = question.to === undefined ? telemetry.total : telemetry.rank(question.to + 1);
      const to = upper - (question.page - 1) * question.size;
      const from = Math.max(lower, to - question.size);
      return { data: from < to ? telemetry.readings(from, to) : [], totalItems: Math.max(0, upper - lower) };
    },
  };
}
