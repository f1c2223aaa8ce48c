// The statements that this process sends to PostgreSQL, and their plans.

import pg from "pg";
import { openPool } from "../../../src/store/postgres/connection.ts";
import type { Database } from "./database.ts";

export type Statement = {
  /** The name of the prepared statement, if it has one. */
  readonly name: string | undefined;
  readonly text: string;
};

/** Everything that is sent while `work` runs, on any connection: nothing else may run at the same time. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const original = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  function recording(this: pg.Client, ...args: unknown[]): unknown {
    const [query] = args as [string | { readonly name?: string; readonly text: string }];
    statements.push(typeof query === "string" ? { name: undefined, text: query } : { name: query.name, text: query.text });
    return original.apply(this, args);
  }
  pg.Client.prototype.query = recording as typeof pg.Client.prototype.query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = original as typeof pg.Client.prototype.query;
  }
  return statements;
}

export const isWork = ({ text }: Statement): boolean => !/^(BEGIN|COMMIT|COPY)/.test(text);

export type Node = {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Conflict Arbiter Indexes"?: readonly string[];
  readonly Plans?: readonly Node[];
};

/** The node and everything below it. */
export const below = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(below)];

/** With the settings of the store's own connections. */
export function poolOn({ url, closeFirst }: Database): pg.Pool {
  const pool = openPool(url, 1, { schema: "public" });
  closeFirst(() => pool.end());
  return pool;
}

/** The generic plan. */
export async function planOf(pool: pg.Pool, { text }: Statement): Promise<Node> {
  const parameters = Math.max(0, ...Array.from(text.matchAll(/\$(\d+)/g), ([, number]) => Number(number)));
  const values = parameters === 0 ? "" : `(${Array.from({ length: parameters }, () => "NULL").join(", ")})`;
  await pool.query(`PREPARE planned AS ${text}`);
  try {
    const { rows } = await pool.query<[[{ Plan: Node }]]>({
      text: `EXPLAIN (FORMAT JSON) EXECUTE planned${values}`,
      rowMode: "array",
    });
    return rows[0]?.[0][0].Plan as Node;
  } finally {
    await pool.query("DEALLOCATE planned");
  }
}
