// How a page of a list is found: ranks from the milestones, then a walk of at most a gap and a page, all in one statement.

import type { PageQuery } from "../../domain/page.ts";
import { EARLIEST, GAP_MOST, LATEST, missingGroup } from "../series/levels.ts";
import { LISTS, type ListKind, seriesOf } from "../series/lists.ts";
import { type Db, type Row, type Statement, statement } from "./connection.ts";
import { entriesOf, keyValues, LIST_MILESTONES, ORIGIN } from "./lists.ts";
import { wayAt, wayTo } from "./milestones.ts";

export type RowPage = { readonly rows: Row[]; readonly totalItems: number };

/**
 * How many of the entries lie before the instant, where `way` leads to the last gap that begins before it. They are asked for
 * in the order of their index, since others, in which the instant comes second, can be walked as well, but whole.
 */
function rankOf(entries: string, bound: string, way: string): string {
  const [firstInstant, firstId] = ORIGIN;
  return `(
      SELECT coalesce(gap.ahead, 0) + (
        SELECT count(*) FROM (
          SELECT ${entries} AND created_at < ${bound} AND (created_at, id) >= (
            coalesce(gap.created_at, ${firstInstant}), coalesce(gap.id, '${firstId}')
          ) ORDER BY created_at, id OFFSET 0
        ) AS entry
      ) FROM (SELECT) AS one LEFT JOIN ${way} AS gap ON gap.level = 0
    )`;
}

/** How many live tanks there are, as a part of a statement: a recursive query, and the number. */
export const LIVE_TANKS = {
  way: wayAt(LIST_MILESTONES, "to_last", `'${seriesOf(LISTS.tanks, null)}'`, `SELECT ${LATEST} - 1 AS sought`),
  count: rankOf(entriesOf(LISTS.tanks, ""), String(LATEST), "to_last"),
} as const;

export class List {
  readonly #kind: ListKind;
  readonly #near: Statement;
  readonly #far: Statement;

  /** $1 series, $2 and $3 the bounds (the second not included), $4 entries skipped, $5 wanted, $6 key. */
  constructor(kind: ListKind, columns: string) {
    const entries = entriesOf(kind, "$6");
    const rank = (bound: string, way: string): string => rankOf(entries, bound, way);
    const wayToBound = (name: string, bound: string): string =>
      wayAt(LIST_MILESTONES, name, "$1", `SELECT ${bound} - 1 AS sought WHERE ${bound} > ${EARLIEST}`);
    const [from, to] = ["$2::bigint", "$3::bigint"];
    const bounds = `${wayToBound("to_lower", from)}, ${wayToBound("to_upper", to)}, bounds AS MATERIALIZED (
      SELECT ${rank(from, "to_lower")} AS lower, ${rank(to, "to_upper")} AS upper
    )`;
    this.#kind = kind;
    this.#near = statement(`
      WITH RECURSIVE ${bounds}
      SELECT bounds.upper - bounds.lower, entry.* FROM bounds LEFT JOIN LATERAL (
        SELECT ${columns} ${entries} AND created_at >= $2 AND created_at < $3
        ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $4
      ) AS entry ON true`);
    this.#far = statement(`
      WITH RECURSIVE ${bounds}, page AS MATERIALIZED (
        SELECT greatest(lower, upper - $4::bigint - $5::bigint) AS first, upper - $4::bigint AS past FROM bounds
      ), ${wayTo(LIST_MILESTONES, "way", "$1", "SELECT first AS sought FROM page WHERE first < past")}
      SELECT bounds.upper - bounds.lower, entry.* FROM bounds LEFT JOIN (
        page JOIN way ON way.level = 0 AND page.first < page.past
        CROSS JOIN LATERAL (
          SELECT ${columns} ${entries} AND (created_at, id) >= (way.created_at, way.id)
          ORDER BY created_at, id LIMIT page.past - page.first OFFSET page.first - way.ahead
        ) AS entry
      ) ON true ORDER BY entry.created_at DESC, entry.id DESC`);
  }

  async page(db: Db, key: string | null, { from = EARLIEST, to, page, size }: PageQuery): Promise<RowPage> {
    const skipped = (page - 1) * size;
    const asked = skipped <= GAP_MOST ? this.#near : this.#far;
    const end = to === undefined ? LATEST : to + 1;
    const rows = await db.rows(asked, [seriesOf(this.#kind, key), from, end, skipped, size, ...keyValues(this.#kind, key)]);
    // Without an entry there is one row, with the total alone.
    const found = rows.map(([, ...columns]) => columns).filter(([id]) => id !== null);
    const totalItems = Math.max(0, Number(rows[0]?.[0]));
    if (found.length === 0 && skipped < totalItems) throw missingGroup(0, [skipped]);
    return { rows: found, totalItems };
  }
}
