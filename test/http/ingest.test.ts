// POST /ingest/v1/*: what a sender sees.

import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { heldClock } from "../support/clock.ts";
import { customerRecord, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { type Ask, asking } from "./asked.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const EUI = "a84041c2f1827d3e";
const PATH = "/ingest/v1/readings";

type World = {
  readonly send: Ask;
  readonly operator: Ask;
  readonly key: Awaited<ReturnType<typeof startService>>["key"];
  readonly url: string;
};

async function world(t: TestContext): Promise<World> {
  const service = await startService(t, { clock: heldClock(NOW).clock });
  await service.store.importCustomers([customerRecord("c1"), customerRecord("c2")]);
  await service.store.importTanks([
    tankRecord("t1", "c1", { assigned_device_id: EUI.toUpperCase() }),
    tankRecord("t2", "c2", { assigned_device_id: "d2" }),
  ]);
  const send = asking(service, await service.key({ role: "ingest" }));
  const operator = asking(service, await service.key({ role: "manage" }));
  return { send, operator, key: service.key, url: service.url };
}

const results = (answer: { readonly body: { readonly [name: string]: unknown } }) =>
  answer.body["results"] as { readonly status: string; readonly reason?: string }[];
const statuses = (answer: Parameters<typeof results>[0]) => results(answer).map(({ status }) => status);

async function telemetry({ operator }: World, tank: string): Promise<unknown[]> {
  const { body } = await operator("GET", `/v1/tanks/${tank}/telemetry?size=100`);
  return (body["data"] as { created_at: string; fill_percentage: number }[]).map((one) => [one.created_at, one.fill_percentage]);
}

test("one reading, a list and lines are all taken, by tank and by device, whatever the case of its EUI", async (t) => {
  const here = await world(t);
  const one = await here.send("POST", PATH, { tank_id: "t1", created_at: "2026-11-01T00:00:00Z", fill_percentage: 1 });
  assert.equal(one.status, 200);
  assert.deepEqual(one.body, { object: "results", results: [{ status: "stored" }] });
  assert.equal(one.headers.get("cache-control"), "no-store");
  const list = [
    { device_id: EUI, created_at: "2026-11-02T00:00:00Z", fill_percentage: 2 },
    { device_id: EUI.toUpperCase(), created_at: "2026-11-03T00:00:00Z", fill_percentage: 3 },
  ];
  assert.deepEqual(statuses(await here.send("POST", PATH, list)), ["stored", "stored"]);
  const lines = `{"tank_id":"t1","created_at":"2026-11-04T00:00:00Z","fill_percentage":4}\nnonsense\n\n{"tank_id":"t1","fill_percentage":5}\n`;
  const sent = await here.send("POST", PATH, lines, { "content-type": "application/x-ndjson" });
  assert.deepEqual(statuses(sent), ["stored", "rejected", "stored"]);
  assert.deepEqual(await telemetry(here, "t1"), [
    ["2026-11-14T09:30:00.000Z", 5],
    ["2026-11-04T00:00:00.000Z", 4],
    ["2026-11-03T00:00:00.000Z", 3],
    ["2026-11-02T00:00:00.000Z", 2],
    ["2026-11-01T00:00:00.000Z", 1],
  ]);
});

test("sent twice is stored once, and another value for the instant replaces the first", async (t) => {
  const here = await world(t);
  const reading = { tank_id: "t1", created_at: "2026-11-01T00:00:00Z", fill_percentage: 50 };
  assert.deepEqual(statuses(await here.send("POST", PATH, [reading, reading])), ["stored", "duplicate"]);
  assert.deepEqual(statuses(await here.send("POST", PATH, { ...reading, fill_percentage: 51 })), ["replaced"]);
  assert.deepEqual(await telemetry(here, "t1"), [["2026-11-01T00:00:00.000Z", 51]]);
});

test("from 1970 up to ten minutes ahead is taken; what is beyond is refused by itself, with a reason", async (t) => {
  const here = await world(t);
  const at = (created_at: string) => ({ tank_id: "t1", created_at, fill_percentage: 50 });
  const sent = await here.send("POST", PATH, [
    at("1970-01-01T00:00:00Z"),
    at("2026-11-14T09:40:00Z"),
    at("1969-12-31T23:59:59.999Z"),
    at("2026-11-14T09:40:00.001Z"),
  ]);
  assert.deepEqual(statuses(sent), ["stored", "stored", "rejected", "rejected"]);
  assert.match(results(sent)[2]?.reason ?? "", /^created_at: must not be before 1970/);
  assert.match(results(sent)[3]?.reason ?? "", /^created_at: must be at most 10 minutes in the future/);
});

test("each bad reading is told why, and spoils nothing around it", async (t) => {
  const here = await world(t);
  const good = { tank_id: "t1", fill_percentage: 50 };
  const bad: [unknown, RegExp][] = [
    [{ ...good, fill_percentage: 101 }, /^fill_percentage: must be from 0 to 100/],
    [{ ...good, fill_percentage: "50" }, /^fill_percentage: must be a number/],
    [{ fill_percentage: 50 }, /^tank_id or device_id/],
    [{ ...good, device_id: EUI }, /only one/],
    [{ ...good, tank_id: "nobody" }, /^tank_id: there is no tank/],
    [{ ...good, colour: "red" }, /unknown field "colour"/],
    [{ ...good, created_at: "yesterday" }, /^created_at/],
    [{ tank_id: "t1" }, /^fill_percentage or payload/],
    [7, /must be an object/],
    [null, /must be an object/],
  ];
  const sent = await here.send("POST", PATH, [good, ...bad.map(([item]) => item)]);
  assert.equal(sent.status, 200);
  assert.deepEqual(statuses(sent), ["stored", ...bad.map(() => "rejected")]);
  for (const [i, [item, words]] of bad.entries()) assert.match(results(sent)[i + 1]?.reason ?? "", words, JSON.stringify(item));
});

test("all refused is still 200", async (t) => {
  const here = await world(t);
  const sent = await here.send("POST", PATH, [{}, {}]);
  assert.deepEqual([sent.status, statuses(sent)], [200, ["rejected", "rejected"]]);
});

test("what is packed with gzip is unpacked", async (t) => {
  const here = await world(t);
  const packed = gzipSync(JSON.stringify([{ tank_id: "t1", fill_percentage: 9 }]));
  assert.deepEqual(statuses(await here.send("POST", PATH, packed, { "content-encoding": "gzip" })), ["stored"]);
});

test("ten thousand readings are taken at once, and one more is too many", async (t) => {
  const here = await world(t);
  const many = Array.from({ length: 10_001 }, (_, i) => ({
    tank_id: "t1",
    created_at: new Date(i * 1000).toISOString(),
    fill_percentage: 1,
  }));
  const sent = await here.send("POST", PATH, many.slice(1));
  assert.equal(results(sent).length, 10_000);
  assert.ok(statuses(sent).every((status) => status === "stored"));
  const refused = await here.send("POST", PATH, many);
  assert.deepEqual([refused.status, refused.body["code"]], [413, "body_too_large"]);
});

test("readings of an unknown device wait, are listed, and come in with their tank", async (t) => {
  const here = await world(t);
  const of = (hour: number) => ({ device_id: "new", created_at: `2026-11-01T0${hour}:00:00Z`, fill_percentage: hour });
  assert.deepEqual(statuses(await here.send("POST", PATH, [of(1), of(2), of(1)])), ["waiting", "waiting", "waiting"]);
  const { body } = await here.operator("GET", "/manage/v1/devices?waiting=true");
  assert.deepEqual(body["data"], [
    { id: "new", object: "device", tank_id: null, since: null, profile: null, waiting: 2, dropped: 0 },
  ]);
  const made = await here.operator("POST", "/manage/v1/tanks", {
    id: "t3",
    owner_id: "c1",
    name: "Third",
    capacity: 100,
    capacity_unit: "liters",
    min_fill_alert_percentage: 10,
    assigned_device_id: "new",
  });
  assert.equal(made.status, 201);
  assert.equal((await telemetry(here, "t3")).length, 2);
  assert.equal((await here.operator("GET", "/manage/v1/devices?waiting=true")).body["total_items"], 0);
});

test("a key for one device sends for it alone, and one for a customer reaches that customer's tanks alone", async (t) => {
  const here = await world(t);
  const ofDevice = asking(here, await here.key({ role: "ingest", deviceId: EUI }));
  const sent = [
    { device_id: EUI, fill_percentage: 1 },
    { device_id: "d2", fill_percentage: 1 },
    { tank_id: "t1", fill_percentage: 1 },
  ];
  assert.deepEqual(statuses(await ofDevice("POST", PATH, sent)), ["stored", "rejected", "rejected"]);
  const ofCustomer = asking(here, await here.key({ role: "ingest", customerId: "c2" }));
  const tried = await ofCustomer("POST", PATH, [
    { tank_id: "t2", fill_percentage: 2 },
    { tank_id: "t1", fill_percentage: 2 },
    { tank_id: "nobody", fill_percentage: 2 },
    { device_id: EUI, fill_percentage: 2 },
    { device_id: "stranger", fill_percentage: 2 },
  ]);
  assert.deepEqual(statuses(tried), ["stored", "rejected", "rejected", "rejected", "rejected"]);
  const [, other, nobody, device, stranger] = results(tried);
  assert.equal(other?.reason, nobody?.reason, "somebody else's tank is as if it were not there");
  assert.equal(device?.reason, stranger?.reason, "and so is a device");
});

test("who may not send is refused, and nothing is read of the body", async (t) => {
  const here = await world(t);
  const reader = asking(here, await here.key({ role: "read" }));
  assert.equal((await reader("POST", PATH, { tank_id: "t1", fill_percentage: 1 })).status, 403);
  assert.equal((await asking(here, "nonsense")("POST", PATH, [])).status, 401);
  const answer = await here.send("GET", PATH);
  assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "POST"]);
});

test("an ingest key does nothing else", async (t) => {
  const here = await world(t);
  for (const path of ["/v1/tanks", "/manage/v1/fleet", "/metrics"])
    assert.equal((await here.send("GET", path)).status, 403, path);
});

test("a ChirpStack uplink is read by the device's profile; its other events are let pass", async (t) => {
  const here = await world(t);
  const up = {
    time: "2026-11-01T00:00:00.775023242+00:00",
    deviceInfo: { devEui: EUI },
    fPort: 85,
    object: { battery: 100, distance: 500 },
  };
  assert.deepEqual(statuses(await here.send("POST", "/ingest/v1/chirpstack?event=up", up)), ["waiting"]);
  const shape = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };
  const put = await here.operator("PUT", `/manage/v1/devices/${EUI.toUpperCase()}`, { profile: "milesight-em500-udl", shape });
  assert.deepEqual([put.status, put.body["id"], put.body["waiting"]], [200, EUI, 0]);
  assert.deepEqual(await telemetry(here, "t1"), [["2026-11-01T00:00:00.775Z", 75]]);
  assert.deepEqual(statuses(await here.send("POST", "/ingest/v1/chirpstack", up)), ["duplicate"]);
  const invalid = await here.send("POST", "/ingest/v1/chirpstack", { ...up, object: { distance: 65535 } });
  assert.match(results(invalid)[0]?.reason ?? "", /65535/);
  assert.deepEqual(statuses(await here.send("POST", "/ingest/v1/chirpstack", { ...up, object: { battery: 99 } })), ["rejected"]);
  assert.deepEqual(statuses(await here.send("POST", "/ingest/v1/chirpstack?event=join", { deviceInfo: { devEui: EUI } })), []);
});

test("an uplink of The Things Stack is read; what is no uplink is let pass", async (t) => {
  const here = await world(t);
  const up = {
    end_device_ids: { device_id: "tank-1", dev_eui: EUI.toUpperCase() },
    received_at: "2026-11-01T00:00:00.775023242Z",
    uplink_message: { f_port: 2, decoded_payload: { fill_percentage: 12.5 } },
  };
  assert.deepEqual(statuses(await here.send("POST", "/ingest/v1/tts", up)), ["stored"]);
  assert.deepEqual(statuses(await here.send("POST", "/ingest/v1/tts", { ...up, uplink_message: {} })), []);
  assert.deepEqual(await telemetry(here, "t1"), [["2026-11-01T00:00:00.775Z", 12.5]]);
});
