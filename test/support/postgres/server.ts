// PostgreSQL servers for tests: the one that all tests share, and those that a test stops, kills and replicates.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client, Pool } from "pg";
import type { Lifetime } from "../service.ts";
import { Cluster, type InitialData, initialData } from "./cluster.ts";
import { folderOf, programsFor, serverUser } from "./programs.ts";

export type OwnPostgres = Cluster;

/** A server of the test's own. */
export async function ownPostgres(life: Lifetime): Promise<OwnPostgres> {
  const { server, end } = await startServer();
  life.after(end);
  return server;
}

/** Runs a statement on a connection of its own. */
export async function query({ url }: Pick<OwnPostgres, "url">, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

type Started = {
  readonly server: Cluster;
  /** Where an initialised data folder is, for other servers. */
  readonly initial: InitialData;
  readonly end: () => Promise<void>;
};

export async function startServer(): Promise<Started> {
  const user = serverUser();
  const folder = folderOf(user);
  const removeFolder = watchFolder(folder);
  let server: Cluster | undefined;
  async function end(): Promise<void> {
    await server?.end();
    await removeFolder();
  }
  try {
    const programs = programsFor(user, folder);
    const given = process.env["TEST_POSTGRES_INITIAL"];
    const initial = given === undefined ? await initialData(programs, folder) : (JSON.parse(given) as InitialData);
    server = await Cluster.create(programs, folder, initial);
    return { server, initial, end };
  } catch (cause) {
    await end();
    throw new Error("The tests need PostgreSQL. None could be started here; TEST_POSTGRES_URL can name one that runs.", {
      cause,
    });
  }
}

/** The folder is removed when this process is gone, however it ends, or when the function is called. */
export function watchFolder(folder: string): () => Promise<void> {
  const watchdog = spawn(process.execPath, [fileURLToPath(new URL("./watchdog.ts", import.meta.url)), folder], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  watchdog.unref();
  (watchdog.stdin as unknown as { unref(): void }).unref();
  return async () => {
    const gone = once(watchdog, "exit");
    watchdog.ref();
    watchdog.stdin.end("stopped");
    await gone;
  };
}

export type SharedServer = {
  readonly url: string;
  /** For creating and dropping databases; it does not keep the process from ending. */
  readonly pool: Pool;
};

let shared: Promise<SharedServer> | undefined;

/** The server of the whole run; one for this file alone where the file runs without the global setup. */
export function sharedServer(): Promise<SharedServer> {
  shared ??= openShared();
  return shared;
}

async function openShared(): Promise<SharedServer> {
  const url = process.env["TEST_POSTGRES_URL"] || (await startServer()).server.url;
  const pool = new Pool({ connectionString: url, max: 2, allowExitOnIdle: true });
  pool.on("error", () => {});
  return { url, pool };
}
