// Connections: their settings and time limits, transactions, and what errors mean.

import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { DamageError, dataDamaged, RequestError, storeUnavailable } from "../../domain/errors.ts";
import type { Row } from "../columns.ts";
import type { Prepare } from "../core/sql-runner.ts";

export type Value = string | number | boolean | null | Uint8Array | readonly (string | number | boolean | null | Uint8Array)[];

/** A statement that the server prepares once per connection; without a name, each time. */
export type Statement = { readonly name: string; readonly text: string };

/** Runs statements: on any connection of a pool, or on the one of a transaction. */
export type Db = { readonly rows: (statement: Statement, values?: readonly Value[]) => Promise<Row[]> };

export type PostgresSettings = {
  /** The most connections that this process opens to each server. */
  readonly connections: number;
  readonly replicaUrls: readonly string[];
  /** A replica that is further behind is not used. */
  readonly replicaLagMs: number;
};

const statements = new Map<string, Statement>();
/** The name stands for the text on every connection of this process. */
export function statement(text: string): Statement {
  const known = statements.get(text) ?? { name: `s${statements.size + 1}`, text };
  statements.set(text, known);
  return known;
}

/** Statements of the use cases that are written once for both engines. */
export function prepareOn(db: Db): Prepare {
  return (sql) => {
    const prepared = statement(sql);
    return (...values) => db.rows(prepared, values);
  };
}

/** Time limits. The client waits a little longer for a result than the server. */
export const CONNECT_MS = 3000;
const STATEMENT_MS = 10_000;
const LOCK_MS = 8000;
/** A firewall may forget a connection that is idle for longer, and drop what is sent on it later. */
export const IDLE_MS = 30_000;
/** How long the end of a connection waits for the server. */
const END_MS = 1000;

/**
 * Every statement is written for one plan, with the joins in the order they are written in. On a new table, which has no
 * statistics, the planner would choose scans that take a thousand times as long once the table has grown.
 */
const DISABLED = ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "material"].map((kind) => `-c enable_${kind}=off`).join(" ");
const PLANNER = `${DISABLED} -c join_collapse_limit=1 -c from_collapse_limit=1 -c plan_cache_mode=force_generic_plan -c jit=off`;
/** Whatever the database's default: a read of one statement then never loses against a write. */
const OPTIONS = `${PLANNER} -c default_transaction_isolation=read\\ committed`;

/** A bigint is an instant or a count: a double holds both. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  20: Number, // bigint
  1016: (text) => (text === "{}" ? [] : text.slice(1, -1).split(",").map(Number)), // bigint[]
};
const types = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
};

/** The schema of temporary tables, which end with their connection. */
export const TEMPORARY = "pg_temp";

export type ConnectionOptions = {
  /** The schema of the tables. No other is searched, whatever the settings of role and database. */
  readonly schema: string;
  /** Time limit for connecting, and for each result. */
  readonly timeoutMs?: number;
  /** No limit for statements, as for a copy of everything. */
  readonly isUnlimited?: boolean;
  /** COPY cannot be pipelined: on other connections the next statement is sent before the last one has returned. */
  readonly canCopy?: boolean;
};

export function clientConfig(url: string, { schema, timeoutMs, isUnlimited = false }: ConnectionOptions): pg.ClientConfig {
  return {
    ...withOptions(url, `${OPTIONS} -c search_path=${searchPath(schema)}`),
    types,
    connectionTimeoutMillis: timeoutMs ?? CONNECT_MS,
    ...(!isUnlimited && { statement_timeout: STATEMENT_MS, query_timeout: timeoutMs ?? STATEMENT_MS + 2000 }),
    lock_timeout: LOCK_MS,
    // An abandoned transaction would hold its locks.
    idle_in_transaction_session_timeout: STATEMENT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: IDLE_MS,
    application_name: "tank-monitor",
  };
}

/** Connections for transactions. */
export function openPool(url: string, connections: number, options: ConnectionOptions): pg.Pool {
  // Temporary tables end with their connection.
  const idleTimeoutMillis = options.schema === TEMPORARY ? 0 : IDLE_MS;
  // Idle connections, and those that a silent server does not close, let the process end.
  const config = { ...clientConfig(url, options), max: connections, idleTimeoutMillis, allowExitOnIdle: true };
  // The types of `pg` do not know `pipeline` yet.
  const pool = new pg.Pool({ ...config, pipeline: options.canCopy !== true } as pg.PoolConfig);
  // Lost connections are replaced; within a transaction, the next statement fails.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** A server that has gone silent does not close its side: the connection ends without it then. */
export async function endClient(client: pg.Client): Promise<void> {
  const deadline = setTimeout(() => client.connection.stream.destroy(), END_MS);
  await client.end();
  clearTimeout(deadline);
}

/** New connections of the pool lead to this server. */
export function redirectPool(pool: pg.Pool, url: string): void {
  pool.options.connectionString = withOptions(url, "").connectionString;
}

/** Without `pg_temp`, temporary tables would come first. In options a backslash precedes spaces and backslashes. */
function searchPath(schema: string): string {
  if (schema === TEMPORARY) return schema;
  return `"${schema.replaceAll('"', '""')}",pg_temp`.replaceAll(/[\\\s]/g, "\\$&");
}

/** Options in the URL would replace ours: they are put in front of them. */
function withOptions(url: string, ours: string): { readonly connectionString: string; readonly options: string } {
  const parts = new URL(withVerifiedTls(url));
  const given = parts.searchParams.get("options");
  if (given === null) return { connectionString: withVerifiedTls(url), options: ours };
  parts.searchParams.delete("options");
  return { connectionString: parts.href, options: `${given} ${ours}` };
}

/** `pg` verifies certificates in these modes too, and warns that a later version will not. */
export function withVerifiedTls(url: string): string {
  if (url.includes("uselibpqcompat=true")) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, "$1verify-full");
}

export function onPool(pool: pg.Pool): Db {
  return { rows: (query, values) => rowsOf(pool, query, values) };
}

async function rowsOf(on: pg.Pool | pg.PoolClient, { name, text }: Statement, values: readonly Value[] = []): Promise<Row[]> {
  const { rows } = await on.query<unknown[]>({ name, text, values: values as unknown[], rowMode: "array" });
  return rows;
}

type Isolation = "READ COMMITTED" | "REPEATABLE READ" | "REPEATABLE READ READ ONLY";
/** A running transaction; `client` is for what is no prepared statement, such as COPY. */
export type DbTransaction = Db & { readonly client: pg.PoolClient };

const MAX_ATTEMPTS = 5;

/** Runs again after a deadlock or a serialization failure. A result that `isAborted` accepts is rolled back. */
export async function transaction<T>(
  pool: pg.Pool,
  work: (db: DbTransaction) => Promise<T>,
  { isolation = "READ COMMITTED", isAborted = () => false }: { isolation?: Isolation; isAborted?: (result: T) => boolean } = {},
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await runTransaction(pool, work, isolation, isAborted);
    } catch (error) {
      if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error;
      await delay(Math.random() * 10 * 2 ** attempt);
    }
  }
}

async function runTransaction<T>(
  pool: pg.Pool,
  work: (db: DbTransaction) => Promise<T>,
  isolation: Isolation,
  isAborted: (result: T) => boolean,
): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    // The first statement is sent right behind BEGIN.
    const begun = client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
    const db = { client, rows: (query: Statement, values?: readonly Value[]) => rowsOf(client, query, values) };
    const [result] = await Promise.all([work(db), begun]);
    await client.query(isAborted(result) ? "ROLLBACK" : "COMMIT");
    return result;
  } catch (error) {
    failure = error as Error;
    if (isConnected(error)) {
      await client.query("ROLLBACK").then(
        () => (failure = undefined),
        () => {},
      );
    }
    throw error;
  } finally {
    // A connection that could not roll back is not used again.
    client.release(failure);
  }
}

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";
const LOCK_NOT_AVAILABLE = "55P03";
/** Also after the statement timeout. */
const QUERY_CANCELED = "57014";
const READ_ONLY = "25006";
const UNIQUE_VIOLATION = "23505";

/** Whether the server itself reported the error. A read-only server may have a successor that a new connection leads to. */
function isConnected(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== READ_ONLY;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The transaction lost against another one. */
function isConflict(error: unknown): boolean {
  return [SERIALIZATION_FAILURE, DEADLOCK].includes(codeOf(error) ?? "");
}

/**
 * Throws the error of a read. If it ran or waited for a lock for too long, only this read has failed: the database is available. The
 * error of a write stays `store_unavailable`, since whoever sends readings has to keep them.
 */
export function throwReadError(error: unknown): never {
  if (![QUERY_CANCELED, LOCK_NOT_AVAILABLE].includes(codeOf(error) ?? "")) throw error;
  const detail = "This request takes too long. Request less at a time, or retry later.";
  throw new RequestError("overloaded", detail, { retryAfter: 5, cause: error });
}

/** Another transaction holds the lock, and NOWAIT was given. */
export function isLockNotAvailable(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION;
}

/**
 * Classes and codes that say nothing about the statement: connection, authentication, lost transaction, resources, operator
 * intervention, system; a read-only server, as after a failover; a lock that was held too long; a missing database, schema, table
 * or column, or no permission for it.
 */
const UNAVAILABLE = /^(08|28|40|53|57|58|XX|25006|55P03|3D000|3F000|42P01|42703|42501)/;
const NETWORK = /^E(CONN|PIPE|TIMEDOUT|HOST|NET|AI|NOTFOUND|ACCES|PERM)/;
/** data_corrupted and index_corrupted; a number out of range, which must be a damaged one: numbers are checked before they are sent. */
const DAMAGED = /^(XX00[12]|22003)$/;
/** Errors of the driver itself have no code. */
const DRIVER = /connection terminated|connection ended|timeout|not queryable|unexpectedly|Cannot use a pool after calling end/i;

/** `store_unavailable` while the server is unavailable, `data_damaged` for damage; other errors are bugs and stay as they are. */
export function translateError(error: unknown): unknown {
  if (error instanceof RequestError || !(error instanceof Error)) return error;
  const code = codeOf(error) ?? (error instanceof AggregateError ? codeOf(error.errors[0]) : undefined);
  if (error instanceof DamageError || DAMAGED.test(code ?? "")) return dataDamaged(error);
  const isUnavailable = code === undefined ? DRIVER.test(error.message) : UNAVAILABLE.test(code) || NETWORK.test(code);
  return isUnavailable ? storeUnavailable(error) : error;
}
