// A sender over MQTT, with QoS 1: what was not acknowledged it sends again when it is connected again.

import { setTimeout as pause } from "node:timers/promises";
import mqtt from "mqtt";
import { SOURCES } from "./fleet.ts";
import type { Reading } from "./ledger.ts";
import { messageOf } from "./messages.ts";
import type { Sender, SenderParts } from "./sender.ts";

const UNDER_WAY = 5;
const DRAIN_MS = 30_000;
const AGAIN_MS = 50;

export type MqttSender = Sender & {
  /** Messages that have been handed over and not been acknowledged. */
  readonly underWay: () => number;
};

/** `most` readings in one message, of any place or of one alone. */
export function mqttSender(parts: SenderParts, url: string, most: number, place?: string): MqttSender {
  const { ledger, tally, chance, measurements, key: password } = parts;
  const client = mqtt.connect(url, { username: "any", password, reconnectPeriod: AGAIN_MS, reconnectOnConnackError: true });
  // Told again with every attempt; that the connection is away is what these tests are about.
  client.on("error", () => {});
  client.on("close", () => tally.broken++);
  let underWay = 0;
  let isStopped = false;

  async function run(): Promise<void> {
    while (!isStopped) {
      const count = chance.of(0.6) ? 1 : chance.whole(1, most);
      await send(measurements.some(count, place ?? chance.pick(SOURCES).place));
    }
  }

  async function send(readings: readonly Reading[]): Promise<void> {
    const { topic, payload } = messageOf(chance, readings);
    const sending = ledger.begin(readings);
    underWay++;
    try {
      await client.publishAsync(topic, payload, { qos: 1 });
      sending.acknowledged();
    } catch {
      sending.broken();
    } finally {
      underWay--;
    }
  }

  const running = Promise.all(Array.from({ length: UNDER_WAY }, run));
  return {
    underWay: () => underWay,
    async stop() {
      isStopped = true;
      const isDone = await Promise.race([running.then(() => true), pause(DRAIN_MS, false, { ref: false })]);
      if (!isDone) tally.strange.push(`${underWay} messages are not acknowledged ${DRAIN_MS / 1000} s after the last was sent`);
      await client.endAsync(true);
    },
    abandon() {
      isStopped = true;
      client.end(true);
    },
  };
}
