// The store for more than one machine: PostgreSQL through `pg`. Any number of processes may share a database.

import type pg from "pg";
import type { AlertSettings } from "../../domain/alerts/evaluate.ts";
import { UNRESTRICTED } from "../../domain/key.ts";
import type { Observe } from "../../domain/log-events.ts";
import type { Progress, Store } from "../../domain/store.ts";
import type { EngineTransaction } from "../check/check.ts";
import { checkProvisionOnce } from "../core/commands.ts";
import { longReadsOn, primaryOnlyReads } from "../core/reads-and-tables.ts";
import { type Engine, STORE_WRITES, storeOn } from "../core/store.ts";
import { runWrite, type WriteArgs, type WriteName, type WriteResult } from "../core/writes.ts";
import { backup, copyToTemporary } from "./backup.ts";
import { runForIdsOn } from "./batch.ts";
import { checkDatabase } from "./check.ts";
import {
  type Db,
  onPool,
  openPool,
  type PostgresSettings,
  prepareOn,
  redirectPool,
  statement,
  TEMPORARY,
  throwReadError,
  transaction,
  translateError,
} from "./connection.ts";
import { exportDatabase } from "./export.ts";
import { LIVE_TANKS, listPagesOn } from "./list-pages.ts";
import { LONG_READ_CONNECTIONS, READ_CONNECTIONS, ReadConnections } from "./read-connections.ts";
import { type ReplicaReads, Replicas, replicaReadsOn } from "./replicas.ts";
import { COLUMNS, createSchema, DIALECT } from "./schema.ts";
import { cannotOpen, findServer, ServerSearch, serverUrls } from "./servers.ts";
import { telemetryReads } from "./telemetry-reads.ts";
import { transactionOn } from "./transaction.ts";
import { Writer } from "./writer.ts";

/** After how long a start reports that it waits for another process. */
const LOCKED_MS = 3000;

export async function openPostgres(
  databaseUrl: string,
  settings: PostgresSettings & { readonly alerts: AlertSettings },
  observe: Observe,
  mayCreate: boolean,
): Promise<Store> {
  const urls = serverUrls(databaseUrl);
  const { url, schema } = await findServer(urls);
  const unlimited = openPool(url, 1, { schema, isUnlimited: true, canCopy: true });
  const locked = setTimeout(() => observe({ kind: "database_locked" }), LOCKED_MS);
  try {
    await createSchema(unlimited, mayCreate);
  } catch (error) {
    await unlimited.end();
    throw cannotOpen([url], [error]);
  } finally {
    clearTimeout(locked);
  }
  const readConnections = Math.min(READ_CONNECTIONS, Math.floor(settings.connections / 2));
  const pool = openPool(url, settings.connections - readConnections, { schema });
  const primary = new ReadConnections(url, readConnections, { schema });
  const forLongReads = new ReadConnections(url, LONG_READ_CONNECTIONS, { schema });
  const replicas = new Replicas(primary, settings, schema, observe);
  const { alerts } = settings;
  const connections = { url, schema, pool, unlimited, primary, forLongReads, replicaReads: replicas.reads, alerts };
  const search = new ServerSearch(urls, url, (found) => {
    connections.url = found;
    for (const other of [pool, unlimited]) redirectPool(other, found);
    for (const reads of [primary, forLongReads]) reads.renew(found);
  });
  // A lost server is lost to all connections. Recovered writes may have found a new one: reads do not stay with the old one.
  const observed: Observe = (event) => {
    if (event.kind === "store_unavailable" || event.kind === "writes_recovered") {
      for (const reads of [primary, forLongReads]) reads.renew();
    }
    search.observe(event);
    observe(event);
  };
  return createStore(connections, observed, async () => {
    await Promise.all([search.close(), replicas.close()]);
    await Promise.all([primary.close(), forLongReads.close(), unlimited.end()]);
  });
}

type StoreConnections = {
  /** URL of the server in use. */
  readonly url: string;
  readonly schema: string;
  /** Connections for transactions. */
  readonly pool: pg.Pool;
  /** Connections for copies of the whole database, without time limits. */
  readonly unlimited: pg.Pool;
  /** Used for reads that must be up to date. */
  readonly primary: Db;
  /** A long read delays those behind it on its connection: these are for nothing else. */
  readonly forLongReads: Db;
  /** Other reads, which replicas may serve. */
  readonly replicaReads: ReplicaReads;
  readonly alerts: AlertSettings;
};

function createStore(connections: StoreConnections, observe: Observe, closeOthers: () => Promise<void>): Store {
  const { pool, unlimited, primary, forLongReads, replicaReads, alerts } = connections;
  const writer = new Writer(pool, alerts, observe);
  function write<N extends WriteName>(name: N, ...args: WriteArgs<N>): Promise<WriteResult<N>> {
    const work = (tx: EngineTransaction) => runWrite(tx, name, args);
    const when = (STORE_WRITES as Partial<Record<WriteName, string>>)[name];
    return when === "at once" ? writer.transaction(work) : writer.write(work);
  }
  const { readingColumns } = telemetryReads(primary);
  const engine: Engine = {
    reads: {
      ...replicaReads,
      ...primaryOnlyReads({ prepare: prepareOn(primary), runForIds: runForIdsOn(primary) }, DIALECT, COLUMNS),
      ...longReads(forLongReads),
      historyColumns: (tankId, range) => readingColumns(tankId, range, UNRESTRICTED),
      checkProvision: (...args) =>
        transaction(pool, (db) => checkProvisionOnce(transactionOn(db, alerts), ...args), {
          isolation: "REPEATABLE READ READ ONLY",
        }).catch(throwReadError),
    },
    write,
    ingest: (batch) => writer.ingest(batch),
    addDamagedTank: (tankId) => writer.damagedTanks.add(tankId),
    backup: (file, progress) => backup(unlimited, file, progress),
    scratchCopy: (progress) => openScratchCopy(connections, progress, observe),
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

function longReads(db: Db) {
  return longReadsOn({
    dialect: DIALECT,
    rows: (sql, values) => db.rows(statement(sql), values),
    unpreparedRows: (sql, values) => db.rows({ name: "", text: sql }, values),
    listPages: listPagesOn(db),
    liveTanks: () => ({ query: `WITH RECURSIVE ${LIVE_TANKS.query}`, count: LIVE_TANKS.count }),
  });
}

/** A store on temporary tables of one connection: the copy ends with the connection, whatever happens. */
async function openScratchCopy({ url, schema, alerts }: StoreConnections, progress: Progress, observe: Observe): Promise<Store> {
  const pool = openPool(url, 1, { schema: TEMPORARY, isUnlimited: true });
  try {
    await copyToTemporary(pool, schema, progress);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const db = onPool(pool);
  const own = { pool, unlimited: pool, primary: db, forLongReads: db, replicaReads: replicaReadsOn(db) };
  const connections = { url, schema: TEMPORARY, alerts, ...own };
  return createStore(connections, observe, async () => {});
}
