// Telemetry: the pages of a tank's readings, for the serving thread.

import type { DatabaseSync } from "node:sqlite";
import type { Sight } from "../../domain/key.ts";
import type { Page, PageQuestion } from "../../domain/page.ts";
import type { Reading } from "../../domain/reading.ts";
import type { Found } from "../../domain/store.ts";
import { Block, readingsOf } from "../series/block.ts";
import { GAP, type Node } from "../series/levels.ts";
import { Milestones, type MilestoneTable, type Position } from "./milestones.ts";
import { arrayRow, arrayStatement } from "./rows.ts";

export const READING_MILESTONES: MilestoneTable = { table: "reading_milestone", series: "tank", position: ["start"] };

/** By `tank`'s unique index on id, then by primary key. */
const HEAD = `SELECT t.pk, t.deleted, t.owner_id, h.total, h.start, h.data
  FROM tank t JOIN telemetry h ON h.tank = t.pk WHERE t.id = ?`;
/** By block_by_start. */
export const BLOCK = "SELECT data FROM block WHERE tank = ? AND start = ?";

type HeadRow = readonly [tank: number, deleted: 0 | 1, owner: string, total: number, start: number, data: Uint8Array];

export function telemetryQuestions(db: DatabaseSync) {
  const headOf = arrayStatement(db, HEAD);
  const blockAt = arrayStatement(db, BLOCK);
  const milestones = new Milestones(db, READING_MILESTONES);

  /** The telemetry of one tank, as ranks: reading 0 is the oldest. */
  class Telemetry {
    readonly total: number;
    readonly #tank: number;
    readonly #start: number;
    readonly #head: Block;
    /** How many readings lie in blocks. */
    readonly #older: number;
    #gap: Node<Position> | undefined;

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
      this.#gap = milestones.gapAt(this.#tank, this.#top(), [instant]);
      return this.#gap.ahead + this.#block(this.#gap.at).before(instant);
    }

    /** Readings `from` to `to` (not included), newest first. */
    readings(from: number, to: number): Reading[] {
      const newest = readingsOf(this.#head, from - this.#older, to - this.#older);
      const end = Math.min(to, this.#older);
      if (from >= end) return newest;
      const { at, ahead } = this.#gapOf(from);
      const first = this.#block(at);
      const oldest = readingsOf(first, from - ahead, end - ahead);
      const behind = end - ahead - first.length;
      if (behind <= 0) return [...newest, ...oldest];
      // A block holds at least 128 readings and a page at most 100: two hold any page.
      const second = this.#block(milestones.next(this.#tank, 0, at) as Position);
      return [...newest, ...readingsOf(second, 0, behind), ...oldest];
    }

    #gapOf(rank: number): Node<Position> {
      const known = this.#gap;
      // The gap that a bound was found in is often that of the page.
      if (known !== undefined && rank >= known.ahead && rank < known.ahead + GAP) return known;
      return milestones.gapOf(this.#tank, this.#top(), rank);
    }

    #block(at: Position): Block {
      return new Block(arrayRow(blockAt.get(this.#tank, ...at))?.[0] as Uint8Array);
    }

    #top(): number {
      return milestones.top(this.#tank) ?? 0;
    }
  }

  return {
    telemetryPage(tankId: string, question: PageQuestion, { customerId }: Sight): Found<Page<Reading>> {
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
