// An external broker as the source of readings: what it is told, and what it keeps for us.

import assert from "node:assert/strict";
import test from "node:test";
import { UserError } from "../../../src/domain/errors.ts";
import type { Event } from "../../../src/domain/events.ts";
import {
  ExternalBroker,
  type ExternalBrokerLimits,
  formatBrokerAddress,
  parseBrokerUrl,
} from "../../../src/ingest/mqtt/external-broker.ts";
import { Mqtt5Broker } from "../../support/mqtt5-broker.ts";
import type { Lifetime } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { eventsOf, range, reading, sleep } from "./endpoint.ts";
import { FakeIngest, fillOf, unavailable } from "./fake-ingest.ts";

type Joined = { readonly external: ExternalBroker; readonly ingest: FakeIngest; readonly events: Event[] };
type Wish = {
  readonly clientId?: string;
  readonly isPersistent?: boolean;
  readonly url?: string;
  readonly limits?: Partial<ExternalBrokerLimits>;
};

const QUICK: Partial<ExternalBrokerLimits> = { minReconnectMs: 20, maxReconnectMs: 100, resendMs: 100 };

function subscribe(life: Lifetime, { port }: Mqtt5Broker, wish: Wish = {}): Joined {
  const ingest = new FakeIngest();
  const events: Event[] = [];
  const external = new ExternalBroker({
    url: wish.url ?? `mqtt://127.0.0.1:${port}`,
    identity: { clientId: wish.clientId ?? "tank-monitor-0", isPersistent: wish.isPersistent ?? true },
    ingest: ingest.handle,
    observe: (event) => events.push(event),
    clock: Date.now,
    limits: { ...QUICK, ...wish.limits },
  });
  external.start();
  life.after(() => external.stop());
  return { external, ingest, events };
}

async function joined(life: Lifetime, broker: Mqtt5Broker, wish: Wish = {}): Promise<Joined> {
  const made = subscribe(life, broker, wish);
  await connected(made);
  return made;
}

const connected = (made: Joined, times = 1): Promise<boolean> =>
  until("it is connected", () => eventsOf(made, "broker_connected").length >= times);

const TOPIC = "tanks/d1/readings";

test("it subscribes to all sources of readings, sharing them with other processes, and stores what comes", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const { ingest, events } = await joined(t, broker);
  assert.deepEqual(broker.subscribed, [
    "$share/tank-monitor/tanks/+/readings",
    "$share/tank-monitor/application/+/device/+/event/up",
    "$share/tank-monitor/v3/+/devices/+/up",
  ]);
  broker.publish(TOPIC, reading(12.5));
  await until("it is acknowledged", () => broker.acknowledged.length === 1);
  assert.deepEqual(ingest.stored[0]?.source, { deviceId: "d1" });
  assert.deepEqual(ingest.calls[0]?.sender, { customerId: null, deviceId: null });
  assert.deepEqual(events, [{ kind: "broker_connected", broker: `127.0.0.1:${broker.port}`, notGranted: [] }]);
});

test("the session outlives the connection, and the user and password of the address are used, and not told", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const { events } = await joined(t, broker, { url: `mqtt://app%40ttn:s%2Fcret@127.0.0.1:${broker.port}/?protocol=5` });
  const [connect] = broker.connects;
  assert.equal(connect?.clean, false);
  assert.equal(connect.clientId, "tank-monitor-0");
  assert.equal(connect.properties?.sessionExpiryInterval, 86_400);
  assert.equal(connect.properties.receiveMaximum, 1000);
  assert.deepEqual([connect.username, String(connect.password)], ["app@ttn", "s/cret"]);
  assert.doesNotMatch(JSON.stringify(events), /s\/cret|s%2Fcret/);
});

test("a message is acknowledged after it was stored, and not before", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const { ingest } = await joined(t, broker);
  const release = ingest.hold();
  for (const fill of range(50)) broker.publish(TOPIC, reading(fill));
  await until("the store is asked", () => ingest.calls.length > 0);
  await sleep(100);
  assert.deepEqual(broker.acknowledged, []);
  release();
  await until("all are acknowledged", () => broker.acknowledged.length === 50);
  assert.deepEqual(broker.acknowledged, range(50).map(reading), "in the order of arrival");
});

test("many messages share a few calls", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const { ingest } = await joined(t, broker, { limits: { receiveMaximum: 100 } });
  ingest.delayMs = 10;
  for (const id of range(2000)) broker.publish(TOPIC, reading(id / 20));
  await until("all are acknowledged", () => broker.acknowledged.length === 2000, 10_000);
  assert.ok(ingest.calls.length < 200, `${ingest.calls.length} calls`);
  assert.ok(ingest.calls.every(({ readings }) => readings.length <= 100));
  assert.deepEqual(
    ingest.fills,
    range(2000).map((id) => id / 20),
  );
});

test("while the store is away nothing is acknowledged; the same readings are tried until they are stored", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const { ingest, events } = await joined(t, broker, { limits: { receiveMaximum: 10 } });
  ingest.failWith = unavailable;
  for (const fill of range(30)) broker.publish(TOPIC, reading(fill));
  await sleep(1000);
  assert.deepEqual(broker.acknowledged, []);
  assert.ok(ingest.calls.length >= 2 && ingest.calls.length <= 10, `${ingest.calls.length} calls in a second`);
  assert.ok(ingest.calls.every(({ readings }) => readings.length <= 10));
  ingest.failWith = () => undefined;
  await until("all are acknowledged", () => broker.acknowledged.length === 30);
  assert.equal(broker.sent.length, 30, "each was sent once");
  assert.deepEqual(ingest.fills, range(30));
  assert.equal(events.length, 1, "the connection was never lost");
});

test("a connection that breaks is made again, and what was not acknowledged comes again", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const made = await joined(t, broker);
  const release = made.ingest.hold();
  for (const fill of range(20)) broker.publish(TOPIC, reading(fill));
  await until("the store is asked", () => made.ingest.calls.length > 0);
  broker.drop();
  await connected(made, 2);
  await until("they have come again", () => broker.sent.length === 40);
  release();
  await until("all are acknowledged", () => broker.acknowledged.length === 20);
  assert.deepEqual(broker.acknowledged, range(20).map(reading));
  assert.equal(broker.unacknowledged, 0);
  assert.deepEqual(new Set(made.ingest.fills), new Set(range(20)));
  assert.deepEqual(
    eventsOf(made, "broker_disconnected").map(({ reason }) => reason),
    ["the connection was lost"],
  );
});

test("what was in hand when a broker lost its memory is stored, and nothing else is acknowledged for it", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const made = await joined(t, broker);
  const release = made.ingest.hold();
  broker.publish(TOPIC, reading(1));
  await until("the store is asked", () => made.ingest.calls.length > 0);
  broker.forgetSessions();
  broker.drop();
  await connected(made, 2);
  release();
  await until("it is stored", () => made.ingest.stored.length === 1);
  // The broker throws where a number is acknowledged that it did not give out.
  broker.publish(TOPIC, reading(2));
  await until("the next is acknowledged", () => broker.acknowledged.length === 1);
  assert.deepEqual(broker.acknowledged, [reading(2)]);
});

test("what waits while nobody is connected comes with the next process of the same name", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const first = await joined(t, broker);
  await first.external.stop();
  assert.deepEqual(broker.disconnects, ["tank-monitor-0"]);
  for (const fill of range(5)) broker.publish(TOPIC, reading(fill));
  const second = await joined(t, broker);
  await until("all are acknowledged", () => broker.acknowledged.length === 5);
  assert.deepEqual(second.ingest.fills, range(5));
  assert.deepEqual(first.ingest.fills, []);
});

test("two processes share the load, and each message is stored by one", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const [one, two] = await Promise.all(["a", "b"].map((clientId) => joined(t, broker, { clientId })));
  for (const fill of range(100)) broker.publish(TOPIC, reading(fill));
  await until("all are acknowledged", () => broker.acknowledged.length === 100);
  assert.ok(one && two && one.ingest.stored.length > 20 && two.ingest.stored.length > 20);
  assert.deepEqual(
    [...one.ingest.fills, ...two.ingest.fills].toSorted((a, b) => a - b),
    range(100),
  );
});

test("a stop stores and acknowledges what has come, and leaves the rest with the broker", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const { external, ingest } = await joined(t, broker);
  const release = ingest.hold();
  for (const fill of range(10)) broker.publish(TOPIC, reading(fill));
  await until("the store is asked", () => ingest.calls.length > 0);
  const stopped = external.stop();
  for (const fill of range(5)) broker.publish(TOPIC, reading(50 + fill));
  await sleep(50);
  release();
  await stopped;
  await until("it has said goodbye", () => broker.disconnects.length === 1);
  assert.deepEqual(broker.acknowledged, range(10).map(reading));
  assert.equal(broker.unacknowledged, 5);
});

test("a stop while the store is away does not wait for it", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const { external, ingest } = await joined(t, broker);
  ingest.failWith = unavailable;
  broker.publish(TOPIC, reading(1));
  await until("the store is asked", () => ingest.calls.length > 0);
  const started = performance.now();
  await external.stop();
  assert.ok(performance.now() - started < 3000);
  assert.equal(broker.unacknowledged, 1);
});

test("what can never be stored is acknowledged, or it would come again for ever, and told", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const made = await joined(t, broker);
  broker.publish(TOPIC, "no JSON");
  broker.publish("v3/app@ttn/devices/dev1/up", '{"end_device_ids":{"device_id":"dev1"},"uplink_message":{"f_port":1}}');
  await until("both are acknowledged", () => broker.acknowledged.length === 2);
  assert.deepEqual(
    eventsOf(made, "readings_rejected").map(({ endpoint, device, reason }) => [endpoint, device, reason]),
    [
      ["mqtt_url", "d1", "the message is not valid JSON"],
      ["mqtt_url", "dev1", "uplink_message.decoded_payload: is missing; the device has no payload formatter, or it failed"],
    ],
  );
});

test("a message that makes us fail is not acknowledged, takes no other with it, and is asked for again", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const made = await joined(t, broker);
  let isFaulty = true;
  made.ingest.failWith = ({ readings }) =>
    isFaulty && readings.some((arrival) => "measurement" in arrival && fillOf(arrival) === 66) ? new Error("a fault") : undefined;
  for (const fill of [1, 66, 2]) broker.publish(TOPIC, reading(fill));
  await until("the others are acknowledged", () => broker.acknowledged.length === 2);
  await until("it is asked for again", () => broker.sent.filter((payload) => payload === reading(66)).length > 1);
  isFaulty = false;
  await until("it is acknowledged", () => broker.acknowledged.includes(reading(66)));
  assert.ok(eventsOf(made, "mqtt_failed").length > 0);
});

test("messages of QoS 0, which no broker keeps, are taken as fast as they can be stored, and no faster", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const { ingest } = await joined(t, broker, { limits: { receiveMaximum: 100 } });
  const release = ingest.hold();
  for (const id of range(20_000)) broker.publish(TOPIC, reading(id / 200), 0);
  await until("the store is asked", () => ingest.calls.length > 0);
  await sleep(100);
  release();
  await until("all are stored", () => ingest.stored.length === 20_000, 20_000);
  assert.ok(ingest.calls.every(({ readings }) => readings.length <= 101));
  assert.ok(ingest.calls.length < 2000, `${ingest.calls.length} calls`);
});

test("large messages are bounded by their bytes", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const { ingest } = await joined(t, broker, { limits: { memoryBytes: 100_000 } });
  const release = ingest.hold();
  for (const fill of range(40)) broker.publish(TOPIC, `${reading(fill)}${" ".repeat(20_000)}`);
  await until("the store is asked", () => ingest.calls.length > 0);
  await sleep(100);
  release();
  await until("all are acknowledged", () => broker.acknowledged.length === 40);
  assert.ok(ingest.calls.every(({ readings }) => readings.length <= 6));
});

test("a message that is too large is refused and acknowledged, where the broker could not be told", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  broker.manner = "mqtt 3.1.1 only";
  const made = await joined(t, broker, { url: `mqtt://127.0.0.1:${broker.port}?protocol=3.1.1` });
  broker.publish(TOPIC, `${reading(1)}${" ".repeat(1_048_576)}`);
  broker.publish(TOPIC, reading(2));
  await until("both are acknowledged", () => broker.acknowledged.length === 2);
  assert.deepEqual(made.ingest.fills, [2]);
  assert.deepEqual(
    eventsOf(made, "readings_rejected").map(({ topic, device, keyId, reason }) => [topic, device, keyId, reason]),
    [[TOPIC, "d1", null, "the message is larger than 1 MiB"]],
  );
});

test("a broker that breaks off again and again, but delivers meanwhile, is not left waiting longer each time", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const made = await joined(t, broker, { limits: { minReconnectMs: 50, maxReconnectMs: 10_000 } });
  const started = performance.now();
  for (const i of range(7)) {
    broker.publish(TOPIC, reading(i));
    await until("it is acknowledged", () => broker.acknowledged.length === i);
    broker.drop();
    await connected(made, 1 + i);
  }
  assert.ok(performance.now() - started < 3000);
});

test("a broker that is not there is waited for, and its absence is told once", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  await broker.close();
  const made = subscribe(t, broker);
  await sleep(400);
  assert.equal(eventsOf(made, "broker_disconnected").length, 1);
  assert.match(eventsOf(made, "broker_disconnected")[0]?.reason ?? "", /ECONNREFUSED/);
  await broker.listen(t);
  await connected(made);
  broker.publish(TOPIC, reading(1));
  await until("it is acknowledged", () => broker.acknowledged.length === 1);
});

test("a broker that refuses us, or speaks another version, is told with what can be done", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  for (const [manner, reason] of [
    ["unauthorized", /^Connection refused: Not authorized$/],
    ["mqtt 3.1.1 only", /protocol version; if it supports MQTT 3\.1\.1 only, add \?protocol=3\.1\.1 to MQTT_URL/i],
    ["deaf", /did not answer; if it supports MQTT 3\.1\.1 only, add \?protocol=3\.1\.1 to MQTT_URL/],
  ] as const) {
    broker.manner = manner;
    const made = subscribe(t, broker);
    await until("it is told", () => eventsOf(made, "broker_disconnected").length > 0);
    assert.match(eventsOf(made, "broker_disconnected")[0]?.reason ?? "", reason);
    await made.external.stop();
  }
});

test("with ?protocol=3.1.1 it speaks that, and subscribes without sharing", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  broker.manner = "mqtt 3.1.1 only";
  broker.denied = ["tanks/+/readings", "application/+/device/+/event/up"];
  const made = await joined(t, broker, { url: `mqtt://127.0.0.1:${broker.port}?protocol=3.1.1` });
  assert.equal(broker.subscribed.at(-1), "v3/+/devices/+/up");
  assert.deepEqual(eventsOf(made, "broker_connected")[0]?.notGranted, broker.denied);
  const uplink = { end_device_ids: { device_id: "d" }, uplink_message: { f_port: 1, decoded_payload: { fill_percentage: 4 } } };
  for (const qos of [0, 1] as const) broker.publish("v3/app@ttn/devices/d/up", JSON.stringify(uplink), qos);
  await until("both are stored", () => made.ingest.stored.length === 2);
  await until("one is acknowledged", () => broker.acknowledged.length === 1);
});

test("a broker that knows no shared subscriptions is subscribed to without, and so is one with ?shared=no", async (t) => {
  for (const [sharedSubscriptionAvailable, query] of [
    [false, ""],
    [true, "?shared=no"],
  ] as const) {
    const broker = await new Mqtt5Broker().listen(t);
    Object.assign(broker, { sharedSubscriptionAvailable });
    await joined(t, broker, { url: `mqtt://127.0.0.1:${broker.port}${query}` });
    assert.deepEqual(broker.subscribed, ["tanks/+/readings", "application/+/device/+/event/up", "v3/+/devices/+/up"]);
  }
});

test("a broker that lets us have none of our topics is told, and asked again", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  broker.denied = ["tanks/+/readings", "application/+/device/+/event/up", "v3/+/devices/+/up"];
  const made = subscribe(t, broker);
  await until("it is told", () => eventsOf(made, "broker_disconnected").length === 1);
  assert.equal(eventsOf(made, "broker_disconnected")[0]?.reason, "the broker grants none of our subscriptions");
  broker.denied = [];
  await connected(made);
});

const DEFAULTS = {
  protocol: "mqtt",
  host: "broker",
  port: 1883,
  username: undefined,
  password: undefined,
  protocolVersion: 5,
  isShared: true,
};

test("MQTT_URL has a host, and optionally a port, a user, a protocol version and sharing", () => {
  assert.deepEqual(parseBrokerUrl("mqtt://broker"), DEFAULTS);
  assert.deepEqual(parseBrokerUrl("mqtt://broker:1884/"), { ...DEFAULTS, port: 1884 });
  assert.deepEqual(parseBrokerUrl("mqtts://broker"), { ...DEFAULTS, protocol: "mqtts", port: 8883 });
  assert.deepEqual(parseBrokerUrl("mqtt://me:pass%3Aword@broker"), { ...DEFAULTS, username: "me", password: "pass:word" });
  assert.deepEqual(parseBrokerUrl("mqtt://broker?protocol=3.1.1"), { ...DEFAULTS, protocolVersion: 4, isShared: false });
  assert.deepEqual(parseBrokerUrl("mqtt://broker?shared=no&protocol=5"), { ...DEFAULTS, isShared: false });
  assert.deepEqual(parseBrokerUrl("mqtt://[::1]:1"), { ...DEFAULTS, host: "::1", port: 1 });
});

test("an address is shown without user and password", () => {
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
