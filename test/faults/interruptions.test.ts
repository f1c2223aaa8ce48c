// Killed processes and broken connections; test/long has many more.

import assert from "node:assert/strict";
import test from "node:test";
import { Mqtt5Broker } from "../support/mqtt5-broker.ts";
import { until } from "../support/until.ts";
import { keepAlertsThroughKills } from "./alert-kills.ts";
import { surviveBrokenConnections, surviveKills, surviveTerminatedSessions } from "./kills.ts";
import { LIGHT_LOAD, POSTGRES, SEED, SQLITE, startScenario } from "./scenario.ts";
import { publishTo } from "./senders.ts";

for (const { name, processes, times } of [
  { name: "the service", processes: 1, times: 1 },
  { name: "a worker, and the supervisor", processes: 2, times: 2 },
] as const) {
  test(`kill -9 of ${name} under load loses nothing that was acknowledged, seed ${SEED}`, async (t) => {
    await surviveKills(t, { engine: SQLITE, seed: `${SEED} ${name}`, times, processes, maxReadings: 500, load: LIGHT_LOAD });
  });
}

for (const { name, ...kills } of [
  { name: "one process, SQLite", engine: SQLITE, services: 1, workers: 1, times: 1 },
  { name: "workers, SQLite", engine: SQLITE, services: 1, workers: 2, times: 2 },
  { name: "two services, PostgreSQL", engine: POSTGRES, services: 2, workers: 1, times: 1 },
] as const) {
  test(`kill -9 while alerts open and close neither loses nor duplicates one, ${name}, seed ${SEED}`, async (t) => {
    await keepAlertsThroughKills(t, { ...kills, seed: `${SEED} ${name}` });
  });
}

const MAX_READINGS = 200;

test(`clients of the MQTT endpoint whose connections break send again, seed ${SEED}`, async (t) => {
  await surviveBrokenConnections(t, { engine: SQLITE, seed: SEED, times: 5, maxReadings: MAX_READINGS, load: LIGHT_LOAD });
});

test(`terminated sessions of PostgreSQL lose nothing that was acknowledged, seed ${SEED}`, async (t) => {
  await surviveTerminatedSessions(t, { seed: SEED, times: 4, maxReadings: MAX_READINGS, load: LIGHT_LOAD });
});

test(`an external broker drops its connections, and the service is killed: all of it is stored once, seed ${SEED}`, async (t) => {
  const scenario = await startScenario(t, SQLITE, SEED);
  const broker = await new Mqtt5Broker().listen(t);
  const start = () => scenario.start({ MQTT_URL: `mqtt://127.0.0.1:${broker.port}` });
  let service = await start();
  await until("the service has subscribed", () => broker.subscribed.length === 3, 30_000);
  const stopPublishing = publishTo(t, broker, scenario);
  for (const event of ["drop", "drop", "kill", "drop"]) {
    await scenario.ledger.untilAcknowledged(scenario.random.whole(1, MAX_READINGS));
    if (event === "drop") {
      broker.drop();
      continue;
    }
    service.kill("SIGKILL");
    await service.exited;
    await scenario.expectStored();
    service = await start();
  }
  await stopPublishing();
  assert.ok(broker.sent.length > broker.acknowledged.length, "some were sent again");
  await scenario.expectAllStored(service);
});
