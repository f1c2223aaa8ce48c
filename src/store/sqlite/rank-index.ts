// Rank indexes in SQLite: one row per group, with its offsets and instants as doubles of the machine and its ids, where entries
// may share an instant, as a JSON array.

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { DamageError } from "../../domain/errors.ts";
import { parseJson } from "../../domain/validate.ts";
import { RANK_TABLES } from "../core/rank-indexes.ts";
import type { IndexGroup, IndexPosition, RankTable } from "../core/transaction.ts";
import { comparePositions, type Group, lastIndexWhere, missingGroup, type Position } from "../packed/rank-index.ts";
import { type QueryCache, query, type SqliteRow, upsert } from "./statements.ts";

/** A group as it is stored; its ids are unpacked only if they are needed. */
export class PackedGroup {
  readonly level: number;
  readonly offsets: Float64Array;
  readonly instants: Float64Array;
  readonly #ids: string | undefined;

  /** Columns: level, offsets, instants, ids. */
  constructor(row: SqliteRow) {
    const [level, offsets, instants, ids] = row as readonly [number, Uint8Array, Uint8Array, string | undefined];
    if (instants.length === 0 || instants.length % DOUBLE !== 0 || offsets.length !== instants.length) throw damaged();
    this.level = level;
    this.offsets = doublesOf(offsets);
    this.instants = doublesOf(instants);
    this.#ids = ids;
  }

  at(index: number): Position {
    return [this.instants[index] as number, ...this.#readIds().slice(index, index + 1)];
  }

  unpack(): Group {
    const ids = this.#readIds();
    const at = Array.from(this.instants, (instant, i) => [instant, ...ids.slice(i, i + 1)]);
    return { level: this.level, at, offsets: [...this.offsets] };
  }

  /** None where entries cannot share an instant. */
  #readIds(): string[] {
    if (this.#ids === undefined) return [];
    const ids = parseJson(this.#ids)?.value;
    const isReadable = Array.isArray(ids) && ids.length === this.instants.length && ids.every((id) => typeof id === "string");
    if (!isReadable) throw damaged();
    return ids;
  }
}

const DOUBLE = Float64Array.BYTES_PER_ELEMENT;

function doublesOf(bytes: Uint8Array): Float64Array {
  return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / DOUBLE);
}

/** Columns: offsets, instants, ids. */
export function packGroup({ at, offsets }: Group): SQLInputValue[] {
  const hasIds = (at[0]?.length ?? 0) > 1;
  const pack = (numbers: readonly number[]): Uint8Array => new Uint8Array(Float64Array.from(numbers).buffer);
  return [
    pack(offsets),
    pack(at.map(([instant]) => Number(instant))),
    ...(hasIds ? [JSON.stringify(at.map(([, id]) => id))] : []),
  ];
}

function damaged(): DamageError {
  return new DamageError('a row of a rank index is damaged: "npx tank-monitor check --repair" rebuilds it');
}

/** Where a segment begins, and how many entries are before it. `next`: the first instant of the next one of its group. */
export type RankedSegment = { readonly at: Position; readonly rank: number; readonly next: number | undefined };

/** Reads one kind of rank index. All statements use the table's unique index on the name of the rank index, level and position. */
export function rankIndexReads(db: DatabaseSync, kind: RankTable) {
  const { table, index, key, nodes } = RANK_TABLES[kind];
  const columns = `SELECT level, offsets, ${nodes.join(", ")} FROM ${table} WHERE ${index} = ?`;
  const rootRow = query(db, `${columns} ORDER BY level DESC LIMIT 1`);
  const groupRow = query(db, `${columns} AND level = ? AND ${key.map((column) => `${column} = ?`).join(" AND ")}`);

  /** The group of the highest level; undefined if there is no such index. */
  function root(of: SQLInputValue): PackedGroup | undefined {
    const row = rootRow.get(of);
    return row && new PackedGroup(row);
  }

  function child(of: SQLInputValue, level: number, at: Position): PackedGroup {
    const row = groupRow.get(of, level, ...(at as SqliteRow));
    if (row === undefined) throw missingGroup(level, at);
    return new PackedGroup(row);
  }

  function descend(of: SQLInputValue, root: PackedGroup, search: (group: PackedGroup, rank: number) => number): RankedSegment {
    let rank = 0;
    for (let group = root; ; ) {
      const index = Math.max(0, search(group, rank));
      const at = group.at(index);
      rank += group.offsets[index] as number;
      if (group.level === 0) return { at, rank, next: group.instants[index + 1] };
      group = child(of, group.level - 1, at);
    }
  }

  return {
    root,
    child,
    /** The last segment that begins before the instant. */
    segmentBefore: (of: SQLInputValue, root: PackedGroup, instant: number): RankedSegment =>
      descend(of, root, (group) => lastIndexWhere(group.instants.length, (i) => (group.instants[i] as number) < instant)),
    /** The segment of the entry with `wanted` entries before it; the last one if there are fewer. */
    segmentOfRank: (of: SQLInputValue, root: PackedGroup, wanted: number): RankedSegment =>
      descend(of, root, (group, rank) =>
        lastIndexWhere(group.offsets.length, (i) => rank + (group.offsets[i] as number) <= wanted),
      ),
  };
}

function statementsOf(db: DatabaseSync, kind: RankTable) {
  const { table, index, key, nodes } = RANK_TABLES[kind];
  const position = key.map((name) => `${name} = ?`).join(" AND ");
  return {
    reads: rankIndexReads(db, kind),
    put: upsert(db, table, [index, "level", ...key, "offsets", ...nodes], 2 + key.length),
    removeGroup: db.prepare(`DELETE FROM ${table} WHERE ${index} = ? AND level = ? AND ${position}`),
    remove: db.prepare(`DELETE FROM ${table} WHERE ${index} = ?`),
  };
}

/** `tankKey`: the value that stands for a tank in the table of its readings. */
export function rankIndexOperations(db: DatabaseSync, tankKey: (tankId: string) => SQLInputValue) {
  const statements = { readings: statementsOf(db, "readings"), lists: statementsOf(db, "lists") };
  const keyOf = (table: RankTable, index: string): SQLInputValue => (table === "readings" ? tankKey(index) : index);
  const groupKey = (table: RankTable, { index, group }: IndexGroup): SQLInputValue[] => [
    keyOf(table, index),
    group.level,
    ...(group.at[0] as SqliteRow),
  ];

  function pathGroups(table: RankTable, index: string, positions: readonly Position[]): IndexGroup[] {
    const { reads } = statements[table];
    const of = keyOf(table, index);
    const root = reads.root(of)?.unpack();
    if (root === undefined) return [];
    const groups = new Map<string, Group>([["", root]]);
    for (const position of positions) {
      for (let group = root; group.level > 0; ) {
        const { level, at } = group;
        const last = lastIndexWhere(at.length, (i) => comparePositions(at[i] as Position, position) <= 0);
        const next = at[Math.max(0, last)] as Position;
        const name = `${level - 1} ${next.join(" ")}`;
        group = groups.get(name) ?? reads.child(of, level - 1, next).unpack();
        groups.set(name, group);
      }
    }
    return Array.from(groups.values(), (group) => ({ index, group }));
  }

  return {
    async rankGroups(table: RankTable, positions: readonly IndexPosition[]): Promise<IndexGroup[]> {
      const byIndex = Map.groupBy(positions, ({ index }) => index);
      return Array.from(byIndex, ([index, own]) =>
        pathGroups(
          table,
          index,
          own.map(({ at }) => at),
        ),
      ).flat();
    },

    async putRankGroups(table: RankTable, groups: readonly IndexGroup[]): Promise<void> {
      for (const one of groups) statements[table].put.run(...groupKey(table, one), ...packGroup(one.group));
    },

    async removeRankGroups(table: RankTable, groups: readonly IndexGroup[]): Promise<void> {
      for (const one of groups) statements[table].removeGroup.run(...groupKey(table, one));
    },

    async removeRankIndex(table: RankTable, index: string): Promise<void> {
      statements[table].remove.run(keyOf(table, index));
    },
  };
}

/** All groups of an index, with the positions they are stored under. One that cannot be read has no nodes. */
export function storedGroups(queries: QueryCache, kind: RankTable, name: string): (Group & { readonly key: Position })[] {
  const { table, index, key, nodes } = RANK_TABLES[kind];
  const order = `level, ${key.join(", ")}`;
  const of = kind === "readings" ? "(SELECT pk FROM tank WHERE id = ?)" : "?";
  const sql = `SELECT ${order}, offsets, ${nodes.join(", ")} FROM ${table} WHERE ${index} = ${of} ORDER BY ${order}`;
  return queries.rows(sql, [name]).map(([level, ...row]) => ({
    ...readGroup([level as number, ...row.slice(key.length)]),
    key: row.slice(0, key.length) as Position,
  }));
}

function readGroup(row: SqliteRow): Group {
  try {
    return new PackedGroup(row).unpack();
  } catch {
    return { level: Number(row[0]), at: [], offsets: [] };
  }
}
