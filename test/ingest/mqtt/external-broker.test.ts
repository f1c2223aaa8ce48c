// Readings from an external broker.

import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { createServer, setDefaultCACertificates } from "node:tls";
import { UserError } from "../../../src/domain/errors.ts";
import { formatBrokerAddress, parseBrokerUrl } from "../../../src/ingest/mqtt/external-broker.ts";
import { TEST_CERTIFICATE } from "../../support/certificate.ts";
import { Mqtt5Broker } from "../../support/mqtt5-broker.ts";
import { until } from "../../support/until.ts";
import { eventsOf, range, reading, sleep } from "./endpoint.ts";
import { fillOf, unavailable } from "./fake-ingest.ts";
import { acknowledged, connected, endReasons, FILTERS, ingesting, start, subscribe, TOPIC } from "./subscriber.ts";

test("it connects with the credentials of MQTT_URL, subscribes to all topics, shared, and stores readings", async (t) => {
  const { broker, ingest, events } = await subscribe(t, { user: "app%40ttn:s%2Fcret@", query: "/?protocol=5" });
  const [connect] = broker.connects;
  assert.deepEqual([connect?.clientId, connect?.clean], ["tank-monitor-0", false]);
  assert.deepEqual([connect?.properties?.sessionExpiryInterval, connect?.properties?.receiveMaximum], [86_400, 1000]);
  assert.deepEqual([connect?.username, String(connect?.password)], ["app@ttn", "s/cret"]);
  const shared = FILTERS.map((filter) => `$share/tank-monitor/${filter}`);
  assert.deepEqual(broker.subscribed, shared);
  broker.publish(TOPIC, reading(12.5));
  await acknowledged(broker, 1);
  assert.deepEqual(ingest.stored[0]?.source, { deviceId: "d1" });
  assert.deepEqual(ingest.calls[0]?.sender, { keyId: null, customerId: null, deviceId: null });
  assert.deepEqual(events, [{ kind: "broker_connected", broker: `127.0.0.1:${broker.port}`, notGranted: [] }]);
});

test("messages are acknowledged after they are stored, in the order of arrival, in few batches", async (t) => {
  const subscriber = await subscribe(t, { limits: { receiveMaximum: 100 } });
  const { broker, ingest } = subscriber;
  const resume = ingest.hold();
  for (const fill of range(50)) broker.publish(TOPIC, reading(fill));
  await ingesting(subscriber);
  await sleep(100);
  assert.deepEqual(broker.acknowledged, []);
  resume();
  await acknowledged(broker, 50);
  assert.deepEqual(broker.acknowledged, range(50).map(reading));
  ingest.delayMs = 10;
  for (const id of range(2000)) broker.publish(TOPIC, reading(id / 20));
  await acknowledged(broker, 2050);
  assert.ok(ingest.calls.length < 200, `${ingest.calls.length} calls`);
  assert.ok(ingest.calls.every(({ readings }) => readings.length <= 100));
  const expected = range(2000).map((id) => id / 20);
  assert.deepEqual(ingest.fills.slice(50), expected);
});

test("while the store is unavailable nothing is acknowledged, and the same readings are tried until stored", async (t) => {
  const { broker, ingest, events } = await subscribe(t, { limits: { receiveMaximum: 10 } });
  ingest.failWith = unavailable;
  for (const fill of range(30)) broker.publish(TOPIC, reading(fill));
  const started = performance.now();
  await until("it is tried again", () => ingest.calls.length >= 3);
  assert.deepEqual(broker.acknowledged, []);
  const most = 3 + (10 * (performance.now() - started)) / 1000;
  assert.ok(ingest.calls.length <= most, `${ingest.calls.length} calls, more than ten in a second`);
  assert.ok(ingest.calls.every(({ readings }) => readings.length <= 10));
  ingest.failWith = () => undefined;
  await acknowledged(broker, 30);
  assert.equal(broker.sent.length, 30, "each was sent once");
  assert.deepEqual(ingest.fills, range(30));
  assert.equal(events.length, 1, "the connection was never lost");
});

test("after a failure the messages are stored in their order", async (t) => {
  const { broker, ingest } = await subscribe(t);
  let calls = 0;
  ingest.failWith = () => (++calls === 1 ? unavailable() : undefined);
  ingest.delayMs = 20;
  broker.publish(TOPIC, reading(50));
  await until("the first is being stored", () => ingest.calls.length === 1);
  broker.publish(TOPIC, reading(60));
  await acknowledged(broker, 2);
  assert.deepEqual(ingest.fills, [50, 60]);
});

test("after a lost connection the broker sends again what was not acknowledged", async (t) => {
  const subscriber = await subscribe(t);
  const { broker, ingest } = subscriber;
  const resume = ingest.hold();
  for (const fill of range(20)) broker.publish(TOPIC, reading(fill));
  await ingesting(subscriber);
  broker.drop();
  await connected(subscriber, 2);
  await until("they are sent again", () => broker.sent.length === 40);
  resume();
  await acknowledged(broker, 20);
  assert.deepEqual(broker.acknowledged, range(20).map(reading));
  assert.equal(broker.unacknowledged, 0);
  assert.deepEqual(new Set(ingest.fills), new Set(range(20)));
  assert.deepEqual(endReasons(subscriber), ["the connection was lost"]);
});

test("a message of an earlier connection is stored, but not acknowledged on the next", async (t) => {
  const subscriber = await subscribe(t);
  const { broker, ingest } = subscriber;
  const resume = ingest.hold();
  broker.publish(TOPIC, reading(1));
  await ingesting(subscriber);
  broker.forgetSessions();
  broker.drop();
  await connected(subscriber, 2);
  resume();
  await until("it is stored", () => ingest.stored.length === 1);
  // The broker throws if an id is acknowledged that it did not send.
  broker.publish(TOPIC, reading(2));
  await acknowledged(broker, 1);
  assert.deepEqual(broker.acknowledged, [reading(2)]);
});

test("stopping stores and acknowledges messages in progress, and leaves the rest with the broker", async (t) => {
  const subscriber = await subscribe(t);
  const { broker, external, ingest } = subscriber;
  const resume = ingest.hold();
  for (const fill of range(10)) broker.publish(TOPIC, reading(fill));
  await ingesting(subscriber);
  const stopped = external.stop();
  for (const fill of range(5)) broker.publish(TOPIC, reading(50 + fill));
  await sleep(50);
  resume();
  await stopped;
  await until("it is disconnected", () => broker.disconnects.length === 1);
  assert.deepEqual(broker.acknowledged, range(10).map(reading));
  assert.equal(broker.unacknowledged, 5);
});

test("stopping does not wait for a store that is unavailable", async (t) => {
  const subscriber = await subscribe(t);
  subscriber.ingest.failWith = unavailable;
  subscriber.broker.publish(TOPIC, reading(1));
  await ingesting(subscriber);
  const started = performance.now();
  await subscriber.external.stop();
  assert.ok(performance.now() - started < 3000);
  assert.equal(subscriber.broker.unacknowledged, 1);
});

test("a message that can never be stored is acknowledged and reported", async (t) => {
  const { broker, events } = await subscribe(t);
  broker.publish(TOPIC, "no JSON");
  broker.publish("v3/app@ttn/devices/dev1/up", '{"end_device_ids":{"device_id":"dev1"},"uplink_message":{"f_port":1}}');
  await acknowledged(broker, 2);
  assert.deepEqual(
    eventsOf({ events }, "readings_rejected").map(({ endpoint, device, reason }) => [endpoint, device, reason]),
    [
      ["mqtt_url", "d1", "the message is not valid JSON"],
      ["mqtt_url", "dev1", "uplink_message.decoded_payload: is missing; the device has no payload formatter, or it failed"],
    ],
  );
});

test("a message that causes an unexpected error is not acknowledged and sent again; others are stored", async (t) => {
  const { broker, ingest, events } = await subscribe(t);
  let isFailing = true;
  ingest.failWith = ({ readings }) =>
    isFailing && readings.some((one) => "measurement" in one && fillOf(one) === 66) ? new Error("unexpected") : undefined;
  for (const fill of [1, 66, 2]) broker.publish(TOPIC, reading(fill));
  await acknowledged(broker, 2);
  await until("it is sent again", () => broker.sent.filter((payload) => payload === reading(66)).length > 1);
  isFailing = false;
  await until("it is acknowledged", () => broker.acknowledged.includes(reading(66)));
  assert.ok(eventsOf({ events }, "mqtt_failed").length > 0);
});

test("messages of QoS 0 are read as fast as they can be stored", async (t) => {
  const subscriber = await subscribe(t, { limits: { receiveMaximum: 100 } });
  const { broker, ingest } = subscriber;
  const resume = ingest.hold();
  for (const id of range(5000)) broker.publish(TOPIC, reading(id / 50), 0);
  await ingesting(subscriber);
  await sleep(100);
  resume();
  await until("all are stored", () => ingest.stored.length === 5000, 20_000);
  assert.ok(ingest.calls.every(({ readings }) => readings.length <= 101));
  assert.ok(ingest.calls.length < 500, `${ingest.calls.length} calls`);
});

test("messages in progress have a memory limit", async (t) => {
  const subscriber = await subscribe(t, { limits: { memoryBytes: 100_000 } });
  const { broker, ingest } = subscriber;
  const resume = ingest.hold();
  for (const fill of range(40)) broker.publish(TOPIC, `${reading(fill)}${" ".repeat(20_000)}`);
  await ingesting(subscriber);
  await sleep(100);
  resume();
  await acknowledged(broker, 40);
  assert.ok(ingest.calls.every(({ readings }) => readings.length <= 6));
});

test("after a connection that was good, reconnecting starts with the shortest delay", async (t) => {
  const subscriber = await subscribe(t, { limits: { minReconnectMs: 50, maxReconnectMs: 10_000 } });
  const started = performance.now();
  for (const i of range(7)) {
    subscriber.broker.drop();
    await connected(subscriber, 1 + i);
  }
  assert.ok(performance.now() - started < 3000);
});

test("an unreachable broker is tried until it is there, and reported once", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  await broker.close();
  const subscriber = start(t, broker);
  await until("it is reported", () => endReasons(subscriber).length > 0);
  await sleep(400);
  assert.equal(endReasons(subscriber).length, 1);
  assert.match(endReasons(subscriber)[0] ?? "", /ECONNREFUSED/);
  await broker.listen(t);
  await connected(subscriber);
  broker.publish(TOPIC, reading(1));
  await acknowledged(broker, 1);
});

test("the reason why a broker refuses is reported, with advice for brokers of MQTT 3.1.1", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  for (const [behaviour, reason] of [
    ["unauthorized", /^Connection refused: Not authorized$/],
    ["mqtt 3.1.1 only", /protocol version; if it supports MQTT 3\.1\.1 only, add \?protocol=3\.1\.1 to MQTT_URL/i],
    ["closing", /did not respond; if it supports MQTT 3\.1\.1 only, add \?protocol=3\.1\.1 to MQTT_URL/],
  ] as const) {
    broker.behaviour = behaviour;
    const subscriber = start(t, broker);
    await until("it is reported", () => endReasons(subscriber).length > 0);
    assert.match(endReasons(subscriber)[0] ?? "", reason);
    await subscriber.external.stop();
  }
});

test("a broker that grants none of the topics is reported and tried again", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  broker.denied = FILTERS;
  const subscriber = start(t, broker);
  await until("it is reported", () => endReasons(subscriber).length === 1);
  assert.equal(endReasons(subscriber)[0], "the broker grants none of our subscriptions");
  broker.denied = [];
  await connected(subscriber);
});

test("a broker that does not confirm the subscriptions is reported and tried again", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  broker.behaviour = "no suback";
  const subscriber = start(t, broker, { limits: { subscribeMs: 400 } });
  await until("it is reported", () => endReasons(subscriber).length === 1);
  assert.equal(endReasons(subscriber)[0], "the broker did not confirm our subscriptions");
  broker.behaviour = "normal";
  await connected(subscriber);
  await sleep(500);
  assert.equal(endReasons(subscriber).length, 1, "the connection stays");
});

test("another client with the same client id is named as the reason", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const [first, second] = [start(t, broker), start(t, broker)];
  const reasons = () => [first, second].flatMap(endReasons);
  await until("it is reported", () => reasons().length > 0);
  assert.match(reasons()[0] ?? "", /reason code 142: another client has the same client id/);
});

test("the certificate of an mqtts broker is verified", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const server = createServer(TEST_CERTIFICATE, (socket) => void broker.serve(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const secure = { port: (server.address() as AddressInfo).port };
  const subscriber = start(t, secure, { protocol: "mqtts" });
  await until("it is reported", () => endReasons(subscriber).length === 1);
  assert.match(endReasons(subscriber)[0] ?? "", /self-signed certificate/);
  setDefaultCACertificates([TEST_CERTIFICATE.cert]);
  await connected(subscriber);
  broker.publish(TOPIC, reading(1));
  await acknowledged(broker, 1);
});

test("with ?protocol=3.1.1 it subscribes without sharing", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  broker.behaviour = "mqtt 3.1.1 only";
  broker.denied = FILTERS.slice(0, 2);
  const subscriber = start(t, broker, { query: "?protocol=3.1.1" });
  await connected(subscriber);
  assert.deepEqual(broker.subscribed, FILTERS);
  assert.deepEqual(eventsOf(subscriber, "broker_connected")[0]?.notGranted, broker.denied);
  const uplink = { end_device_ids: { device_id: "d" }, uplink_message: { f_port: 1, decoded_payload: { fill_percentage: 4 } } };
  const topic = "v3/app@ttn/devices/d/up";
  for (const qos of [0, 1] as const) broker.publish(topic, JSON.stringify(uplink), qos);
  await acknowledged(broker, 1);
  assert.deepEqual(subscriber.ingest.fills.length, 2);
});

test("without shared subscriptions, or with ?shared=no, it subscribes to the plain topics", async (t) => {
  for (const [sharedSubscriptionAvailable, query] of [
    [false, ""],
    [true, "?shared=no"],
  ] as const) {
    const broker = await new Mqtt5Broker().listen(t);
    broker.sharedSubscriptionAvailable = sharedSubscriptionAvailable;
    await connected(start(t, broker, { query }));
    assert.deepEqual(broker.subscribed, FILTERS);
  }
});

test("MQTT_URL has a host, and optionally a port, a user, a protocol version and sharing", () => {
  const [username, password] = [undefined, undefined];
  const defaults = { protocol: "mqtt", host: "broker", port: 1883, username, password, protocolVersion: 5, isShared: true };
  for (const [url, expected] of [
    ["mqtt://broker", {}],
    ["mqtt://broker:1884/", { port: 1884 }],
    ["mqtts://broker", { protocol: "mqtts", port: 8883 }],
    ["mqtt://me:pass%3Aword@broker", { username: "me", password: "pass:word" }],
    ["mqtt://broker?protocol=3.1.1", { protocolVersion: 4, isShared: false }],
    ["mqtt://broker?shared=no&protocol=5", { isShared: false }],
    ["mqtt://[::1]:1", { host: "::1", port: 1 }],
  ] as const) {
    assert.deepEqual(parseBrokerUrl(url), { ...defaults, ...expected });
  }
  assert.equal(formatBrokerAddress(parseBrokerUrl("mqtt://me:secret@broker")), "broker:1883");
  assert.equal(formatBrokerAddress(parseBrokerUrl("mqtts://[::1]")), "[::1]:8883");
});

test("any other MQTT_URL is an error that does not repeat it", () => {
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
      () => parseBrokerUrl(text),
      (error) =>
        error instanceof UserError && error.exitCode === 2 && /^MQTT_URL/.test(error.message) && !/secret/.test(error.message),
      text,
    );
  }
});
