// The PostgreSQL server of a run, given by BENCH_POSTGRES_URL or installed from npm, and its databases.

import type { Client } from "pg";
import { withClient } from "./postgres-client.ts";
import { startServer } from "./postgres-server.ts";

export type Postgres = AsyncDisposable & {
  readonly version: string;
  /** Creates the database and calls `fill`, unless it exists with this fingerprint. */
  readonly databaseOnce: (name: string, fingerprint: string, fill: (url: string) => Promise<void>) => Promise<string>;
  /** A database that is dropped on dispose; a copy of `template`, if given. */
  readonly temporary: (name: string, template?: string) => Promise<AsyncDisposable & { readonly url: string }>;
  readonly size: (url: string) => Promise<number>;
  /** So that no writes of one round are left to the next. */
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

    async databaseOnce(name, fingerprint, fill) {
      const known = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = $1";
      if ((await text(known, [name])) === fingerprint) return urlOf(name);
      await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await run(`CREATE DATABASE ${name}`);
      await fill(urlOf(name));
      await withClient(urlOf(name), (client) => client.query("VACUUM (ANALYZE)"));
      await run(`COMMENT ON DATABASE ${name} IS '${fingerprint}'`);
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
