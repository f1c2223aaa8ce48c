import assert from "node:assert/strict";
import test from "node:test";
import { UserError } from "../../../src/domain/errors.ts";
import { brokerAddress, shownAddress } from "../../../src/ingest/mqtt/address.ts";

const BARE = {
  protocol: "mqtt",
  host: "broker",
  port: 1883,
  username: undefined,
  password: undefined,
  version: 5,
  isShared: true,
};

test("an address has a host, and what else is needed", () => {
  assert.deepEqual(brokerAddress("mqtt://broker"), BARE);
  assert.deepEqual(brokerAddress("mqtt://broker:1884/"), { ...BARE, port: 1884 });
  assert.deepEqual(brokerAddress("mqtts://broker"), { ...BARE, protocol: "mqtts", port: 8883 });
  assert.deepEqual(brokerAddress("mqtt://me:pass%3Aword@broker"), { ...BARE, username: "me", password: "pass:word" });
  assert.deepEqual(brokerAddress("mqtt://broker?protocol=3.1.1"), { ...BARE, version: 4, isShared: false });
  assert.deepEqual(brokerAddress("mqtt://broker?shared=no&protocol=5"), { ...BARE, isShared: false });
  assert.deepEqual(brokerAddress("mqtt://[::1]:1"), { ...BARE, host: "::1", port: 1 });
});

test("it is shown without what is secret", () => {
  assert.equal(shownAddress(brokerAddress("mqtt://me:secret@broker")), "broker:1883");
  assert.equal(shownAddress(brokerAddress("mqtts://[::1]")), "[::1]:8883");
});

test("anything else is a complaint that does not repeat it", () => {
  for (const text of [
    "",
    "broker",
    "http://me:secret@broker",
    "mqtt://",
    "mqtt://me:secret@broker:x",
    "mqtt://me:secret@broker/topic",
    "mqtt://me:secret@broker?protocol=4",
    "mqtt://me:secret@broker?clientId=x",
    "mqtt://me:secret@broker?shared=maybe",
    "mqtt://me:%secret@broker",
  ]) {
    assert.throws(
      () => brokerAddress(text),
      (error) =>
        error instanceof UserError && error.exitCode === 2 && /^MQTT_URL/.test(error.message) && !/secret/.test(error.message),
      text,
    );
  }
});
