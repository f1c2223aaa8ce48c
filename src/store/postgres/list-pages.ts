// Lists: pages, found in one statement (ranks from the rank index, then at most one segment and one page are read), and what
// their rank indexes need to know of the entries.

import { EARLIEST, LATEST } from "../../domain/instant.ts";
import type { PageQuery } from "../../domain/page.ts";
import { entriesOf, listKey } from "../core/dialect.ts";
import { pageOf } from "../core/management-reads.ts";
import type { RowPage } from "../core/reads.ts";
import type { ListSegment } from "../core/transaction.ts";
import { isDescending, LIST_START, LISTS, type ListKind, listName } from "../packed/lists.ts";
import { missingGroup, type Position, SEGMENT_MAX, SEGMENT_SIZE } from "../packed/rank-index.ts";
import { type Db, type Statement, statement } from "./connection.ts";
import { segmentAtInstant, segmentOfRank } from "./rank-index.ts";
import { DIALECT } from "./schema.ts";

/**
 * How many entries are before the position, given `segment`, a query for the last segment that begins before it. They are read
 * in the order of their index: other indexes, in which the position comes second, would be read completely.
 */
function rankOf({ position }: ListKind, entries: string, wanted: string, segment: string): string {
  const [firstPosition, firstId] = LIST_START;
  return `(
      SELECT coalesce(segment.rank, 0) + (
        SELECT count(*) FROM (
          SELECT ${entries} AND ${position} < ${wanted} AND (${position}, id) >= (
            coalesce(segment.position, ${firstPosition}), coalesce(segment.id, '${firstId}')
          ) ORDER BY ${position}, id OFFSET 0
        ) AS entry
      ) FROM (SELECT) AS one LEFT JOIN ${segment} AS segment ON segment.level = 0
    )`;
}

/** The number of live tanks, as parts of a statement: a recursive query, and an expression that uses it. */
export const LIVE_TANKS = {
  query: segmentAtInstant("lists", "last_segment", `'${listName(LISTS.tanks, null)}'`, `SELECT ${LATEST} - 1 AS wanted`),
  count: rankOf(LISTS.tanks, entriesOf(DIALECT, LISTS.tanks, ""), String(LATEST), "last_segment"),
} as const;

/**
 * $1 name of the list, $2 and $3 the bounds (the second exclusive), $4 entries skipped, $5 wanted, $6 key. With `joins`, which refer to the
 * entries as `entry`, `columns` may be of other tables, too.
 */
export const listPagesOn = (db: Db) => (kind: ListKind, columns: string, joins?: string) => {
  const { position } = kind;
  const entries = entriesOf(DIALECT, kind, "$6");
  const order = (direction: string, alias = ""): string => `${alias}${position} ${direction}, ${alias}id ${direction}`;
  const direction = isDescending(kind) ? "DESC" : "ASC";
  const [entryColumns, selected] = joins === undefined ? [columns, "entry.*"] : [`${position}, id`, columns];
  const segmentBefore = (name: string, bound: string): string =>
    segmentAtInstant("lists", name, "$1", `SELECT ${bound} - 1 AS wanted WHERE ${bound} > ${EARLIEST}`);
  const [from, to] = ["$2::bigint", "$3::bigint"];
  const bounds = `${segmentBefore("lower_segment", from)}, ${segmentBefore("upper_segment", to)}, bounds AS MATERIALIZED (
      SELECT ${rankOf(kind, entries, from, "lower_segment")} AS lower, ${rankOf(kind, entries, to, "upper_segment")} AS upper
    )`;
  const pageBounds = isDescending(kind)
    ? "greatest(lower, upper - $4::bigint - $5::bigint) AS first_rank, upper - $4::bigint AS end_rank"
    : "lower + $4::bigint AS first_rank, least(upper, lower + $4::bigint + $5::bigint) AS end_rank";
  /** Near the first entry, skipped rows are simply read. */
  const near = statement(`
      WITH RECURSIVE ${bounds}
      SELECT bounds.upper - bounds.lower, ${selected} FROM bounds LEFT JOIN LATERAL (
        SELECT ${entryColumns} ${entries} AND ${position} >= $2 AND ${position} < $3
        ORDER BY ${order(direction)} LIMIT $5 OFFSET $4
      ) AS entry ON true ${joins ?? ""} ${joins === undefined ? "" : `ORDER BY ${order(direction, "entry.")}`}`);
  const far = statement(`
      WITH RECURSIVE ${bounds}, page AS MATERIALIZED (SELECT ${pageBounds} FROM bounds
      ), ${segmentOfRank("lists", "segment", "$1", "SELECT first_rank AS wanted FROM page WHERE first_rank < end_rank")}
      SELECT bounds.upper - bounds.lower, ${selected} FROM bounds LEFT JOIN (
        page JOIN segment ON segment.level = 0 AND page.first_rank < page.end_rank
        CROSS JOIN LATERAL (
          SELECT ${entryColumns} ${entries} AND (${position}, id) >= (segment.position, segment.id)
          ORDER BY ${order("ASC")} LIMIT page.end_rank - page.first_rank OFFSET page.first_rank - segment.rank
        ) AS entry
      ) ON true ${joins ?? ""} ORDER BY ${order(direction, "entry.")}`);

  return async (key: string | null, request: PageQuery): Promise<RowPage> => {
    const { from = EARLIEST, to, page, size } = request;
    const skipped = (page - 1) * size;
    const end = to === undefined ? LATEST : to + 1;
    const query = skipped <= SEGMENT_MAX ? near : far;
    const rows = await db.rows(query, [listName(kind, key), from, end, skipped, size, ...listKey(kind, key)]);
    // Without entries there is one row, with the total only.
    const { data, totalItems } = pageOf(rows, (columns) => columns);
    if (data.length === 0 && skipped < totalItems) throw missingGroup(0, [skipped]);
    return { rows: data, totalItems };
  };
};

type SegmentStatements = { readonly oversized: Statement; readonly starts: Statement };

const SEGMENT_STATEMENTS = new Map<ListKind, SegmentStatements>(
  Object.values(LISTS).map((kind: ListKind) => [
    kind,
    {
      oversized: statement(`
        SELECT number FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
          WITH ORDINALITY AS segment (key, position, id, end_position, end_id, number)
        WHERE (
          SELECT count(*) FROM (
            SELECT ${entriesOf(DIALECT, kind, "segment.key")} AND (${kind.position}, id) >= (segment.position, segment.id)
              AND (${kind.position}, id) < (segment.end_position, segment.end_id) LIMIT ${SEGMENT_MAX + 1}
          ) AS few
        ) > ${SEGMENT_MAX}`),
      starts: statement(`
        SELECT position, id, total FROM (
          SELECT ${kind.position} AS position, id, row_number() OVER (ORDER BY ${kind.position}, id) - 1 AS number,
            count(*) OVER () AS total
          ${entriesOf(DIALECT, kind, "$5")} AND (${kind.position}, id) >= ($1, $2) AND (${kind.position}, id) < ($3, $4)
        ) AS entry WHERE number % ${SEGMENT_SIZE} = 0 ORDER BY number`),
    },
  ]),
);

export function listOperations(db: Db) {
  const statementsOf = (kind: ListKind): SegmentStatements => SEGMENT_STATEMENTS.get(kind) as SegmentStatements;
  return {
    async oversizedSegments<S extends ListSegment>(kind: ListKind, segments: readonly S[]): Promise<S[]> {
      const part = (of: "at" | "end", i: number) => segments.map((segment) => segment[of][i] as number | string);
      const columns = [part("at", 0), part("at", 1), part("end", 0), part("end", 1)];
      const rows = await db.rows(statementsOf(kind).oversized, [segments.map(({ key }) => key), ...columns]);
      return rows.map(([number]) => segments[Number(number) - 1] as S);
    },

    async segmentStarts(kind: ListKind, { key, at, end }: ListSegment) {
      const rows = await db.rows(statementsOf(kind).starts, [...at, ...end, ...listKey(kind, key)]);
      const starts = rows.map(([position, id]) => [position, id] as Position);
      return { starts, total: Number(rows[0]?.[2] ?? 0) };
    },
  };
}
