// Keeps the milestones of one kind of series, many at a time, in the transaction that changes them. The series are locked
// before, in a statement of its own, so what is read here is of now.

import { cutGroup, type Gap, GROUP_MOST, levelsOf, type Node, TOP } from "../series/levels.ts";
import { type Db, type Row, type Statement, statement, type Value } from "./connection.ts";
import { aheadOf, first, floor, last, type MilestoneTable, next, originOf, type Position } from "./milestones.ts";

/** Something at a place of a series. */
export type At = { readonly series: string; readonly at: Position };

export class MilestoneKeeper {
  readonly #table: MilestoneTable;
  readonly #shift: Statement;
  readonly #insert: Statement;
  readonly #insertRanks: Statement;
  readonly #groups: Statement;
  readonly #regroup: Statement;
  readonly #clear: Statement;

  constructor(milestones: MilestoneTable) {
    const { table, series, position, types } = milestones;
    const columns = position.join(", ");
    const of = (alias: string): string => `(${position.map((column) => `${alias}.${column}`).join(", ")})`;
    const arrays = (from: number): string => types.map((type, i) => `$${i + from}::${type}[]`).join(", ");
    const endOf = (alias: string): string =>
      `(${position.map((column, i) => `coalesce(${alias}.${column}, ${last(milestones)[i]})`).join(", ")})`;
    const asked = position.map((column) => `asked.${column}`);
    this.#table = milestones;

    // An update of known rows is written as an insert: its way, by the primary key, leaves the planner no choice.
    const inPlace = `ON CONFLICT (${series}, level, ${columns}) DO UPDATE SET ahead = excluded.ahead`;
    const node = position.map((column) => `node.${column}`).join(", ");
    this.#shift = statement(`
      INSERT INTO ${table} (${series}, level, ahead, ${columns})
      SELECT node.${series}, node.level, node.ahead + sum(asked.delta), ${node}
      FROM unnest($1::text[], $2::bigint[], ${arrays(3)}) AS asked (${series}, delta, ${columns})
      CROSS JOIN generate_series(0, ${TOP}) AS of (level)
      LEFT JOIN LATERAL (${next(milestones, `asked.${series}`, "of.level + 1", asked)}) AS follower ON true
      CROSS JOIN LATERAL (
        SELECT * FROM ${table} AS node WHERE node.${series} = asked.${series} AND node.level = of.level
          AND ${of("node")} > ${of("asked")} AND ${of("node")} < ${endOf("follower")} OFFSET 0
      ) AS node
      GROUP BY node.${series}, node.level, node.ahead, ${node}
      ${inPlace}`);

    this.#insert = statement(`
      INSERT INTO ${table} (${series}, level, ahead, ${columns})
      SELECT * FROM unnest($1::text[], $2::smallint[], $3::bigint[], ${arrays(4)})`);

    this.#insertRanks = statement(`
      INSERT INTO ${table} (${series}, level, ahead, ${columns})
      SELECT asked.${series}, 0, asked.rank - ${aheadOf(milestones, `asked.${series}`, asked, 1)}, ${asked.join(", ")}
      FROM unnest($1::text[], $2::bigint[], ${arrays(3)}) AS asked (${series}, rank, ${columns})`);

    this.#groups = statement(`
      SELECT own.${series}, own.is_made, own.ahead, ${position.map((column) => `array_agg(node.${column} ORDER BY ${of("node")})`).join(", ")},
        array_agg(node.ahead ORDER BY ${of("node")})
      FROM (
        SELECT DISTINCT asked.${series}, own.ahead IS NOT NULL AS is_made, coalesce(own.ahead, 0) AS ahead,
          ${position.map((column, i) => `coalesce(own.${column}, ${first(milestones)[i]}) AS ${column}`).join(", ")},
          ${position.map((column, i) => `coalesce(follower.${column}, ${last(milestones)[i]}) AS end_${column}`).join(", ")}
        FROM unnest($2::text[], ${arrays(3)}) AS asked (${series}, ${columns})
        LEFT JOIN LATERAL (${floor(milestones, `asked.${series}`, "$1::smallint + 1", asked)}) AS own ON true
        LEFT JOIN LATERAL (${next(milestones, `asked.${series}`, "$1::smallint + 1", asked)}) AS follower ON true
      ) AS own
      CROSS JOIN LATERAL (
        SELECT * FROM ${table} AS node WHERE node.${series} = own.${series} AND node.level = $1
          AND ${of("node")} >= ${of("own")} AND ${of("node")} < (${position.map((column) => `own.end_${column}`).join(", ")}) OFFSET 0
      ) AS node
      GROUP BY own.${series}, own.is_made, own.ahead, ${position.map((column) => `own.${column}`).join(", ")}
      HAVING count(*) > ${GROUP_MOST}`);

    this.#regroup = statement(`
      INSERT INTO ${table} (level, ${series}, ahead, ${columns})
      SELECT $1, * FROM unnest($2::text[], $3::bigint[], ${arrays(4)})
      ${inPlace}`);

    this.#clear = statement(`DELETE FROM ${table} WHERE ${series} = $1`);
  }

  /** Entries came or went in the gap at each position: what follows in each of its groups has so many more ahead. */
  async shift(db: Db, changes: readonly (At & { readonly delta: number })[]): Promise<void> {
    if (changes.length > 0)
      await db.rows(this.#shift, [names(changes), changes.map(({ delta }) => delta), ...this.#places(changes)]);
  }

  async insert(db: Db, nodes: readonly (At & { readonly level: number; readonly ahead: number })[]): Promise<void> {
    if (nodes.length === 0) return;
    const levels = nodes.map(({ level }) => level);
    await db.rows(this.#insert, [names(nodes), levels, nodes.map(({ ahead }) => ahead), ...this.#places(nodes)]);
  }

  /** Gaps, by their rank in the whole series. */
  async insertGaps(db: Db, gaps: readonly (At & { readonly rank: number })[]): Promise<void> {
    if (gaps.length > 0) await db.rows(this.#insertRanks, [names(gaps), gaps.map(({ rank }) => rank), ...this.#places(gaps)]);
  }

  /** After nodes of a level were inserted at these places: groups that have grown too large are cut. */
  async balance(db: Db, places: readonly At[], level = 0): Promise<void> {
    if (level === TOP || places.length === 0) return;
    const large = await db.rows(this.#groups, [level, names(places), ...this.#places(places)]);
    const cuts = large.map((row) => this.#cut(row, level));
    const moved = cuts.flatMap((cut) => cut.moved);
    if (moved.length > 0) {
      await db.rows(this.#regroup, [level, names(moved), moved.map(({ ahead }) => ahead), ...this.#places(moved)]);
    }
    const made = cuts.flatMap((cut) => cut.made);
    await this.insert(db, made);
    await this.balance(db, made, level + 1);
  }

  /** The groups to make above, and the nodes that are counted from them now. */
  #cut(row: Row, level: number): { made: (At & { level: number; ahead: number })[]; moved: (At & { ahead: number })[] } {
    const width = this.#table.position.length;
    const [series, isMade, groupAhead] = row as [string, boolean, number];
    const columns = row.slice(3, 3 + width) as (readonly (number | string)[])[];
    const nodes = (row[3 + width] as (number | string)[]).map((ahead, i) => ({
      at: columns.map((column, part) => (part === 0 ? Number(column[i]) : String(column[i]))),
      ahead: Number(ahead),
    }));
    const [kept, ...cut] = cutGroup(nodes);
    const origin = { series, at: kept?.[0]?.at ?? originOf(this.#table), level: level + 1, ahead: groupAhead };
    const made = cut
      .map(([head]) => head as Node<Position>)
      .map(({ at, ahead }) => ({ series, at, level: level + 1, ahead: groupAhead + ahead }));
    const moved = cut.flatMap((group) => group.map(({ at, ahead }) => ({ series, at, ahead: ahead - (group[0]?.ahead ?? 0) })));
    return { made: isMade ? made : [origin, ...made], moved };
  }

  /** All levels of one series anew. */
  async rebuild(db: Db, series: string, gaps: readonly Gap<Position>[]): Promise<void> {
    await db.rows(this.#clear, [series]);
    await this.insert(
      db,
      levelsOf(gaps).flatMap((nodes, level) => nodes.map(({ at, ahead }) => ({ series, at, level, ahead }))),
    );
  }

  /** One array a column. */
  #places(places: readonly At[]): Value[] {
    return this.#table.position.map((_, part) => places.map(({ at }) => at[part] as number | string));
  }
}

function names(places: readonly At[]): string[] {
  return places.map(({ series }) => series);
}
