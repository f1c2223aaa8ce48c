// Simulated devices and a broker: one made for it, whose messages are read by the service's decoders, and the service's own.

import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import test, { type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Aedes } from "aedes";
import { createMqttMessage, decodeMqttMessage } from "../../src/ingest/decode/message.ts";
import { byMqtt } from "../../src/simulate/by-mqtt.ts";
import { seededFleet } from "../../src/simulate/fleet.ts";
import { MAKERS } from "../../src/simulate/makers.ts";
import { type Service, startService } from "../support/service.ts";
import { asItMustBe, sentTo, simulated } from "./run.ts";

const everybody = (_key: string): boolean => true;

/** A broker on a free port. A silent one acknowledges nothing. `cut` ends a connection before the next message is acknowledged, so many times. */
async function broker(t: TestContext, { cut = 0, isSilent = false, admits = everybody } = {}) {
  const taken = new Map<string, Set<number>>();
  const sockets = new Set<Socket>();
  let left = cut;
  let [published, rejected] = [0, 0];
  const aedes = await Aedes.createBroker({
    authenticate(_client, _name, password, done) {
      if (admits(String(password))) done(null, true);
      else done(Object.assign(new Error("no"), { returnCode: 4 }), false);
    },
    authorizePublish(client, packet, done) {
      assert.equal(packet.qos, 1);
      if (isSilent) return;
      if (left > 0 && published++ % 50 === 20) {
        left--;
        client?.conn.destroy();
        return;
      }
      for (const reading of decodeMqttMessage(createMqttMessage(packet.topic, Buffer.from(packet.payload), Date.now()))) {
        if ("rejected" in reading) rejected++;
        else {
          const name = "deviceId" in reading.source ? reading.source.deviceId : "";
          taken.set(name, (taken.get(name) ?? new Set()).add(reading.createdAt));
        }
      }
      done(null);
    },
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    aedes.handle(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    aedes.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, taken, rejected: () => rejected, cuts: () => cut - left };
}

test("every maker's readings arrive on its own kind of topic, and are read", async (t) => {
  const { url, taken, rejected } = await broker(t, { admits: (key) => key === "secret" });
  const way = await byMqtt(url, "secret");
  t.after(() => way.close());
  const fleet = seededFleet("mqtt", 30, MAKERS);
  const { summary, ledger } = await simulated({ fleet, way, count: 900 });
  assert.equal(rejected(), 0);
  assert.deepEqual([summary.measured, summary.acknowledged, summary.undelivered], [900, summary.sent, 0]);
  assert.deepEqual([summary.stored, summary.duplicate], [0, 0], "a broker does not say");
  for (const { device, entries } of ledger.byDevice(fleet.size)) {
    assert.ok(entries.every(({ isSafe }) => isSafe));
    assert.deepEqual(
      [...(taken.get(fleet.device(device).id) ?? [])].sort(),
      entries.map(({ at }) => at),
      `device ${device}`,
    );
  }
});

test("a broker that drops connections: what it has not acknowledged is published again, and nothing is lost", async (t) => {
  const { url, taken, cuts } = await broker(t, { cut: 8 });
  const way = await byMqtt(url, "secret");
  t.after(() => way.close());
  const fleet = seededFleet("mqtt", 30, MAKERS);
  const { summary, ledger } = await simulated({ fleet, way, count: 2000, rate: 2000 });
  assert.equal(cuts(), 8);
  assert.ok(summary.resent >= 8, `${summary.resent} sent again`);
  assert.deepEqual([summary.acknowledged, summary.undelivered], [summary.sent, 0]);
  for (const { device, entries } of ledger.byDevice(fleet.size)) {
    assert.deepEqual(
      [...(taken.get(fleet.device(device).id) ?? [])].sort(),
      entries.map(({ at }) => at),
      `device ${device}`,
    );
  }
});

test("a broker that does not know the key, or is not there, is told at once", async (t) => {
  const { url } = await broker(t, { admits: () => false });
  await assert.rejects(byMqtt(url, "wrong"), { message: /refuses the key/ });
  await assert.rejects(byMqtt("mqtt://127.0.0.1:1", "key"), { message: /cannot be reached/ });
});

test("a key that is revoked on the way ends the simulation", async (t) => {
  let isValid = true;
  const { url } = await broker(t, { cut: 4, admits: () => isValid });
  const way = await byMqtt(url, "secret");
  t.after(() => way.close());
  const watch = (number: number): void => {
    isValid = number < 5;
  };
  await assert.rejects(simulated({ fleet: seededFleet("mqtt", 5, MAKERS), way, count: 1e6, rate: 500, watch }), {
    message: /refuses the key/,
  });
});

test("what a broker never acknowledges is given up in the end, and told", async (t) => {
  const { url } = await broker(t, { isSilent: true });
  const way = await byMqtt(url, "secret");
  t.after(() => way.close());
  const hurry = AbortSignal.timeout(300);
  const { summary } = await simulated({ fleet: seededFleet("mqtt", 5, MAKERS), way, count: 50, hurry });
  assert.deepEqual([summary.measured, summary.acknowledged], [50, 0]);
  assert.ok(summary.undelivered >= 50, `${summary.undelivered}`);
});

function brokerOf({ events }: Service): string {
  const url = events.flatMap((event) => (event.kind === "mqtt_listening" ? [event.url] : []))[0];
  assert.ok(url !== undefined);
  return url;
}

test("the service's own broker: all that it acknowledges is there as it was measured", async (t) => {
  const service = await startService(t, { environment: { MQTT: "0" } });
  const { found, ...summary } = await sentTo(service, { count: 600, way: (key) => byMqtt(brokerOf(service), key) });
  assert.deepEqual([summary.acknowledged, summary.undelivered], [summary.sent, 0]);
  assert.deepEqual(found, asItMustBe(600, 10));
});

test("the service's own broker, while the database is away for a while: nothing is lost", async (t) => {
  const service = await startService(t, { environment: { MQTT: "0" } });
  const elsewhere = `${service.databaseFile}.elsewhere`;
  let isAway: Promise<void> | undefined;
  const goAway = async (): Promise<void> => {
    renameSync(service.databaseFile, elsewhere);
    await pause(1000);
    renameSync(elsewhere, service.databaseFile);
  };
  const { found, ...summary } = await sentTo(service, {
    count: 900,
    rate: 500,
    way: (key) => byMqtt(brokerOf(service), key),
    watch(number) {
      if (number === 300) isAway = goAway();
    },
  });
  await isAway;
  assert.ok(service.events.some(({ kind }) => kind === "store_unavailable"));
  assert.ok(summary.resent > 0, "some were published again");
  assert.deepEqual([summary.acknowledged, summary.undelivered], [summary.sent, 0]);
  assert.deepEqual(found, asItMustBe(900, 10));
});
