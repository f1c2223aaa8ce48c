import assert from "node:assert/strict";
import test from "node:test";
import { decodeTts } from "../../../src/ingest/decode.ts";
import { TTS_DOCUMENTED, TTS_JOIN, ttsUplink } from "./fixtures.ts";

const NOW = Date.parse("2026-11-14T09:30:00.000Z");
const AT = Date.parse("2020-02-12T15:15:46.014Z");
const SOURCE = { deviceId: "0004a30b001c0530" };
const PAYLOAD = { temperature: 1, luminosity: 0.64 };

test("an uplink is a reading of its device, with the decoded payload and the time of receipt", () => {
  assert.deepEqual(decodeTts(ttsUplink(), NOW), [
    { source: SOURCE, createdAt: AT, measurement: { payload: JSON.stringify(PAYLOAD) } },
  ]);
});

test("a device without an EUI is known by its id", () => {
  const [reading] = decodeTts(ttsUplink({}, { end_device_ids: { device_id: "dev1" } }), NOW);
  assert.deepEqual(reading && "source" in reading && reading.source, { deviceId: "dev1" });
});

test("the time is the application server's, else the network server's, else ours", () => {
  const instantOf = (...change: Parameters<typeof ttsUplink>) => {
    const [reading] = decodeTts(ttsUplink(...change), NOW);
    return reading && "createdAt" in reading && reading.createdAt;
  };
  assert.equal(instantOf(), AT);
  assert.equal(instantOf({}, { received_at: undefined }), Date.parse("2020-02-12T15:15:45.789Z"));
  assert.equal(instantOf({ received_at: undefined }, { received_at: undefined }), NOW);
});

test("joins, downlink events and uplinks without a port are ignored", () => {
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

test("an uplink without a decoded payload is rejected", () => {
  for (const decoded_payload of [undefined, null, "30"]) {
    assert.deepEqual(decodeTts(ttsUplink({ decoded_payload }), NOW), [
      { rejected: "uplink_message.decoded_payload: is missing; the device has no payload formatter, or it failed" },
    ]);
  }
});

test("a simulated uplink is rejected", () => {
  assert.deepEqual(decodeTts(ttsUplink({}, { simulated: true }), NOW), [
    { rejected: "simulated: simulated uplinks are not stored" },
  ]);
});

test("what is not an uplink of The Things Stack is rejected", () => {
  assert.deepEqual(decodeTts("up", NOW), [{ rejected: "must be an object" }]);
  assert.deepEqual(decodeTts({}, NOW), [{ rejected: "end_device_ids: must be an object" }]);
  assert.deepEqual(decodeTts(ttsUplink({}, { end_device_ids: {} }), NOW), [{ rejected: "end_device_ids.device_id: is missing" }]);
  assert.deepEqual(decodeTts(ttsUplink({}, { received_at: "noon" }), NOW), [
    { rejected: 'received_at: must be a datetime such as "2026-11-14T09:30:00Z"' },
  ]);
});

test("an uplink of another device than the topic names is rejected", () => {
  assert.equal(decodeTts(ttsUplink(), NOW, "dev1").length, 1);
  assert.deepEqual(decodeTts(ttsUplink(), NOW, "dev2"), [
    { rejected: "end_device_ids.device_id: does not match the device in the topic" },
  ]);
});
