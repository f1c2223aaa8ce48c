// The PostgreSQL of a run: the one that BENCH_POSTGRES_URL names, or one from npm. Databases on it, made once or for a while.

import type { Client } from "pg";
import { withClient } from "./postgres-client.ts";
import { startServer } from "./postgres-server.ts";

export type Postgres = AsyncDisposable & {
  readonly version: string;
  /** The database of this name and stamp; `make` fills it where it is not there. */
  readonly databaseOnce: (name: string, stamp: string, make: (url: string) => Promise<void>) => Promise<string>;
  /** A database that goes when it is disposed of; a copy of another one, if one is named. */
  readonly temporary: (name: string, template?: string) => Promise<AsyncDisposable & { readonly url: string }>;
  readonly size: (url: string) => Promise<number>;
  /** Leaves no work of one round to the next. */
  readonly checkpoint: () => Promise<void>;
};

export async function startPostgres(): Promise<Postgres> {
  const given = process.env["BENCH_POSTGRES_URL"];
  const server = given === undefined ? await startServer() : { url: given, async [Symbol.asyncDispose]() {} };
  const admin = <T>(work: (client: Client) => Promise<T>): Promise<T> => withClient(server.url, work);
  const text = (sql: string, values: unknown[] = []): Promise<string | undefined> =>
    admin(async (client) => Object.values((await client.query(sql, values)).rows[0] ?? {})[0]?.toString());
  const run = (sql: string) => admin((client) => client.query(sql));
  const urlOf = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href;

  return {
    version: (await text("SHOW server_version")) ?? "",

    async databaseOnce(name, stamp, make) {
      const known = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = $1";
      if ((await text(known, [name])) === stamp) return urlOf(name);
      await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await run(`CREATE DATABASE ${name}`);
      await make(urlOf(name));
      await withClient(urlOf(name), (client) => client.query("VACUUM (ANALYZE)"));
      await run(`COMMENT ON DATABASE ${name} IS '${stamp}'`);
      await run("CHECKPOINT");
      return urlOf(name);
    },

    async temporary(name, template) {
      const drop = () => run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await drop();
      const copied = template === undefined ? "" : `TEMPLATE ${new URL(template).pathname.slice(1)} STRATEGY file_copy`;
      await run(`CREATE DATABASE ${name} ${copied}`);
      return {
        url: urlOf(name),
        async [Symbol.asyncDispose]() {
          await drop();
        },
      };
    },

    size: async (url) => Number(await text("SELECT pg_database_size($1)", [new URL(url).pathname.slice(1)])),

    async checkpoint() {
      await run("CHECKPOINT");
    },

    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
