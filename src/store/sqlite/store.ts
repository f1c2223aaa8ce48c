// The embedded store: SQLite through `node:sqlite`. The serving thread reads on a connection of its own; every write goes
// to the writing thread, and what may have to go through very many rows, to the thread for it.

import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { backup, type DatabaseSync } from "node:sqlite";
import { storeUnavailable, UserError } from "../../domain/errors.ts";
import type { Observe } from "../../domain/events.ts";
import type { Store } from "../../domain/store.ts";
import { Health } from "../health.ts";
import { importNow } from "../occasion.ts";
import { check } from "./check.ts";
import { asRefusal, isFileError, isNotADatabase, isSqliteError, openReader, openWriter, patiently } from "./connection.ts";
import { customerQuestions } from "./customers.ts";
import { deviceQuestions } from "./devices.ts";
import { records } from "./export.ts";
import { keyQuestions } from "./keys.ts";
import { migrate, refuseForeign } from "./migrations.ts";
import type { OverviewTable } from "./overview-thread.ts";
import { Presence } from "./presence.ts";
import { SharedSnapshot } from "./snapshot.ts";
import { tankQuestions } from "./tanks.ts";
import { telemetryQuestions } from "./telemetry.ts";
import { Thread } from "./thread.ts";
import type { WriteName, WriteTable } from "./writing-thread.ts";

const WRITING = new URL("./writing-thread.ts", import.meta.url);
const OVERVIEW = new URL("./overview-thread.ts", import.meta.url);

export async function openSqlite(file: string, observe: Observe): Promise<Store> {
  const db = await prepare(file, observe);
  const snapshot = new SharedSnapshot(db);
  const reading = new Health("store", observe);
  const writing = new Health("writes", observe);
  const writer = new Thread<WriteTable>(WRITING, file, (reason) => writing.lose(reason));
  // It is the last to close, and empties the log then, also where nothing was written.
  writer.start();
  const overview = new Thread<OverviewTable>(OVERVIEW, file, (reason) => reading.lose(reason));
  const presence = new Presence(file, (change) => (change === "back" ? reading.release() : reading.hold(change.lost)));
  await presence.look();

  /** What the port says of every question and write: a database that is away is `store_unavailable`, and nothing else. */
  async function refusing<T>(work: () => Promise<T>): Promise<T> {
    try {
      if (presence.lost !== undefined) throw storeUnavailable(new Error(presence.lost));
      return await work();
    } catch (error) {
      throw asRefusal(error);
    }
  }

  function ask<A extends unknown[], T>(question: (...args: A) => T): (...args: A) => Promise<T> {
    return (...args) => reading.watch(() => refusing(() => snapshot.ask(() => question(...args))));
  }

  function look<N extends keyof OverviewTable>(name: N) {
    return (...args: Parameters<OverviewTable[N]>): Promise<ReturnType<OverviewTable[N]>> =>
      reading.watch(() => refusing(() => overview.call(name, ...args)));
  }

  function tell<N extends WriteName>(name: N): (...args: Parameters<WriteTable[N]>) => Promise<ReturnType<WriteTable[N]>> {
    return (...args) => refusing(() => writing.watch(() => writer.call(name, ...args)));
  }

  const repairs = {
    repairWhole: tell("repairWhole"),
    repairReferences: tell("repairReferences"),
    repairCustomer: tell("repairCustomer"),
    repairTank: tell("repairTank"),
    repairDevices: tell("repairDevices"),
    repairList: tell("repairList"),
  };
  const questions = patiently(() => allQuestions(db));
  const importCustomers = tell("importCustomers");
  const importTanks = tell("importTanks");
  const importDevices = tell("importDevices");
  return {
    customerById: ask(questions.customerById),
    customerPage: ask(questions.customerPage),
    tankById: ask(questions.tankById),
    tankPage: ask(questions.tankPage),
    telemetryPage: ask(questions.telemetryPage),
    keyByHash: ask(questions.keyByHash),
    managedCustomer: ask(questions.managedCustomer),
    customerSearch: look("customerSearch"),
    managedTank: ask(questions.managedTank),
    tankSearch: look("tankSearch"),
    managedDevice: ask(questions.managedDevice),
    newestPending: ask(questions.newestWaiting),
    deviceSearch: look("deviceSearch"),
    fleetPage: look("fleetPage"),
    auditPage: look("auditPage"),
    keyList: ask(questions.keyList),
    isEmpty: ask(questions.isEmpty),
    ping: ask(questions.ping),
    importCustomers: (records, occasion = importNow()) => importCustomers(records, occasion),
    importTanks: (records, occasion = importNow()) => importTanks(records, occasion),
    importDevices: (records, occasion = importNow()) => importDevices(records, occasion),
    ingest: tell("ingest"),
    execute: tell("execute"),
    updateLastSeen: tell("updateLastSeen"),
    // A copy may fail for its own place, which says nothing of the database.
    backup: (to, progress) => refusing(() => copy(file, to, progress)),
    scratchCopy: (progress) => refusing(() => openCopy(file, progress, observe)),
    exportRecords: () => records(file),
    check: (repair, progress) => check(file, repair ? repairs : undefined, progress),
    async close() {
      presence.stop();
      // The writer goes last: the last connection to close empties the log into the database.
      db.close();
      await overview.close();
      await writer.close();
    },
  };
}

function allQuestions(db: DatabaseSync) {
  const anything = db.prepare("SELECT EXISTS (SELECT 1 FROM customer) OR EXISTS (SELECT 1 FROM api_key) AS any");
  // Reads a page of the file, as a bare SELECT 1 would not.
  const ping = db.prepare("SELECT id FROM customer ORDER BY pk DESC LIMIT 1");
  return {
    ...customerQuestions(db),
    ...tankQuestions(db),
    ...telemetryQuestions(db),
    ...deviceQuestions(db),
    ...keyQuestions(db),
    isEmpty: (): boolean => anything.get()?.["any"] === 0,
    ping: (): void => void ping.get(),
  };
}

/** Creates and migrates, then opens for reading. Whatever stands in the way is for the operator to mend: one line. */
async function prepare(file: string, observe: Observe): Promise<DatabaseSync> {
  try {
    // Another process may be making, migrating or closing the database at this very moment; every step can be done again.
    const db = patiently(() => openWriter(file, (opened) => refuseForeign(opened, file)));
    try {
      await migrate(db, (done, total) => observe({ kind: "migrating", done, total }));
    } finally {
      db.close();
    }
    return patiently(() => openReader(file));
  } catch (error) {
    if (isNotADatabase(error)) throw new UserError(`${file} is not a database. Name another file in DATABASE_URL.`);
    if (!isSqliteError(error) && !isFileError(error)) throw error;
    const reason = error instanceof Error ? error.message : "";
    throw new UserError(`${file} cannot be opened or created (${reason}). Check the path, its permissions and the disk.`);
  }
}

async function openCopy(file: string, progress: (done: number, total: number) => void, observe: Observe): Promise<Store> {
  const to = `${file}.rehearsal-${randomBytes(4).toString("hex")}`;
  const remove = (): void => removeDatabase(to);
  process.once("exit", remove);
  try {
    await copy(file, to, progress);
    const store = await openSqlite(to, observe);
    return {
      ...store,
      async close() {
        await store.close().finally(remove);
        process.off("exit", remove);
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** From a connection with an open read: writers go on meanwhile, and the copy is not started over for each of them. */
async function copy(file: string, to: string, progress: (done: number, total: number) => void): Promise<void> {
  const db = openReader(file);
  try {
    db.exec("BEGIN");
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    await backup(db, to, {
      rate: 2000,
      progress: ({ totalPages, remainingPages }) => progress(totalPages - remainingPages, totalPages),
    });
  } finally {
    db.close();
  }
}

function removeDatabase(file: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
}
