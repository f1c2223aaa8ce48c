// An empty database for a test, on the server that all tests have in common.

import { randomBytes } from "node:crypto";
import { Client, type QueryResultRow } from "pg";
import type { Lifetime } from "../service.ts";
import { commonServer } from "./server.ts";

export type Database = {
  readonly url: string;
  /** A look from beside, on a connection of its own. */
  readonly query: <Row extends QueryResultRow>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  /** What stands on the database is to be closed before it goes: the latest first. */
  readonly closeFirst: (close: () => unknown) => void;
};

/** `locale` is how the database sorts where nothing else is said, such as `en-US`; without it, by bytes. */
export async function postgresDatabase(life: Lifetime, { locale }: { readonly locale?: string } = {}): Promise<Database> {
  const server = await commonServer();
  const name = `tank_monitor_test_${randomBytes(8).toString("hex")}`;
  const sorting = locale === undefined ? "LOCALE_PROVIDER libc" : `LOCALE_PROVIDER icu ICU_LOCALE '${locale}'`;
  // From template0, which nobody can have put anything into.
  await server.pool.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' ${sorting}`);
  const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;

  const closes: (() => unknown)[] = [];
  life.after(async () => {
    for (const close of closes.toReversed()) await close();
    await server.pool.query(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  let beside: Promise<Client> | undefined;
  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: url });
    // A test may stop the server, or end its sessions; the next question tells.
    client.on("error", () => {});
    closes.push(() => client.end());
    await client.connect();
    return client;
  }
  return {
    url,
    async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
      beside ??= connect();
      return (await (await beside).query<Row>(sql, [...values])).rows;
    },
    closeFirst: (close) => closes.push(close),
  };
}
