// The PostgreSQL of the tests, with its data in the cache, default settings (fsync on) and 256 MB of shared buffers. It listens on
// 127.0.0.1 only, with a password, since other users of the machine can connect too.

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../test/support/free-port.ts";
import { changeOwner, type Programs, programsFor, serverUser } from "../../test/support/postgres/programs.ts";
import { CACHE, cacheFolder, log } from "../bench.ts";
import { output, start, stop } from "../processes.ts";
import { withClient } from "./postgres-client.ts";

const MAJOR = 18;

export async function startServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const programs = programsFor(serverUser(), cacheFolder("postgres"));
  const folder = join(cacheFolder("postgres"), `data-${MAJOR}`);
  const password = await initialize(programs, folder);
  const port = await freePort();
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  log("starting PostgreSQL");
  const logFile = openSync(join(cacheFolder("logs"), "postgres.log"), "w");
  const settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: "", shared_buffers: "256MB" };
  const words = Object.entries(settings).flatMap(([setting, value]) => ["-c", `${setting}=${value}`]);
  const options = { ...programs.user, cwd: folder, stdio: ["ignore", logFile, logFile] as ["ignore", number, number] };
  // SIGINT is PostgreSQL's fast shutdown.
  const child = start(programs.postgres, ["-D", folder, ...words], options, "SIGINT");
  for (let tries = 0; ; tries++) {
    try {
      await withClient(url, (client) => client.query("SELECT 1"));
      return { url, [Symbol.asyncDispose]: () => stop(child, "SIGINT") };
    } catch (error) {
      if (child.exitCode !== null || tries > 600)
        throw new Error(`PostgreSQL did not start; see ${CACHE}/logs`, { cause: error });
      await pause(100);
    }
  }
}

/** Creates the data folder if needed. Returns the password. */
async function initialize({ initdb, user }: Programs, folder: string): Promise<string> {
  const secret = `${folder}.password`;
  if (existsSync(join(folder, "PG_VERSION"))) return readFileSync(secret, "utf8");
  for (const old of [folder, secret]) rmSync(old, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  const password = randomBytes(18).toString("hex");
  writeFileSync(secret, password, { mode: 0o600 });
  for (const path of [folder, secret]) changeOwner(user, path);
  const words = ["-D", folder, "-U", "postgres", "-A", "scram-sha-256", `--pwfile=${secret}`, "-E", "UTF8", "--locale=C"];
  await output(initdb, words, { cwd: folder, ...user });
  return password;
}
