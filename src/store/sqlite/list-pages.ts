// Lists: pages (ranks come from the rank index, then at most one segment and one page are read), and what their rank indexes
// need to know of the entries.

import type { DatabaseSync } from "node:sqlite";
import { EARLIEST } from "../../domain/instant.ts";
import type { PageQuery } from "../../domain/page.ts";
import { entriesOf, listKey } from "../core/dialect.ts";
import type { RowPage } from "../core/reads.ts";
import type { ListSegment } from "../core/transaction.ts";
import { LISTS, type ListKind, seriesOf } from "../series/lists.ts";
import { LATEST, type Position, SEGMENT_MAX, SEGMENT_SIZE } from "../series/rank-index.ts";
import { rankIndexReads } from "./rank-index.ts";
import { DIALECT } from "./schema.ts";
import { query, type SqliteRow } from "./statements.ts";

export function listPages(db: DatabaseSync, kind: ListKind, columns: string) {
  const entries = entriesOf(DIALECT, kind, "?");
  const index = rankIndexReads(db, "lists");
  const count = query(db, `SELECT count(*) ${entries} AND created_at BETWEEN ? AND ?`);
  const countFrom = query(db, `SELECT count(*) ${entries} AND (created_at, id) >= (?, ?) AND created_at < ?`);
  const newest = query(
    db,
    `SELECT ${columns} ${entries} AND created_at BETWEEN ? AND ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
  );
  const rowsFrom = query(
    db,
    `SELECT ${columns} ${entries} AND (created_at, id) >= (?, ?) ORDER BY created_at, id LIMIT ? OFFSET ?`,
  );

  return {
    page(key: string | null, { from = EARLIEST, to = LATEST, page, size }: PageQuery): RowPage {
      const series = seriesOf(kind, key);
      const values = listKey(kind, key);
      const skipped = (page - 1) * size;
      /** Near the newest entry, skipped rows are simply read. */
      const near = (totalItems: number): RowPage => ({
        rows: skipped < totalItems ? newest.all(...values, from, to, size, skipped) : [],
        totalItems,
      });
      const root = index.root(series);
      if (root === undefined) return near(Number(count.get(...values, from, to)?.[0]));
      const rankOf = (instant: number): number => {
        const { at, rank } = index.segmentBefore(series, root, instant);
        return rank + Number(countFrom.get(...values, ...(at as SqliteRow), instant)?.[0]);
      };
      const lower = from === EARLIEST ? 0 : rankOf(from);
      const upper = rankOf(to === LATEST ? LATEST : to + 1);
      const totalItems = Math.max(0, upper - lower);
      if (skipped <= SEGMENT_MAX) return near(totalItems);
      const end = upper - skipped;
      const start = Math.max(lower, end - size);
      if (start >= end) return { rows: [], totalItems };
      const { at, rank } = index.segmentOfRank(series, root, start);
      return { rows: rowsFrom.all(...values, ...(at as SqliteRow), end - start, start - rank).reverse(), totalItems };
    },

    /** The number of all entries. */
    total(key: string | null): number {
      return this.page(key, { from: undefined, to: undefined, page: 1, size: 1 }).totalItems;
    },
  };
}

const RANGE = "(created_at, id) >= (?, ?) AND (created_at, id) < (?, ?)";

export function listWrites(db: DatabaseSync) {
  const queries = new Map(
    Object.values(LISTS).map((kind: ListKind) => [
      kind,
      {
        count: query(
          db,
          `SELECT count(*) FROM (SELECT 1 ${entriesOf(DIALECT, kind, "?")} AND ${RANGE} LIMIT ${SEGMENT_MAX + 1})`,
        ),
        entries: query(db, `SELECT created_at, id ${entriesOf(DIALECT, kind, "?")} AND ${RANGE} ORDER BY created_at, id`),
      },
    ]),
  );
  const queriesOf = (kind: ListKind) => queries.get(kind) as NonNullable<ReturnType<typeof queries.get>>;
  const valuesOf = (kind: ListKind, { key, at, end }: ListSegment): SqliteRow => [
    ...listKey(kind, key),
    ...(at as SqliteRow),
    ...(end as SqliteRow),
  ];

  return {
    oversizedSegments<S extends ListSegment>(kind: ListKind, segments: readonly S[]): S[] {
      const { count } = queriesOf(kind);
      return segments.filter((segment) => Number(count.get(...valuesOf(kind, segment))?.[0]) > SEGMENT_MAX);
    },

    segmentStarts(kind: ListKind, segment: ListSegment): { readonly starts: Position[]; readonly total: number } {
      const starts: Position[] = [];
      let total = 0;
      for (const position of queriesOf(kind).entries.iterate(...valuesOf(kind, segment))) {
        if (total % SEGMENT_SIZE === 0) starts.push(position as Position);
        total++;
      }
      return { starts, total };
    },
  };
}
