// Keeps the milestones of one kind of series, many at a time, in the transaction that changes them. The series are locked
// before, in a statement of its own, so what is read here is of now.

import { type Gap, type Group, missingGroup, type Position } from "../series/levels.ts";
import { Ways } from "../series/ways.ts";
import { type Db, type Statement, statement, type Value } from "./connection.ts";
import { groupOf, type MilestoneTable } from "./milestones.ts";

/** Something at a place of a series. */
export type At = { readonly series: string; readonly at: Position };

export class MilestoneKeeper {
  readonly #table: MilestoneTable;
  readonly #ways: Statement;
  readonly #put: Statement;
  readonly #clear: Statement;

  constructor(milestones: MilestoneTable) {
    const { table, series, key, nodes, types } = milestones;
    const known = [series, "level", ...key];
    const held = ["aheads", ...nodes];
    const of = (alias: string, columns: readonly string[]): string => columns.map((column) => `${alias}.${column}`).join(", ");
    const arrays = (from: number): string => types.map((type, i) => `$${i + from}::${type}[]`).join(", ");
    this.#table = milestones;

    // A group lies on the way to a position where it is the last of its level that begins there or before.
    this.#ways = statement(`
      SELECT ${of("own", [series, "level", ...held])}
      FROM (
        SELECT DISTINCT ${of("own", known)}
        FROM unnest($1::text[], ${arrays(2)}) AS asked (${series}, ${key.join(", ")})
        CROSS JOIN LATERAL generate_series(0, (SELECT max(level) FROM ${table} WHERE ${series} = asked.${series})) AS of (level)
        CROSS JOIN LATERAL (
          SELECT ${known.join(", ")} FROM ${table}
          WHERE ${series} = asked.${series} AND level = of.level AND (${key.join(", ")}) <= (${of("asked", key)})
          ORDER BY ${key.map((column) => `${column} DESC`).join(", ")} LIMIT 1
        ) AS own
      ) AS known
      CROSS JOIN LATERAL (
        SELECT * FROM ${table} AS own WHERE ${known.map((column) => `own.${column} = known.${column}`).join(" AND ")} OFFSET 0
      ) AS own`);

    // An array for each row: as text, since an array of arrays would have to be a rectangle.
    const lists = ["bigint", ...types].map((type, i) => `list_${i}::${type}[]`).join(", ");
    const names = held.map((_, i) => `list_${i}`);
    const texts = held.map((_, i) => `$${i + 3 + key.length}::text[]`).join(", ");
    this.#put = statement(`
      INSERT INTO ${table} (${[...known, ...held].join(", ")})
      SELECT ${known.join(", ")}, ${lists}
      FROM unnest($1::text[], $2::smallint[], ${arrays(3)}, ${texts}) AS made (${[...known, ...names].join(", ")})
      ON CONFLICT (${known.join(", ")}) DO UPDATE SET ${held.map((column) => `${column} = excluded.${column}`).join(", ")}`);

    this.#clear = statement(`DELETE FROM ${table} WHERE ${series} = $1`);
  }

  /** The ways to these places. */
  async ways(db: Db, places: readonly At[]): Promise<Map<string, Ways>> {
    if (places.length === 0) return new Map();
    const columns = this.#table.key.map((_, part) => places.map(({ at }) => at[part] as number | string));
    const rows = await db.rows(this.#ways, [places.map(({ series }) => series), ...columns]);
    const groups = Map.groupBy(rows, ([series]) => String(series));
    const own = (series: string): Group[] => (groups.get(series) ?? []).map((row) => groupOf(this.#table, row));
    return new Map(Array.from(new Set(places.map(({ series }) => series)), (series) => [series, waysOf(own(series))]));
  }

  /** What has changed on these ways. */
  async keep(db: Db, ways: ReadonlyMap<string, Ways>): Promise<void> {
    await this.#write(
      db,
      Array.from(ways).flatMap(([series, own]) => own.changes().map((group) => ({ series, group }))),
    );
  }

  /** All levels of one series anew. */
  async rebuild(db: Db, series: string, gaps: readonly Gap[]): Promise<void> {
    await db.rows(this.#clear, [series]);
    await this.#write(
      db,
      Ways.groupsOf(gaps).map((group) => ({ series, group })),
    );
  }

  async #write(db: Db, made: readonly { readonly series: string; readonly group: Group }[]): Promise<void> {
    if (made.length === 0) return;
    const parts = this.#table.key.map((_, part) => part);
    const keys = parts.map((part) => made.map(({ group }) => group.at[0]?.[part] as number | string));
    const nodes = parts.map((part) => made.map(({ group }) => arrayText(group.at.map((at) => at[part] as number | string))));
    const columns: Value[] = [made.map(({ series }) => series), made.map(({ group }) => group.level), ...keys];
    await db.rows(this.#put, [...columns, made.map(({ group }) => arrayText(group.ahead)), ...nodes]);
  }
}

function waysOf(groups: readonly Group[]): Ways {
  const unreadable = groups.find(({ at }) => at.length === 0);
  if (unreadable !== undefined) throw missingGroup(unreadable.level, []);
  const [root] = groups.toSorted((a, b) => b.level - a.level);
  const name = (level: number, at: Position): string => `${level} ${at.join(" ")}`;
  const known = new Map(groups.map((group) => [name(group.level, group.at[0] as Position), group]));
  return new Ways({ root: () => root, group: (level, at) => known.get(name(level, at)) });
}

/** An array as PostgreSQL writes it. */
function arrayText(values: readonly (number | string)[]): string {
  const texts = values.map((value) => (typeof value === "number" ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`));
  return `{${texts.join(",")}}`;
}
