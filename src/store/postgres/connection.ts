// Connections: a bounded pool, its limits in time, and what its errors mean.

import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { RequestError, storeUnavailable } from "../../domain/errors.ts";

export type Value = string | number | boolean | null | Uint8Array | readonly (string | number | boolean | null | Uint8Array)[];
export type Row = readonly unknown[];

/** A statement that the server prepares once a connection. */
export type Statement = { readonly name: string; readonly text: string };

/** Whatever answers statements: the pool, each on a connection of its own choice, or one connection in a transaction. */
export type Db = { readonly rows: (statement: Statement, values?: readonly Value[]) => Promise<Row[]> };

export type PostgresSettings = {
  /** How many connections this process opens at most, to each server. */
  readonly connections: number;
  readonly replicaUrls: readonly string[];
  /** A replica further behind than this is not asked. */
  readonly replicaLagMs: number;
};

let statements = 0;
/** The name stands for the text on every connection of this process. */
export function statement(text: string): Statement {
  statements += 1;
  return { name: `s${statements}`, text };
}

/** Connections for questions, of all that a process may have. */
export const PIPES = 4;

/** How long anything may wait: for a connection, for an answer, for a lock. The client waits a little longer than the server. */
const CONNECT_MS = 3000;
const STATEMENT_MS = 10_000;
const LOCK_MS = 8000;
const IDLE_MS = 30_000;

/**
 * Every statement is written for an index and a plan that stays: what the planner would choose on tables it believes small,
 * as new ones are until they are analyzed, is a scan that takes a thousand times as long once they have grown.
 */
const PLANS = ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "material"].map((kind) => `-c enable_${kind}=off`).join(" ");
/** Joins are made in the order they are written in. */
const ORDER = "-c join_collapse_limit=1 -c from_collapse_limit=1";
const OPTIONS = `${PLANS} ${ORDER} -c plan_cache_mode=force_generic_plan -c jit=off`;

/** A bigint is an instant or a count: a double holds both. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  20: Number, // bigint
  1016: (text) => (text === "{}" ? [] : text.slice(1, -1).split(",").map(Number)), // bigint[]
};
const types = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
};

/** Connects once, or throws why that cannot be. A handshake that fails on our side leaves a connection, which ends here. */
export async function tryConnection(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  client.on("error", () => {});
  try {
    await client.connect();
  } finally {
    await client.end();
  }
}

export type ConnectionWishes = {
  /** Where tables are made and found. */
  readonly schema?: string;
  /** How long a connection or an answer is waited for. */
  readonly patienceMs?: number;
  /** An answer takes as long as it takes, as with a copy of everything. */
  readonly isPatient?: boolean;
  /** For COPY, too. Other connections send the next statement before the last is answered. */
  readonly copies?: boolean;
};

export function clientConfig(url: string, { schema, patienceMs, isPatient = false }: ConnectionWishes = {}): pg.ClientConfig {
  return {
    ...withOptions(url, schema === undefined ? OPTIONS : `${OPTIONS} -c search_path=${schema}`),
    types,
    connectionTimeoutMillis: patienceMs ?? CONNECT_MS,
    ...(!isPatient && { statement_timeout: STATEMENT_MS, query_timeout: patienceMs ?? STATEMENT_MS + 2000 }),
    lock_timeout: LOCK_MS,
    // A connection that stays in a transaction without a word holds locks that others wait for.
    idle_in_transaction_session_timeout: STATEMENT_MS,
    keepAlive: true,
    application_name: "tank-monitor",
  };
}

/** Connections for transactions. */
export function openPool(url: string, connections: number, wishes: ConnectionWishes = {}): pg.Pool {
  // Temporary tables end with their connection.
  const idleTimeoutMillis = wishes.schema === "pg_temp" ? 0 : IDLE_MS;
  const config = { ...clientConfig(url, wishes), max: connections, idleTimeoutMillis };
  // The types of `pg` do not know `pipeline` yet.
  const pool = new pg.Pool({ ...config, pipeline: wishes.copies !== true } as pg.PoolConfig);
  // An idle connection that is lost is replaced when one is needed again.
  pool.on("error", () => {});
  // So is one that is lost between two statements of a transaction: the next of them tells.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** A URL may carry options of its own, which the driver would take in the place of ours: they go before them. */
function withOptions(url: string, ours: string): { readonly connectionString: string; readonly options: string } {
  const parts = new URL(url);
  const given = parts.searchParams.get("options");
  if (given === null) return { connectionString: url, options: ours };
  parts.searchParams.delete("options");
  return { connectionString: parts.href, options: `${given} ${ours}` };
}

export function onPool(pool: pg.Pool): Db {
  return { rows: (asked, values) => rowsOf(pool, asked, values) };
}

async function rowsOf(of: pg.Pool | pg.PoolClient, { name, text }: Statement, values: readonly Value[] = []): Promise<Row[]> {
  const { rows } = await of.query<unknown[]>({ name, text, values: values as unknown[], rowMode: "array" });
  return rows;
}

type Isolation = "READ COMMITTED" | "REPEATABLE READ" | "REPEATABLE READ READ ONLY";
/** A transaction under way: statements, and the connection itself for what is none (COPY). */
export type Transaction = Db & { readonly client: pg.PoolClient };

const begin = (isolation: Isolation): string => `BEGIN ISOLATION LEVEL ${isolation}`;

const TRIES = 5;

/** One transaction, begun again where it lost against another. `work` is told which try it is. */
export async function transaction<T>(
  pool: pg.Pool,
  work: (db: Transaction, tries: number) => Promise<T>,
  isolation: Isolation = "READ COMMITTED",
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(pool, (db) => work(db, tries), isolation);
    } catch (error) {
      if (!isBeaten(error) || tries === TRIES) throw error;
      await pause(Math.random() * 10 * 2 ** tries);
    }
  }
}

/** One transaction in one go: `work` sends all it has before it waits for anything, and the commit is sent right behind. */
export async function atOnce<T>(pool: pg.Pool, work: (db: Db) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const begun = client.query(begin("READ COMMITTED"));
  const working = work({ rows: (asked, values) => rowsOf(client, asked, values) });
  // Where something has failed, this undoes the rest.
  const ends = await Promise.allSettled([begun, working, client.query("COMMIT")]);
  const failures = ends.filter((end) => end.status === "rejected").map(({ reason }) => reason);
  client.release(failures.find((failure) => !canStay(failure)));
  if (failures.length > 0) throw failures[0];
  return await working;
}

async function attempt<T>(pool: pg.Pool, work: (db: Transaction) => Promise<T>, isolation: Isolation): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    // What comes first is sent behind it. A connection that cannot begin cannot do that either.
    const begun = client.query(begin(isolation));
    const db = { client, rows: (asked: Statement, values?: readonly Value[]) => rowsOf(client, asked, values) };
    const [result] = await Promise.all([work(db), begun]);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    failure = error as Error;
    if (canStay(error)) {
      await client.query("ROLLBACK").then(
        () => (failure = undefined),
        () => {},
      );
    }
    throw error;
  } finally {
    // A connection that could not even roll back is not used again.
    client.release(failure);
  }
}

/** Another holds what is needed, and may wait for what is held here. */
export class Beaten extends Error {}

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";
const LOCK_NOT_AVAILABLE = "55P03";
const READ_ONLY = "25006";
const DIVISION_BY_ZERO = "22012";

/**
 * Only a server that told of the error itself still listens: another would be waited for once more. One that only reads may
 * have a successor, where a new connection leads to.
 */
function canStay(error: unknown): boolean {
  return error instanceof Beaten || (error instanceof pg.DatabaseError && error.code !== READ_ONLY);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

export function isBeaten(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof Beaten || code === SERIALIZATION_FAILURE || code === DEADLOCK;
}

/** What should have been done as a whole would have been done in part. */
export function isIncomplete(error: unknown): boolean {
  return codeOf(error) === DIVISION_BY_ZERO;
}

/** What is held by another, and is not waited for. */
export function isHeld(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

/**
 * Classes and codes of PostgreSQL that say nothing of the question: connection, transaction lost, resources, operator's
 * intervention, system. 25006: a server that only reads, as an old primary after a failover. 55P03: a lock held too long.
 */
const AWAY = /^(08|28|40|53|57|58|XX|25006|55P03|3D000)/;
const NETWORK = /^E(CONN|PIPE|TIMEDOUT|HOST|NET|AI|NOTFOUND|ACCES|PERM)/;
/** Errors of the driver itself have no code. */
const DRIVER = /connection terminated|connection ended|timeout|not queryable|unexpectedly|Cannot use a pool after calling end/i;

/** A server that is not there now is the port's `store_unavailable`; anything else is a fault of ours. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof RequestError || !(error instanceof Error)) return error;
  const code = codeOf(error) ?? (error instanceof AggregateError ? codeOf(error.errors[0]) : undefined);
  const isAway = code === undefined ? DRIVER.test(error.message) : AWAY.test(code) || NETWORK.test(code);
  return isAway ? storeUnavailable(error) : error;
}
