// The lists of objects (`series/lists.ts` tells which): their entries, and their milestones.

import { GAP, GAP_MOST, type Gap } from "../series/levels.ts";
import { type Entry, type ListKind, type Move, seriesOf } from "../series/lists.ts";
import { type Db, type Statement, statement, type Value } from "./connection.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { first, floor, last, type MilestoneTable, next, originOf, type Position } from "./milestones.ts";

export const LIST_MILESTONES: MilestoneTable = {
  table: "list_milestone",
  series: "series",
  position: ["created_at", "id"],
  types: ["bigint", "text"],
};

/** The table and the condition; `key` is the expression the column is compared with. */
export function entriesOf({ table, column }: ListKind, key: string): string {
  return `FROM ${table} WHERE NOT ${table}.deleted${column === null ? "" : ` AND ${table}.${column} = ${key}`}`;
}

export function keyValues({ column }: ListKind, key: string | null): Value[] {
  return column === null ? [] : [key];
}

/** All list writes of all processes, one transaction after the other: they are rare, and many touch the same few rows. */
const LOCK = statement("SELECT pg_advisory_xact_lock(5522219042)");
export async function lockLists(db: Db): Promise<void> {
  await db.rows(LOCK);
}

const keeper = new MilestoneKeeper(LIST_MILESTONES);

/** A gap with more than 256 entries; without milestones, the whole list is one. */
type LargeRow = readonly [
  key: string | null,
  series: string,
  created_at: number,
  id: string,
  ahead: number | null,
  end_created_at: number,
  end_id: string,
];
type GapOfList = { readonly series: string; readonly at: Position; readonly level: 0; readonly ahead: number };

/** Keeps the milestones of one kind of list, in the transaction that changes its entries, after they are changed. */
export class ListKeeper {
  readonly #kind: ListKind;
  readonly #large: Statement;
  readonly #cuts: Statement;
  readonly #all: Statement;

  constructor(kind: ListKind) {
    this.#kind = kind;
    const place = ["asked.created_at", "asked.id"];
    const [firstInstant, firstId] = first(LIST_MILESTONES);
    const [lastInstant, lastId] = last(LIST_MILESTONES);
    this.#large = statement(`
      SELECT gap.key, gap.series, gap.created_at, gap.id, gap.ahead, gap.end_created_at, gap.end_id
      FROM (
        SELECT DISTINCT asked.key, asked.series, gap.ahead, coalesce(gap.created_at, ${firstInstant}) AS created_at,
          coalesce(gap.id, ${firstId}) AS id, coalesce(follower.created_at, ${lastInstant}) AS end_created_at,
          coalesce(follower.id, ${lastId}) AS end_id
        FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS asked (key, series, created_at, id)
        LEFT JOIN LATERAL (${floor(LIST_MILESTONES, "asked.series", "0", place)}) AS gap ON true
        LEFT JOIN LATERAL (${next(LIST_MILESTONES, "asked.series", "0", place)}) AS follower ON true
      ) AS gap
      WHERE (
        SELECT count(*) FROM (
          SELECT ${entriesOf(kind, "gap.key")} AND (created_at, id) >= (gap.created_at, gap.id)
            AND (created_at, id) < (gap.end_created_at, gap.end_id) LIMIT ${GAP_MOST + 1}
        ) AS few
      ) > ${GAP_MOST}`);
    this.#cuts = statement(`
      SELECT created_at, id FROM (
        SELECT created_at, id, row_number() OVER (ORDER BY created_at, id) - 1 AS number
        ${entriesOf(kind, "$5")} AND (created_at, id) >= ($1, $2) AND (created_at, id) < ($3, $4)
      ) AS entry WHERE number > 0 AND number % ${GAP} = 0 ORDER BY created_at, id`);
    this.#all = statement(`
      SELECT created_at, id, number FROM (
        SELECT created_at, id, row_number() OVER (ORDER BY created_at, id) - 1 AS number, count(*) OVER () AS total
        ${entriesOf(kind, "$1")}
      ) AS entry WHERE total > ${GAP_MOST} AND (number % ${GAP} = 0 OR number = total - 1) ORDER BY number`);
  }

  /** After all of these objects were written. */
  async move(db: Db, moves: readonly Move[]): Promise<void> {
    const at = (entry: Entry | undefined, delta: number) =>
      entry === undefined ? [] : [{ series: seriesOf(this.#kind, entry.key), at: entry.at, delta, key: entry.key }];
    const changes = moves.flatMap(({ left, entered }) => [...at(left, -1), ...at(entered, 1)]);
    if (changes.length === 0) return;
    await keeper.shift(db, changes);
    const entered = changes.filter(({ delta }) => delta === 1);
    const large = await db.rows(this.#large, [
      entered.map(({ key }) => key),
      entered.map(({ series }) => series),
      entered.map((entry) => entry.at[0]),
      entered.map((entry) => entry.at[1]),
    ]);
    const made: GapOfList[] = [];
    for (const row of large) {
      const [key, series, createdAt, id, ahead, endCreatedAt, endId] = row as unknown as LargeRow;
      if (ahead === null) {
        await this.rebuild(db, key);
        continue;
      }
      const cuts = await db.rows(this.#cuts, [createdAt, id, endCreatedAt, endId, ...keyValues(this.#kind, key)]);
      cuts.forEach((at, i) => {
        made.push({ series, at: at as Position, level: 0, ahead: ahead + (i + 1) * GAP });
      });
    }
    // All of them before any group is cut: `ahead` is as it was read until then.
    await keeper.insert(db, made);
    await keeper.balance(db, made);
  }

  /** Anew from the entries. */
  async rebuild(db: Db, key: string | null): Promise<void> {
    await keeper.rebuild(db, seriesOf(this.#kind, key), await this.gaps(db, key));
  }

  /** The gaps that the entries make when they are counted anew; none where they are few. */
  async gaps(db: Db, key: string | null): Promise<Gap<Position>[]> {
    const rows = (await db.rows(this.#all, keyValues(this.#kind, key))) as unknown as (readonly [number, string, number])[];
    const total = (rows.at(-1)?.[2] ?? -1) + 1;
    return rows
      .filter(([, , number]) => number % GAP === 0)
      .map(([created_at, id, number]) => ({
        at: number === 0 ? originOf(LIST_MILESTONES) : [created_at, id],
        count: Math.min(GAP, total - number),
      }));
  }
}
