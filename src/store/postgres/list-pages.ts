// Lists: pages, found in one statement (ranks from the rank index, then at most one segment and one page are read), and what
// their rank indexes need to know of the entries.

import { EARLIEST } from "../../domain/instant.ts";
import type { PageQuery } from "../../domain/page.ts";
import { entriesOf, listKey } from "../core/dialect.ts";
import type { RowPage } from "../core/reads.ts";
import type { ListSegment } from "../core/transaction.ts";
import { LIST_START, LISTS, type ListKind, seriesOf } from "../series/lists.ts";
import { LATEST, missingGroup, type Position, SEGMENT_MAX, SEGMENT_SIZE } from "../series/rank-index.ts";
import { type Db, type Statement, statement } from "./connection.ts";
import { segmentAtInstant, segmentOfRank } from "./rank-index.ts";
import { DIALECT } from "./schema.ts";

/**
 * How many entries are before the instant, given `segment`, a query for the last segment that begins before it. They are read
 * in the order of their index: other indexes, in which the instant comes second, would be read completely.
 */
function rankOf(entries: string, instant: string, segment: string): string {
  const [firstInstant, firstId] = LIST_START;
  return `(
      SELECT coalesce(segment.rank, 0) + (
        SELECT count(*) FROM (
          SELECT ${entries} AND created_at < ${instant} AND (created_at, id) >= (
            coalesce(segment.created_at, ${firstInstant}), coalesce(segment.id, '${firstId}')
          ) ORDER BY created_at, id OFFSET 0
        ) AS entry
      ) FROM (SELECT) AS one LEFT JOIN ${segment} AS segment ON segment.level = 0
    )`;
}

/** The number of live tanks, as parts of a statement: a recursive query, and an expression that uses it. */
export const LIVE_TANKS = {
  query: segmentAtInstant("lists", "last_segment", `'${seriesOf(LISTS.tanks, null)}'`, `SELECT ${LATEST} - 1 AS wanted`),
  count: rankOf(entriesOf(DIALECT, LISTS.tanks, ""), String(LATEST), "last_segment"),
} as const;

/** $1 series, $2 and $3 the bounds (the second exclusive), $4 entries skipped, $5 wanted, $6 key. */
export const listPagesOn = (db: Db) => (kind: ListKind, columns: string) => {
  const entries = entriesOf(DIALECT, kind, "$6");
  const segmentBefore = (name: string, bound: string): string =>
    segmentAtInstant("lists", name, "$1", `SELECT ${bound} - 1 AS wanted WHERE ${bound} > ${EARLIEST}`);
  const [from, to] = ["$2::bigint", "$3::bigint"];
  const bounds = `${segmentBefore("lower_segment", from)}, ${segmentBefore("upper_segment", to)}, bounds AS MATERIALIZED (
      SELECT ${rankOf(entries, from, "lower_segment")} AS lower, ${rankOf(entries, to, "upper_segment")} AS upper
    )`;
  /** Near the newest entry, skipped rows are simply read. */
  const near = statement(`
      WITH RECURSIVE ${bounds}
      SELECT bounds.upper - bounds.lower, entry.* FROM bounds LEFT JOIN LATERAL (
        SELECT ${columns} ${entries} AND created_at >= $2 AND created_at < $3
        ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $4
      ) AS entry ON true`);
  const far = statement(`
      WITH RECURSIVE ${bounds}, page AS MATERIALIZED (
        SELECT greatest(lower, upper - $4::bigint - $5::bigint) AS first, upper - $4::bigint AS past FROM bounds
      ), ${segmentOfRank("lists", "segment", "$1", "SELECT first AS wanted FROM page WHERE first < past")}
      SELECT bounds.upper - bounds.lower, entry.* FROM bounds LEFT JOIN (
        page JOIN segment ON segment.level = 0 AND page.first < page.past
        CROSS JOIN LATERAL (
          SELECT ${columns} ${entries} AND (created_at, id) >= (segment.created_at, segment.id)
          ORDER BY created_at, id LIMIT page.past - page.first OFFSET page.first - segment.rank
        ) AS entry
      ) ON true ORDER BY entry.created_at DESC, entry.id DESC`);

  return async (key: string | null, request: PageQuery): Promise<RowPage> => {
    const { from = EARLIEST, to, page, size } = request;
    const skipped = (page - 1) * size;
    const end = to === undefined ? LATEST : to + 1;
    const query = skipped <= SEGMENT_MAX ? near : far;
    const rows = await db.rows(query, [seriesOf(kind, key), from, end, skipped, size, ...listKey(kind, key)]);
    // Without entries there is one row, with the total only.
    const found = rows.map(([, ...columns]) => columns).filter(([id]) => id !== null);
    const totalItems = Math.max(0, Number(rows[0]?.[0]));
    if (found.length === 0 && skipped < totalItems) throw missingGroup(0, [skipped]);
    return { rows: found, totalItems };
  };
};

type SegmentStatements = { readonly oversized: Statement; readonly starts: Statement };

const SEGMENT_STATEMENTS = new Map<ListKind, SegmentStatements>(
  Object.values(LISTS).map((kind: ListKind) => [
    kind,
    {
      oversized: statement(`
        SELECT number FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
          WITH ORDINALITY AS segment (key, created_at, id, end_created_at, end_id, number)
        WHERE (
          SELECT count(*) FROM (
            SELECT ${entriesOf(DIALECT, kind, "segment.key")} AND (created_at, id) >= (segment.created_at, segment.id)
              AND (created_at, id) < (segment.end_created_at, segment.end_id) LIMIT ${SEGMENT_MAX + 1}
          ) AS few
        ) > ${SEGMENT_MAX}`),
      starts: statement(`
        SELECT created_at, id, total FROM (
          SELECT created_at, id, row_number() OVER (ORDER BY created_at, id) - 1 AS number, count(*) OVER () AS total
          ${entriesOf(DIALECT, kind, "$5")} AND (created_at, id) >= ($1, $2) AND (created_at, id) < ($3, $4)
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
      const starts = rows.map(([created_at, id]) => [created_at, id] as Position);
      return { starts, total: Number(rows[0]?.[2] ?? 0) };
    },
  };
}
