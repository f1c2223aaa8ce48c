// Connections that break between a broker and its clients: what was not acknowledged comes again, and is stored once.

import assert from "node:assert/strict";
import test from "node:test";
import { Mqtt5Broker } from "../support/mqtt5-broker.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { SEED } from "./chance.ts";
import { SQLITE } from "./engines.ts";
import { publishTo } from "./external.ts";
import { trialOn } from "./trial.ts";

const CUTS = 10;
const CALM = 200;

test(`clients of the embedded broker whose connections break send again, seed ${SEED}`, async (t) => {
  const trial = await trialOn(t, SQLITE, SEED);
  const service = await trial.start();
  const way = await tcpProxy(t, `mqtt://127.0.0.1:${trial.ports.mqtt}`);
  const stopSending = await trial.send(service, way.url);
  for (let cut = 0; cut < CUTS; cut++) {
    await trial.ledger.untilAcknowledged(trial.chance.whole(1, CALM));
    await until("there is a connection to cut", way.disconnect, 30_000);
  }
  await stopSending();
  assert.ok(trial.tally.broken >= CUTS, `${trial.tally.broken} connections broke`);
  await trial.expectAllKept(service);
});

test(`an external broker drops its connections, and the service is killed: all of it is stored once, seed ${SEED}`, async (t) => {
  const trial = await trialOn(t, SQLITE, SEED);
  const broker = await new Mqtt5Broker().listen(t);
  const start = () => trial.start({ MQTT_URL: `mqtt://127.0.0.1:${broker.port}` });
  let service = await start();
  await until("the service has subscribed", () => broker.subscribed.length === 3, 30_000);
  const stopPublishing = publishTo(t, broker, trial);
  for (const fault of ["drop", "drop", "kill", "drop"]) {
    await trial.ledger.untilAcknowledged(trial.chance.whole(1, CALM));
    if (fault === "drop") {
      broker.drop();
      continue;
    }
    service.kill("SIGKILL");
    await service.ended;
    await trial.expectKept();
    service = await start();
  }
  await stopPublishing();
  assert.ok(broker.sent.length > broker.acknowledged.length, "some were sent again");
  await trial.expectAllKept(service);
});
