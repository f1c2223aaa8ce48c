// HTTP requests to a running service, and the log lines that it writes.

import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect as openSocket, type Socket } from "node:net";
import type { Lifetime } from "../support/service.ts";
import { until } from "../support/until.ts";
import type { RunningProgram, Service } from "./program.ts";

export type HttpResponse = { readonly status: number; readonly headers: Headers; readonly text: string };
export type Item = Readonly<Record<string, unknown>>;
export type List = {
  readonly object: string;
  readonly data: readonly Item[];
  readonly page: number;
  readonly size: number;
  readonly total_pages: number;
  readonly total_items: number;
};

type Target = { readonly url: string };

export async function get(
  { url }: Target,
  path: string,
  key?: string,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  const response = await fetch(`${url}${path}`, { headers: key === undefined ? headers : { "x-api-key": key, ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export async function statusOf(target: Target, key: string, path = "/v1/tanks"): Promise<number> {
  return (await get(target, path, key)).status;
}

export async function item(target: Target, path: string, key: string): Promise<Item> {
  const { status, text } = await get(target, path, key);
  assert.equal(status, 200, text);
  return JSON.parse(text) as Item;
}

export async function list(target: Target, path: string, key: string): Promise<List> {
  const found = (await item(target, path, key)) as unknown as List;
  assert.equal(found.object, "list");
  return found;
}

/** The bodies of the given paths. */
export function texts(target: Target, paths: readonly string[], key: string): Promise<string[]> {
  return Promise.all(paths.map(async (path) => (await get(target, path, key)).text));
}

export const waitForStatus = (target: Target, key: string, status: number, timeoutMs: number): Promise<boolean> =>
  until(`status ${status}`, async () => (await statusOf(target, key)) === status, timeoutMs);

/** A plain TCP connection. */
export async function connectTo(life: Lifetime, { url }: Target): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = openSocket(Number(port), hostname);
  life.after(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Sends a request for two tanks except for its last byte. The returned function sends that, and resolves with the response. */
export async function startRequest(life: Lifetime, target: Target, key: string): Promise<() => Promise<string>> {
  const socket = await connectTo(life, target);
  const type = "Content-Type: application/x-www-form-urlencoded";
  const lines = ["GET /v1/tanks HTTP/1.1", "Host: x", "Connection: close", `X-API-Key: ${key}`, type, "Content-Length: 6"];
  socket.write(`${lines.join("\r\n")}\r\n\r\nsize=`);
  return async () => {
    socket.write("2");
    let text = "";
    for await (const chunk of socket) text += chunk;
    return text;
  };
}

/** Complete log lines; messages for people are skipped. */
export function logEntries({ stderr }: Pick<RunningProgram, "stderr">): Item[] {
  const lines = stderr().split("\n").slice(0, -1);
  return lines.flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Item] : []));
}

export const logEvents = (service: Pick<RunningProgram, "stderr">, event: string): Item[] =>
  logEntries(service).filter((entry) => entry["event"] === event);

/** The process id of each worker, the latest by number. */
export function workerPids(service: Service): Map<number, number> {
  return new Map(logEvents(service, "worker_started").map(({ worker, pid }) => [Number(worker), Number(pid)]));
}

type WorkerResponse = { readonly status: number; readonly text: string };
/** A kept-alive connection, hence to one worker. */
export type Connection = { readonly worker: number; readonly get: (path: string, key?: string) => Promise<WorkerResponse> };

let connections = 0;

async function connect(life: Lifetime, service: Service): Promise<Connection> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  life.after(() => agent.destroy());
  const send = (path: string, headers: Record<string, string>): Promise<WorkerResponse> =>
    new Promise((resolve, reject) => {
      const sent = request(`${service.url}${path}`, { agent, headers }, async (response) => {
        let text = "";
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
        resolve({ status: response.statusCode ?? 0, text });
      });
      sent.on("error", reject).end();
    });
  const id = `which-worker-${++connections}-${process.pid}`;
  await send("/healthz", { "x-request-id": id });
  const [, worker] = await service.waitForOutput(new RegExp(`"worker":(\\d+),"event":"request","requestId":"${id}"`));
  return { worker: Number(worker), get: (path, key) => send(path, key === undefined ? {} : { "x-api-key": key }) };
}

/** One connection to each worker. */
export async function connectToAll(life: Lifetime, service: Service, workers = 2): Promise<Connection[]> {
  const found = new Map<number, Connection>();
  const connectToMore = async (): Promise<boolean> => {
    // Several at once: a worker that is busy with one connection leaves the next to another worker.
    for (const connection of await Promise.all(Array.from({ length: 8 }, () => connect(life, service)))) {
      if (!found.has(connection.worker)) found.set(connection.worker, connection);
    }
    return found.size === workers;
  };
  await until(`connections to ${workers} workers`, connectToMore, 30_000);
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
