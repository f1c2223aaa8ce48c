// Mosquitto as client and as broker of the program itself, where it is installed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import test, { type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import mqtt from "mqtt";
import { createKey, importLines, SMALL_FLEET } from "../e2e/fixtures.ts";
import { type Service, workspace } from "../e2e/program.ts";
import { list, logEvents } from "../e2e/requests.ts";
import { FIRST_SOURCE, SOURCES } from "../faults/fleet.ts";
import type { Sending } from "../faults/ledger.ts";
import { POSTGRES, type Scenario, SEED, SQLITE, startScenario } from "../faults/scenario.ts";
import { mqttMessage } from "../faults/senders.ts";
import { freePort } from "../support/free-port.ts";
import { withoutMosquitto as skip, startMosquitto } from "../support/mosquitto.ts";
import { until } from "../support/until.ts";

const LINES = 2000;
const MESSAGES = 20_000;
const AT_ONCE = 100;
const BAD = 40;
const DRAIN_MS = 120_000;

test(`mosquitto_pub sends the same ${LINES} readings twice to the MQTT endpoint: each is stored once`, { skip }, async (t) => {
  const scenario = await startScenario(t, SQLITE, SEED);
  const service = await scenario.start();
  const { topic } = mqttMessage(FIRST_SOURCE, []);
  const readings = scenario.measurements.fresh(LINES, FIRST_SOURCE);
  const lines = readings.map(({ at, fill }) => `{"created_at":"${new Date(at).toISOString()}","fill_percentage":${fill}}\n`);
  for (let time = 0; time < 2; time++) {
    const sending = scenario.ledger.begin(readings);
    const to = ["-h", "127.0.0.1", "-p", String(scenario.ports.mqtt), "-u", "any", "-P", await scenario.ingestKey(service)];
    const stdio = ["pipe", "ignore", "inherit"] as const;
    const client = spawn("mosquitto_pub", [...to, "-q", "1", "-l", "-t", topic], { stdio: [...stdio] });
    client.stdin.end(lines.join(""));
    assert.deepEqual(await once(client, "exit"), [0, null]);
    sending.acknowledged();
  }
  await scenario.expectAllStored(service);
});

/** Resolves with a function to call once all messages are stored. */
async function publishAll(t: TestContext, url: string, scenario: Scenario, halfway: () => unknown): Promise<() => void> {
  const { random, ledger, measurements } = scenario;
  const client = await mqtt.connectAsync(url);
  t.after(() => client.end(true));
  const sendings: Sending[] = [];
  const publish = async (): Promise<void> => {
    const source = random.pick(SOURCES);
    const readings = measurements.some(1, source);
    sendings.push(ledger.begin(readings));
    const { topic, payload } = mqttMessage(source, readings);
    await client.publishAsync(topic, payload, { qos: 1 });
  };
  for (let sent = 0; sent < MESSAGES; sent += AT_ONCE) {
    if (sent === MESSAGES / 2) await halfway();
    await Promise.all(Array.from({ length: AT_ONCE }, publish));
  }
  // The service that gets one of these logs it.
  const { topic } = mqttMessage(FIRST_SOURCE, []);
  for (let i = 0; i < BAD; i++) await client.publishAsync(topic, '{"fill_percentage":101}', { qos: 1 });
  return () => sendings.forEach((sending) => void sending.acknowledged());
}

for (const engine of [SQLITE, POSTGRES]) {
  const name = `${engine.name}: two services share what Mosquitto has, one is killed meanwhile, and each message is stored once`;
  test(`${name}, seed ${SEED}`, { skip }, async (t) => {
    const scenario = await startScenario(t, engine, SEED);
    const { url: MQTT_URL } = await startMosquitto(t);
    const port = String(await freePort());
    const startOther = () => scenario.here.start(["serve", "--port", port], { env: { MQTT_URL } });
    const isConnected = (service: Service) => service.waitForOutput(/"event":"broker_connected"/);
    const service = await scenario.start({ MQTT_URL });
    let other = await startOther();
    await Promise.all([service, other].map(isConnected));
    const arrived = await publishAll(t, MQTT_URL, scenario, async () => {
      other.kill("SIGKILL");
      await other.exited;
      other = await startOther();
      await isConnected(other);
    });
    await until("all of it is stored", () => scenario.isAllStored(service), DRAIN_MS);
    arrived();
    // They come last, and may still be waiting where all the others are stored.
    const hadItsShare = (one: Service) => logEvents(one, "readings_rejected").length > 0;
    await until("both have had their share", () => [service, other].every(hadItsShare));
    await scenario.expectAllStored(service);
  });
}

test("two workers store each message that Mosquitto delivers once, whether they share the messages or not", {
  skip,
}, async (t) => {
  for (const [query, subscribers] of [
    ["", 2],
    ["?shared=no", 1],
    ["?protocol=3.1.1", 1],
  ] as const) {
    const { url } = await startMosquitto(t);
    const here = workspace(t, { MQTT_URL: `${url}${query}`, PORT: String(await freePort()) });
    await importLines(here, SMALL_FLEET);
    const service = await here.start(["serve", "--workers", "2"]);
    await until("it has subscribed", () => logEvents(service, "broker_connected").length === subscribers);
    const client = await mqtt.connectAsync(url);
    t.after(() => client.end(true));
    for (let fill = 1; fill <= 50; fill++) {
      await client.publishAsync("tanks/device-a1/readings", `{"fill_percentage":${fill}}`, { qos: 1 });
      await sleep(20);
    }
    const key = await createKey(here);
    const stored = async () => (await list(service, "/v1/tanks/a1/telemetry", key)).total_items - 3;
    await until("all are stored", async () => (await stored()) >= 50);
    await sleep(500);
    assert.equal(await stored(), 50);
    await service.stop();
  }
});
