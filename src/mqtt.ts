// The MQTT doors, wired: the embedded broker and the subscription at an external one, as far as they are configured. What they
// need is loaded only then.

import { hash } from "node:crypto";
import { hostname } from "node:os";
import type { Config } from "./config.ts";
import { Refusal } from "./domain/errors.ts";
import type { Observe } from "./domain/events.ts";
import type { Clock } from "./domain/instant.ts";
import { bindingOf } from "./domain/key.ts";
import type { Reads } from "./domain/store.ts";
import { listenComplaint, numericHost } from "./http/address.ts";
import { throttled } from "./http/admission.ts";
import { KeyRing, requireReach } from "./http/auth.ts";
import { type Limits, WrongKeys } from "./http/limits.ts";
import type { Accept, Sender } from "./ingest/arrival.ts";

export type MqttParts = {
  readonly config: Config;
  readonly reads: Pick<Reads, "keyByHash">;
  readonly accept: Accept;
  readonly limits: Limits;
  readonly observe: Observe;
  readonly clock: Clock;
  /** Of several processes the first has the broker; each has a subscription. */
  readonly worker: number;
};

export type Mqtt = { readonly stop: () => Promise<void> };

export async function openMqtt(parts: MqttParts): Promise<Mqtt> {
  const open = [await openBroker(parts), await openSubscriber(parts)].filter((door) => door !== undefined);
  return {
    async stop() {
      await Promise.all(open.map((door) => door.stop()));
    },
  };
}

async function openBroker({ config, worker, ...parts }: MqttParts): Promise<Mqtt | undefined> {
  const { mqttPort, host } = config;
  if (mqttPort === null || worker !== 1) return undefined;
  const { Broker } = await import("./ingest/mqtt/broker.ts");
  const broker = new Broker({ ...parts, admit: admitting({ config, worker, ...parts }) });
  try {
    await broker.start({ host: await numericHost(host), port: mqttPort });
  } catch (error) {
    throw listenComplaint(error, { host, port: mqttPort, setting: "--mqtt or MQTT" });
  }
  return broker;
}

async function openSubscriber({ config, worker, accept, observe, clock }: MqttParts): Promise<Mqtt | undefined> {
  if (config.mqttUrl === null) return undefined;
  const { Subscriber } = await import("./ingest/mqtt/subscriber.ts");
  const subscriber = new Subscriber({ url: config.mqttUrl, clientId: clientId(config, worker), accept, observe, clock });
  subscriber.start();
  return subscriber;
}

/** The same after a restart, and nobody else's: the broker keeps for it what was not acknowledged. */
function clientId({ databaseUrl, host, port }: Config, worker: number): string {
  const who = hash("sha256", JSON.stringify([hostname(), host, port, databaseUrl]), "hex").slice(0, 12);
  return `tank-monitor-${who}-${worker}`;
}

/** A client logs in with an ingest key. Floods of wrong ones from one address are throttled, as over HTTP. */
function admitting({ reads, clock, limits, config }: MqttParts): (secret: string, address: string) => Promise<Sender> {
  const keys = new KeyRing(reads, clock);
  const wrongKeys = config.rateLimit === 0 ? undefined : new WrongKeys(limits);
  return async (secret, address) => {
    try {
      const caller = await keys.callerOf(secret);
      requireReach(caller, "ingest");
      return bindingOf(caller.key);
    } catch (error) {
      const isWrong = error instanceof Refusal && error.code === "key_invalid";
      throw isWrong && (await wrongKeys?.isFlood(address)) === true ? throttled() : error;
    }
  };
}
