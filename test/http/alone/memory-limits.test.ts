// Bodies that are cheap to send and expensive to read are rejected early, and all bodies share a memory budget.

import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { RequestError } from "../../../src/domain/errors.ts";
import { StepScheduler } from "../../../src/domain/fair-queue.ts";
import { BodyBudget } from "../../../src/http/body.ts";
import { route } from "../../../src/http/route.ts";
import { customerRecord, tankRecord } from "../../support/records.ts";
import { startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { type JsonResponse, jsonClient, openSocket } from "../client.ts";
import { startEcho } from "../services.ts";

const PATH = "/ingest/v1/readings";
const NDJSON = { "content-type": "application/x-ndjson" };
/** Nearly the size limit of a body. */
const BYTES = 8_388_000;
/** Of CPU time, which does not depend on the load of the machine. Most bodies need a tenth of it. */
const LIMIT_MS = 500;

const service = await startService({ after });
await service.store.importCustomers([customerRecord("c1")]);
await service.store.importTanks([tankRecord("t1", "c1", { assigned_device_id: "d1" })]);
const key = await service.key({ role: "ingest" });
const send = jsonClient(service, key);
const manage = jsonClient(service, await service.key({ role: "manage" }));

async function quickly(call: () => Promise<JsonResponse>, limitMs = LIMIT_MS): Promise<JsonResponse> {
  const started = process.cpuUsage();
  const response = await call();
  const { user, system } = process.cpuUsage(started);
  const took = (user + system) / 1000;
  assert.ok(took < limitMs, `it took ${Math.round(took)} ms`);
  return response;
}

function sendGzip(body: string, headers: Record<string, string> = {}): Promise<JsonResponse> {
  const compressed = gzipSync(body, { level: 1 });
  return quickly(() => send("POST", PATH, compressed, { ...headers, "content-encoding": "gzip" }));
}

const reasons = ({ body }: JsonResponse) =>
  (body["results"] as { readonly status: string; readonly reason?: string }[]).map(({ status, reason }) => reason ?? status);
const array = (entry: string, count: number) => `[${`${entry},`.repeat(count - 1)}${entry}]`;

describe("an expensive body", () => {
  for (const [name, body, status, code, detail] of [
    ["opening brackets", "[".repeat(BYTES), 400, "body_invalid", /deeper than 64 levels/],
    ["nested arrays", `${"[".repeat(BYTES / 2)}${"]".repeat(BYTES / 2)}`, 400, "body_invalid", /deeper than 64 levels/],
    ["an array of empty objects", array("{}", BYTES / 3), 413, "body_too_large", /at most 10000 readings/],
    [
      ...["a payload of empty objects", `{"device_id":"d1","payload":{"a":${array("{}", 2_700_000)}}}`],
      ...[413, "body_too_large", /at most 524288 values/],
    ],
    [
      "a payload of 700,000 names",
      `{"device_id":"d1","payload":{${Array.from({ length: 700_000 }, (_, i) => `"${i.toString(36)}":1`).join(",")}}}`,
      ...[400, "body_invalid", /at most 1000 fields in one object/],
    ],
  ] as [string, string, number, string, RegExp][]) {
    it(`is rejected quickly: ${name}`, async () => {
      const response = await sendGzip(body);
      assert.deepEqual([response.status, response.body["code"]], [status, code]);
      assert.match(String(response.body["detail"]), detail);
    });
  }

  it("of lines: empty lines are free, deep lines are rejected by themselves, and lines and values have a maximum", async () => {
    assert.deepEqual(reasons(await sendGzip("\n".repeat(BYTES), NDJSON)), []);
    const mixed = `\ufeff\r\n \n{"tank_id":"t1","fill_percentage":5}\r\n${"[".repeat(1_000_000)}\n\n  {"a" 1}`;
    assert.deepEqual(reasons(await sendGzip(mixed, NDJSON)), [
      "stored",
      "must not be nested deeper than 64 levels",
      "line 6 is not JSON: Expected ':' after property name in JSON at position 7",
    ]);
    const many = await sendGzip("{}\n".repeat(10_001), NDJSON);
    assert.deepEqual([many.status, many.body["detail"]], [413, "The request body may have at most 10000 readings."]);
    const heavy = await sendGzip(`${array("1", 400)}\n`.repeat(9000), NDJSON);
    assert.deepEqual([heavy.status, heavy.body["detail"]], [413, "The request body may have at most 524288 values."]);
  });

  it("of one reading is rejected from 10,000 values on", async () => {
    const payload = `{"device_id":"d1","payload":{"a":${array("1", 10_001)}}}`;
    for (const body of [payload, `[{},${payload},{}]`]) {
      const response = await sendGzip(body);
      assert.deepEqual([response.status, response.body["detail"]], [413, "A reading may have at most 10000 values."]);
    }
    assert.deepEqual(reasons(await sendGzip(`${payload}\n{}`, NDJSON))[0], "must have at most 10000 values");
  });

  it("of 10,000 unknown names gets at most ten suggestions", async () => {
    const items = Array.from({ length: 10_000 }, (_, i) => `{"fill_percentag${i}":1}`);
    const rejected = reasons(await sendGzip(`[${items.join(",")}]`));
    assert.equal(rejected.filter((reason) => reason.includes("Did you mean")).length, 10);
    assert.equal(rejected.at(-1), 'unknown field "fill_percentag9999"');
  });

  it("in provisioning gets the first field errors, and how many are shown", async () => {
    const path = "/manage/v1/provision?dry_run=true";
    const names = Array.from({ length: 100_000 }, (_, i) => `"xxxxxxxxxx${i.toString(36)}":0`);
    const body = (count: number) => `{"tanks":[{"shape":{"kind":"upright",${names.slice(0, count).join(",")}}}]}`;
    const response = await quickly(() => manage("POST", path, body(999)));
    assert.equal(response.status, 400);
    assert.ok((response.body["errors"] as unknown[]).length < 100);
    const wide = await quickly(() => manage("POST", path, body(100_000)));
    assert.equal(wide.body["detail"], "The body must have at most 1000 fields in one object.");
    const many = await manage("POST", path, { customers: Array.from({ length: 2000 }, () => ({ nmae: "x" })) });
    assert.match(String(many.body["detail"]), /The body has more than 1000 errors: see "errors" for the first 1000\.$/);
  });
});

it("a payload in a webhook has at most 16 KiB", async () => {
  const payload = { a: "x".repeat(20_000) };
  for (const [path, body, reason] of [
    ["chirpstack", { deviceInfo: { devEui: "0101010101010101" }, fPort: 1, object: payload }, /^object: /],
    [
      "tts",
      { end_device_ids: { device_id: "d1" }, uplink_message: { f_port: 1, decoded_payload: payload } },
      /^uplink_message\.decoded_payload: /,
    ],
  ] as const) {
    const [rejected = ""] = reasons(await send("POST", `/ingest/v1/${path}`, body));
    assert.match(rejected, reason);
    assert.match(rejected, /must have at most 16384 bytes/);
  }
});

describe("the memory budget of bodies", () => {
  const MEGABYTE = 1024 * 1024;
  const SMALL = 65_536;

  it("is shared by requests, and released", () => {
    const budget = new BodyBudget(10, new StepScheduler());
    const [one, other] = [budget.reservation("a"), budget.reservation("b")];
    one.reserve(6);
    other.reserve(4);
    assert.throws(
      () => one.reserve(1),
      (error) => error instanceof RequestError && error.code === "overloaded" && error.retryAfter === 1,
    );
    other.release();
    other.release();
    one.reserve(4);
    assert.throws(() => other.reserve(1));
    one.release();
    other.reserve(10);
  });

  it("gives a key one body of any size, several bodies a quarter, small ones half", () => {
    const budget = new BodyBudget(128 * MEGABYTE, new StepScheduler());
    budget.reservation("single").reserve(96 * MEGABYTE);
    assert.throws(() => budget.reservation("single").reserve(MEGABYTE), RequestError);
    const crowded = new BodyBudget(128 * MEGABYTE, new StepScheduler());
    crowded.reservation("many").reserve(26 * MEGABYTE);
    crowded.reservation("many").reserve(2 * MEGABYTE);
    assert.throws(() => crowded.reservation("many").reserve(MEGABYTE), RequestError);
    for (let i = 0; i < 36 * 16; i++) crowded.reservation("many").reserve(SMALL);
    assert.throws(() => crowded.reservation("many").reserve(SMALL), RequestError);
    crowded.reservation("other").reserve(30 * MEGABYTE);
  });

  it("keeps the last eighth for small bodies", () => {
    const budget = new BodyBudget(128 * MEGABYTE, new StepScheduler());
    for (let i = 0; i < 7; i++) budget.reservation(`key ${i}`).reserve(16 * MEGABYTE);
    const large = budget.reservation("large");
    large.reserve(SMALL);
    assert.throws(() => large.reserve(1), RequestError);
    for (let i = 0; i < 255; i++) budget.reservation(`small ${i}`).reserve(SMALL);
    assert.throws(() => budget.reservation("another").reserve(SMALL), RequestError);
  });

  it("keys that use what they can leave something for the next one", () => {
    const budget = new BodyBudget(128 * MEGABYTE, new StepScheduler());
    const useAll = (key: string, bytes: number) => {
      for (let used = 0; ; used += bytes) {
        try {
          budget.reservation(key).reserve(bytes);
        } catch {
          return used;
        }
      }
    };
    const used = Array.from({ length: 10 }, (_, i) => useAll(`large ${i}`, MEGABYTE));
    assert.equal(used[0], 28 * MEGABYTE);
    assert.ok(Math.min(...used) >= MEGABYTE, used.join(" "));
    for (let i = 0; i < 5; i++) assert.ok(useAll(`small ${i}`, SMALL) >= 4 * SMALL);
    budget.reservation("next").reserve(SMALL);
  });

  it("rejects further bodies of a key that has used it, not those of others, until it is released", async () => {
    const body = `[{"tank_id":"x","fill_percentage":1}${" ".repeat(7_000_000)}]`;
    const other = jsonClient(service, await service.key({ role: "ingest" }));
    const head = `POST ${PATH} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 8000000\r\n\r\n`;
    const unfinished = head + " ".repeat(7_999_000);
    const holders: Socket[] = [];
    const rejected = await until(
      "the budget is used up",
      async () => {
        const socket = openSocket(service);
        holders.push(socket.on("error", () => {}));
        await new Promise((sent) => socket.write(unfinished, sent));
        const response = await send("POST", PATH, body);
        return response.status === 503 ? response : undefined;
      },
      30_000,
    );
    assert.deepEqual([rejected.body["code"], rejected.headers["retry-after"]], ["overloaded", "1"]);
    assert.equal((await other("POST", PATH, body)).status, 200);
    for (const socket of holders) socket.destroy();
    await until("the budget is released", async () => (await send("POST", PATH, body)).status === 200, 30_000);
  });

  it("is shared without a key by the networks of clients", async (t) => {
    const body = { kind: "json", mediaTypes: ["application/json"], maxBytes: 8_000_000, schema: {}, description: "" } as const;
    const anonymous = route({
      ...{ method: "POST", path: "/anonymous", operation: "send", summary: "", description: "", tag: "Operations" },
      ...{ requiredRole: "none", body, response: { schema: {}, description: "" }, handle: async () => ({}) },
    });
    const echo = await startEcho(t, { routes: [anonymous], trustProxy: ["loopback"] });
    const sendFrom = (address: string) =>
      jsonClient(echo, "")("POST", "/anonymous", `"${" ".repeat(7_000_000)}"`, { "x-forwarded-for": address });
    const head = "POST /anonymous HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 203.0.113.1\r\ncontent-type: application/json\r\n";
    await until(
      "the share of the network is used up",
      async () => {
        const socket = openSocket(echo).on("error", () => {});
        t.after(() => socket.destroy());
        await new Promise((sent) => socket.write(`${head}content-length: 8000000\r\n\r\n${" ".repeat(7_999_000)}`, sent));
        return (await sendFrom("203.0.113.1")).status === 503;
      },
      30_000,
    );
    assert.equal((await sendFrom("203.0.113.2")).status, 200);
  });
});

it("responses that a client does not receive use up its own share of memory, until it has gone", async (t) => {
  /** More than the system takes of a response that is not read. */
  const text = "x".repeat(12_000_000);
  let written = 0;
  const common = { summary: "", description: "", tag: "Operations", requiredRole: "none" } as const;
  const response = { schema: {}, description: "" };
  const read = route({ ...common, path: "/large", operation: "read", response, handle: async () => ({ text }) });
  const write = route({
    ...{ ...common, method: "POST", path: "/large", operation: "write", response },
    handle: async () => {
      written++;
      return { text };
    },
  });
  const echo = await startEcho(t, { routes: [read, write], trustProxy: ["loopback"] });
  const call = (method: "GET" | "POST", address: string) =>
    jsonClient(echo, "")(method, "/large", undefined, { "x-forwarded-for": address });
  for (const method of ["GET", "POST"] as const) {
    const socket = openSocket(echo).on("error", () => {});
    const request = `${method} /large HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 203.0.113.1\r\n\r\n`;
    await new Promise((sent) => socket.write(request.repeat(7), sent));
    const rejected = await until("its share is used up", async () => {
      const before = written;
      const response = await call(method, "203.0.113.1");
      // What was stored is not said to be rejected.
      if (response.status !== 503) return undefined;
      assert.equal(written, before);
      return response;
    });
    assert.deepEqual([rejected.body["code"], rejected.headers["retry-after"]], ["overloaded", "1"]);
    assert.match(String(rejected.body["detail"]), /has not received the responses to its other requests yet/);
    assert.equal((await call("GET", "203.0.113.2")).status, 200);
    socket.destroy();
    await until("it is released", async () => (await call(method, "203.0.113.1")).status === 200);
  }
});

it("an unknown field of any length is quoted shortly", async () => {
  const response = await manage("POST", "/manage/v1/provision", `{"${"a".repeat(200_000)}":1}`);
  assert.equal(response.status, 400);
  assert.ok(JSON.stringify(response.body).length < 1000);
});
