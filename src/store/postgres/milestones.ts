// The milestones of one kind of series (`levels.ts` tells what they are), as parts of statements: a question finds its ranks
// in the statement that answers it.

import type { Milestone } from "../series/check-levels.ts";
import { EARLIEST, LATEST, TOP } from "../series/levels.ts";
import { type Row, type Statement, statement } from "./connection.ts";

export type MilestoneTable = {
  readonly table: string;
  /** The column that names the series. */
  readonly series: string;
  /** The columns that make a position, and their types. */
  readonly position: readonly string[];
  readonly types: readonly string[];
};

/** Where an entry stands: an instant, and an id where entries may share one. */
export type Position = readonly (number | string)[];

export const originOf = ({ position }: MilestoneTable): Position => position.map((_, i) => (i === 0 ? EARLIEST : ""));

/** All milestones of the series in $1, by level and position: the table's primary key. */
export function everyMilestone({ table, series, position }: MilestoneTable): Statement {
  const at = position.join(", ");
  return statement(
    `SELECT ${series}, level, ahead, ${at} FROM ${table} WHERE ${series} = ANY ($1::text[]) ORDER BY ${series}, level, ${at}`,
  );
}

/** A row of `everyMilestone`. */
export function milestoneOf([, level, ahead, ...at]: Row): Milestone<Position> {
  return { level: Number(level), ahead: Number(ahead), at: at as unknown as Position };
}

/** The place before everything, and the one after, as expressions. */
export const first = (milestones: MilestoneTable): string[] => place(milestones, EARLIEST);
export const last = (milestones: MilestoneTable): string[] => place(milestones, LATEST);

function place({ types }: MilestoneTable, instant: number): string[] {
  return types.map((type, i) => (i === 0 ? `${instant}::${type}` : `''::${type} COLLATE "C"`));
}

const row = (columns: readonly string[], prefix = ""): string => `(${columns.map((column) => prefix + column).join(", ")})`;
const descending = (columns: readonly string[]): string => columns.map((column) => `${column} DESC`).join(", ");

/** The node of a level that holds a position: by primary key, one row, none where the level is not there. */
export function floor({ table, series, position }: MilestoneTable, key: string, level: string, at: readonly string[]): string {
  return `SELECT ${position.join(", ")}, ahead FROM ${table}
    WHERE ${series} = ${key} AND level = ${level} AND ${row(position)} <= (${at.join(", ")})
    ORDER BY ${descending(position)} LIMIT 1`;
}

/** The node of a level that follows a position: by primary key, one row or none. */
export function next({ table, series, position }: MilestoneTable, key: string, level: string, at: readonly string[]): string {
  return `SELECT ${position.join(", ")} FROM ${table}
    WHERE ${series} = ${key} AND level = ${level} AND ${row(position)} > (${at.join(", ")})
    ORDER BY ${position.join(", ")} LIMIT 1`;
}

/** How many entries are ahead of the gap that holds a position, from level `from` up. */
export function aheadOf(milestones: MilestoneTable, key: string, at: readonly string[], from = 0): string {
  return `(SELECT coalesce(sum(node.ahead), 0)::bigint FROM generate_series(${from}, ${TOP}) AS of (level)
    CROSS JOIN LATERAL (${floor(milestones, key, "of.level", at)}) AS node)`;
}

/**
 * The body of a recursive query `way (level, ahead, position…, end…)` that goes down to the gap that holds the entry with
 * `rank` others before it. Its row of level 0 is that gap; there is none where the rank is null.
 */
export function wayTo(milestones: MilestoneTable, key: string, rank: string): string {
  const { table, series, position } = milestones;
  const ends = position.map((column) => `end_${column}`);
  return `SELECT (SELECT max(level) FROM ${table} WHERE ${series} = ${key}) + 1, 0::bigint,
      ${first(milestones).join(", ")}, ${last(milestones).join(", ")} WHERE ${rank} IS NOT NULL
    UNION ALL
    SELECT way.level - 1, way.ahead + coalesce(node.ahead, 0),
      ${position.map((column) => `coalesce(node.${column}, way.${column})`).join(", ")},
      ${position.map((column, i) => `coalesce(follower.${column}, way.${ends[i]})`).join(", ")}
    FROM way
    LEFT JOIN LATERAL (
      SELECT ${position.join(", ")}, ahead FROM ${table}
      WHERE ${series} = ${key} AND level = way.level - 1 AND ${row(position)} >= ${row(position, "way.")}
        AND ${row(position)} < ${row(ends, "way.")} AND ahead <= ${rank} - way.ahead
      ORDER BY ${descending(position)} LIMIT 1
    ) AS node ON true
    LEFT JOIN LATERAL (${next(
      milestones,
      key,
      "way.level - 1",
      position.map((column) => `node.${column}`),
    )}) AS follower ON true
    WHERE way.level > 0`;
}

/** The columns of `way`. */
export function wayColumns({ position }: MilestoneTable): string {
  return ["level", "ahead", ...position, ...position.map((column) => `end_${column}`)].join(", ");
}
