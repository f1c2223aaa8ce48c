// Tank Monitor as its users run it: `serve` with its defaults, the log at `info` included.

import { type ChildProcess, execFileSync } from "node:child_process";
import { openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { cacheFolder, ENGINE_NAMES, type Engine, ROOT } from "../bench.ts";
import { output, start, stop } from "../processes.ts";
import type { Contestant } from "./contestant.ts";

const PROGRAM = join(ROOT, "bin", "tank-monitor.js");

type Page = {
  readonly data: readonly { readonly created_at: string; readonly fill_percentage: number }[];
  readonly total_items: number;
};

export function createKey(databaseUrl: string, role: "read" | "ingest" | "manage" = "read"): string {
  return run(databaseUrl, "key", "create", "--name", "bench", "--role", role);
}

const EMAIL = "bench@example.com";

/** The token of a link that signs in a new viewer. */
export function createSignInToken(databaseUrl: string): string {
  run(databaseUrl, "user", "create", "--email", EMAIL, "--name", "Bench", "--role", "viewer");
  return run(databaseUrl, "user", "link", EMAIL).split("#token=")[1]?.split(/\s/)[0] ?? "";
}

/** Signs in a new viewer, and returns the cookie of the session. */
export async function createSession(databaseUrl: string, url: string): Promise<string> {
  const response = await fetch(`${url}/auth/v1/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ token: createSignInToken(databaseUrl) }),
  });
  if (response.status !== 200) throw new Error(`signing in got ${response.status}: ${await response.text()}`);
  return response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

/** Runs a command, and returns what it prints. */
function run(databaseUrl: string, ...words: readonly string[]): string {
  const options = { env: environment(databaseUrl), stdio: ["ignore", "pipe", "ignore"] as ("ignore" | "pipe")[] };
  return execFileSync(process.execPath, [PROGRAM, ...words], options)
    .toString()
    .trim();
}

export async function startTankMonitor(engine: Engine, databaseUrl: string, key = createKey(databaseUrl)): Promise<Contestant> {
  return contestant(engine, await startService(engine, databaseUrl, []), key);
}

/** With the embedded MQTT endpoint. */
export async function startWithMqtt(engine: Engine, databaseUrl: string): Promise<Contestant & { readonly mqttUrl: string }> {
  const key = createKey(databaseUrl);
  const service = await startService(engine, databaseUrl, ["--mqtt", "0"]);
  return { ...contestant(engine, service, key), mqttUrl: await waitForLog(service, /"url":"(mqtt[^"]+)"/) };
}

type Service = { readonly child: ChildProcess; readonly log: string; readonly url: string };

let started = 0;

async function startService(engine: Engine, databaseUrl: string, words: readonly string[]): Promise<Service> {
  const log = join(cacheFolder("logs"), `tank-monitor-${engine}-${++started}.log`);
  const stderr = openSync(log, "w+");
  const child = start(process.execPath, [PROGRAM, "serve", ...words], {
    env: environment(databaseUrl),
    stdio: ["ignore", "ignore", stderr],
  });
  return { child, log, url: await waitForLog({ child, log }, /"url":"(http[^"]+)"/) };
}

function contestant(engine: Engine, { child, log, url }: Service, key: string): Contestant {
  return {
    name: `Tank Monitor on ${ENGINE_NAMES[engine]}`,
    url,
    headers: { "x-api-key": key },
    pid: child.pid ?? 0,
    path: (tankId, page) => (page === 1 ? `/v1/tanks/${tankId}/telemetry` : `/v1/tanks/${tankId}/telemetry?page=${page}`),
    decode({ body }) {
      const { data, total_items } = JSON.parse(body) as Page;
      const readings = data.map((one) => ({ createdAt: Date.parse(one.created_at), fill: one.fill_percentage }));
      return { total: total_items, readings };
    },
    async [Symbol.asyncDispose]() {
      await stop(child);
      rmSync(log, { force: true });
    },
  };
}

/** Runs the import command. Throws if it rejects a line. */
export async function importFile(databaseUrl: string, file: string): Promise<void> {
  await output(process.execPath, [PROGRAM, "import", file, "--json"], { env: environment(databaseUrl) });
}

function environment(databaseUrl: string): Record<string, string | undefined> {
  // Receivers of webhooks run on this machine.
  const own = { DATABASE_URL: databaseUrl, PORT: "0", HOST: "127.0.0.1", LOG_LEVEL: "info", WEBHOOK_ALLOW: "127.0.0.1" };
  return { ...process.env, ...own };
}

/** Waits until the log of the service matches. */
async function waitForLog({ child, log }: Pick<Service, "child" | "log">, pattern: RegExp): Promise<string> {
  for (;;) {
    const found = pattern.exec(readFileSync(log, "utf8"))?.[1];
    if (found !== undefined) return found;
    if (child.exitCode !== null) throw new Error(`Tank Monitor did not start: ${readFileSync(log, "utf8").slice(-2000)}`);
    await pause(5);
  }
}
