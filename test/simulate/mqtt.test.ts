// Simulated devices that send over MQTT: to a broker of this test, and to the service's own.

import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import test, { type TestContext } from "node:test";
import { generate, type Packet, parser } from "mqtt-packet";
import { createMqttMessage, decodeMqttMessage } from "../../src/ingest/decode.ts";
import { type Fleet, seededFleet } from "../../src/simulate/fleet.ts";
import { mqttTransport } from "../../src/simulate/mqtt.ts";
import type { ReadingLog } from "../../src/simulate/results.ts";
import { MAKERS } from "../../src/simulate/sensors.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { runSimulation, sendTo, verified } from "./support.ts";

const fleet = seededFleet("mqtt", 30, MAKERS);

type BrokerOptions = {
  /** How often it closes a connection instead of acknowledging. */
  readonly disconnects?: number;
  readonly isSilent?: boolean;
  readonly accepts?: (key: string) => boolean;
};

/** Decodes every publish as the service does, and acknowledges it. */
async function startBroker(t: TestContext, { disconnects = 0, isSilent = false, accepts = () => true }: BrokerOptions = {}) {
  const received = new Map<string, Set<number>>();
  const sockets = new Set<Socket>();
  let [remaining, published, rejected] = [disconnects, 0, 0];

  function handle(packet: Packet, socket: Socket): void {
    if (packet.cmd === "connect") {
      const returnCode = accepts(String(packet.password)) ? 0 : 4;
      socket.write(generate({ cmd: "connack", returnCode, sessionPresent: false }));
    }
    if (packet.cmd !== "publish") return;
    assert.equal(packet.qos, 1);
    if (isSilent) return;
    if (remaining > 0 && published++ % 50 === 20) {
      remaining--;
      socket.destroy();
      return;
    }
    for (const reading of decodeMqttMessage(createMqttMessage(packet.topic, Buffer.from(packet.payload), Date.now()))) {
      if ("rejected" in reading) rejected++;
      else {
        const device = "deviceId" in reading.source ? reading.source.deviceId : "";
        received.set(device, (received.get(device) ?? new Set()).add(reading.createdAt));
      }
    }
    socket.write(generate({ cmd: "puback", messageId: packet.messageId ?? 0 }));
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    const packets = parser().on("packet", (packet) => {
      if (!socket.destroyed) handle(packet, socket);
    });
    socket.on("data", (bytes) => packets.parse(Buffer.from(bytes)));
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, received, rejected: () => rejected, disconnects: () => disconnects - remaining };
}

async function connect(t: TestContext, url: string) {
  const transport = await mqttTransport(url, "secret");
  t.after(() => transport.close());
  return transport;
}

function assertAllReceived(received: ReadonlyMap<string, ReadonlySet<number>>, log: ReadingLog, fleet: Fleet): void {
  for (const [device, entries] of log.byDevice()) {
    assert.ok(entries.every(({ isStored }) => isStored));
    const instants = [...(received.get(fleet.device(device).id) ?? [])].sort();
    assert.deepEqual(
      instants,
      entries.map(({ at }) => at),
      `device ${device}`,
    );
  }
}

test("readings of every maker are published on its topic, and can be decoded", async (t) => {
  const { url, received, rejected } = await startBroker(t, { accepts: (key) => key === "secret" });
  const { summary, log } = await runSimulation({ fleet, transport: await connect(t, url), count: 900 });
  assert.equal(rejected(), 0);
  assert.deepEqual([summary.measured, summary.acknowledged, summary.undelivered], [900, summary.sent, 0]);
  assert.deepEqual([summary.stored, summary.duplicate], [0, 0], "a broker reports no status");
  assertAllReceived(received, log, fleet);
});

test("nothing is lost when a broker closes connections: unacknowledged messages are published again", async (t) => {
  const { url, received, disconnects } = await startBroker(t, { disconnects: 8 });
  const { summary, log } = await runSimulation({ fleet, transport: await connect(t, url), count: 2000, rate: 2000 });
  assert.equal(disconnects(), 8);
  assert.ok(summary.resent >= 8, `${summary.resent} sent again`);
  assert.deepEqual([summary.acknowledged, summary.undelivered], [summary.sent, 0]);
  assertAllReceived(received, log, fleet);
});

test("a wrong key or an unreachable broker is reported at once", async (t) => {
  const { url } = await startBroker(t, { accepts: () => false });
  await assert.rejects(mqttTransport(url, "wrong"), { message: /does not accept the key/ });
  await assert.rejects(mqttTransport(url, undefined), { message: /requires a key/ });
  await assert.rejects(mqttTransport("mqtt://127.0.0.1:1", "key"), { message: /cannot be reached/ });
});

test("a key that is revoked meanwhile ends the simulation", async (t) => {
  let isValid = true;
  const { url } = await startBroker(t, { disconnects: 4, accepts: () => isValid });
  const transport = await connect(t, url);
  const onMeasured = (number: number): void => {
    isValid = number < 5;
  };
  await assert.rejects(runSimulation({ fleet, transport, count: 1e6, rate: 500, onMeasured }), {
    message: /does not accept the key/,
  });
});

test("messages that are never acknowledged are given up in the end, and counted", async (t) => {
  const { url } = await startBroker(t, { isSilent: true });
  const abort = AbortSignal.timeout(300);
  const { summary } = await runSimulation({ fleet, transport: await connect(t, url), count: 50, abort });
  assert.deepEqual([summary.measured, summary.acknowledged], [50, 0]);
  assert.ok(summary.undelivered >= 50, `${summary.undelivered}`);
});

function mqttUrl({ events }: Service): string {
  const url = events.flatMap((event) => (event.kind === "mqtt_listening" ? [event.url] : []))[0];
  assert.ok(url !== undefined);
  return url;
}

test("everything that the service acknowledges is stored, also when its database is unavailable meanwhile", async (t) => {
  const service = await startService(t, { environment: { MQTT: "0" } });
  const elsewhere = `${service.databaseFile}.elsewhere`;
  let interrupted: Promise<void> | undefined;
  const interrupt = async (): Promise<void> => {
    renameSync(service.databaseFile, elsewhere);
    await until("the store is unavailable", () => service.events.some(({ kind }) => kind === "store_unavailable"));
    renameSync(elsewhere, service.databaseFile);
  };
  const { verification, ...summary } = await sendTo(service, {
    count: 900,
    rate: 500,
    connect: (key) => mqttTransport(mqttUrl(service), key),
    onMeasured(number) {
      if (number === 300) interrupted = interrupt();
    },
  });
  assert.ok(interrupted !== undefined);
  await interrupted;
  assert.deepEqual([summary.acknowledged, summary.undelivered], [summary.sent, 0]);
  assert.deepEqual(verification, verified(900, 10));
});
