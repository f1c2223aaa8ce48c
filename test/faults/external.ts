// Readings that are published to an external broker, from which services take them.

import { setTimeout as pause } from "node:timers/promises";
import type { Lifetime } from "../e2e/program.ts";
import type { Mqtt5Broker } from "../support/mqtt5-broker.ts";
import { SOURCES } from "./fleet.ts";
import type { Sending } from "./ledger.ts";
import { messageOf } from "./messages.ts";
import type { Trial } from "./trial.ts";

const MOST = 20;
const UNDER_WAY = 100;
const EVERY_MS = 5;
const DRAIN_MS = 30_000;

/** Publishes until the function is called that this gives; what the broker is told to have been taken counts as acknowledged. */
export function publishTo(life: Lifetime, broker: Mqtt5Broker, { chance, ledger, measurements }: Trial): () => Promise<void> {
  const waiting = new Map<string, Sending[]>();
  let heard = 0;
  let isStopped = false;
  let isAbandoned = false;
  life.after(() => {
    isAbandoned = true;
  });

  function publish(): void {
    const readings = measurements.some(chance.of(0.6) ? 1 : chance.whole(1, MOST), chance.pick(SOURCES).place);
    const { topic, payload } = messageOf(chance, readings);
    waiting.set(payload, [...(waiting.get(payload) ?? []), ledger.begin(readings)]);
    broker.publish(topic, payload);
  }

  function hear(): void {
    for (const payload of broker.acknowledged.slice(heard)) {
      heard++;
      waiting.get(payload)?.shift()?.acknowledged();
    }
  }

  async function run(): Promise<void> {
    for (; !isStopped && !isAbandoned; await pause(EVERY_MS)) {
      hear();
      while (broker.unacknowledged < UNDER_WAY) publish();
    }
    for (const deadline = performance.now() + DRAIN_MS; broker.unacknowledged > 0; await pause(EVERY_MS)) {
      if (isAbandoned) return;
      if (performance.now() > deadline) throw new Error(`${broker.unacknowledged} messages are not acknowledged`);
    }
    hear();
  }

  const running = run();
  running.catch(() => {});
  return () => {
    isStopped = true;
    return running;
  };
}
