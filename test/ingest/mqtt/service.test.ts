// MQTT as the service opens it: with stored keys and their rates, and with a client id at an external broker.

import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import mqtt from "mqtt";
import { createClient } from "../../../client/src/index.ts";
import { readConfig } from "../../../src/config.ts";
import { UserError } from "../../../src/domain/errors.ts";
import { localLimits } from "../../../src/http/limits.ts";
import { type Mqtt, openMqtt } from "../../../src/mqtt.ts";
import { TEST_CERTIFICATE } from "../../support/certificate.ts";
import { manualClock } from "../../support/clock.ts";
import { Mqtt5Broker } from "../../support/mqtt5-broker.ts";
import { type Lifetime, startService } from "../../support/service.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { eventsOf, publish, RawClient, range, reading, sleep } from "./endpoint.ts";
import { FakeIngest } from "./fake-ingest.ts";

test("messages and requests count together for a key's rate; messages beyond it are held, other keys are not affected", async (t) => {
  const { clock, forward } = manualClock();
  const service = await startService(t, { clock, environment: { MQTT: "0", HOST: "127.0.0.1" } });
  const port = Number(new URL(eventsOf(service, "mqtt_listening")[0]?.url ?? "").port);
  const limited = await service.key({ role: "ingest", rate: 5 });
  const free = await service.key({ role: "ingest" });
  const peer = await new RawClient(t, { port }).connect(limited);
  peer.send(...range(13).map((id) => publish(id, reading(id))));
  await peer.received("puback", 10);
  const other = await new RawClient(t, { port }).connect(free);
  other.send(...range(100).map((id) => publish(id, reading(1))));
  await other.received("puback", 100);
  assert.deepEqual(peer.acknowledged, range(10), "two seconds' worth at once");
  const headers = { "x-api-key": limited, "content-type": "application/json" };
  const body = '{"device_id":"d1","fill_percentage":1}';
  const response = await fetch(`${service.url}/ingest/v1/readings`, { method: "POST", headers, body });
  assert.equal(response.status, 429, "they count together");
  forward(1000);
  await peer.received("puback", 13);
  assert.equal(peer.isClosed, false);
});

test("clients whose messages are held by the rate of their key get PINGRESP, stay connected, and get every PUBACK later", async (t) => {
  const { clock, forward } = manualClock();
  const service = await startService(t, { clock, environment: { MQTT: "0", HOST: "127.0.0.1" } });
  const port = Number(new URL(eventsOf(service, "mqtt_listening")[0]?.url ?? "").port);
  const connect = async (rate: number) => new RawClient(t, { port }).connect(await service.key({ role: "ingest", rate }), 1);
  const [read, unread] = await Promise.all([connect(5), connect(5)]);
  read.send(...range(15).map((id) => publish(id, reading(id))));
  // More than may be held of one client: it is not read until some of its messages are stored.
  unread.send(...range(15).map((id) => publish(id, `${reading(id)}${" ".repeat(10_000)}`)));
  for (const [i] of range(7).entries()) {
    if (i > 0) await sleep(500);
    for (const client of [read, unread]) client.send({ cmd: "pingreq" });
  }
  await read.received("pingresp", 7);
  for (const client of [read, unread]) assert.deepEqual([client.isClosed, client.acknowledged], [false, range(10)]);
  const pongs = unread.packets.filter(({ cmd }) => cmd === "pingresp").length;
  assert.ok(pongs >= 4, `${pongs} PINGRESP in three seconds`);
  forward(1000);
  for (const client of [read, unread]) {
    await client.received("puback", 15);
    assert.deepEqual([client.isClosed, client.acknowledged], [false, range(15)]);
  }
  assert.deepEqual(eventsOf(service, "mqtt_client_dropped"), []);
});

async function serviceWithTank(life: Lifetime) {
  const service = await startService(life, { environment: { MQTT: "0", HOST: "127.0.0.1" } });
  const port = Number(new URL(eventsOf(service, "mqtt_listening")[0]?.url ?? "").port);
  const api = createClient({ baseUrl: service.url, key: await service.key({ role: "manage" }) });
  const threshold = { min_fill_alert_percentage: 20 };
  await api.manage.customers.create({ id: "c1", name: "Brenner Gas GmbH", email: "office@brenner-gas.example" });
  await api.manage.tanks.create({
    ...{ id: "t1", owner_id: "c1", name: "Hall 3", capacity: 2700, capacity_unit: "liters", assigned_device_id: "d1" },
    ...threshold,
  });
  return { service, port, telemetry: () => api.tanks.telemetry("t1", { size: 100 }) };
}

test("a message is stored after those before it, however many readings they have", async (t) => {
  const { service, port, telemetry } = await serviceWithTank(t);
  const client = await new RawClient(t, { port }).connect(await service.key({ role: "ingest" }));
  const start = Date.parse("2026-11-01T00:00:00Z");
  for (const [i, count] of [1, 101, 251, 1001, 5000].entries()) {
    const times = range(count).map((n) => new Date(start + i * 86_400_000 + n * 1000).toISOString());
    const list = times.map((created_at) => ({ created_at, fill_percentage: 50 }));
    const correction = { created_at: times.at(-1), fill_percentage: 60 };
    client.send(publish(2 * i + 1, JSON.stringify(list)), publish(2 * i + 2, JSON.stringify(correction)));
    await client.received("puback", 2 * i + 2);
    assert.equal((await telemetry()).data[0]?.fill_percentage, 60, `${count} readings`);
  }
});

test("messages without a time are readings of the time they arrived, also if they arrive together or are held", async (t) => {
  const { service, port, telemetry } = await serviceWithTank(t);
  const client = await new RawClient(t, { port }).connect(await service.key({ role: "ingest", rate: 20 }));
  const before = Date.now();
  client.send(...range(60).map((fill) => publish(fill, reading(fill))));
  await client.received("puback", 40);
  const after = Date.now() + 60;
  await client.received("puback", 60);
  const { data } = await telemetry();
  assert.deepEqual(data.map(({ fill_percentage }) => fill_percentage).toReversed(), range(60));
  for (const { created_at } of data) assert.ok(Date.parse(created_at) >= before && Date.parse(created_at) <= after, created_at);
});

test("stopping does not wait for a client that has said goodbye, and keeps its connection open", async (t) => {
  const { service, port } = await serviceWithTank(t);
  const client = new RawClient(t, { port });
  client.socket.allowHalfOpen = true;
  await client.connect(await service.key({ role: "ingest", rate: 0.01 }));
  client.send(...range(3).map((id) => publish(id, reading(id))), { cmd: "disconnect" });
  await once(client.socket, "end");
  // Until the endpoint has requested the next message's place in the rate.
  await sleep(500);
  const started = performance.now();
  await service.stop();
  assert.ok(performance.now() - started < 10_000);
});

const open = (environment: Record<string, string>): ReturnType<typeof openMqtt> =>
  openMqtt({
    config: readConfig({}, environment, {}),
    reads: { keyByHash: async () => undefined },
    ingest: new FakeIngest().handle,
    limits: localLimits(Date.now),
    observe: () => {},
    clock: Date.now,
    worker: 1,
  });

async function subscribe(life: Lifetime, broker: Mqtt5Broker, port: string): Promise<Mqtt> {
  const before = broker.connects.length;
  const mqtt = await open({ PORT: port, MQTT_URL: `mqtt://127.0.0.1:${broker.port}` });
  life.after(() => mqtt.stop());
  await until("it is connected", () => broker.connects.length > before);
  return mqtt;
}

test("a service has the same client id at the broker after a restart", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  for (const _ of range(2)) await (await subscribe(t, broker, "18080")).stop();
  await (await subscribe(t, broker, "18081")).stop();
  const [first, again, other] = broker.connects;
  assert.deepEqual([first?.clean, first?.properties?.sessionExpiryInterval], [false, 86_400]);
  assert.equal(first?.clientId, again?.clientId);
  assert.notEqual(first?.clientId, other?.clientId);
});

test("services with PORT=0 have different client ids, and the broker keeps no session for them", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  for (const _ of range(2)) await subscribe(t, broker, "0");
  await sleep(100);
  const [first, second, ...more] = broker.connects;
  assert.notEqual(first?.clientId, second?.clientId);
  assert.deepEqual([first?.clean, first?.properties?.sessionExpiryInterval, more], [true, 0, []]);
});

test("TLS needs a certificate and its key, and an error names the setting", async (t) => {
  const folder = temporaryFolder(t);
  const [cert, key, other] = [join(folder, "cert.pem"), join(folder, "key.pem"), join(folder, "other.pem")];
  writeFileSync(cert, TEST_CERTIFICATE.cert);
  writeFileSync(key, TEST_CERTIFICATE.key);
  writeFileSync(other, "no PEM");
  for (const [environment, message] of [
    [{}, /MQTTS needs MQTTS_CERT/],
    [{ MQTTS_CERT: cert }, /MQTTS needs MQTTS_KEY/],
    [{ MQTTS_CERT: join(folder, "none.pem"), MQTTS_KEY: key }, /^MQTTS_CERT cannot be read: ENOENT/],
    [{ MQTTS_CERT: cert, MQTTS_KEY: other }, /^MQTTS_CERT and MQTTS_KEY are not a certificate and its private key/],
  ] as const) {
    await assert.rejects(
      open({ MQTTS: "0", ...environment }),
      (error) => error instanceof UserError && message.test(error.message),
    );
  }
  const service = await startService(t, { environment: { MQTT: "0", MQTTS: "0", MQTTS_CERT: cert, MQTTS_KEY: key } });
  const [plain, secure] = eventsOf(service, "mqtt_listening").map(({ url }) => new URL(url));
  assert.deepEqual([plain?.protocol, secure?.protocol], ["mqtt:", "mqtts:"]);
  const password = await service.key({ role: "ingest" });
  const options = { username: "any", password, ca: TEST_CERTIFICATE.cert, protocolVersion: 5 } as const;
  const client = await mqtt.connectAsync(secure?.href ?? "", options);
  await client.publishAsync("tanks/d1/readings", reading(1), { qos: 1 });
  await client.endAsync();
});
