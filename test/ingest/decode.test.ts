// Messages in our own format and from network servers, decoded to readings.

import assert from "node:assert/strict";
import test from "node:test";
import { MAX_READINGS, type Rejected } from "../../src/domain/reading.ts";
import {
  BatchContext,
  createMqttMessage,
  decodeChirpstack,
  decodeDeviceReadings,
  decodeIncomingReading,
  decodeMqttMessage,
  decodeTts,
  matchTopic,
  TOPIC_FILTERS,
} from "../../src/ingest/decode.ts";
import type { IncomingReading } from "../../src/ingest/ingest.ts";
import {
  altered,
  CHIRPSTACK_DOCUMENTED,
  CHIRPSTACK_EM500_UDL,
  CHIRPSTACK_JOIN,
  TTS_DOCUMENTED,
  TTS_JOIN,
  ttsUplink,
} from "./network-servers.ts";

const NOW = Date.parse("2026-11-14T09:30:00.000Z");
const AT = Date.parse("2026-11-14T06:00:00.123Z");
const AT_TEXT = "2026-11-14T06:00:00.123Z";
const DATETIME = 'must be a datetime such as "2026-11-14T09:30:00Z"';

const decode = (item: unknown) => decodeIncomingReading(item, new BatchContext(NOW));
const read = (topic: string, text: string | Buffer) => decodeMqttMessage(createMqttMessage(topic, Buffer.from(text), NOW));
const reading = (source: IncomingReading["source"], fill: number, createdAt = NOW): IncomingReading => ({
  source,
  createdAt,
  measurement: { fill },
});
const uplink = (deviceId: string, createdAt: number, payload: object): IncomingReading => ({
  source: { deviceId },
  createdAt,
  measurement: { payload: JSON.stringify(payload) },
});
const reasonOf = (value: IncomingReading | Rejected | undefined) =>
  value !== undefined && "rejected" in value ? value.rejected : undefined;

test("a reading names its tank or its device; without a time, the time of receipt counts", () => {
  assert.deepEqual(decode({ tank_id: "t1", fill_percentage: 63.4 }), reading({ tankId: "t1" }, 63.4));
  assert.deepEqual(decode({ device_id: "d1", fill_percentage: 0, created_at: AT_TEXT }), reading({ deviceId: "d1" }, 0, AT));
});

test("EUIs of devices become lower case, tank ids stay as they are", () => {
  const fill_percentage = 1;
  assert.deepEqual(decode({ device_id: "0004A30B001C0530", fill_percentage }), reading({ deviceId: "0004a30b001c0530" }, 1));
  assert.deepEqual(decode({ tank_id: "0004A30B001C0530", fill_percentage }), reading({ tankId: "0004A30B001C0530" }, 1));
});

test("a fill is any number from 0 to 100, kept exactly; -0 becomes 0", () => {
  for (const fill of [0, 100, 63.400000000000006, 5e-324]) {
    assert.deepEqual(decode({ tank_id: "t", fill_percentage: fill }), reading({ tankId: "t" }, fill));
  }
  const zero = decode({ tank_id: "t", fill_percentage: -0 });
  assert.ok("measurement" in zero && "fill" in zero.measurement && Object.is(zero.measurement.fill, 0));
});

test("times are RFC 3339, rounded down to the millisecond", () => {
  for (const [text, at] of [
    ["2026-11-14T06:00:00.1239Z", AT],
    ["2026-11-14T07:00:00.123+01:00", AT],
    ["2026-11-14", Date.parse("2026-11-14")],
  ] as const) {
    assert.deepEqual(decode({ tank_id: "t", fill_percentage: 1, created_at: text }), reading({ tankId: "t" }, 1, at));
  }
});

test("a payload may replace the fill", () => {
  const payload = { distance: 1230, nested: { battery: [3.6] } };
  assert.deepEqual(decode({ device_id: "d1", payload }), uplink("d1", NOW, payload));
  assert.deepEqual(decodeDeviceReadings("d1", { payload }, NOW), [uplink("d1", NOW, payload)]);
});

const OTHER_VALUES = 'Sensor values other than a percentage belong in "payload".';

for (const [item, reason] of [
  [null, "must be an object"],
  [[], "must be an object"],
  ["63", "must be an object"],
  [{ fill_percentage: 1 }, "tank_id or device_id: one of them is required"],
  [{ tank_id: "t", device_id: "d", fill_percentage: 1 }, "tank_id and device_id: only one of them is allowed"],
  [{ tank_id: 7, fill_percentage: 1 }, "tank_id: must be a string"],
  [{ tank_id: null, fill_percentage: 1 }, "tank_id: must not be null"],
  [{ tank_id: "", fill_percentage: 1 }, "tank_id: must not be empty"],
  [{ tank_id: ".", fill_percentage: 1 }, 'tank_id: must not be "." or ".."'],
  [{ device_id: "..", fill_percentage: 1 }, 'device_id: must not be "." or ".."'],
  [{ device_id: "x".repeat(129), fill_percentage: 1 }, "device_id: must have at most 128 characters"],
  [{ device_id: "a\nb", fill_percentage: 1 }, "device_id: must not contain control characters or broken Unicode"],
  [{ device_id: "\ud800", fill_percentage: 1 }, "device_id: must not contain control characters or broken Unicode"],
  [{ tank_id: "t" }, "fill_percentage or payload: one of them is required"],
  [{ device_id: "d", fill_percentage: 1, payload: {} }, "fill_percentage and payload: only one of them is allowed"],
  [{ tank_id: "t", payload: {} }, "payload: requires device_id, because the device's profile says how to interpret it"],
  [{ device_id: "d", payload: [] }, "payload: must be an object"],
  [{ device_id: "d", payload: null }, "payload: must not be null"],
  [{ tank_id: "t", fill_percentage: "63" }, "fill_percentage: must be a number"],
  [{ tank_id: "t", fill_percentage: null }, "fill_percentage: must not be null"],
  [{ tank_id: "t", fill_percentage: Number.POSITIVE_INFINITY }, "fill_percentage: must be a number"],
  [{ tank_id: "t", fill_percentage: 100.1 }, "fill_percentage: must be from 0 to 100"],
  [{ tank_id: "t", fill_percentage: -0.1 }, "fill_percentage: must be from 0 to 100"],
  [{ tank_id: "t", fill_percentage: 1, created_at: "yesterday" }, `created_at: ${DATETIME}`],
  [{ tank_id: "t", fill_percentage: 1, created_at: 1_762_000_000 }, "created_at: must be a string"],
  [{ tank_id: "t", fill_percentage: 1, created_at: null }, "created_at: must not be null"],
  [{ tank_id: "t", fill: 1 }, 'unknown field "fill". Did you mean "fill_percentage"?'],
  [{ tank_id: "t", timestamp: AT_TEXT }, 'unknown field "timestamp". Did you mean "created_at"?'],
  [{ tank_id: "t", fill_percent: 1 }, 'unknown field "fill_percent". Did you mean "fill_percentage"?'],
  [{ devise_id: "d" }, 'unknown field "devise_id". Did you mean "device_id"?'],
  [{ device_id: "d", distance: 412 }, `unknown field "distance". ${OTHER_VALUES}`],
  [JSON.parse('{"__proto__":1,"tank_id":"t","fill_percentage":1}'), `unknown field "__proto__". ${OTHER_VALUES}`],
  [{ deviceInfo: { devEui: "a84041c2f1827d3e" } }, "this is a ChirpStack event; send it to /ingest/v1/chirpstack"],
  [{ end_device_ids: {} }, "this is a message from The Things Stack; send it to /ingest/v1/tts"],
] as const) {
  test(`rejected: ${reason} (${JSON.stringify(item).slice(0, 60)})`, () => {
    assert.equal(reasonOf(decode(item)), reason);
  });
}

test("a payload has at most 32 levels, and 16 KiB as JSON", () => {
  const reason = (payload: unknown) => reasonOf(decode({ device_id: "d", payload }));
  const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
  assert.equal(reason(nested(32)), undefined);
  for (const levels of [33, 100_000]) {
    assert.equal(reason(nested(levels)), "payload: must not be nested deeper than 32 levels");
  }
  assert.equal(reason({ a: "x".repeat(16_384 - 8) }), undefined);
  assert.equal(reason({ a: "x".repeat(16_384 - 7) }), "payload: must have at most 16384 bytes as JSON, this one has 16385");
});

test("one reading per device or tank may omit its time", () => {
  const timeRequired = {
    rejected: "created_at: is required for all but one of the readings of the same tank or device that are sent together",
  };
  const of = { deviceId: "d1" };
  const list = [{ fill_percentage: 1 }, { fill_percentage: 2 }, { fill_percentage: 3, created_at: AT_TEXT }];
  assert.deepEqual(decodeDeviceReadings("d1", list, NOW), [reading(of, 1), timeRequired, reading(of, 3, AT)]);
  const context = new BatchContext(NOW);
  const together = [{ device_id: "A" }, { tank_id: "A" }, { device_id: "A" }, { tank_id: "B" }, { tank_id: "A" }];
  const isRejectedEach = together.map((one) => "rejected" in decodeIncomingReading({ ...one, fill_percentage: 1 }, context));
  assert.deepEqual(isRejectedEach, [false, false, true, false, true]);
});

test("only the first ten unknown names of a batch get a suggestion", () => {
  const context = new BatchContext(NOW);
  const reason = (name: string) => reasonOf(decodeIncomingReading({ [name]: 1 }, context));
  const names = Array.from({ length: 11 }, (_, i) => `fill_percentag${i}`);
  const guessed = names.map((name) => reason(name)?.endsWith('Did you mean "fill_percentage"?'));
  assert.deepEqual(guessed, [...Array(10).fill(true), false]);
  assert.equal(reason("fill_percentag0"), 'unknown field "fill_percentag0". Did you mean "fill_percentage"?');
  assert.equal(reason("fill_percentag10"), 'unknown field "fill_percentag10"');
});

test("a device sends one reading or a list, each with its own result, and does not name itself again", () => {
  const of = { deviceId: "d1" };
  assert.deepEqual(decodeDeviceReadings("d1", { fill_percentage: 5 }, NOW), [reading(of, 5)]);
  assert.deepEqual(decodeDeviceReadings("d1", [{ fill_percentage: 5, created_at: AT_TEXT }, { fill_percentage: 101 }, 7], NOW), [
    reading(of, 5, AT),
    { rejected: "fill_percentage: must be from 0 to 100" },
    { rejected: "must be an object" },
  ]);
  assert.deepEqual(decodeDeviceReadings("d1", [], NOW), []);
  const named = ["device_id", "devise_id"].map((name) => decodeDeviceReadings("d1", { [name]: "d1" }, NOW)[0]);
  assert.deepEqual(named.map(reasonOf), [
    'unknown field "device_id". The topic names the device.',
    `unknown field "devise_id". ${OTHER_VALUES}`,
  ]);
  assert.deepEqual(decodeDeviceReadings("", { fill_percentage: 5 }, NOW), [{ rejected: "device_id: must not be empty" }]);
});

test("a list that is too long is rejected as a whole", () => {
  const item = { fill_percentage: 5, created_at: AT_TEXT };
  assert.equal(decodeDeviceReadings("d1", Array(MAX_READINGS).fill(item), NOW).length, MAX_READINGS);
  assert.deepEqual(decodeDeviceReadings("d1", Array(MAX_READINGS + 1).fill(item), NOW), [
    { rejected: "a message must have at most 10000 readings, this one has 10001" },
  ]);
});

test("a topic gives the format and the device, and is subscribed to", () => {
  for (const [topic, format, device] of [
    ["tanks/d1/readings", "readings", "d1"],
    ["tanks/a%2Fb/readings", "readings", "a%2Fb"],
    ["application/17c82e96/device/24e124713b493604/event/up", "chirpstack", "24e124713b493604"],
    ["v3/app1@ttn/devices/dev1/up", "tts", "dev1"],
    ["v3/app1/devices/dev1/up", "tts", "dev1"],
  ]) {
    assert.deepEqual(matchTopic(topic ?? ""), { format, device });
  }
  for (const filter of TOPIC_FILTERS) {
    const match = matchTopic(filter.replaceAll("+", "x"));
    assert.ok(match !== undefined && "device" in match && match.device === "x", filter);
  }
});

test("other topics of network servers are ignored, and any other topic is rejected as not recognised", () => {
  for (const topic of [
    "application/1/device/24e124713b493604/event/join",
    "application/1/device/24e124713b493604/event/status",
    "application/1/device/24e124713b493604/command/down",
    "v3/app1@ttn/devices/dev1/join",
    "v3/app1@ttn/devices/dev1/down/queued",
  ]) {
    assert.deepEqual(read(topic, "whatever"), [], topic);
  }
  for (const topic of [
    "",
    "tanks",
    "tanks/d1",
    "tanks/d1/readings/",
    "tanks/a/b/readings",
    "/tanks/d1/readings",
    "Tanks/d1/readings",
    "$SYS/broker/new/clients",
    "v3/app1@ttn/gateways/g/up",
    "application/1/gateway/x/event/up",
  ]) {
    assert.deepEqual(read(topic, "{}"), [{ rejected: "topic not recognised" }], topic);
  }
});

test("a message is decoded in the format of its topic, and must be of the device in the topic", () => {
  assert.deepEqual(read("tanks/d1/readings", '{"fill_percentage": 12.5}'), [reading({ deviceId: "d1" }, 12.5)]);
  const em500 = uplink("24e124713b493604", AT, { battery: 100, distance: 30 });
  assert.deepEqual(read("application/1/device/24E124713B493604/event/up", CHIRPSTACK_EM500_UDL), [em500]);
  assert.deepEqual(read("application/1/device/0101010101010101/event/up", CHIRPSTACK_EM500_UDL), [
    { rejected: "deviceInfo.devEui: does not match the device in the topic" },
  ]);
  const tts = JSON.stringify(ttsUplink());
  assert.deepEqual(read("v3/app1@ttn/devices/dev1/up", tts), decodeTts(ttsUplink(), NOW));
  assert.deepEqual(read("v3/app1@ttn/devices/dev2/up", tts), [
    { rejected: "end_device_ids.device_id: does not match the device in the topic" },
  ]);
});

test("what is not JSON is rejected without quoting it", () => {
  for (const text of ["", "fill=12"]) {
    assert.deepEqual(read("tanks/d1/readings", text), [{ rejected: "the message is not valid JSON" }]);
  }
  assert.deepEqual(read("tanks/d1/readings", Buffer.from([0x22, 0xff, 0x22])), [{ rejected: "the message is not valid UTF-8" }]);
});

test("a message with too many values, levels or fields is rejected before it is parsed", () => {
  const list = (count: number) => `[${"1,".repeat(count - 1)}1]`;
  assert.deepEqual(read("tanks/d1/readings", `${"[".repeat(64)}${"]".repeat(64)}`), [{ rejected: "must be an object" }]);
  for (const deep of ["[".repeat(65), '{"payload":'.repeat(50_000)]) {
    assert.deepEqual(read("tanks/d1/readings", deep), [{ rejected: "the message must not be nested deeper than 64 levels" }]);
  }
  assert.deepEqual(read("v3/a@t/devices/d/up", list(40_000)), [{ rejected: "must be an object" }]);
  assert.deepEqual(read("v3/a@t/devices/d/up", list(40_001)), [{ rejected: "the message must have at most 40000 values" }]);
  const names = (count: number) => Array.from({ length: count }, (_, i) => `"${i}":1`).join(",");
  assert.deepEqual(read("v3/a@t/devices/d/up", `{"a":{${names(1000)}},${names(999)}}`), [
    { rejected: "end_device_ids: must be an object" },
  ]);
  for (const wide of [`{${names(1001)}}`, `[{"payload":{"list":[{${names(1001)}}]}}]`]) {
    assert.deepEqual(read("tanks/d1/readings", wide), [{ rejected: "the message must have at most 1000 fields in one object" }]);
  }
});

test("ChirpStack: an uplink is a reading of its device, at the time of the uplink or of receipt", () => {
  const payload = { battery: 100, distance: 30 };
  for (const [change, at] of [
    [{}, AT],
    [{ time: undefined }, NOW],
    [{ time: null }, NOW],
    [{ fPort: undefined, deduplicationId: undefined }, AT],
    [{ deviceInfo: { devEui: "24E124713B493604" } }, AT],
  ] as const) {
    const event = altered(CHIRPSTACK_EM500_UDL, change);
    assert.deepEqual(decodeChirpstack(event, NOW), [uplink("24e124713b493604", at, payload)], JSON.stringify(change));
  }
  const zero = altered(CHIRPSTACK_EM500_UDL, { object: { distance: 0 } });
  assert.deepEqual(decodeChirpstack(zero, NOW), [uplink("24e124713b493604", AT, { distance: 0 })]);
});

test("ChirpStack: joins, other events and frames without a payload are ignored", () => {
  for (const event of [
    JSON.parse(CHIRPSTACK_JOIN),
    altered(CHIRPSTACK_JOIN, { margin: 7, batteryLevel: 98.4, batteryLevelUnavailable: false }),
    altered(CHIRPSTACK_JOIN, { queueItemId: "1", acknowledged: true, fCntDown: 3 }),
    altered(CHIRPSTACK_JOIN, { integrationName: "loracloud", eventType: "x", object: { a: 1 } }),
    altered(CHIRPSTACK_DOCUMENTED, { fPort: undefined, data: undefined }),
    altered(CHIRPSTACK_DOCUMENTED, { fPort: 0, data: "" }),
    altered(CHIRPSTACK_DOCUMENTED, { fPort: 0, data: "", object: { distance: 0 } }),
    altered(CHIRPSTACK_DOCUMENTED, { fPort: undefined, object: {} }),
  ]) {
    assert.deepEqual(decodeChirpstack(event, NOW), [], JSON.stringify(event));
  }
});

test("ChirpStack: an uplink that was not decoded, and what is not an event of version 4, is rejected", () => {
  const noCodec = "object: is missing; the device has no codec in ChirpStack, or its codec failed";
  const version3 = { applicationID: "1", deviceName: "tank", devEUI: "AQEBAQEBAQE=", fPort: 1, object: { distance: 5 } };
  for (const [event, rejected] of [
    [JSON.parse(CHIRPSTACK_DOCUMENTED), noCodec],
    ...[null, "30", [30]].map((object) => [altered(CHIRPSTACK_DOCUMENTED, { object }), noCodec] as const),
    [[], "must be an object"],
    [{ foo: 1 }, "deviceInfo: must be an object"],
    [version3, "deviceInfo: is missing; this looks like a ChirpStack v3 event, and only v4 is supported"],
    [altered(CHIRPSTACK_EM500_UDL, { deviceInfo: {} }), "deviceInfo.devEui: is missing"],
    [altered(CHIRPSTACK_EM500_UDL, { time: "noon" }), `time: ${DATETIME}`],
  ] as const) {
    assert.deepEqual(decodeChirpstack(event, NOW), [{ rejected }]);
  }
});

test("The Things Stack: an uplink is a reading of its device, at the time of its servers or of receipt", () => {
  const payload = { temperature: 1, luminosity: 0.64 };
  const [eui, received] = ["0004a30b001c0530", Date.parse("2020-02-12T15:15:46.014Z")];
  for (const [message, device, at] of [
    [ttsUplink(), eui, received],
    [ttsUplink({}, { end_device_ids: { device_id: "dev1" } }), "dev1", received],
    [ttsUplink({}, { received_at: undefined }), eui, Date.parse("2020-02-12T15:15:45.789Z")],
    [ttsUplink({ received_at: undefined }, { received_at: undefined }), eui, NOW],
  ] as const) {
    assert.deepEqual(decodeTts(message, NOW), [uplink(device, at, payload)]);
  }
});

test("The Things Stack: joins, downlink events and uplinks without a port are ignored", () => {
  const { uplink_message, ...rest } = JSON.parse(TTS_DOCUMENTED);
  for (const message of [
    JSON.parse(TTS_DOCUMENTED),
    JSON.parse(TTS_JOIN),
    { ...rest, downlink_ack: { f_port: 15 } },
    { ...rest, uplink_message: { ...uplink_message, f_port: 0 } },
    { ...rest, uplink_message: null },
  ]) {
    assert.deepEqual(decodeTts(message, NOW), [], JSON.stringify(message));
  }
});

test("The Things Stack: an uplink that was not decoded or is simulated, and what is not a message, is rejected", () => {
  const notDecoded = "uplink_message.decoded_payload: is missing; the device has no payload formatter, or it failed";
  for (const [message, rejected] of [
    ...[undefined, null, "30"].map((decoded_payload) => [ttsUplink({ decoded_payload }), notDecoded] as const),
    [ttsUplink({}, { simulated: true }), "simulated: simulated uplinks are not stored"],
    ["up", "must be an object"],
    [{}, "end_device_ids: must be an object"],
    [ttsUplink({}, { end_device_ids: {} }), "end_device_ids.device_id: is missing"],
    [ttsUplink({}, { received_at: "noon" }), `received_at: ${DATETIME}`],
  ] as const) {
    assert.deepEqual(decodeTts(message, NOW), [{ rejected }]);
  }
});
