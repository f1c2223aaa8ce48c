// The store for more than one machine: PostgreSQL through `pg`. Any number of processes may share a database.

import type pg from "pg";
import { UserError } from "../../domain/errors.ts";
import type { Observe } from "../../domain/events.ts";
import type { Progress, Store } from "../../domain/store.ts";
import { primaryReads, replicaReads } from "../core/reads.ts";
import { type Engine, storeOn } from "../core/store.ts";
import { runWrite, type WriteArgs, type WriteName } from "../core/writes.ts";
import { backup, copyToTemporary } from "./backup.ts";
import { checkDatabase } from "./check.ts";
import {
  type Db,
  onPool,
  openPool,
  type PostgresSettings,
  prepareOn,
  statement,
  translateError,
  tryConnection,
} from "./connection.ts";
import { exportDatabase } from "./export.ts";
import { listPagesOn } from "./list-pages.ts";
import { managementReads } from "./management-reads.ts";
import { READ_CONNECTIONS, ReadConnections } from "./read-connections.ts";
import { Replicas } from "./replicas.ts";
import { createSchema } from "./schema.ts";
import { telemetryReads } from "./telemetry-reads.ts";
import { Writer } from "./writer.ts";

const CURRENT_SCHEMA = statement("SELECT current_schema()");

export async function openPostgres(
  url: string,
  settings: PostgresSettings,
  observe: Observe,
  mayCreate: boolean,
): Promise<Store> {
  if (!URL.canParse(url)) {
    throw new UserError("DATABASE_URL is not a URL: escape special characters in its password (%40 for @)", 2);
  }
  const unlimited = openPool(url, 1, { isUnlimited: true, canCopy: true });
  try {
    await tryConnection(url);
    await createSchema(unlimited, mayCreate);
  } catch (error) {
    await unlimited.end();
    throw error instanceof UserError ? error : cannotOpen(error as Error, url);
  }
  const readConnections = Math.min(READ_CONNECTIONS, Math.floor(settings.connections / 2));
  const pool = openPool(url, settings.connections - readConnections);
  const primary = new ReadConnections(url, readConnections);
  const replicas = new Replicas(primary, settings, observe);
  // A lost server is lost to all connections. Recovered writes may have found a new one: reads do not stay with the old one.
  const observed: Observe = (event) => {
    if (event.kind === "store_unavailable" || event.kind === "writes_recovered") primary.renew();
    observe(event);
  };
  return createStore({ url, pool, unlimited, primary, replicas: replicas.db }, observed, async () => {
    await replicas.close();
    await Promise.all([primary.close(), unlimited.end()]);
  });
}

type Connections = {
  readonly url: string;
  /** For transactions. */
  readonly pool: pg.Pool;
  /** For copies of everything, without time limits. */
  readonly unlimited: pg.Pool;
  /** For reads that must not be a moment old. */
  readonly primary: Db;
  /** For other reads. */
  readonly replicas: Db;
};

function createStore(connections: Connections, observe: Observe, closeOthers: () => Promise<void>): Store {
  const { url, pool, unlimited, primary, replicas } = connections;
  const writer = new Writer(pool);
  const write = <N extends WriteName>(name: N, ...args: WriteArgs<N>) => writer.write((tx) => runWrite(tx, name, args));
  const engine: Engine = {
    reads: {
      ...telemetryReads(replicas),
      ...replicaReads(prepareOn(replicas), listPagesOn(replicas)),
      ...primaryReads(prepareOn(primary)),
      ...managementReads(primary),
    },
    write,
    ingest: (batch) => writer.ingest(batch),
    backup: (file, progress) => backup(unlimited, file, progress),
    scratchCopy: (progress) => openScratchCopy(url, pool, progress, observe),
    exportRecords: () => exportDatabase(pool),
    check: (repair, progress) => checkDatabase(unlimited, repair ? write : undefined, progress),
    translateError,
    async close() {
      await writer.close();
      await closeOthers();
      await pool.end();
    },
  };
  return storeOn(engine, observe);
}

/** A store on temporary tables of one connection: the copy ends with the connection, whatever happens. */
async function openScratchCopy(url: string, pool: pg.Pool, progress: Progress, observe: Observe): Promise<Store> {
  const own = openPool(url, 1, { schema: "pg_temp", isUnlimited: true });
  try {
    const [row] = await onPool(pool).rows(CURRENT_SCHEMA);
    await copyToTemporary(own, String(row?.[0]), progress);
  } catch (error) {
    await own.end();
    throw error;
  }
  const db = onPool(own);
  return createStore({ url, pool: own, unlimited: own, primary: db, replicas: db }, observe, async () => {});
}

/** One line for the operator, without the password. */
function cannotOpen(error: Error, url: string): UserError {
  const reason = error.message !== "" ? error.message : String((error as NodeJS.ErrnoException).code ?? "no answer");
  const { host, pathname } = new URL(url);
  return new UserError(
    `the database ${host}${pathname} cannot be opened (${reason}). Check DATABASE_URL, and that PostgreSQL runs and accepts this user.`,
  );
}
