import assert from "node:assert/strict";
import test from "node:test";
import { BatchContext, decodeDeviceReadings, decodeIncomingReading, MAX_READINGS } from "../../../src/ingest/decode.ts";
import type { IncomingReading, Rejected } from "../../../src/ingest/ingest.ts";

const NOW = Date.parse("2026-11-14T09:30:00.000Z");
const AT = Date.parse("2026-11-14T06:00:00.123Z");
const AT_TEXT = "2026-11-14T06:00:00.123Z";

const decode = (item: unknown, now: number) => decodeIncomingReading(item, new BatchContext(now));
const reading = (of: IncomingReading["source"], fill: number, createdAt = NOW): IncomingReading => ({
  source: of,
  createdAt,
  measurement: { fill },
});
const reasonOf = (value: IncomingReading | Rejected | undefined) =>
  value !== undefined && "rejected" in value ? value.rejected : undefined;

test("a reading names its tank or its device; without a time, the time of receipt counts", () => {
  assert.deepEqual(decode({ tank_id: "t1", fill_percentage: 63.4 }, NOW), reading({ tankId: "t1" }, 63.4));
  assert.deepEqual(decode({ device_id: "d1", fill_percentage: 0, created_at: AT_TEXT }, NOW), reading({ deviceId: "d1" }, 0, AT));
});

test("EUIs of devices become lower case, tank ids stay as they are", () => {
  const fill_percentage = 1;
  assert.deepEqual(decode({ device_id: "0004A30B001C0530", fill_percentage }, NOW), reading({ deviceId: "0004a30b001c0530" }, 1));
  assert.deepEqual(decode({ tank_id: "0004A30B001C0530", fill_percentage }, NOW), reading({ tankId: "0004A30B001C0530" }, 1));
});

test("a fill is any number from 0 to 100, kept exactly; -0 becomes 0", () => {
  for (const fill of [0, 100, 63.400000000000006, 5e-324]) {
    assert.deepEqual(decode({ tank_id: "t", fill_percentage: fill }, NOW), reading({ tankId: "t" }, fill));
  }
  const zero = decode({ tank_id: "t", fill_percentage: -0 }, NOW);
  assert.ok("measurement" in zero && "fill" in zero.measurement && Object.is(zero.measurement.fill, 0));
});

test("times are RFC 3339, rounded down to the millisecond", () => {
  for (const [text, at] of [
    ["2026-11-14T06:00:00.1239Z", AT],
    ["2026-11-14T07:00:00.123+01:00", AT],
    ["2026-11-14", Date.parse("2026-11-14")],
  ] as const) {
    assert.deepEqual(decode({ tank_id: "t", fill_percentage: 1, created_at: text }, NOW), reading({ tankId: "t" }, 1, at));
  }
});

test("a payload may replace the fill", () => {
  const payload = { distance: 1230, nested: { battery: [3.6] } };
  const expected: IncomingReading = {
    source: { deviceId: "d1" },
    createdAt: NOW,
    measurement: { payload: JSON.stringify(payload) },
  };
  assert.deepEqual(decode({ device_id: "d1", payload }, NOW), expected);
  assert.deepEqual(decodeDeviceReadings("d1", { payload }, NOW), [expected]);
});

const DATETIME = 'must be a datetime such as "2026-11-14T09:30:00Z"';

for (const [item, reason] of [
  [null, "must be an object"],
  [[], "must be an object"],
  ["63", "must be an object"],
  [{ fill_percentage: 1 }, "tank_id or device_id: one of them is required"],
  [{ tank_id: "t", device_id: "d", fill_percentage: 1 }, "tank_id and device_id: only one of them is allowed"],
  [{ tank_id: 7, fill_percentage: 1 }, "tank_id: must be a string"],
  [{ tank_id: null, fill_percentage: 1 }, "tank_id: must not be null"],
  [{ tank_id: "", fill_percentage: 1 }, "tank_id: must not be empty"],
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
  [{ device_id: "d", distance: 412 }, 'unknown field "distance". Sensor values other than a percentage belong in "payload".'],
  [{ deviceInfo: { devEui: "a84041c2f1827d3e" }, object: {} }, "this is a ChirpStack event; send it to /ingest/v1/chirpstack"],
  [
    { end_device_ids: { device_id: "d" }, uplink_message: {} },
    "this is a message from The Things Stack; send it to /ingest/v1/tts",
  ],
  [{ tank_id: "t", fill_percent: 1 }, 'unknown field "fill_percent". Did you mean "fill_percentage"?'],
  [
    JSON.parse('{"__proto__":1,"tank_id":"t","fill_percentage":1}'),
    'unknown field "__proto__". Sensor values other than a percentage belong in "payload".',
  ],
] as const) {
  test(`rejected: ${reason} (${JSON.stringify(item).slice(0, 60)})`, () => {
    assert.equal(reasonOf(decode(item, NOW)), reason);
  });
}

test("a payload has at most 32 levels", () => {
  const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
  assert.equal(reasonOf(decode({ device_id: "d", payload: nested(32) }, NOW)), undefined);
  for (const levels of [33, 100_000]) {
    assert.equal(
      reasonOf(decode({ device_id: "d", payload: nested(levels) }, NOW)),
      "payload: must not be nested deeper than 32 levels",
    );
  }
});

test("a payload has at most 16 KiB as JSON", () => {
  const reason = (length: number) => reasonOf(decode({ device_id: "d", payload: { a: "x".repeat(length) } }, NOW));
  assert.equal(reason(16_384 - 8), undefined);
  assert.equal(reason(16_384 - 7), "payload: must have at most 16384 bytes as JSON, this one has 16385");
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

test("a device sends one reading or a list, each with its own result", () => {
  const of = { deviceId: "d1" };
  assert.deepEqual(decodeDeviceReadings("d1", { fill_percentage: 5 }, NOW), [reading(of, 5)]);
  assert.deepEqual(decodeDeviceReadings("d1", [{ fill_percentage: 5, created_at: AT_TEXT }, { fill_percentage: 101 }, 7], NOW), [
    reading(of, 5, AT),
    { rejected: "fill_percentage: must be from 0 to 100" },
    { rejected: "must be an object" },
  ]);
  assert.deepEqual(decodeDeviceReadings("d1", [], NOW), []);
});

test("readings on a device's topic do not name the device", () => {
  assert.equal(
    reasonOf(decodeDeviceReadings("d1", { device_id: "d1", fill_percentage: 5 }, NOW)[0]),
    'unknown field "device_id". The topic names the device.',
  );
});

test("suggestions are names that are allowed there", () => {
  const reason = (item: object) => reasonOf(decode(item, NOW));
  assert.equal(reason({ devise_id: "d" }), 'unknown field "devise_id". Did you mean "device_id"?');
  assert.equal(
    reasonOf(decodeDeviceReadings("d1", { devise_id: "d" }, NOW)[0]),
    'unknown field "devise_id". Sensor values other than a percentage belong in "payload".',
  );
  assert.equal(reason({ devise_id: "d" }), 'unknown field "devise_id". Did you mean "device_id"?');
});

test("a topic with an invalid device id is rejected", () => {
  assert.deepEqual(decodeDeviceReadings("", { fill_percentage: 5 }, NOW), [{ rejected: "device_id: must not be empty" }]);
});

test("a list that is too long is rejected as a whole", () => {
  const item = { fill_percentage: 5, created_at: AT_TEXT };
  assert.equal(decodeDeviceReadings("d1", Array(MAX_READINGS).fill(item), NOW).length, MAX_READINGS);
  assert.deepEqual(decodeDeviceReadings("d1", Array(MAX_READINGS + 1).fill(item), NOW), [
    { rejected: "a message must have at most 10000 readings, this one has 10001" },
  ]);
});
