// Rank indexes on PostgreSQL: one row per group, with its nodes in arrays. Reads find ranks inside the statement that needs
// them; writes load the groups of many indexes at once.

import type { StoredGroup } from "../check/rank-index.ts";
import type { Row } from "../columns.ts";
import { RANK_TABLES } from "../core/rank-indexes.ts";
import type { IndexGroup, IndexPosition, RankTable } from "../core/transaction.ts";
import { comparePositions, type Group, type Position } from "../packed/rank-index.ts";
import { type Db, statement, type Value } from "./connection.ts";

type RankColumns = (typeof RANK_TABLES)[RankTable];

/**
 * A recursive query `name (level, rank, wanted, position…)` that descends to the segment of the entry with `wanted` entries
 * before it, one row per level, by primary key. Its row of level 0 is the segment. It has no row if `request`, which selects
 * `wanted`, has none, or if there is no such index.
 */
export function segmentOfRank(kind: RankTable, name: string, index: string, request: string): string {
  return descend(kind, name, index, request, "offsets", "- own.offsets[node.number]");
}

/** The same, to the last segment that begins at the instant `wanted` or before it. */
export function segmentAtInstant(kind: RankTable, name: string, index: string, request: string): string {
  return descend(kind, name, index, request, RANK_TABLES[kind].nodes[0] as string, "");
}

function descend(kind: RankTable, name: string, of: string, request: string, searched: string, remaining: string): string {
  const { table, index, key, nodes } = RANK_TABLES[kind];
  const group = `SELECT level, offsets, ${nodes.join(", ")} FROM ${table} WHERE ${index} = ${of}`;
  const node = (above: string): string =>
    `CROSS JOIN LATERAL (SELECT greatest(1, width_bucket(${above}.wanted, own.${searched})) AS number OFFSET 0) AS node`;
  const reached = nodes.map((column) => `own.${column}[node.number]`).join(", ");
  return `${name} (level, rank, wanted, ${key.join(", ")}) AS (
      SELECT own.level, own.offsets[node.number], request.wanted ${remaining}, ${reached}
      FROM (${request}) AS request CROSS JOIN LATERAL (${group} ORDER BY level DESC LIMIT 1) AS own ${node("request")}
    UNION ALL
      SELECT own.level, above.rank + own.offsets[node.number], above.wanted ${remaining}, ${reached}
      FROM ${name} AS above CROSS JOIN LATERAL (
        ${group} AND level = above.level - 1 AND ${key.map((column) => `${column} = above.${column}`).join(" AND ")} OFFSET 0
      ) AS own ${node("above")}
      WHERE above.level > 0
    )`;
}

/** Columns: index, level, offsets, positions. A group that cannot be read has no nodes. */
function groupOf({ nodes }: RankColumns, [, level, offsets, ...columns]: Row): Group {
  const [instants, ids] = columns.slice(0, nodes.length) as [number[], string[] | undefined];
  const numbers = offsets as number[];
  const isReadable =
    [...instants, ...numbers].every(Number.isSafeInteger) &&
    (ids ?? []).every((id) => typeof id === "string") &&
    [numbers, ids ?? instants].every(({ length }) => length === instants.length);
  if (!isReadable) return { level: Number(level), at: [], offsets: [] };
  return {
    level: Number(level),
    at: instants.map((instant, i) => (ids === undefined ? [instant] : [instant, ids[i] as string])),
    offsets: numbers,
  };
}

function statementsOf(columns: RankColumns) {
  const { table, index, key, nodes } = columns;
  const types = ["bigint", "text"].slice(0, key.length);
  const identity = [index, "level", ...key];
  const content = ["offsets", ...nodes];
  const of = (alias: string, names: readonly string[]): string => names.map((name) => `${alias}.${name}`).join(", ");
  const arrays = (from: number): string => types.map((type, i) => `$${i + from}::${type}[]`).join(", ");
  // PostgreSQL has no arrays of arrays of different lengths: each row's arrays are sent as text.
  const texts = content.map((_, i) => `$${i + 3 + key.length}::text[]`).join(", ");
  const lists = ["bigint", ...types].map((type, i) => `list_${i}::${type}[]`).join(", ");
  return {
    // A group is on the path to a position if it is the last of its level that begins there or before.
    pathGroups: statement(`
      SELECT ${of("own", [index, "level", ...content])}
      FROM (
        SELECT DISTINCT ${of("own", identity)}
        FROM unnest($1::text[], ${arrays(2)}) AS wanted (${index}, ${key.join(", ")})
        CROSS JOIN LATERAL generate_series(0, (SELECT max(level) FROM ${table} WHERE ${index} = wanted.${index})) AS of (level)
        CROSS JOIN LATERAL (
          SELECT ${identity.join(", ")} FROM ${table}
          WHERE ${index} = wanted.${index} AND level = of.level AND (${key.join(", ")}) <= (${of("wanted", key)})
          ORDER BY ${key.map((column) => `${column} DESC`).join(", ")} LIMIT 1
        ) AS own
      ) AS found
      CROSS JOIN LATERAL (
        SELECT * FROM ${table} AS own WHERE ${identity.map((column) => `own.${column} = found.${column}`).join(" AND ")} OFFSET 0
      ) AS own`),
    put: statement(`
      INSERT INTO ${table} (${[...identity, ...content].join(", ")})
      SELECT ${identity.join(", ")}, ${lists}
      FROM unnest($1::text[], $2::smallint[], ${arrays(3)}, ${texts})
        AS new (${[...identity, ...content.map((_, i) => `list_${i}`)].join(", ")})
      ON CONFLICT (${identity.join(", ")}) DO UPDATE SET ${content.map((column) => `${column} = excluded.${column}`).join(", ")}`),
    removeGroups: statement(`
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT own.ctid FROM unnest($1::text[], $2::smallint[], ${arrays(3)}) AS gone (${identity.join(", ")})
        CROSS JOIN LATERAL (
          SELECT ctid FROM ${table} AS own WHERE ${identity.map((column) => `own.${column} = gone.${column}`).join(" AND ")} OFFSET 0
        ) AS own
      ))`),
    remove: statement(`DELETE FROM ${table} WHERE ${index} = $1`),
    all: statement(`
      SELECT ${index}, level, offsets, ${nodes.join(", ")}, ${key.join(", ")} FROM ${table}
      WHERE ${index} = ANY ($1::text[]) ORDER BY ${index}, level, ${key.join(", ")}`),
  };
}

const STATEMENTS = { readings: statementsOf(RANK_TABLES.readings), lists: statementsOf(RANK_TABLES.lists) };

/** Index, level and first position, in columns. */
function keysOf(table: RankTable, groups: readonly IndexGroup[]): Value[] {
  const firsts = RANK_TABLES[table].key.map((_, part) => groups.map(({ group }) => group.at[0]?.[part] as number | string));
  return [groups.map(({ index }) => index), groups.map(({ group }) => group.level), ...firsts];
}

/** The first and the last position of each index. */
function endsOf(positions: readonly IndexPosition[]): IndexPosition[] {
  const byIndex = Map.groupBy(positions, ({ index }) => index);
  return Array.from(byIndex.values(), (own) => {
    if (own.length <= 2) return own;
    const first = own.reduce((least, one) => (comparePositions(one.at, least.at) < 0 ? one : least));
    const last = own.reduce((most, one) => (comparePositions(one.at, most.at) > 0 ? one : most));
    return [first, last];
  }).flat();
}

export function rankIndexOperations(db: Db) {
  async function pathGroups(table: RankTable, positions: readonly IndexPosition[]): Promise<IndexGroup[]> {
    const columns = RANK_TABLES[table];
    const parts = columns.key.map((_, part) => positions.map(({ at }) => at[part] as number | string));
    const rows = await db.rows(STATEMENTS[table].pathGroups, [positions.map(({ index }) => index), ...parts]);
    return rows.map((row) => ({ index: String(row[0]), group: groupOf(columns, row) }));
  }

  return {
    /** A group holds thousands of entries: if the first and the last position are in the same one, so are those in between. */
    async rankGroups(table: RankTable, positions: readonly IndexPosition[]): Promise<IndexGroup[]> {
      const ends = endsOf(positions);
      const found = await pathGroups(table, ends);
      if (ends.length === positions.length) return found;
      const lowest = Map.groupBy(
        found.filter(({ group }) => group.level === 0),
        ({ index }) => index,
      );
      const isSpread = ({ index }: { readonly index: string }): boolean => (lowest.get(index)?.length ?? 0) > 1;
      const spread = positions.filter(isSpread);
      if (spread.length === 0) return found;
      return [...found.filter((one) => !isSpread(one)), ...(await pathGroups(table, spread))];
    },

    async putRankGroups(table: RankTable, groups: readonly IndexGroup[]): Promise<void> {
      if (groups.length === 0) return;
      const parts = RANK_TABLES[table].key.map((_, part) => part);
      const nodes = parts.map((part) => groups.map(({ group }) => arrayText(group.at.map((at) => at[part] as number | string))));
      await db.rows(STATEMENTS[table].put, [
        ...keysOf(table, groups),
        groups.map(({ group }) => arrayText(group.offsets)),
        ...nodes,
      ]);
    },

    async removeRankGroups(table: RankTable, groups: readonly IndexGroup[]): Promise<void> {
      if (groups.length > 0) await db.rows(STATEMENTS[table].removeGroups, keysOf(table, groups));
    },

    async removeRankIndex(table: RankTable, index: string): Promise<void> {
      await db.rows(STATEMENTS[table].remove, [index]);
    },
  };
}

/** All groups of these indexes, with the positions they are stored under. */
export async function storedGroups(
  db: Db,
  table: RankTable,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly StoredGroup[]>> {
  const columns = RANK_TABLES[table];
  const rows = await db.rows(STATEMENTS[table].all, [names]);
  const keyOf = (row: Row): Position => row.slice(3 + columns.nodes.length) as unknown as Position;
  const groups = rows.map((row) => ({ ...groupOf(columns, row), key: keyOf(row), index: String(row[0]) }));
  return Map.groupBy(groups, (group) => group.index);
}

/** An array as PostgreSQL writes it. */
function arrayText(values: readonly (number | string)[]): string {
  const texts = values.map((value) => (typeof value === "number" ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`));
  return `{${texts.join(",")}}`;
}
