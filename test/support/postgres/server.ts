// The server that tests have in common: one that is already there, or one from npm that ends with the tests.

import { Client, Pool } from "pg";
import { Keeper } from "./keep.ts";

let ours: Promise<Server> | undefined;

export type Server = {
  readonly url: string;
  /** Connections for making and dropping databases; they do not keep the process from ending. */
  readonly pool: Pool;
};

/** Started once for all test files, or for this one if it runs alone. */
export function commonServer(): Promise<Server> {
  ours ??= open();
  return ours;
}

async function open(): Promise<Server> {
  const given = process.env["TEST_POSTGRES_URL"];
  const { url } = given ? await answering(given) : await startServer();
  const pool = new Pool({ connectionString: url, max: 2, allowExitOnIdle: true });
  pool.on("error", () => {});
  return { url, pool };
}

export async function startServer(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const keeper = new Keeper();
  try {
    const { url } = await keeper.tell({ do: "make" });
    return { url, stop: () => keeper.end() };
  } catch (cause) {
    await keeper.end();
    throw new Error("The tests need PostgreSQL. None could be started here; TEST_POSTGRES_URL can name one that runs.", {
      cause,
    });
  }
}

export async function answering(url: string): Promise<{ readonly url: string }> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    await client.end();
    return { url };
  } catch (cause) {
    throw new Error("The PostgreSQL that TEST_POSTGRES_URL names does not answer.", { cause });
  }
}
