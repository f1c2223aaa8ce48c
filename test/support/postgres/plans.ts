// The plans that PostgreSQL makes for statements of the store.

import type pg from "pg";
import { openPool } from "../../../src/store/postgres/connection.ts";
import type { Database } from "./database.ts";
import type { Heard } from "./heard.ts";

export type Node = {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Conflict Arbiter Indexes"?: readonly string[];
  readonly Plans?: readonly Node[];
};

/** With the settings of the store's own connections. */
export function poolOn({ url, closeFirst }: Database): pg.Pool {
  const pool = openPool(url, 1);
  closeFirst(() => pool.end());
  return pool;
}

export const below = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(below)];

/** The plan for whatever values there may be. */
export async function planOf(pool: pg.Pool, { text }: Heard): Promise<Node> {
  const parameters = Math.max(0, ...Array.from(text.matchAll(/\$(\d+)/g), ([, number]) => Number(number)));
  const values = parameters === 0 ? "" : `(${Array.from({ length: parameters }, () => "NULL").join(", ")})`;
  await pool.query(`PREPARE heard AS ${text}`);
  try {
    const { rows } = await pool.query<[[{ Plan: Node }]]>({
      text: `EXPLAIN (FORMAT JSON) EXECUTE heard${values}`,
      rowMode: "array",
    });
    return rows[0]?.[0][0].Plan as Node;
  } finally {
    await pool.query("DEALLOCATE heard");
  }
}

export const isWork = ({ text }: Heard): boolean => !/^(BEGIN|COMMIT|COPY)/.test(text);
