// What the rank indexes of lists need to know of the entries.

import type { DatabaseSync } from "node:sqlite";
import type { ListSegment } from "../core/transaction.ts";
import { LISTS, type ListKind } from "../series/lists.ts";
import { type Position, SEGMENT_MAX, SEGMENT_SIZE } from "../series/rank-index.ts";
import { query, type Row } from "./statements.ts";

/** FROM and WHERE of a list; takes `listKey`. */
export function entriesOf({ table, column }: ListKind): string {
  return `FROM ${table} WHERE deleted = 0${column === null ? "" : ` AND ${column} = ?`}`;
}

export function listKey({ column }: ListKind, key: string | null): Row {
  return column === null ? [] : [key];
}

const RANGE = "(created_at, id) >= (?, ?) AND (created_at, id) < (?, ?)";

export function listWrites(db: DatabaseSync) {
  const queries = new Map(
    Object.values(LISTS).map((kind: ListKind) => [
      kind,
      {
        count: query(db, `SELECT count(*) FROM (SELECT 1 ${entriesOf(kind)} AND ${RANGE} LIMIT ${SEGMENT_MAX + 1})`),
        entries: query(db, `SELECT created_at, id ${entriesOf(kind)} AND ${RANGE} ORDER BY created_at, id`),
      },
    ]),
  );
  const queriesOf = (kind: ListKind) => queries.get(kind) as NonNullable<ReturnType<typeof queries.get>>;
  const valuesOf = (kind: ListKind, { key, at, end }: ListSegment): Row => [
    ...listKey(kind, key),
    ...(at as Row),
    ...(end as Row),
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
