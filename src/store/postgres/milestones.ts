// The milestones of one kind of series (`levels.ts` tells what they are), as parts of statements: a question finds its ranks
// in the statement that answers it.

import type { StoredGroup } from "../series/check-levels.ts";
import type { Group, Position } from "../series/levels.ts";
import { type Row, type Statement, statement } from "./connection.ts";

export type MilestoneTable = {
  readonly table: string;
  /** The column that names the series. */
  readonly series: string;
  /** The columns of the position that a group is stored under: an instant, and an id where entries may share one. */
  readonly key: readonly string[];
  /** The columns that hold the positions of its nodes. */
  readonly nodes: readonly string[];
  /** The types of a position. */
  readonly types: readonly string[];
};

/** All groups of the series in $1, by level and key: the table's primary key. */
export function everyGroup({ table, series, key, nodes }: MilestoneTable): Statement {
  const order = [series, "level", ...key].join(", ");
  return statement(`
    SELECT ${series}, level, aheads, ${nodes.join(", ")}, ${key.join(", ")} FROM ${table}
    WHERE ${series} = ANY ($1::text[]) ORDER BY ${order}`);
}

/** A row of series, level, counts and positions; without nodes, where they cannot be read. */
export function groupOf({ nodes }: MilestoneTable, [, level, ahead, ...columns]: Row): Group {
  const [instants, ids] = columns.slice(0, nodes.length) as [number[], string[] | undefined];
  const counts = ahead as number[];
  const isReadable =
    [...instants, ...counts].every(Number.isSafeInteger) &&
    (ids ?? []).every((id) => typeof id === "string") &&
    [counts, ids ?? instants].every(({ length }) => length === instants.length);
  if (!isReadable) return { level: Number(level), at: [], ahead: [] };
  return {
    level: Number(level),
    at: instants.map((instant, i) => (ids === undefined ? [instant] : [instant, ids[i] as string])),
    ahead: counts,
  };
}

/** A row of `everyGroup`. */
export function storedGroupOf(milestones: MilestoneTable, row: Row): StoredGroup {
  return { ...groupOf(milestones, row), key: row.slice(3 + milestones.nodes.length) as unknown as Position };
}

/**
 * A recursive query `name (level, ahead, sought, position…)` that goes down to the gap that holds the entry with `sought`
 * others before it, by primary key, one row a level. Its row of level 0 is that gap: where it begins, and its rank. There is
 * none where `asked`, which gives `sought`, has no row, or the series no milestones.
 */
export function wayTo(milestones: MilestoneTable, name: string, key: string, asked: string): string {
  return wayDown(milestones, name, key, asked, "aheads", "- own.aheads[place.number]");
}

/** The same to the last gap that begins at the instant `sought` or before it. */
export function wayAt(milestones: MilestoneTable, name: string, key: string, asked: string): string {
  return wayDown(milestones, name, key, asked, milestones.nodes[0] as string, "");
}

function wayDown(
  { table, series, key: columns, nodes }: MilestoneTable,
  name: string,
  key: string,
  asked: string,
  searched: string,
  left: string,
): string {
  const group = `SELECT level, aheads, ${nodes.join(", ")} FROM ${table} WHERE ${series} = ${key}`;
  const place = (above: string): string =>
    `CROSS JOIN LATERAL (SELECT greatest(1, width_bucket(${above}.sought, own.${searched})) AS number OFFSET 0) AS place`;
  const reached = nodes.map((column) => `own.${column}[place.number]`).join(", ");
  return `${name} (level, ahead, sought, ${columns.join(", ")}) AS (
      SELECT own.level, own.aheads[place.number], asked.sought ${left}, ${reached}
      FROM (${asked}) AS asked CROSS JOIN LATERAL (${group} ORDER BY level DESC LIMIT 1) AS own ${place("asked")}
    UNION ALL
      SELECT own.level, above.ahead + own.aheads[place.number], above.sought ${left}, ${reached}
      FROM ${name} AS above CROSS JOIN LATERAL (
        ${group} AND level = above.level - 1 AND ${columns.map((column) => `${column} = above.${column}`).join(" AND ")} OFFSET 0
      ) AS own ${place("above")}
      WHERE above.level > 0
    )`;
}
