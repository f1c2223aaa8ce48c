// The store for more than one machine: PostgreSQL through `pg`. Any number of processes may share a database.

import pg from "pg";
import { RequestError, UserError } from "../../domain/errors.ts";
import type { Observe } from "../../domain/events.ts";
import type { Store } from "../../domain/store.ts";
import { Health } from "../health.ts";
import { importNow } from "../occasion.ts";
import { auditQuestions } from "./audit.ts";
import { backup, copyToTemporary } from "./backup.ts";
import { check } from "./check.ts";
import { repairCustomer } from "./check-customers.ts";
import { repairDevices } from "./check-devices.ts";
import { repairReferences } from "./check-file.ts";
import { repairList } from "./check-lists.ts";
import { repairTank } from "./check-tanks.ts";
import {
  asRefusal,
  type Db,
  isBeaten,
  onPool,
  openPool,
  PIPES,
  type PostgresSettings,
  statement,
  type Transaction,
  tryConnection,
} from "./connection.ts";
import { customerQuestions, importCustomers, updateLastSeen } from "./customers.ts";
import { importDevices } from "./device-records.ts";
import { deviceQuestions } from "./devices.ts";
import { records } from "./export.ts";
import { fleetQuestions } from "./fleet.ts";
import { keyQuestions } from "./keys.ts";
import { migrate } from "./migrations.ts";
import { execute } from "./orders.ts";
import { Pipes } from "./pipes.ts";
import { Replicas } from "./replicas.ts";
import { searchQuestions } from "./search.ts";
import { importTanks, tankQuestions } from "./tanks.ts";
import { telemetryQuestions } from "./telemetry.ts";
import { Writer } from "./writer.ts";

const ANYTHING = statement("SELECT EXISTS (SELECT FROM customer) OR EXISTS (SELECT FROM api_key) OR EXISTS (SELECT FROM device)");
const PING = statement("SELECT version FROM tank_monitor");
const SCHEMA = statement("SELECT current_schema()");

export async function openPostgres(url: string, settings: PostgresSettings, observe: Observe): Promise<Store> {
  if (!URL.canParse(url)) throw new UserError("DATABASE_URL is not a URL: escape what is special in its password (%40 for @)", 2);
  try {
    await tryConnection(url);
  } catch (error) {
    throw complaint(error as Error, url);
  }
  const pipes = Math.min(PIPES, Math.floor(settings.connections / 2));
  const patient = openPool(url, 1, { isPatient: true, copies: true });
  try {
    await migrate(patient);
  } catch (error) {
    await patient.end();
    const isOfServer = error instanceof pg.DatabaseError || asRefusal(error) instanceof RequestError;
    throw isOfServer ? complaint(error as Error, url) : error;
  }
  const pool = openPool(url, settings.connections - pipes);
  const primary = new Pipes(url, pipes);
  const replicas = new Replicas(primary, settings, observe);
  // A server that was lost once is lost to all connections. Writing that comes back may have found a new one: questions do
  // not stay with an old one that still answers.
  const observed: Observe = (event) => {
    if (event.kind === "store_unavailable" || event.kind === "writes_recovered") primary.renew();
    observe(event);
  };
  const store = storeOn({ pool, patient, primary, readers: replicas.db }, observed, async () => {
    await replicas.close();
    await Promise.all([primary.close(), patient.end()]);
  });
  return {
    ...store,
    scratchCopy: (progress) => rehearse(url, pool, progress, observe),
  };
}

type Connections = {
  /** For transactions. */
  readonly pool: pg.Pool;
  /** For copies of everything. */
  readonly patient: pg.Pool;
  /** Answers what may not be a moment old. */
  readonly primary: Db;
  /** Answer what may. */
  readonly readers: Db;
};

function storeOn(
  { pool, patient, primary, readers }: Connections,
  observe: Observe,
  alsoClose: () => Promise<void>,
): Omit<Store, "scratchCopy"> {
  const reading = new Health("store", observe);
  const writing = new Health("writes", observe);
  const writer = new Writer(pool);

  /** What the port says of every question and write: a database that is away is `store_unavailable`, and nothing else. */
  async function refusing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw asRefusal(error);
    }
  }

  /** A question that lost against a write of another is asked again. */
  function ask<A extends unknown[], T>(question: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
    const again = (args: A) => (error: unknown) => {
      if (!isBeaten(error)) throw error;
      return question(...args);
    };
    return (...args) => reading.watch(() => refusing(() => question(...args).catch(again(args))));
  }

  function tell<A extends unknown[], T>(write: (db: Transaction, ...args: A) => Promise<T>): (...args: A) => Promise<T> {
    return (...args) => writing.watch(() => refusing(() => writer.write((db) => write(db, ...args))));
  }

  const repairs = {
    repairWhole: async () => [],
    repairReferences: tell(repairReferences),
    repairCustomer: tell(repairCustomer),
    repairTank: tell(repairTank),
    repairDevices: tell(repairDevices),
    repairList: tell(repairList),
  };
  const questions = { ...customerQuestions(readers), ...tankQuestions(readers), ...telemetryQuestions(readers) };
  // Always where revocation is known at once, and an operator sees what was just done.
  const keys = keyQuestions(primary);
  const overview = {
    ...customerQuestions(primary),
    ...tankQuestions(primary),
    ...searchQuestions(primary),
    ...deviceQuestions(primary),
    ...fleetQuestions(primary),
    ...auditQuestions(primary),
  };
  return {
    customerById: ask(questions.customerById),
    customerPage: ask(questions.customerPage),
    tankById: ask(questions.tankById),
    tankPage: ask(questions.tankPage),
    telemetryPage: ask(questions.telemetryPage),
    keyByHash: ask(keys.keyByHash),
    keyList: ask(keys.keyList),
    managedCustomer: ask(overview.managedCustomer),
    customerSearch: ask(overview.customerSearch),
    managedTank: ask(overview.managedTank),
    tankSearch: ask(overview.tankSearch),
    managedDevice: ask(overview.managedDevice),
    newestPending: ask(overview.newestWaiting),
    deviceSearch: ask(overview.deviceSearch),
    fleetPage: ask(overview.fleetPage),
    auditPage: ask(overview.auditPage),
    isEmpty: ask(async () => (await primary.rows(ANYTHING))[0]?.[0] === false),
    ping: ask(async () => void (await primary.rows(PING))),
    importCustomers: (records, occasion = importNow()) => tell(importCustomers)(records, occasion),
    importTanks: (records, occasion = importNow()) => tell(importTanks)(records, occasion),
    importDevices: (records, occasion = importNow()) => tell(importDevices)(records, occasion),
    ingest: (batch) => writing.watch(() => refusing(() => writer.ingest(batch))),
    execute: tell(execute),
    updateLastSeen: tell(updateLastSeen),
    // A copy may fail for its own place, which says nothing of the database.
    backup: (to, progress) => refusing(() => backup(patient, to, progress)),
    exportRecords: () => records(pool),
    check: (repair, progress) => check(patient, repair ? repairs : undefined, progress),
    async close() {
      await writer.close();
      await alsoClose();
      await pool.end();
    },
  };
}

/** A store on a connection of its own, whose tables are temporary: the copy ends with the connection, whatever happens. */
async function rehearse(
  url: string,
  pool: pg.Pool,
  progress: (done: number, total: number) => void,
  observe: Observe,
): Promise<Store> {
  const own = openPool(url, 1, { schema: "pg_temp", isPatient: true });
  try {
    const [row] = await onPool(pool).rows(SCHEMA);
    await copyToTemporary(own, String(row?.[0]), progress);
  } catch (error) {
    await own.end();
    throw asRefusal(error);
  }
  const only = onPool(own);
  const store = storeOn({ pool: own, patient: own, primary: only, readers: only }, observe, async () => {});
  return { ...store, scratchCopy: () => rehearse(url, own, progress, observe) };
}

/** Whatever stands in the way of opening is for the operator to mend: one line, without the password. */
function complaint(error: Error, url: string): UserError {
  const reason = error.message !== "" ? error.message : String((error as NodeJS.ErrnoException).code ?? "no answer");
  const { host, pathname } = new URL(url);
  return new UserError(
    `the database ${host}${pathname} cannot be opened (${reason}). Check DATABASE_URL, and that PostgreSQL runs and lets this user in.`,
  );
}
