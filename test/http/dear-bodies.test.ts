// Bodies that are cheap to send and dear to take in: each is refused for what it is, soon, and without harm to anyone else.

import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { customerRecord, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { type Answered, type Ask, asking } from "./asked.ts";

const PATH = "/ingest/v1/readings";
const LINES = { "content-type": "application/x-ndjson" };
/** Nearly what a body may have. */
const BYTES = 8_388_000;
/** Of processor time, which a busy machine does not stretch. Most need a tenth of it. */
const SOON_MS = 500;

type World = { readonly send: Ask; readonly operator: Ask };

async function world(t: TestContext): Promise<World> {
  const service = await startService(t);
  await service.store.importCustomers([customerRecord("c1")]);
  await service.store.importTanks([tankRecord("t1", "c1", { assigned_device_id: "d1" })]);
  return {
    send: asking(service, await service.key({ role: "ingest" })),
    operator: asking(service, await service.key({ role: "manage" })),
  };
}

const gzip = (ask: Ask, body: string, headers: Record<string, string> = {}) => {
  const packed = gzipSync(body);
  return soon(() => ask("POST", PATH, packed, { ...headers, "content-encoding": "gzip" }));
};
const reasons = ({ body }: Answered) =>
  (body["results"] as { readonly status: string; readonly reason?: string }[]).map(({ status, reason }) => reason ?? status);
const list = (entry: string, count: number) => `[${`${entry},`.repeat(count - 1)}${entry}]`;

async function soon(what: () => Promise<Answered>, most = SOON_MS): Promise<Answered> {
  const started = process.cpuUsage();
  const answer = await what();
  const { user, system } = process.cpuUsage(started);
  const took = (user + system) / 1000;
  assert.ok(took < most, `it took ${Math.round(took)} ms`);
  return answer;
}

const REFUSED: Readonly<Record<string, readonly [body: string, status: number, code: string, detail: RegExp]>> = {
  "brackets without end": ["[".repeat(BYTES), 400, "body_invalid", /deeper than 64 levels/],
  "brackets that close": [`${"[".repeat(BYTES / 2)}${"]".repeat(BYTES / 2)}`, 400, "body_invalid", /deeper than 64 levels/],
  "a list of nothing but objects": [list("{}", BYTES / 3), 413, "body_too_large", /at most 10000 readings/],
  "a payload of nothing but objects": [
    `{"device_id":"d1","payload":{"a":${list("{}", 2_700_000)}}}`,
    413,
    "body_too_large",
    /at most 524288 values/,
  ],
  "a payload of a million names": [
    `{"device_id":"d1","payload":{${Array.from({ length: 700_000 }, (_, i) => `"${i.toString(36)}":1`).join(",")}}}`,
    413,
    "body_too_large",
    /at most 524288 values/,
  ],
};

for (const [name, [body, status, code, detail]] of Object.entries(REFUSED)) {
  test(`refused soon: ${name}`, async (t) => {
    const { send } = await world(t);
    const answer = await gzip(send, body);
    assert.deepEqual([answer.status, answer.body["code"]], [status, code]);
    assert.match(String(answer.body["detail"]), detail);
  });
}

test("a payload has at most 16 KiB, and is refused by itself, whatever it is made of", async (t) => {
  const { send } = await world(t);
  const large = { a: Array.from({ length: 100_000 }, () => ({})) };
  const sent = await gzip(
    send,
    JSON.stringify([
      { device_id: "d1", payload: large },
      { tank_id: "t1", fill_percentage: 5 },
    ]),
  );
  assert.deepEqual(reasons(sent), ["payload: must have at most 16384 bytes as JSON, this one has 300007", "stored"]);
  const object = { a: "x".repeat(20_000) };
  const event = { deviceInfo: { devEui: "0101010101010101" }, fPort: 1, object };
  assert.match(reasons(await send("POST", "/ingest/v1/chirpstack", event))[0] ?? "", /^object: must have at most 16384 bytes/);
  const uplink = { end_device_ids: { device_id: "d1" }, uplink_message: { f_port: 1, decoded_payload: object } };
  assert.match(
    reasons(await send("POST", "/ingest/v1/tts", uplink))[0] ?? "",
    /^uplink_message\.decoded_payload: must have at most 16384 bytes/,
  );
});

test("lines: empty ones cost nothing, deep ones are refused by themselves, and too many are too many", async (t) => {
  const { send } = await world(t);
  assert.deepEqual(reasons(await gzip(send, "\n".repeat(BYTES), LINES)), []);
  const good = '{"tank_id":"t1","fill_percentage":5}';
  const mixed = `\ufeff\r\n \n${good}\r\n${"[".repeat(1_000_000)}\n\n  {"a" 1}`;
  assert.deepEqual(reasons(await gzip(send, mixed, LINES)), [
    "stored",
    "must not be nested deeper than 64 levels",
    "line 6 is not JSON: Expected ':' after property name in JSON at position 7",
  ]);
  const many = await gzip(send, "{}\n".repeat(10_001), LINES);
  assert.deepEqual([many.status, many.body["detail"]], [413, "A body here may have at most 10000 readings."]);
  const heavy = await gzip(send, `${list("1", 400)}\n`.repeat(9000), LINES);
  assert.deepEqual([heavy.status, heavy.body["detail"]], [413, "A body here may have at most 524288 values."]);
});

test("ten thousand names that nobody knows are told soon, the first ten with a guess", async (t) => {
  const { send } = await world(t);
  const items = Array.from({ length: 10_000 }, (_, i) => `{"fill_percentag${i}":1}`);
  const told = reasons(await gzip(send, `[${items.join(",")}]`));
  assert.equal(told.filter((reason) => reason.includes("Did you mean")).length, 10);
  assert.equal(told.at(-1), 'unknown field "fill_percentag9999"');
});

test("provisioning tells the first of many thousand faults soon, and that there are more", async (t) => {
  const { operator } = await world(t);
  const names = Array.from({ length: 400_000 }, (_, i) => `"xxxxxxxxxx${i.toString(36)}":0`);
  const body = `{"tanks":[{"shape":{"kind":"upright",${names.join(",")}}}]}`;
  const answer = await soon(() => operator("POST", "/manage/v1/provision?dry_run=true", body), 6 * SOON_MS);
  const errors = answer.body["errors"] as { readonly field: string }[];
  assert.equal(answer.status, 400);
  assert.ok(errors.length < 100, `${errors.length} faults`);
  const rows = Array.from({ length: 2000 }, () => ({ nmae: "x" }));
  const many = await operator("POST", "/manage/v1/provision?dry_run=true", { customers: rows });
  assert.match(String(many.body["detail"]), /The body has more than 1000 errors: see "errors" for the first 1000\.$/);
});

test("what is nested deep is refused wherever it is sent", async (t) => {
  const { send, operator } = await world(t);
  for (const levels of [65, 500, 5000, 100_000]) {
    const deep = `{"name":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    const answers = [
      await operator("POST", "/manage/v1/customers", deep),
      await operator("POST", "/manage/v1/customers", deep, { "idempotency-key": `k${levels}` }),
      await operator("PATCH", "/manage/v1/devices/d1", deep),
      await operator("PATCH", "/manage/v1/tanks/t1", deep),
      await operator("POST", "/manage/v1/provision", deep),
      await operator("POST", "/manage/v1/keys", deep),
      await send("POST", "/ingest/v1/chirpstack", deep),
      await send("POST", "/ingest/v1/tts", deep),
    ];
    for (const { status, body } of answers) assert.deepEqual([status, body["code"]], [400, "body_invalid"], JSON.stringify(body));
  }
  assert.equal((await operator("GET", "/manage/v1/fleet")).status, 200);
});
