// MQTT as the service opens it: with stored keys and their rates, and with a client id at an external broker.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import mqtt from "mqtt";
import { readConfig } from "../../../src/config.ts";
import { UserError } from "../../../src/domain/errors.ts";
import { localLimits } from "../../../src/http/limits.ts";
import { type Mqtt, openMqtt } from "../../../src/mqtt.ts";
import { TEST_CERTIFICATE } from "../../support/certificate.ts";
import { manualClock } from "../../support/clock.ts";
import { Mqtt5Broker } from "../../support/mqtt5-broker.ts";
import { type Lifetime, startService, temporaryFolder } from "../../support/service.ts";
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
  const answer = await fetch(`${service.url}/ingest/v1/readings`, { method: "POST", headers, body });
  assert.equal(answer.status, 429, "they count together");
  forward(1000);
  await peer.received("puback", 13);
  assert.equal(peer.isClosed, false);
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
