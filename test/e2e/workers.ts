// A service of several processes, looked at from outside: who answers is told by the log.

import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Lifetime, Service } from "./program.ts";

export type LogEntry = Readonly<Record<string, unknown>>;

/** Whole lines that are JSON objects; other words, for people, are passed over. */
export function logEntries({ stderr }: Pick<Service, "stderr">): LogEntry[] {
  const lines = stderr().split("\n").slice(0, -1);
  return lines.flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as LogEntry] : []));
}

export const logEvents = (service: Pick<Service, "stderr">, event: string): LogEntry[] =>
  logEntries(service).filter((entry) => entry["event"] === event);

/** The process of each worker that has answered, the last one of each number. */
export function workerPids(service: Service): Map<number, number> {
  return new Map(logEvents(service, "worker_started").map(({ worker, pid }) => [Number(worker), Number(pid)]));
}

export async function until<T>(what: string, look: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; await pause(10)) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
  }
  return assert.fail(`waited in vain: ${what}`);
}

type Answer = { readonly status: number; readonly text: string };
/** A connection that is kept, hence to one worker. */
export type Connection = { readonly worker: number; readonly get: (path: string, key?: string) => Promise<Answer> };

let count = 0;

export async function connect(life: Lifetime, service: Service): Promise<Connection> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  life.after(() => agent.destroy());
  const ask = (path: string, key?: string, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const all = key === undefined ? headers : { ...headers, "x-api-key": key };
      get(`${service.url}${path}`, { agent, headers: all }, async (response) => {
        let text = "";
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
        resolve({ status: response.statusCode ?? 0, text });
      }).on("error", reject);
    });
  const id = `who-is-this-${++count}-${process.pid}`;
  await ask("/healthz", undefined, { "x-request-id": id });
  const [, worker] = await service.waitForOutput(new RegExp(`"worker":(\\d+),"event":"request","requestId":"${id}"`));
  return { worker: Number(worker), get: ask };
}

/** One connection to each of so many workers. */
export async function connectToAll(life: Lifetime, service: Service, workers = 2): Promise<Connection[]> {
  const found = new Map<number, Connection>();
  await until(`connections to ${workers} workers`, async () => {
    // Several at once, since one that waits for the next connection may well be the one that took the last.
    for (const connection of await Promise.all(Array.from({ length: 8 }, () => connect(life, service)))) {
      if (!found.has(connection.worker)) found.set(connection.worker, connection);
    }
    return found.size === workers;
  });
  return [...found.values()].sort((a, b) => a.worker - b.worker);
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
