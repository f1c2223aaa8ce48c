import assert from "node:assert/strict";
import test from "node:test";
import { decodeChirpstack } from "../../../src/ingest/decode.ts";
import { altered, CHIRPSTACK_DOCUMENTED, CHIRPSTACK_EM500_UDL, CHIRPSTACK_JOIN } from "./fixtures.ts";

const NOW = Date.parse("2026-11-14T09:30:00.000Z");
const DOCUMENTED_AT = Date.parse("2022-07-18T09:34:15.775Z");
const NO_CODEC = "object: is missing; the device has no codec in ChirpStack, or its codec failed";

test("an uplink is a reading of its device, with the decoded object and the time of the uplink", () => {
  assert.deepEqual(decodeChirpstack(JSON.parse(CHIRPSTACK_EM500_UDL), NOW), [
    {
      source: { deviceId: "24e124713b493604" },
      createdAt: Date.parse("2026-11-14T06:00:00.123Z"),
      measurement: { payload: JSON.stringify({ battery: 100, distance: 30 }) },
    },
  ]);
});

test("an uplink without a decoded object is rejected", () => {
  assert.deepEqual(decodeChirpstack(JSON.parse(CHIRPSTACK_DOCUMENTED), NOW), [{ rejected: NO_CODEC }]);
  for (const object of [null, "30", [30]]) {
    assert.deepEqual(decodeChirpstack(altered(CHIRPSTACK_DOCUMENTED, { object }), NOW), [{ rejected: NO_CODEC }]);
  }
});

test("port and deduplication id are optional", () => {
  const object = { fill_percentage: 40 };
  const bare = altered(CHIRPSTACK_DOCUMENTED, { object, fPort: undefined, deduplicationId: undefined });
  assert.deepEqual(decodeChirpstack(bare, NOW), [
    { source: { deviceId: "0101010101010101" }, createdAt: DOCUMENTED_AT, measurement: { payload: JSON.stringify(object) } },
  ]);
});

test("a zero in the object is kept", () => {
  const [reading] = decodeChirpstack(altered(CHIRPSTACK_DOCUMENTED, { object: { distance: 0 } }), NOW);
  assert.deepEqual(reading && "measurement" in reading && reading.measurement, { payload: '{"distance":0}' });
});

test("without a time, the time of receipt counts", () => {
  for (const time of [undefined, null]) {
    const [reading] = decodeChirpstack(altered(CHIRPSTACK_EM500_UDL, { time }), NOW);
    assert.equal(reading && "createdAt" in reading && reading.createdAt, NOW);
  }
});

test("an EUI in upper case is the same device", () => {
  const [reading] = decodeChirpstack(altered(CHIRPSTACK_EM500_UDL, { deviceInfo: { devEui: "24E124713B493604" } }), NOW);
  assert.deepEqual(reading && "source" in reading && reading.source, { deviceId: "24e124713b493604" });
});

test("joins, other events and frames without a payload are ignored", () => {
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

test("what is not a ChirpStack v4 event is rejected", () => {
  assert.deepEqual(decodeChirpstack([], NOW), [{ rejected: "must be an object" }]);
  assert.deepEqual(decodeChirpstack({ foo: 1 }, NOW), [{ rejected: "deviceInfo: must be an object" }]);
  const ofThree = { applicationID: "1", deviceName: "tank", devEUI: "AQEBAQEBAQE=", fPort: 1, object: { distance: 5 } };
  assert.deepEqual(decodeChirpstack(ofThree, NOW), [
    { rejected: "deviceInfo: is missing; this looks like a ChirpStack v3 event, and only v4 is supported" },
  ]);
  assert.deepEqual(decodeChirpstack(altered(CHIRPSTACK_EM500_UDL, { deviceInfo: {} }), NOW), [
    { rejected: "deviceInfo.devEui: is missing" },
  ]);
  assert.deepEqual(decodeChirpstack(altered(CHIRPSTACK_EM500_UDL, { time: "noon" }), NOW), [
    { rejected: 'time: must be a datetime such as "2026-11-14T09:30:00Z"' },
  ]);
});

test("an event of another device than the topic names is rejected", () => {
  const event = JSON.parse(CHIRPSTACK_EM500_UDL);
  assert.equal(decodeChirpstack(event, NOW, "24E124713B493604").length, 1);
  assert.deepEqual(decodeChirpstack(event, NOW, "0101010101010101"), [
    { rejected: "deviceInfo.devEui: does not match the device in the topic" },
  ]);
});
