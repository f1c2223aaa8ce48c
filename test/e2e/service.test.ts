// A running service: what it serves, what it logs, how it stops, and what it withstands.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { before, suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { createKey, FIVE_PATHS, importLines, reading, SMALL_FLEET } from "./fixtures.ts";
import { type Lifetime, type Service, suiteLifetime, type Workspace, workspace } from "./program.ts";
import { get, item, type LogEntry, list, logEntries, logEvents, statusOf } from "./requests.ts";

const life = suiteLifetime();
let here: Workspace;
let key: string;
let manager: string;

before(async () => {
  here = workspace(life);
  await importLines(here, SMALL_FLEET);
  [key, manager] = await Promise.all([createKey(here), createKey(here, "--role", "manage")]);
});

/** Status, ETag and body of one path of each endpoint. */
const responses = (service: Service) =>
  Promise.all(
    FIVE_PATHS.map(async (path) => {
      const { status, headers, text } = await get(service, path, key);
      assert.equal(status, 200);
      return { etag: headers.get("etag"), text };
    }),
  );

suite("a service", () => {
  test("all five endpoints serve what was imported", async () => {
    const service = await here.start();

    const customers = await list(service, "/v1/customers", key);
    assert.deepEqual(
      customers.data.map(({ id, tank_count }) => [id, tank_count]),
      [
        ["bob", 1],
        ["ada", 2],
      ],
    );
    assert.deepEqual(await item(service, "/v1/customers/ada", key), {
      id: "ada",
      object: "customer",
      created_at: "2026-01-01T00:00:00.000Z",
      email: "ada@customers.example",
      is_verified: true,
      last_seen_at: null,
      name: "Customer ada",
      phone: "+43 1 234",
      tank_count: 2,
      updated_at: "2026-01-01T00:00:00.000Z",
      verified_at: "2026-01-05T08:00:00.000Z",
    });
    const tanks = await list(service, "/v1/tanks?size=2", key);
    assert.deepEqual([tanks.data.map(({ id }) => id), tanks.total_items, tanks.total_pages], [["a2", "b1"], 3, 2]);
    assert.deepEqual((await item(service, "/v1/tanks/a1", key))["owner_id"], "ada");
    const { data } = await list(service, "/v1/tanks/a1/telemetry", key);
    assert.deepEqual(data[0], { object: "telemetry", created_at: "2026-01-03T00:02:00.000Z", fill_percentage: 79.25 });
    assert.deepEqual(
      data.map(({ fill_percentage }) => fill_percentage),
      [79.25, 79.5, 80],
    );
    assert.deepEqual(await item(service, "/v1/customers/gone", key), { id: "gone", object: "customer", deleted: true });
    assert.deepEqual(await item(service, "/v1/tanks/scrapped", key), { id: "scrapped", object: "tank", deleted: true });
    const { code, stderr } = await service.stop();
    assert.equal(code, 0);
    assert.doesNotMatch(stderr, /empty/, "no advice for an empty database");
  });

  test("restarted, it gives the same responses, byte for byte", async () => {
    const first = await here.start();
    const before = await responses(first);
    assert.equal((await first.stop()).code, 0);
    assert.deepEqual(readdirSync(here.folder).sort(), ["fleet.ndjson", "tanks.db"], "one database file, without a log");
    const second = await here.start();
    assert.deepEqual(await responses(second), before);
    await second.stop();
  });

  test("killed under load, it has everything after a restart", async () => {
    const first = await here.start();
    await importLines(here, [reading("b1", 3, 79)], "later.ndjson");
    const before = await responses(first);
    const pending = Promise.allSettled(Array.from({ length: 20 }, () => get(first, "/v1/tanks", key)));
    first.kill("SIGKILL");
    assert.equal((await first.exited).signal, "SIGKILL");
    await pending;
    const second = await here.start();
    assert.deepEqual(await responses(second), before);
    assert.equal((await list(second, "/v1/tanks/b1/telemetry", key)).total_items, 2);
    await second.stop();
  });
});

async function open(life: Lifetime, { url }: Service): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  life.after(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Within a second. */
async function refusesConnections(service: Service): Promise<void> {
  for (const deadline = performance.now() + 1000; performance.now() < deadline; ) {
    try {
      (await open({ after() {} }, service)).destroy();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") return;
    }
  }
  assert.fail("new connections are still accepted");
}

async function readAll(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}

function head(key: string, contentLength: number): string {
  return [
    "GET /v1/tanks HTTP/1.1",
    "Host: tanks.example",
    `X-API-Key: ${key}`,
    "Content-Type: application/x-www-form-urlencoded",
    `Content-Length: ${contentLength}`,
    "",
    "",
  ].join("\r\n");
}

suite("a stopping service", () => {
  test("SIGTERM: a pending request is completed, new connections are refused, then exit 0", async (t) => {
    const service = await here.start();
    const slow = await open(t, service);
    slow.write(`${head(key, "size=2".length)}siz`);
    await get(service, "/healthz");

    service.kill("SIGTERM");
    await service.waitForOutput(/"event":"stopping"/);
    await refusesConnections(service);

    const finished = performance.now();
    slow.write("e=2");
    const response = await readAll(slow);
    assert.match(response, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(response, /"size":2,"total_pages":2,"total_items":3\}$/);
    assert.equal((await service.exited).code, 0);
    const milliseconds = Math.round(performance.now() - finished);
    assert.ok(milliseconds < 3000, `exthe stop took ${milliseconds} ms`);
  });

  test("repeated signals change nothing: a pending request is still completed", async (t) => {
    const service = await here.start();
    const slow = await open(t, service);
    slow.write(`${head(key, "size=2".length)}siz`);
    await get(service, "/healthz");

    for (const signal of ["SIGTERM", "SIGTERM", "SIGINT", "SIGTERM"] as const) {
      service.kill(signal);
      await service.waitForOutput(/"event":"stopping"/);
    }
    slow.write("e=2");
    assert.match(await readAll(slow), /^HTTP\/1\.1 200 OK\r\n/);
    service.kill("SIGTERM");
    const { code, stderr } = await service.exited;
    assert.equal(code, 0);
    assert.equal(stderr.match(/"event":"stopping"/g)?.length, 1);
    assert.match(stderr, /"event":"stopped".*\n$/);
  });

  test("idle connections do not delay the stop", async (t) => {
    const service = await here.start();
    const silent = await open(t, service);
    const idle = await open(t, service);
    idle.write(`${head(key, "size=2".length)}size=2`);
    await once(idle, "data");

    const started = performance.now();
    service.kill("SIGINT");
    assert.equal((await service.exited).code, 0);
    const milliseconds = Math.round(performance.now() - started);
    assert.ok(milliseconds < 3000, `the stop took ${milliseconds} ms`);
    silent.destroy();
  });

  test("a service can be stopped as soon as it listens", async () => {
    const stopped = [1, 2, 3].map(async () => (await here.start()).stop());
    for (const { code, signal } of await Promise.all(stopped)) assert.deepEqual([code, signal], [0, null]);
  });
});

/** Sends a request with its own id, and returns its log line. */
async function logged(service: Service, path: string, key?: string, headers: Record<string, string> = {}): Promise<LogEntry> {
  const id = `request-${Math.random().toString(36).slice(2)}`;
  await get(service, path, key, { "x-request-id": id, ...headers });
  await service.waitForOutput(new RegExp(`${id}.*\n`), 5000);
  const found = logEntries(service).filter((entry) => Object.values(entry).includes(id));
  assert.equal(found.length, 1, "one line per request");
  return found[0] ?? {};
}

/** Sends a malformed request. */
async function sendMalformed({ url }: Service, text: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => socket.end(text));
  for await (const _ of socket);
}

suite("the log", () => {
  test("every line is a JSON object; each request has one, with id, route, status, milliseconds and key id", async () => {
    const service = await here.start();
    const entry = await logged(service, "/v1/tanks/a1/telemetry?size=1", key);
    assert.equal(entry["route"], "/v1/tanks/:id/telemetry");
    assert.equal(entry["status"], 200);
    assert.equal(typeof entry["milliseconds"], "number");
    assert.match(`${entry["keyId"]}`, /^key_/);
    assert.ok(Math.abs(Date.now() - Date.parse(`${entry["time"]}`)) < 60_000, "time");

    const rejected = await logged(service, "/v1/tanks", "tm_wrong");
    assert.deepEqual([rejected["status"], rejected["keyId"], rejected["code"]], [401, null, "key_invalid"]);
    const unknown = await logged(service, "/v2/nothing");
    assert.deepEqual([unknown["status"], unknown["route"]], [404, null]);

    const { stderr, stdout } = await service.stop();
    const events = logEntries(service).map(({ event }) => event);
    assert.equal(events.length, stderr.trimEnd().split("\n").length);
    assert.deepEqual(events, ["listening", "request", "request", "request", "stopping", "stopped"]);
    assert.equal(stdout, "");
  });

  test("no key, query string or e-mail address is logged, at any level", async () => {
    const service = await here.start(["serve"], { env: { LOG_LEVEL: "trace" } });
    const secret = "query-string-content";
    assert.equal(await statusOf(service, key, "/v1/customers?email=ada%40customers.example"), 200);
    assert.equal(await statusOf(service, key, `/v1/customers?${secret}=1`), 400);
    await get(service, "/metrics", undefined, { authorization: `Bearer ${manager}` });
    await get(service, "/v1/tanks", undefined, { authorization: `Bearer ${key}` });
    for (const name of ["api_key", "key", "X-API-Key"]) await get(service, `/v1/tanks?${name}=${key}`);
    await get(service, `/v1/tanks?size=2`, `${key}, ${manager}`);
    await get(service, "/v1/tanks", key, { cookie: `k=${key}`, referer: `http://x/?k=${key}`, "user-agent": key });
    await sendMalformed(service, `GET /v1/tanks?k=${key} HTTP/9.9\r\nX-API-Key: ${key}\r\n\r\n`);
    await sendMalformed(service, `POST /v1/tanks HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Length: nonsense\r\n\r\n`);
    const { stderr, stdout } = await service.stop();
    assert.match(stderr, /"event":"query_completed"/, "trace is on");
    for (const hidden of [key, manager, key.slice(3), manager.slice(3), secret, "@customers.example", "customers.example"]) {
      assert.ok(!`${stdout}${stderr}`.includes(hidden), `${hidden.slice(0, 4)}… is in the log`);
    }
  });

  test("nor is a key in the path", async () => {
    const service = await here.start();
    await get(service, `/v1/tanks/${key}`);
    await get(service, `/v1/tanks/${key}/telemetry`, key);
    await get(service, `/${key}`);
    const { stderr } = await service.stop();
    assert.equal(logEvents(service, "request").length, 3);
    assert.ok(!stderr.includes(key), "the key is in the log");
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
