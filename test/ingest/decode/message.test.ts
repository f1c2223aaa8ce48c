import assert from "node:assert/strict";
import test from "node:test";
import { createMqttMessage, decodeMqttMessage, matchTopic, TOPIC_FILTERS } from "../../../src/ingest/decode.ts";
import { CHIRPSTACK_EM500_UDL, ttsUplink } from "./fixtures.ts";

const NOW = Date.parse("2026-11-14T09:30:00.000Z");
const read = (topic: string, text: string | Buffer) => decodeMqttMessage(createMqttMessage(topic, Buffer.from(text), NOW));

test("a topic gives the format and the device", () => {
  assert.deepEqual(matchTopic("tanks/d1/readings"), { format: "readings", device: "d1" });
  assert.deepEqual(matchTopic("tanks/a%2Fb/readings"), { format: "readings", device: "a%2Fb" });
  assert.deepEqual(matchTopic("application/17c82e96/device/24e124713b493604/event/up"), {
    format: "chirpstack",
    device: "24e124713b493604",
  });
  assert.deepEqual(matchTopic("v3/app1@ttn/devices/dev1/up"), { format: "tts", device: "dev1" });
  assert.deepEqual(matchTopic("v3/app1/devices/dev1/up"), { format: "tts", device: "dev1" });
});

test("other topics of network servers are ignored", () => {
  for (const topic of [
    "application/1/device/24e124713b493604/event/join",
    "application/1/device/24e124713b493604/event/status",
    "application/1/device/24e124713b493604/command/down",
    "v3/app1@ttn/devices/dev1/join",
    "v3/app1@ttn/devices/dev1/down/queued",
  ]) {
    assert.deepEqual(matchTopic(topic), { format: "ignored" }, topic);
    assert.deepEqual(read(topic, "whatever"), [], topic);
  }
});

test("any other topic is rejected as not recognised", () => {
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
    assert.equal(matchTopic(topic), undefined, topic);
    assert.deepEqual(read(topic, "{}"), [{ rejected: "topic not recognised" }]);
  }
});

test("the topic filters match the topics with readings", () => {
  for (const filter of TOPIC_FILTERS) {
    const source = matchTopic(filter.replaceAll("+", "x"));
    assert.ok(source !== undefined && "device" in source && source.device === "x", filter);
  }
});

test("a message is decoded in the format of its topic", () => {
  assert.deepEqual(read("tanks/d1/readings", '{"fill_percentage": 12.5}'), [
    { source: { deviceId: "d1" }, createdAt: NOW, measurement: { fill: 12.5 } },
  ]);
  const [uplink] = read("application/1/device/24e124713b493604/event/up", CHIRPSTACK_EM500_UDL);
  assert.deepEqual(uplink && "source" in uplink && uplink.source, { deviceId: "24e124713b493604" });
  const [other] = read("v3/app1@ttn/devices/dev1/up", JSON.stringify(ttsUplink()));
  assert.deepEqual(other && "source" in other && other.source, { deviceId: "0004a30b001c0530" });
});

test("a message of another device than the topic names is rejected", () => {
  assert.deepEqual(read("application/1/device/0101010101010101/event/up", CHIRPSTACK_EM500_UDL), [
    { rejected: "deviceInfo.devEui: does not match the device in the topic" },
  ]);
});

test("what is not JSON is rejected without quoting it", () => {
  assert.deepEqual(read("tanks/d1/readings", ""), [{ rejected: "the message is not valid JSON" }]);
  assert.deepEqual(read("tanks/d1/readings", "fill=12"), [{ rejected: "the message is not valid JSON" }]);
  assert.deepEqual(read("tanks/d1/readings", Buffer.from([0x22, 0xff, 0x22])), [{ rejected: "the message is not valid UTF-8" }]);
});

test("a message with too many values or levels is rejected before it is parsed", () => {
  const list = (count: number) => `[${"1,".repeat(count - 1)}1]`;
  assert.deepEqual(read("tanks/d1/readings", `${"[".repeat(64)}${"]".repeat(64)}`), [{ rejected: "must be an object" }]);
  for (const deep of ["[".repeat(65), '{"payload":'.repeat(50_000)]) {
    assert.deepEqual(read("tanks/d1/readings", deep), [{ rejected: "the message must not be nested deeper than 64 levels" }]);
  }
  assert.deepEqual(read("v3/a@t/devices/d/up", list(100_000)), [{ rejected: "must be an object" }]);
  assert.deepEqual(read("v3/a@t/devices/d/up", list(100_001)), [{ rejected: "the message must have at most 100000 values" }]);
});
