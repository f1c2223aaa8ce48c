// The MQTT doors, wired: the embedded broker and the subscription at an external one, as far as they are configured. What they
// need is loaded only then.

import { hash, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Config } from "./config.ts";
import { RequestError } from "./domain/errors.ts";
import type { Observe } from "./domain/events.ts";
import type { Clock } from "./domain/instant.ts";
import { bindingOf } from "./domain/key.ts";
import type { Reads } from "./domain/store.ts";
import { listenComplaint, numericHost } from "./http/address.ts";
import { throttled } from "./http/admission.ts";
import { KeyRing, requireReach } from "./http/auth.ts";
import { andThen, KeyLimits, type Limits, type Taken, WrongKeys } from "./http/limits.ts";
import type { Ingest } from "./ingest/ingest.ts";
import type { Identity } from "./ingest/mqtt/link.ts";
import type { Admit } from "./ingest/mqtt/logins.ts";

export type MqttParts = {
  readonly config: Config;
  readonly reads: Pick<Reads, "keyByHash">;
  readonly accept: Ingest;
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
  const subscriber = new Subscriber({ url: config.mqttUrl, identity: identityOf(config, worker), accept, observe, clock });
  subscriber.start();
  return subscriber;
}

/**
 * The same after a restart, and nobody else's: the broker keeps for it what was not acknowledged. With any free port there is
 * nothing to tell two services on one machine apart, so each is somebody new, for whom nothing is kept.
 */
function identityOf({ databaseUrl, host, port }: Config, worker: number): Identity {
  const isLasting = port !== 0;
  const who = isLasting ? hash("sha256", JSON.stringify([hostname(), host, port, databaseUrl]), "hex") : randomUUID();
  return { clientId: `tank-monitor-${who.replaceAll("-", "").slice(0, 12)}-${worker}`, isLasting };
}

/**
 * A client logs in with an ingest key. Floods of wrong ones from one address are throttled, as over HTTP, and a message counts
 * as a request does.
 */
function admitting({ reads, clock, limits, config }: MqttParts): Admit {
  const keys = new KeyRing(reads, clock);
  const keyLimits = new KeyLimits(limits, config.rateLimit);
  const wrongKeys = config.rateLimit === 0 ? undefined : new WrongKeys(limits);
  return async (secret, address) => {
    try {
      const caller = await keys.callerOf(secret);
      requireReach(caller, "ingest");
      const turn = () => andThen(keyLimits.take(caller.key), waitOf);
      return { keyId: caller.key.id, sender: bindingOf(caller.key), turn };
    } catch (error) {
      const isWrong = error instanceof RequestError && error.code === "key_invalid";
      throw isWrong && (await wrongKeys?.isFlood(address)) === true ? throttled() : error;
    }
  };
}

/** A timer may come a little early. */
const SPARE_MS = 5;

const waitOf = (taken: Taken | undefined): number =>
  taken === undefined || taken.allowed ? 0 : taken.retryAfter * 1000 + SPARE_MS;
