// A database of a test's own on the shared server, and stores on it.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { finished } from "node:stream/promises";
import { Client, type QueryResultRow } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { DEFAULT_ALERT_SETTINGS } from "../../../src/domain/alerts/evaluate.ts";
import { RequestError } from "../../../src/domain/errors.ts";
import type { LogEvent } from "../../../src/domain/log-events.ts";
import type { Store } from "../../../src/domain/store.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Lifetime } from "../service.ts";
import { isDuration } from "../stores.ts";
import { sharedServer } from "./server.ts";

export type Database = {
  readonly url: string;
  /** On a connection of its own. */
  readonly query: <Row extends QueryResultRow>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  /** To be called before the database is dropped, the latest first. */
  readonly closeFirst: (close: () => unknown) => void;
};

type Options = {
  /** The default collation, such as `en-US`; otherwise by bytes. */
  readonly locale?: string;
  /** With the schema of the store already in it, where the run has prepared one of this locale. */
  readonly withSchema?: boolean;
};

/** Sorts as people do, so that every comparison of bytes has to be the schema's own. */
export const TEMPLATE_LOCALE = "en-US";

export async function createDatabase({ locale, withSchema = false }: Options): Promise<{ name: string; url: string }> {
  const server = await sharedServer();
  const name = `tank_monitor_test_${randomBytes(8).toString("hex")}`;
  const template = withSchema && locale === TEMPLATE_LOCALE ? process.env["TEST_POSTGRES_TEMPLATE"] : undefined;
  const sorting = locale === undefined ? "LOCALE_PROVIDER libc" : `LOCALE_PROVIDER icu ICU_LOCALE '${locale}'`;
  // template0 has nothing in it, whatever somebody has put into template1.
  const source = template ?? `template0 ENCODING 'UTF8' LOCALE 'C' ${sorting}`;
  // Copying through the log takes three times the processor time.
  await server.pool.query(`CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY FILE_COPY`);
  return { name, url: Object.assign(new URL(server.url), { pathname: `/${name}` }).href };
}

export async function dropDatabase(name: string): Promise<void> {
  await (await sharedServer()).pool.query(`DROP DATABASE ${name} WITH (FORCE)`);
}

export async function postgresDatabase(life: Lifetime, options: Options = {}): Promise<Database> {
  const { name, url } = await createDatabase(options);
  const closes: (() => unknown)[] = [];
  life.after(async () => {
    for (const close of closes.toReversed()) await close();
    await dropDatabase(name);
  });

  let connection: Promise<Client> | undefined;
  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: url });
    // A test may stop the server or end its sessions; the next query fails then.
    client.on("error", () => {});
    closes.push(() => client.end());
    await client.connect();
    return client;
  }
  return {
    url,
    async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
      connection ??= connect();
      return (await (await connection).query<Row>(sql, [...values])).rows;
    },
    closeFirst: (close) => closes.push(close),
  };
}

/** A new database with the content of a backup: what `psql -f` does, which npm's PostgreSQL lacks. */
export async function restoredFrom(file: string, life: Lifetime): Promise<Database> {
  const database = await postgresDatabase(life);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  let script = "";
  let copy: ReturnType<typeof copyFrom> | undefined;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (copy !== undefined && line === "\\.") {
      copy.end();
      await finished(copy);
      copy = undefined;
    } else if (copy !== undefined) {
      copy.write(`${line}\n`);
    } else if (line.startsWith("COPY ")) {
      await client.query(script);
      script = "";
      copy = client.query(copyFrom(line));
    } else {
      script += `${line}\n`;
    }
  }
  await client.query(script);
  await client.end();
  return database;
}

export type Opened = {
  readonly store: Store;
  readonly events: LogEvent[];
  /** The kinds of all events so far, sorted: reading and writing are lost and regained in any order. */
  readonly eventKinds: () => string[];
};

type Settings = NonNullable<Parameters<typeof openStore>[2]>;

/** The setting of a service on this engine. A service creates its own SQLite database. */
export async function databaseSetting(life: Lifetime, engine: "sqlite" | "postgres"): Promise<Record<string, string>> {
  if (engine === "sqlite") return {};
  return { DATABASE_URL: (await postgresDatabase(life, { locale: TEMPLATE_LOCALE, withSchema: true })).url };
}

/** A store whose events are recorded. */
export async function openedOn(life: Lifetime, url: string, settings: Partial<Settings> = {}): Promise<Opened> {
  const events: LogEvent[] = [];
  const all = { connections: 10, replicaUrls: [], replicaLagMs: 2000, alerts: DEFAULT_ALERT_SETTINGS, ...settings };
  const store = await openStore(url, (event) => !isDuration(event) && events.push(event), all);
  life.after(() => store.close());
  return { store, events, eventKinds: () => events.map(({ kind }) => kind).sort() };
}

export const isUnavailable = (error: unknown): boolean => error instanceof RequestError && error.code === "store_unavailable";

export const succeeds = (request: Promise<unknown>): Promise<boolean> =>
  request.then(
    () => true,
    () => false,
  );
