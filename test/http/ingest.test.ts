// POST /ingest/v1/*, as a sender sees it.

import assert from "node:assert/strict";
import { after, it } from "node:test";
import { gzipSync } from "node:zlib";
import { manualClock } from "../support/clock.ts";
import { customerRecord, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { expectStatus, type JsonResponse, jsonClient } from "./client.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const PATH = "/ingest/v1/readings";

const service = await startService({ after }, { clock: manualClock(NOW).clock });
const send = jsonClient(service, await service.key({ role: "ingest" }));
const manage = jsonClient(service, await service.key({ role: "manage" }));
await service.store.importCustomers([customerRecord("c1"), customerRecord("c2")]);

let count = 0;
/** A tank of a customer with a device of its own: an EUI in upper case. */
async function createTank(owner = "c1"): Promise<{ tank: string; eui: string }> {
  const tank = `t${++count}`;
  const eui = `a84041c2f18${String(count).padStart(5, "0")}`;
  await service.store.importTanks([tankRecord(tank, owner, { assigned_device_id: eui.toUpperCase() })]);
  return { tank, eui };
}

const results = ({ body }: JsonResponse) => body["results"] as { readonly status: string; readonly reason?: string }[];
const outcomes = (response: JsonResponse) => results(response).map(({ status }) => status);

async function telemetry(tank: string): Promise<unknown[]> {
  const { body } = await manage("GET", `/v1/tanks/${tank}/telemetry?size=100`);
  return (body["data"] as { created_at: string; fill_percentage: number }[]).map((one) => [one.created_at, one.fill_percentage]);
}

it("stores one reading, a list, and lines, by tank or device, whatever the case of its EUI", async () => {
  const { tank, eui } = await createTank();
  const one = await send("POST", PATH, { tank_id: tank, created_at: "2026-11-01T00:00:00Z", fill_percentage: 1 });
  assert.deepEqual(expectStatus(one, 200), { object: "results", results: [{ status: "stored" }] });
  assert.equal(one.headers["cache-control"], "no-store");
  const list = [
    { device_id: eui, created_at: "2026-11-02T00:00:00Z", fill_percentage: 2 },
    { device_id: eui.toUpperCase(), created_at: "2026-11-03T00:00:00Z", fill_percentage: 3 },
  ];
  assert.deepEqual(outcomes(await send("POST", PATH, list)), ["stored", "stored"]);
  const first = JSON.stringify({ tank_id: tank, created_at: "2026-11-04T00:00:00Z", fill_percentage: 4 });
  const lines = `${first}\nnonsense\n\n{"tank_id":"${tank}","fill_percentage":5}\n`;
  const sent = await send("POST", PATH, lines, { "content-type": "application/x-ndjson" });
  assert.deepEqual(outcomes(sent), ["stored", "rejected", "stored"]);
  assert.deepEqual(await telemetry(tank), [
    ["2026-11-14T09:30:00.000Z", 5],
    ["2026-11-04T00:00:00.000Z", 4],
    ["2026-11-03T00:00:00.000Z", 3],
    ["2026-11-02T00:00:00.000Z", 2],
    ["2026-11-01T00:00:00.000Z", 1],
  ]);
});

it("stores a repeated reading once, and replaces the value of an instant", async () => {
  const { tank } = await createTank();
  const reading = { tank_id: tank, created_at: "2026-11-01T00:00:00Z", fill_percentage: 50 };
  assert.deepEqual(outcomes(await send("POST", PATH, [reading, reading])), ["stored", "duplicate"]);
  assert.deepEqual(outcomes(await send("POST", PATH, { ...reading, fill_percentage: 51 })), ["replaced"]);
  assert.deepEqual(await telemetry(tank), [["2026-11-01T00:00:00.000Z", 51]]);
});

it("rejects each invalid reading by itself, with a reason; the status is 200 even if all are rejected", async () => {
  const { tank, eui } = await createTank();
  const valid = { tank_id: tank, fill_percentage: 50 };
  const invalid: [unknown, RegExp][] = [
    [{ ...valid, fill_percentage: 101 }, /^fill_percentage: must be from 0 to 100/],
    [{ ...valid, device_id: eui }, /only one/],
    [{ ...valid, tank_id: "nobody" }, /^tank_id: there is no tank/],
    [{ ...valid, created_at: "2026-11-14T09:40:00.001Z" }, /^created_at: must be at most 10 minutes in the future/],
    [null, /must be an object/],
  ];
  const latest = { ...valid, created_at: "2026-11-14T09:40:00Z" };
  const sent = await send("POST", PATH, [valid, latest, ...invalid.map(([item]) => item)]);
  assert.equal(sent.status, 200);
  assert.deepEqual(outcomes(sent), ["stored", "stored", ...invalid.map(() => "rejected")]);
  for (const [i, [item, reason]] of invalid.entries())
    assert.match(results(sent)[i + 2]?.reason ?? "", reason, JSON.stringify(item));
  const rejected = await send("POST", PATH, [{}, {}]);
  assert.deepEqual([rejected.status, outcomes(rejected)], [200, ["rejected", "rejected"]]);
});

it("accepts gzip and up to 10,000 readings", async () => {
  const { tank } = await createTank();
  const many = Array.from({ length: 10_001 }, (_, i) => ({
    tank_id: tank,
    created_at: new Date(i * 1000).toISOString(),
    fill_percentage: 1,
  }));
  const compressed = gzipSync(JSON.stringify(many.slice(1)));
  const sent = outcomes(await send("POST", PATH, compressed, { "content-encoding": "gzip" }));
  assert.equal(sent.filter((status) => status === "stored").length, 10_000);
  expectStatus(await send("POST", PATH, many), 413, "body_too_large");
});

it("a long list is parsed in pieces, and rejected as a whole if it is not JSON", async () => {
  const { tank } = await createTank();
  const reading = (i: number) => ({
    tank_id: tank,
    created_at: new Date(i * 1000).toISOString(),
    fill_percentage: 1,
    payload: null,
  });
  const entries = Array.from({ length: 400 }, (_, i) => JSON.stringify(reading(i)));
  const many = entries.join(",");
  const spaces = " ".repeat(20_000);
  for (const body of [
    `[${many},]`,
    `[${many}`,
    `[${many},,${many}]`,
    `[${many},${spaces},${many}]`,
    `[${spaces},${many}]`,
    `[${many}],[${many}]`,
    `[${many}}`,
    `1[${many}]`,
    `[${many},{"tank_id":"a}]`,
  ]) {
    const { detail } = expectStatus(await send("POST", PATH, body), 400, "body_malformed");
    assert.match(String(detail), /^The body is not JSON: .*\.$/, `${body.slice(0, 20)}…${body.slice(-20)}`);
  }
  const malformed = await send("POST", PATH, `[${many},{"tank_id":x}]`);
  assert.match(String(malformed.body["detail"]), /Unexpected token 'x'.*, after reading (2\d\d|3\d\d)\.$/);
  const sent = await send("POST", PATH, `\ufeff [${many}${spaces},{},${many} , [1,2],"a,b" \n] `);
  assert.deepEqual(
    results(sent).map(({ reason }) => reason?.slice(0, 22)),
    [...entries, "{}", ...entries, "[1,2]", "a"].map((entry) =>
      entry === "{}" ? "tank_id or device_id: " : entry.length > 9 ? "fill_percentage and pa" : "must be an object",
    ),
  );
});

it("keeps readings of an unknown device until it has a tank", async () => {
  const reading = (hour: number) => ({ device_id: "new", created_at: `2026-11-01T0${hour}:00:00Z`, fill_percentage: hour });
  const sent = await send("POST", PATH, [reading(1), reading(2), reading(1)]);
  assert.deepEqual(outcomes(sent), ["pending", "pending", "pending"]);
  const { body } = await manage("GET", "/manage/v1/devices?pending=true");
  const device = { id: "new", object: "device", tank_id: null, since: null, profile: null, pending: 2, dropped: 0 };
  assert.deepEqual(body["data"], [device]);
  const tank = { id: "assigned", owner_id: "c1", name: "Third", capacity: 100, capacity_unit: "liters" };
  const created = { ...tank, min_fill_alert_percentage: 10, assigned_device_id: "new" };
  expectStatus(await manage("POST", "/manage/v1/tanks", created), 201);
  assert.equal((await telemetry("assigned")).length, 2);
  assert.equal((await manage("GET", "/manage/v1/devices?pending=true")).body["total_items"], 0);
});

it("a key of one device sends for it only; a key of one customer for that customer's tanks only", async () => {
  const [own, other] = [await createTank("c1"), await createTank("c2")];
  const ofDevice = jsonClient(service, await service.key({ role: "ingest", deviceId: own.eui }));
  const sent = [
    { device_id: own.eui, fill_percentage: 1 },
    { device_id: other.eui, fill_percentage: 1 },
    { tank_id: own.tank, fill_percentage: 1 },
  ];
  assert.deepEqual(outcomes(await ofDevice("POST", PATH, sent)), ["stored", "rejected", "rejected"]);
  const ofCustomer = jsonClient(service, await service.key({ role: "ingest", customerId: "c2" }));
  const tried = await ofCustomer("POST", PATH, [
    { tank_id: other.tank, fill_percentage: 2 },
    { tank_id: own.tank, fill_percentage: 2 },
    { tank_id: "nobody", fill_percentage: 2 },
    { device_id: own.eui, fill_percentage: 2 },
    { device_id: "stranger", fill_percentage: 2 },
  ]);
  assert.deepEqual(outcomes(tried), ["stored", "rejected", "rejected", "rejected", "rejected"]);
  const [, foreignTank, noTank, foreignDevice, noDevice] = results(tried);
  assert.equal(foreignTank?.reason, noTank?.reason, "another customer's tank is as unknown as one that does not exist");
  assert.equal(foreignDevice?.reason, noDevice?.reason);
});

it("requires an ingest or manage key and POST, and an ingest key may do nothing else", async () => {
  const reader = jsonClient(service, await service.key({ role: "read" }));
  expectStatus(await reader("POST", PATH, []), 403, "role_insufficient");
  expectStatus(await jsonClient(service, "nonsense")("POST", PATH, []), 401, "key_invalid");
  const response = await send("GET", PATH);
  assert.deepEqual([response.status, response.headers.allow], [405, "POST"]);
  for (const path of ["/v1/tanks", "/insight/v1/fleet", "/metrics"]) expectStatus(await send("GET", path), 403);
});

it("interprets ChirpStack uplinks by the profile of the device, and ignores other events", async () => {
  const { tank, eui } = await createTank();
  const path = "/ingest/v1/chirpstack";
  const time = "2026-11-01T00:00:00.775023242+00:00";
  const uplink = { time, deviceInfo: { devEui: eui }, fPort: 85, object: { battery: 100, distance: 500 } };
  assert.deepEqual(outcomes(await send("POST", `${path}?event=up`, uplink)), ["pending"]);
  const shape = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };
  const put = await manage("PUT", `/manage/v1/devices/${eui.toUpperCase()}`, { profile: "milesight-em500-udl", shape });
  assert.deepEqual([put.status, put.body["id"], put.body["pending"]], [200, eui, 0]);
  assert.deepEqual(await telemetry(tank), [["2026-11-01T00:00:00.775Z", 75]]);
  assert.deepEqual(outcomes(await send("POST", path, uplink)), ["duplicate"]);
  const invalid = await send("POST", path, { ...uplink, object: { distance: 65535 } });
  assert.match(results(invalid)[0]?.reason ?? "", /65535/);
  assert.deepEqual(outcomes(await send("POST", path, { ...uplink, object: { battery: 99 } })), ["rejected"]);
  assert.deepEqual(outcomes(await send("POST", `${path}?event=join`, { deviceInfo: { devEui: eui } })), []);
});

it("stores uplinks of The Things Stack, and ignores other messages", async () => {
  const { tank, eui } = await createTank();
  const uplink = {
    end_device_ids: { device_id: "tank-1", dev_eui: eui.toUpperCase() },
    received_at: "2026-11-01T00:00:00.775023242Z",
    uplink_message: { f_port: 2, decoded_payload: { fill_percentage: 12.5 } },
  };
  assert.deepEqual(outcomes(await send("POST", "/ingest/v1/tts", uplink)), ["stored"]);
  assert.deepEqual(outcomes(await send("POST", "/ingest/v1/tts", { ...uplink, uplink_message: {} })), []);
  assert.deepEqual(await telemetry(tank), [["2026-11-01T00:00:00.775Z", 12.5]]);
});
