// PostgreSQL servers for tests: the one that all tests share, and those that a test stops, kills and replicates.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Pool } from "pg";
import type { Lifetime } from "../service.ts";
import { Cluster, connectionError, initialData, type StopMode } from "./cluster.ts";
import { folderOf, type Programs, programsFor, serverUser } from "./programs.ts";

export type OwnPostgres = {
  /** Of its database `postgres`; the same after a restart. */
  readonly url: string;
  /** Of its main process, while it runs. */
  readonly pid: () => number | undefined;
  readonly stop: (mode: StopMode) => Promise<void>;
  readonly start: () => Promise<void>;
  /** A streaming replica that accepts connections, and may be behind. */
  readonly replica: () => Promise<OwnPostgres>;
};

/** A server of the test's own. */
export async function ownPostgres(life: Lifetime): Promise<OwnPostgres> {
  const { server, end } = await startServer();
  life.after(end);
  return server;
}

type Started = {
  readonly server: OwnPostgres;
  /** Where an initialised data folder is, for other servers; see `InitialData`. */
  readonly initial: string;
  readonly end: () => Promise<void>;
};

export async function startServer(): Promise<Started> {
  const user = serverUser();
  const folder = folderOf(user);
  const watchdog = spawn(process.execPath, [fileURLToPath(new URL("./watchdog.ts", import.meta.url)), folder], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  watchdog.unref();
  (watchdog.stdin as unknown as { unref(): void }).unref();
  const clusters: Cluster[] = [];
  async function end(): Promise<void> {
    const gone = once(watchdog, "exit");
    for (const cluster of clusters.toReversed()) await cluster.end();
    watchdog.ref();
    watchdog.stdin.end();
    await gone;
  }
  function keep(cluster: Cluster): OwnPostgres {
    clusters.push(cluster);
    return {
      url: cluster.url,
      pid: () => cluster.pid,
      stop: (mode) => cluster.stop(mode),
      start: () => cluster.start(),
      replica: async () => keep(await cluster.replica(`server_${clusters.length}`)),
    };
  }
  try {
    const programs = programsFor(user, folder);
    const initial = process.env["TEST_POSTGRES_INITIAL"] ?? (await initialise(programs, folder));
    return { server: keep(await Cluster.create(programs, folder, "server_0", JSON.parse(initial))), initial, end };
  } catch (cause) {
    await end();
    throw new Error("The tests need PostgreSQL. None could be started here; TEST_POSTGRES_URL can name one that runs.", {
      cause,
    });
  }
}

const initialise = async (programs: Programs, folder: string): Promise<string> =>
  JSON.stringify(await initialData(programs, folder));

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

export async function expectReachable(url: string): Promise<void> {
  const error = await connectionError(url);
  if (error !== "") throw new Error(`The PostgreSQL that TEST_POSTGRES_URL names cannot be reached: ${error}`);
}
