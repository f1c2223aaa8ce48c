// Lists: pages (ranks come from the rank index, then at most one segment and one page are read), and what their rank indexes
// need to know of the entries.

import type { DatabaseSync } from "node:sqlite";
import { EARLIEST, LATEST } from "../../domain/instant.ts";
import type { PageQuery } from "../../domain/page.ts";
import { entriesOf, listKey } from "../core/dialect.ts";
import type { RowPage } from "../core/reads.ts";
import type { ListSegment } from "../core/transaction.ts";
import { isDescending, LISTS, type ListKind, listName } from "../packed/lists.ts";
import { type Position, SEGMENT_MAX, SEGMENT_SIZE } from "../packed/rank-index.ts";
import { rankIndexReads } from "./rank-index.ts";
import { DIALECT } from "./schema.ts";
import { query, type SqliteRow } from "./statements.ts";

/** With `joins`, which refer to the entries as `entry`, `columns` may be of other tables, too. */
export function listPages(db: DatabaseSync, kind: ListKind, columns: string, joins?: string) {
  const { position } = kind;
  const entries = entriesOf(DIALECT, kind, "?");
  const index = rankIndexReads(db, "lists");
  const inOrder = (alias: string): string => {
    const order = [position, "id"].map((column) => `${alias}${column}${isDescending(kind) ? " DESC" : ""}`);
    return `ORDER BY ${order.join(", ")}`;
  };
  const joined = (rows: string, order: string): string =>
    joins === undefined
      ? `SELECT ${columns} ${rows}`
      : `SELECT ${columns} FROM (SELECT ${position}, id ${rows}) AS entry ${joins} ${order}`;
  const count = query(db, `SELECT count(*) ${entries} AND ${position} BETWEEN ? AND ?`);
  const countFrom = query(db, `SELECT count(*) ${entries} AND (${position}, id) >= (?, ?) AND ${position} < ?`);
  const first = query(
    db,
    joined(`${entries} AND ${position} BETWEEN ? AND ? ${inOrder("")} LIMIT ? OFFSET ?`, inOrder("entry.")),
  );
  const rowsFrom = query(
    db,
    joined(
      `${entries} AND (${position}, id) >= (?, ?) ORDER BY ${position}, id LIMIT ? OFFSET ?`,
      `ORDER BY entry.${position}, entry.id`,
    ),
  );

  return {
    page(key: string | null, { from = EARLIEST, to = LATEST, page, size }: PageQuery): RowPage {
      const list = listName(kind, key);
      const values = listKey(kind, key);
      const skipped = (page - 1) * size;
      /** Near the first entry, skipped rows are simply read. */
      const near = (totalItems: number): RowPage => ({
        rows: skipped < totalItems ? first.all(...values, from, to, size, skipped) : [],
        totalItems,
      });
      const root = index.root(list);
      if (root === undefined) return near(Number(count.get(...values, from, to)?.[0]));
      const rankOf = (wanted: number): number => {
        const { at, rank } = index.segmentBefore(list, root, wanted);
        return rank + Number(countFrom.get(...values, ...(at as SqliteRow), wanted)?.[0]);
      };
      const lower = from === EARLIEST ? 0 : rankOf(from);
      const upper = rankOf(to === LATEST ? LATEST : to + 1);
      const totalItems = Math.max(0, upper - lower);
      if (skipped <= SEGMENT_MAX) return near(totalItems);
      const end = isDescending(kind) ? upper - skipped : Math.min(upper, lower + skipped + size);
      const start = isDescending(kind) ? Math.max(lower, end - size) : lower + skipped;
      if (start >= end) return { rows: [], totalItems };
      const { at, rank } = index.segmentOfRank(list, root, start);
      const rows = rowsFrom.all(...values, ...(at as SqliteRow), end - start, start - rank);
      return { rows: isDescending(kind) ? rows.reverse() : rows, totalItems };
    },
  };
}

const rangeOf = ({ position }: ListKind): string => `(${position}, id) >= (?, ?) AND (${position}, id) < (?, ?)`;

export function listOperations(db: DatabaseSync) {
  const queries = new Map(
    Object.values(LISTS).map((kind: ListKind) => [
      kind,
      {
        count: query(
          db,
          `SELECT count(*) FROM (SELECT 1 ${entriesOf(DIALECT, kind, "?")} AND ${rangeOf(kind)} LIMIT ${SEGMENT_MAX + 1})`,
        ),
        entries: query(
          db,
          `SELECT ${kind.position}, id ${entriesOf(DIALECT, kind, "?")} AND ${rangeOf(kind)} ORDER BY ${kind.position}, id`,
        ),
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
    async oversizedSegments<S extends ListSegment>(kind: ListKind, segments: readonly S[]): Promise<S[]> {
      const { count } = queriesOf(kind);
      return segments.filter((segment) => Number(count.get(...valuesOf(kind, segment))?.[0]) > SEGMENT_MAX);
    },

    async segmentStarts(kind: ListKind, segment: ListSegment): Promise<{ readonly starts: Position[]; readonly total: number }> {
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
