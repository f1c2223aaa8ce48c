// The engines as the shared suites see them. Opening a database takes longer than most tests: a test gets the database of an
// earlier one, emptied, with its store still open.

import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { after } from "node:test";
import type { LogEvent } from "../../src/domain/log-events.ts";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import { type Database, postgresDatabase, restoredFrom, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import type { Lifetime } from "../support/service.ts";
import { closedOnce, databaseFolder, isDuration } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

export type Opened = {
  /** On an empty database. It may be closed twice. */
  readonly store: Store;
  /** One more store on the same database, whether or not the first is closed. */
  readonly reopen: () => Promise<Store>;
  /** A store on what `backup` wrote. */
  readonly restored: (file: string) => Promise<Store>;
  /** A place for files. */
  readonly folder: string;
  /** What `openStore` takes, for another process. */
  readonly url: string;
  /** Resolves when nothing of a process that was killed is in progress any more. */
  readonly settled: () => Promise<void>;
  readonly deadlocks: () => Promise<number>;
};

export type Engine = {
  readonly name: string;
  /** Everything else that the test opens is closed when the lifetime ends. */
  readonly open: (life: Lifetime) => Promise<Opened>;
};

/** A database that is used by one test after the other. */
export type ReusedDatabase = {
  readonly store: Store;
  /** Removes all rows. False if something else was changed, too, or the files have become large. */
  readonly empty: () => Promise<boolean>;
  /** What the test gets, except for the store. */
  readonly opened: (life: Lifetime) => Promise<Omit<Opened, "store">>;
};

/** Creates one, and passes on what its store logs. */
export type CreateDatabase = (life: Lifetime, observe: (event: LogEvent) => void) => Promise<ReusedDatabase>;

type OpenDatabase = ReusedDatabase & { readonly usage: { isSpent: boolean }; readonly remove: () => Promise<void> };

function reusing(name: string, create: CreateDatabase): Engine {
  const idle: OpenDatabase[] = [];
  after(async () => {
    for (const { remove } of idle) await remove();
  });

  async function emptied(): Promise<OpenDatabase | undefined> {
    for (let database = idle.pop(); database !== undefined; database = idle.pop()) {
      if (await database.empty()) return database;
      await database.remove();
    }
    return undefined;
  }

  async function created(): Promise<OpenDatabase> {
    const ends: (() => unknown)[] = [];
    const usage = { isSpent: false };
    /** A store that has noted damage or an outage is used by one test only. */
    const observe = (event: LogEvent) => {
      if (!isDuration(event) && event.kind !== "notifications_created") usage.isSpent = true;
    };
    const database = await create({ after: (end) => ends.push(end) }, observe);
    const remove = async () => {
      for (const end of ends) await end();
    };
    return { ...database, usage, remove };
  }

  return {
    name,
    async open(life) {
      const database = (await emptied()) ?? (await created());
      const { usage, store, opened, remove } = database;
      // Emptied by the next test, because whatever this one has started may go on until its end.
      life.after(() => (usage.isSpent ? remove() : void idle.push(database)));
      const close = (): Promise<void> => {
        usage.isSpent = true;
        return store.close();
      };
      return { ...(await opened(life)), store: { ...store, close } };
    },
  };
}

/** Removing the rows of a large database takes longer than creating one. */
const MAX_BYTES = 8_000_000;

export const createSqlite: CreateDatabase = async (lifeOfDatabase, observe) => {
  const { file } = databaseFolder(lifeOfDatabase);
  const store = closedOnce(await openStore(`sqlite:${file}`, observe));
  lifeOfDatabase.after(store.close);
  const schemaVersion = (db: DatabaseSync) => db.prepare("PRAGMA schema_version").get()?.["schema_version"];
  using first = new DatabaseSync(file);
  const initialVersion = schemaVersion(first);
  return {
    store,
    async empty() {
      using db = new DatabaseSync(file, { enableForeignKeyConstraints: false, timeout: 5000 });
      if (schemaVersion(db) !== initialVersion || statSync(file).size > MAX_BYTES) return false;
      const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'").all();
      db.exec(["BEGIN IMMEDIATE", ...tables.map(({ name }) => `DELETE FROM ${name}`), "COMMIT"].join(";\n"));
      return true;
    },
    async opened(life) {
      const folder = databaseFolder(life);
      return {
        reopen: () => folder.open(file),
        restored: folder.open,
        folder: folder.path,
        url: `sqlite:${file}`,
        settled: async () => {},
        deadlocks: async () => 0,
      };
    },
  };
};

export const sqliteEngine: Engine = reusing("sqlite", createSqlite);

/** The sessions of other processes than the test's own. */
const OTHER_PROCESS = "other process";
const SESSIONS = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1";
const DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
const TABLES =
  "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'tank_monitor'";
/** The schema changes with every table, column, index and constraint. */
const SCHEMA = `SELECT sum(pg_relation_size(oid))::float8 AS bytes, string_agg(oid || ' ' || relnatts, ',' ORDER BY oid) || ' ' ||
  (SELECT string_agg(oid::text, ',' ORDER BY oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace) AS schema
  FROM pg_class WHERE relnamespace = 'public'::regnamespace`;

/** Its database sorts as people do, so that every comparison of bytes has to be the schema's own. */
export const createPostgres: CreateDatabase = async (lifeOfDatabase, observe) => {
  const database = await postgresDatabase(lifeOfDatabase, { locale: TEMPLATE_LOCALE, withSchema: true });
  const store = await openedOn(database, observe);
  const hasEnded = async () => (await database.query(SESSIONS, [OTHER_PROCESS])).length === 0;
  const settled = async () => void (await until("the sessions of the process end", hasEnded, 30_000));
  const deadlocks = async () => Number((await database.query<{ deadlocks: string }>(DEADLOCKS))[0]?.deadlocks);
  const [initial] = await database.query<{ schema: string; bytes: number }>(SCHEMA);
  const tables = (await database.query<{ name: string }>(TABLES)).map(({ name }) => name);
  // Without the triggers of foreign keys, in any order.
  const emptied = ["SET session_replication_role = replica", ...tables.map((table) => `DELETE FROM ${table}`)];
  return {
    store,
    async empty() {
      await settled();
      const [now] = await database.query<{ schema: string; bytes: number }>(SCHEMA);
      if (now === undefined || now.schema !== initial?.schema || now.bytes > MAX_BYTES) return false;
      await database.query([...emptied, "RESET session_replication_role"].join(";\n"));
      return true;
    },
    async opened(life) {
      const others: Store[] = [];
      life.after(async () => {
        for (const other of others) await other.close();
      });
      const before = await deadlocks();
      return {
        async reopen() {
          const other = closedOnce(await openStore(database.url, () => {}));
          others.push(other);
          return other;
        },
        restored: async (file) => openedOn(await restoredFrom(file, life)),
        folder: temporaryFolder(life),
        url: Object.assign(new URL(database.url), { search: `application_name=${OTHER_PROCESS}` }).href,
        settled,
        deadlocks: async () => (await deadlocks()) - before,
      };
    },
  };
};

export const postgresEngine: Engine = reusing("postgres", createPostgres);

async function openedOn({ url, closeFirst }: Database, observe: (event: LogEvent) => void = () => {}): Promise<Store> {
  const store = closedOnce(await openStore(url, observe));
  closeFirst(store.close);
  return store;
}
