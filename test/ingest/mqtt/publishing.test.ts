// The embedded endpoint, as clients see it that publish readings.

import assert from "node:assert/strict";
import test from "node:test";
import { RequestError } from "../../../src/domain/errors.ts";
import { until } from "../../support/until.ts";
import {
  ANYONE,
  connectClient,
  dropReasons,
  eventsOf,
  publish,
  RawClient,
  range,
  reading,
  sleep,
  startEndpoint,
} from "./endpoint.ts";
import { fillOf, unavailable } from "./fake-ingest.ts";

const TOPIC = "tanks/d1/readings";

test("a message of QoS 1 or 2 is acknowledged after it is stored, and not before", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await new RawClient(t, endpoint).connect();
  const resume = endpoint.ingest.hold();
  client.send(publish(7, reading(1)), publish(8, reading(2), { qos: 2 }), publish(8, reading(2), { qos: 2, dup: true }));
  await until("readings are ingested", () => endpoint.ingest.calls.length > 0);
  client.send({ cmd: "pingreq" });
  await client.received("pingresp");
  assert.equal(client.packets.length, 2, "nothing but CONNACK and PINGRESP");
  resume();
  await client.received("puback");
  await client.received("pubrec");
  client.send(publish(8, reading(2), { qos: 2, dup: true }));
  await client.received("pubrec", 2);
  client.send({ cmd: "pubrel", messageId: 8 });
  await client.received("pubcomp");
  assert.deepEqual([client.acknowledged, endpoint.ingest.fills], [[7], [1, 2]]);
});

test("messages of QoS 0 are stored even if their sender leaves while they are held", async (t) => {
  const endpoint = await startEndpoint(t);
  const resume = endpoint.ingest.hold();
  const fills = range(250).map((fill) => fill / 10);
  for (const leave of [(client: RawClient) => client.send({ cmd: "disconnect" }), ({ socket }: RawClient) => socket.destroy()]) {
    const client = await new RawClient(t, endpoint).connect();
    client.send(...fills.map((fill) => publish(0, reading(fill), { qos: 0 })), { cmd: "pingreq" });
    await client.received("pingresp");
    leave(client);
    await client.closed();
  }
  resume();
  await until("all are stored", () => endpoint.ingest.stored.length === 500);
  assert.deepEqual(endpoint.ingest.fills.toSorted(), [...fills, ...fills].toSorted());
});

test("while the store is unavailable clients are disconnected, send again, and nothing is lost", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await connectClient(t, endpoint, { reconnectPeriod: 50, clean: false, clientId: "sender" });
  endpoint.ingest.failWith = unavailable;
  let acknowledged = 0;
  const sent = range(20).map((fill) => client.publishAsync(TOPIC, reading(fill), { qos: 1 }).then(() => acknowledged++));
  await until("it was disconnected twice", () => dropReasons(endpoint).length >= 2);
  assert.equal(acknowledged, 0);
  const dropped = { kind: "mqtt_client_dropped", reason: "store_unavailable", address: "127.0.0.1" };
  assert.deepEqual(eventsOf(endpoint, "mqtt_client_dropped")[0], dropped);
  endpoint.ingest.failWith = () => undefined;
  await Promise.all(sent);
  assert.deepEqual(new Set(endpoint.ingest.fills), new Set(range(20)));
  assert.deepEqual(eventsOf(endpoint, "mqtt_failed"), []);
});

test("a client whose tank is damaged is disconnected after a while to send again; its other messages are acknowledged", async (t) => {
  const endpoint = await startEndpoint(t, { resendMs: 300 });
  endpoint.ingest.failWith = ({ readings }) =>
    readings.some((one) => "measurement" in one && fillOf(one) === 13) ? new RequestError("data_damaged", "damaged") : undefined;
  const client = await new RawClient(t, endpoint).connect();
  client.send(publish(0, reading(13), { qos: 0 }), ...range(20).map((id) => publish(id + 1, reading(id))));
  await client.received("puback", 19);
  client.send(publish(30, reading(30)));
  await client.received("puback", 20);
  assert.equal(client.isClosed, false);
  await client.closed();
  const stored = range(20).filter((id) => id !== 13);
  assert.deepEqual(client.acknowledged, [...stored.map((id) => id + 1), 30]);
  assert.deepEqual(endpoint.ingest.fills, [...stored, 30]);
  assert.deepEqual(dropReasons(endpoint), ["data_damaged"]);
  assert.deepEqual(eventsOf(endpoint, "mqtt_failed"), []);
});

test("acknowledgements are sent in the order of arrival, also those of rejected messages", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await new RawClient(t, endpoint).connect();
  endpoint.ingest.delayMs = 20;
  for (const id of range(60)) {
    const rejected = id % 3 === 0 ? publish(id, "no JSON") : id % 5 === 0 ? publish(id, "{}", { topic: "elsewhere" }) : undefined;
    client.send(rejected ?? publish(id, reading(id)));
    if (id % 7 === 0) await sleep(3);
  }
  await client.received("puback", 60);
  assert.deepEqual(client.acknowledged, range(60));
  const expected = range(60).filter((id) => id % 3 !== 0 && id % 5 !== 0);
  assert.deepEqual(endpoint.ingest.fills, expected);
});

test("messages of many clients are stored in a few batches of limited size, each client's in their order", async (t) => {
  const endpoint = await startEndpoint(t);
  const one = await new RawClient(t, endpoint).connect();
  one.send(...range(50).map((id) => publish(id, reading(id), { topic: "tanks/one/readings" })));
  await one.received("puback", 50);
  assert.equal(endpoint.ingest.calls.length, 1);
  const list = JSON.stringify(range(6000).map(() => ({ fill_percentage: 1, created_at: "2026-11-01T00:00:00Z" })));
  one.send(...range(6).map((id) => publish(id, list)));
  await one.received("puback", 56);
  assert.ok(endpoint.ingest.calls.every(({ readings }) => readings.length <= 6000));
  const clients = await Promise.all(range(20).map(() => connectClient(t, endpoint)));
  endpoint.ingest.delayMs = 10;
  const before = endpoint.ingest.calls.length;
  await Promise.all(
    clients.flatMap((client, i) => range(50).map((k) => client.publishAsync(`tanks/c${i}/readings`, reading(k), { qos: 1 }))),
  );
  const calls = endpoint.ingest.calls.length - before;
  assert.ok(calls < 100, `${calls} calls`);
  for (const i of clients.keys()) {
    const own = endpoint.ingest.stored.filter(({ source }) => "deviceId" in source && source.deviceId === `c${i}`);
    assert.deepEqual(own.map(fillOf), range(50));
  }
});

test("while messages of some keys take long to store, those of another do not wait for them", async (t) => {
  const endpoint = await startEndpoint(t);
  for (const key of ["a", "b", "c", "quick"]) endpoint.keys.set(key, { ...ANYONE, deviceId: key });
  const resume = endpoint.ingest.hold(({ sender }) => sender.deviceId !== "quick");
  const [quick, ...slow] = await Promise.all(["quick", "a", "b", "c"].map((key) => new RawClient(t, endpoint).connect(key)));
  for (const [i, client] of slow.entries()) {
    const topic = `tanks/${"abc"[i]}/readings`;
    for (const id of range(50)) {
      client.send(publish(id, reading(id), { topic }));
      if (id % 10 === 0) await sleep(10);
    }
  }
  quick?.send(...range(20).map((id) => publish(id, reading(id), { topic: "tanks/quick/readings" })));
  await quick?.received("puback", 20);
  assert.deepEqual(quick?.acknowledged, range(20));
  assert.deepEqual(
    slow.map(({ acknowledged }) => acknowledged),
    [[], [], []],
  );
  resume();
  for (const client of slow) {
    await client.received("puback", 50);
    assert.deepEqual(client.acknowledged, range(50));
  }
});

test("messages of different keys are stored with the binding of each", async (t) => {
  const endpoint = await startEndpoint(t);
  const fillsOf = { d1: [1, 2, 3], d2: [4], any: [5, 6] };
  for (const device of ["d1", "d2"]) endpoint.keys.set(`of ${device}`, { ...ANYONE, deviceId: device });
  const [one, two, any] = await Promise.all(["of d1", "of d2", "good"].map((key) => new RawClient(t, endpoint).connect(key)));
  assert.ok(one && two && any);
  const other = { topic: "tanks/d2/readings" };
  one.send(publish(1, reading(1)), publish(2, reading(2), other), publish(3, reading(3)));
  two.send(publish(1, reading(4), other));
  any.send(publish(1, reading(5)), publish(2, reading(6), other));
  await Promise.all([one.received("puback", 3), two.received("puback"), any.received("puback", 2)]);
  assert.deepEqual(new Set(endpoint.ingest.fills), new Set([1, 3, 4, 5, 6]));
  for (const { sender, readings } of endpoint.ingest.calls) {
    const expected: readonly number[] =
      sender.deviceId === "d1" ? fillsOf.d1 : sender.deviceId === "d2" ? fillsOf.d2 : fillsOf.any;
    assert.ok(readings.every((one) => !("rejected" in one) && expected.includes(fillOf(one))));
  }
});

test("a message that can never be stored is acknowledged, and reported to the operator", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await connectClient(t, endpoint);
  for (const [topic, payload, reason, count] of [
    [TOPIC, '{"fill_percentage": 12', "the message is not valid JSON", 1],
    [TOPIC, '[{"fill_percentage":101},{"fill_percentage":1},7]', "fill_percentage: must be from 0 to 100", 2],
    ["temperature/d1", "{}", "topic not recognised", 1],
    ["$SYS/x/new/clients", "sender", "topic not recognised", 1],
  ] as const) {
    await client.publishAsync(topic, payload, { qos: 1 });
    const device = topic === TOPIC ? "d1" : null;
    const event = { kind: "readings_rejected", endpoint: "mqtt", keyId: "id of good", topic, device, count, reason };
    assert.deepEqual(eventsOf(endpoint, "readings_rejected").at(-1), event);
  }
  assert.deepEqual(endpoint.ingest.fills, [1]);
});

test("a reported topic is cut, and has no control characters", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await connectClient(t, endpoint);
  for (const [topic, shownTopic, device] of [
    ["tanks/\u009b31m\u202eno/readings", "tanks/\ufffd31m\ufffdno/readings", "\ufffd31m\ufffdno"],
    ["x".repeat(1000), `${"x".repeat(256)}…`, null],
  ] as const) {
    await client.publishAsync(topic, "no JSON", { qos: 1 });
    const event = eventsOf(endpoint, "readings_rejected").at(-1);
    assert.deepEqual([event?.topic, event?.device], [shownTopic, device]);
  }
});

test("a message that causes an unexpected error is not acknowledged; those stored with it are", async (t) => {
  const endpoint = await startEndpoint(t);
  const [bad, good] = await Promise.all([new RawClient(t, endpoint).connect(), new RawClient(t, endpoint).connect()]);
  endpoint.ingest.failWith = ({ readings }) =>
    readings.some((one) => "measurement" in one && fillOf(one) === 66) ? new Error("unexpected") : undefined;
  const resume = endpoint.ingest.hold();
  good.send(publish(1, reading(1)));
  await until("readings are ingested", () => endpoint.ingest.calls.length > 0);
  bad.send(publish(1, reading(2)), publish(2, reading(66)), publish(3, reading(3)), { cmd: "pingreq" });
  good.send(publish(2, reading(4)), { cmd: "pingreq" });
  await Promise.all([bad.received("pingresp"), good.received("pingresp")]);
  resume();
  await good.received("puback", 2);
  await bad.closed();
  assert.ok(!bad.acknowledged.includes(2));
  assert.deepEqual(new Set(endpoint.ingest.fills), new Set(range(4)));
  assert.deepEqual(dropReasons(endpoint), ["failed"]);
  assert.ok(eventsOf(endpoint, "mqtt_failed").length > 0);
});

test("stopping stores and acknowledges messages in progress, then disconnects", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await new RawClient(t, endpoint).connect();
  const resume = endpoint.ingest.hold();
  client.send(...range(10).map((id) => publish(id, reading(id))));
  await until("readings are ingested", () => endpoint.ingest.calls.length > 0);
  const stopped = endpoint.stop();
  await sleep(50);
  assert.equal(client.isClosed, false);
  resume();
  await stopped;
  await client.closed();
  assert.deepEqual(client.acknowledged, range(10));
  assert.deepEqual(endpoint.ingest.calls[0]?.sender, ANYONE);
});
