// The lists of objects (`series/lists.ts` tells which): their entries, and their milestones.

import { endOf, GAP, GAP_MOST, type Gap, originOf, type Position } from "../series/levels.ts";
import { type Entry, type ListKind, type Move, seriesOf } from "../series/lists.ts";
import type { Ways } from "../series/ways.ts";
import { type Db, type Statement, statement, type Value } from "./connection.ts";
import { type At, MilestoneKeeper } from "./milestone-keeper.ts";
import type { MilestoneTable } from "./milestones.ts";

export const LIST_MILESTONES: MilestoneTable = {
  table: "list_milestone",
  series: "series",
  key: ["created_at", "id"],
  nodes: ["created_ats", "ids"],
  types: ["bigint", "text"],
};

export const ORIGIN = originOf(2);
export const END = endOf(2);

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

/** A gap of a list; without milestones, the whole list is one. */
type GapOfList = { readonly key: string | null } & At & { readonly end: Position; readonly ahead: number };

function gapOf({ key, series, at }: At & { key: string | null }, ways: ReadonlyMap<string, Ways>): GapOfList {
  const own = ways.get(series);
  if (own === undefined || own.isEmpty) {
    return { key, series, at: ORIGIN, end: END, ahead: 0 };
  }
  const gap = own.gapAt(at);
  return { key, series, ...gap, end: gap.end ?? END };
}

/** Keeps the milestones of one kind of list, in the transaction that changes its entries, after they are changed. */
export class ListKeeper {
  readonly #kind: ListKind;
  readonly #large: Statement;
  readonly #cuts: Statement;
  readonly #all: Statement;

  constructor(kind: ListKind) {
    this.#kind = kind;
    this.#large = statement(`
      SELECT number FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
        WITH ORDINALITY AS gap (key, created_at, id, end_created_at, end_id, number)
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
    const ways = await keeper.ways(db, changes);
    for (const { series, at: position, delta } of changes) ways.get(series)?.grow(position, delta);
    const entered = changes.filter(({ delta }) => delta === 1).map((entry) => gapOf(entry, ways));
    for (const { key, series, at: begins, end, ahead } of await this.#tooLarge(db, entered)) {
      const own = ways.get(series);
      if (own === undefined || own.isEmpty) {
        await this.rebuild(db, key);
        continue;
      }
      const cuts = await db.rows(this.#cuts, [...begins, ...end, ...keyValues(this.#kind, key)]);
      cuts.forEach((cut, i) => {
        own.open(cut as Position, ahead + (i + 1) * GAP);
      });
    }
    await keeper.keep(db, ways);
  }

  /** Those of the gaps that hold more than 256 entries, each once. */
  async #tooLarge(db: Db, entered: readonly GapOfList[]): Promise<GapOfList[]> {
    const gaps = [...new Map(entered.map((gap) => [`${gap.at.join(" ")} ${gap.series}`, gap])).values()];
    const part = (of: "at" | "end", i: number) => gaps.map((gap) => gap[of][i] as number | string);
    const columns = [part("at", 0), part("at", 1), part("end", 0), part("end", 1)];
    const rows = await db.rows(this.#large, [gaps.map(({ key }) => key), ...columns]);
    return rows.map(([number]) => gaps[Number(number) - 1] as GapOfList);
  }

  /** Anew from the entries. */
  async rebuild(db: Db, key: string | null): Promise<void> {
    await keeper.rebuild(db, seriesOf(this.#kind, key), await this.gaps(db, key));
  }

  /** The gaps that the entries make when they are counted anew; none where they are few. */
  async gaps(db: Db, key: string | null): Promise<Gap[]> {
    const rows = (await db.rows(this.#all, keyValues(this.#kind, key))) as unknown as (readonly [number, string, number])[];
    const total = (rows.at(-1)?.[2] ?? -1) + 1;
    return rows
      .filter(([, , number]) => number % GAP === 0)
      .map(([created_at, id, number]) => ({
        at: number === 0 ? ORIGIN : [created_at, id],
        count: Math.min(GAP, total - number),
      }));
  }
}
