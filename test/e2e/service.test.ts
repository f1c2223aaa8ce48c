// A running service: what it serves, what it logs, how it stops, and what it withstands.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { after, suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { until } from "../support/until.ts";
import { createKey, FIVE_PATHS, importLines, reading, SMALL_FLEET } from "./fixtures.ts";
import { type ExitResult, type Service, workspace } from "./program.ts";
import { connectTo, get, type Item, item, list, logEntries, logEvents, startRequest, statusOf } from "./requests.ts";

const here = workspace({ after });
await importLines(here, SMALL_FLEET);
const key = await createKey(here);
const manager = await createKey(here, "--role", "manage");

/** ETag and body of one path of each endpoint. */
const responses = (service: Service) =>
  Promise.all(
    FIVE_PATHS.map(async (path) => {
      const { status, headers, text } = await get(service, path, key);
      assert.equal(status, 200);
      return { etag: headers.get("etag"), text };
    }),
  );

/** Sends a request with its own id, and returns its log line. */
async function logged(service: Service, path: string, key?: string): Promise<Item> {
  const id = `request-${Math.random().toString(36).slice(2)}`;
  await get(service, path, key, { "x-request-id": id });
  await service.waitForOutput(new RegExp(`${id}.*\n`), 5000);
  const found = logEntries(service).filter((entry) => Object.values(entry).includes(id));
  assert.equal(found.length, 1, "one line per request");
  return found[0] ?? {};
}

/** One service after the other, on one database. */
suite("a service", async () => {
  let service = await here.start();
  let before: Awaited<ReturnType<typeof responses>> = [];

  test("all five endpoints serve what was imported", async () => {
    const customers = await list(service, "/v1/customers", key);
    assert.deepEqual(
      customers.data.map(({ id, tank_count }) => [id, tank_count]),
      [
        ["bob", 1],
        ["ada", 2],
      ],
    );
    assert.equal((await item(service, "/v1/customers/ada", key))["phone"], "+43 1 234");
    const tanks = await list(service, "/v1/tanks?size=2", key);
    assert.deepEqual([tanks.data.map(({ id }) => id), tanks.total_items, tanks.total_pages], [["a2", "b1"], 3, 2]);
    assert.equal((await item(service, "/v1/tanks/a1", key))["owner_id"], "ada");
    const { data } = await list(service, "/v1/tanks/a1/telemetry", key);
    assert.deepEqual(
      data.map(({ fill_percentage }) => fill_percentage),
      [79.25, 79.5, 80],
    );
    assert.deepEqual(await item(service, "/v1/tanks/scrapped", key), { id: "scrapped", object: "tank", deleted: true });
    before = await responses(service);
  });

  test("every line of the log is a JSON object; each request has one, with id, route, status, milliseconds and key id", async () => {
    const entry = await logged(service, "/v1/tanks/a1/telemetry?size=1", key);
    assert.deepEqual([entry["route"], entry["status"]], ["/v1/tanks/:id/telemetry", 200]);
    assert.equal(typeof entry["milliseconds"], "number");
    assert.match(`${entry["keyId"]}`, /^key_/);
    assert.ok(Math.abs(Date.now() - Date.parse(`${entry["time"]}`)) < 60_000, "time");
    const rejected = await logged(service, "/v1/tanks", "tm_wrong");
    assert.deepEqual([rejected["status"], rejected["keyId"], rejected["code"]], [401, null, "key_invalid"]);
    const unknown = await logged(service, "/v2/nothing");
    assert.deepEqual([unknown["status"], unknown["route"]], [404, null]);

    const { code, stderr, stdout } = await service.stop();
    assert.equal(code, 0);
    const events = logEntries(service).map(({ event }) => event);
    assert.equal(events.length, stderr.trimEnd().split("\n").length);
    const requests = Array.from({ length: 6 + FIVE_PATHS.length + 3 }, () => "request");
    assert.deepEqual(events, ["listening", "no_users", ...requests, "stopping", "stopped"]);
    assert.equal(stdout, "");
    assert.deepEqual(readdirSync(here.folder).sort(), ["fleet.ndjson", "tanks.db"], "one database file, without a log");
  });

  test("no key, query string or e-mail address is logged, at any level, wherever it was sent", async (t) => {
    service = await here.start(["serve"], { env: { LOG_LEVEL: "trace" } });
    assert.deepEqual(await responses(service), before, "after a restart the same bytes are served");
    const secret = "query-string-content";
    assert.equal(await statusOf(service, key, "/v1/customers?email=ada%40customers.example"), 200);
    assert.equal(await statusOf(service, key, `/v1/customers?${secret}=1`), 400);
    const encoded = `%74m%5F${key.slice(3, 20)}%${Buffer.from(key.slice(20, 21)).toString("hex")}${key.slice(21)}`;
    const inPaths = [`/v1/tanks/${key}`, `/v1/tanks/${key}/telemetry`, `/${key}`, `/v1/tanks/${encoded}`, `/key=${encoded}`];
    const inQueries = ["api_key", "key", "X-API-Key"].map((name) => `/v1/tanks?${name}=${key}`);
    for (const path of [...inPaths, ...inQueries]) await get(service, path);
    for (const sent of [key, manager]) await get(service, "/metrics", undefined, { authorization: `Bearer ${sent}` });
    await get(service, "/v1/tanks", `${key}, ${manager}`);
    for (const id of [key, `apikey=${key}`]) await get(service, "/v1/tanks", key, { "x-request-id": id });
    await get(service, "/v1/tanks", key, { cookie: `k=${key}`, referer: `http://x/?k=${key}`, "user-agent": key });
    for (const malformed of [
      `GET /v1/tanks?k=${key} HTTP/9.9\r\nX-API-Key: ${key}\r\n\r\n`,
      `POST /v1/tanks HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Length: nonsense\r\n\r\n`,
    ]) {
      const socket = (await connectTo(t, service)).end(malformed);
      for await (const _ of socket);
    }
    // What was logged before it is complete.
    await logged(service, "/healthz");
    const { stderr, stdout } = await killedUnderLoad();
    assert.match(stderr, /"event":"query_completed"/, "trace is on");
    assert.ok(logEvents(service, "request").length >= 12);
    for (const hidden of [key.slice(3, 20), key.slice(21), manager.slice(3), secret, "customers.example"]) {
      assert.ok(!`${stdout}${stderr}`.includes(hidden), `${hidden.slice(0, 4)}… is in the log`);
    }
  });

  async function killedUnderLoad(): Promise<ExitResult> {
    await importLines(here, [reading("b1", 3, 79)], "later.ndjson");
    const pending = Promise.allSettled(Array.from({ length: 20 }, () => get(service, "/v1/tanks", key)));
    service.kill("SIGKILL");
    const result = await service.exited;
    assert.equal(result.signal, "SIGKILL");
    await pending;
    return result;
  }

  test("after a kill under load the same bytes are served", async () => {
    service = await here.start();
    assert.deepEqual(await responses(service), before);
    assert.equal((await list(service, "/v1/tanks/b1/telemetry", key)).total_items, 2);
  });

  test("that stops completes a pending request, refuses connections, ignores idle ones and further signals; exit 0", async (t) => {
    await connectTo(t, service);
    const idle = await connectTo(t, service);
    idle.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(idle, "data");
    const finish = await startRequest(t, service, key);
    await get(service, "/healthz");

    service.kill("SIGTERM");
    await service.waitForOutput(/"event":"stopping"/);
    const isRefused = (error: NodeJS.ErrnoException): boolean => error.code === "ECONNREFUSED";
    await until("connections are refused", () => connectTo(t, service).then(() => false, isRefused));
    for (const signal of ["SIGTERM", "SIGINT", "SIGTERM"] as const) service.kill(signal);
    const finished = performance.now();
    assert.match(await finish(), /^HTTP\/1\.1 200 OK\r\n[\s\S]*"size":2,"total_pages":2,"total_items":3\}$/);
    const { code, stderr } = await service.exited;
    assert.equal(code, 0);
    const milliseconds = Math.round(performance.now() - finished);
    assert.ok(milliseconds < 3000, `the stop took ${milliseconds} ms`);
    assert.equal(stderr.match(/"event":"stopping"/g)?.length, 1);
    assert.match(stderr, /"event":"stopped".*\n$/);
  });

  test("that stops sends the whole response to a slow reader", async (t) => {
    service = await here.start();
    const path = "/docs/static/swagger-ui-bundle.js";
    const { text } = await get(service, path, undefined, { "accept-encoding": "identity" });
    const socket = (await connectTo(t, service)).pause();
    const count = 20;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count));
    await until("the first response has begun", () => socket.readableLength > 0 || socket.bytesRead > 0);
    await get(service, "/healthz");
    service.kill("SIGTERM");
    await service.waitForOutput(/"event":"stopping"/);
    await pause(2000);
    socket.resume();
    await once(socket, "close");
    assert.ok(socket.bytesRead > count * text.length, `received ${socket.bytesRead} of ${count * text.length} bytes`);
    assert.equal((await service.exited).code, 0);
  });

  test("can be stopped as soon as it listens", async () => {
    const { code, signal } = await (await here.start()).stop();
    assert.deepEqual([code, signal], [0, null]);
  });
});

const HEAP_MB = 96;
const BYTES = 8_388_000;
/** For the requests of others. */
const MAX_RESPONSE_MS = 3000;

const jsonList = (entry: string, count: number) => `[${`${entry},`.repeat(count - 1)}${entry}]`;
const payload = (inside: string) => `{"device_id":"d1","payload":{"a":${inside}}}`;

/** Small when compressed, large when parsed: with as many values as allowed, and with more. */
const HOSTILE = [
  payload(jsonList("{}", 250_000)),
  payload(jsonList("[]", 250_000)),
  payload(jsonList("{}", BYTES / 3 - 100)),
  jsonList('{"device_id":"d1","payload":{"a":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]}}', 10_000),
  jsonList("{}", BYTES / 3),
  "[".repeat(BYTES),
].map((body) => gzipSync(body, { level: 9 }));

async function post({ url }: Service, key: string, body: string | Buffer): Promise<number> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const packed: Record<string, string> = typeof body === "string" ? {} : { "content-encoding": "gzip" };
  const response = await fetch(`${url}/ingest/v1/readings`, { method: "POST", headers: { ...headers, ...packed }, body });
  await response.arrayBuffer();
  return response.status;
}

test("a service with little memory withstands thirty hostile bodies at once, and serves others meanwhile", async (t) => {
  const here = workspace(t);
  const [hostile, other] = [await createKey(here, "--role", "ingest"), await createKey(here, "--role", "ingest")];
  const service = await here.start(["serve"], { env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` } });
  let isOver = false;
  const statuses = Promise.all(
    Array.from({ length: 30 }, (_, i) => post(service, hostile, HOSTILE[i % HOSTILE.length] as Buffer)),
  );
  const attack = statuses.finally(() => {
    isOver = true;
  });
  const durations: number[] = [];
  while (!isOver) {
    const started = performance.now();
    assert.equal(await post(service, other, '{"device_id":"d2","fill_percentage":5}'), 200);
    durations.push(performance.now() - started);
    await pause(20);
  }
  const responses = await attack;
  assert.deepEqual(
    responses.filter((status) => ![200, 400, 413, 503].includes(status)),
    [],
  );
  const longest = Math.max(...durations);
  t.diagnostic(`${durations.length} other requests, the slowest in ${Math.round(longest)} ms; ${responses.join(" ")}`);
  assert.ok(durations.length > 0 && longest < MAX_RESPONSE_MS, `another request took ${Math.round(longest)} ms`);
  assert.equal((await service.stop()).code, 0);
});
