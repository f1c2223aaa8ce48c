// Wires the MQTT endpoints that are configured: the embedded one, and the client of an external broker. Their modules are loaded
// only then.

import { hash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { hostname } from "node:os";
import { createSecureContext } from "node:tls";
import type { Config } from "./config.ts";
import { UserError } from "./domain/errors.ts";
import type { Clock } from "./domain/instant.ts";
import type { Observe } from "./domain/log-events.ts";
import type { Reads } from "./domain/store.ts";
import { listenError, numericHost } from "./http/address.ts";
import { ingestAuthentication } from "./http/auth.ts";
import { ConnectionLimit, isProxyAddress } from "./http/connection-limit.ts";
import type { Limits } from "./http/limits.ts";
import { type Ingest, ingestFrom } from "./ingest/ingest.ts";
import type { Listener, MqttEndpoint } from "./ingest/mqtt/endpoint.ts";
import type { BrokerIdentity, ExternalBroker } from "./ingest/mqtt/external-broker.ts";

type MqttDependencies = {
  readonly config: Config;
  readonly reads: Pick<Reads, "keyByHash">;
  readonly ingest: Ingest;
  readonly limits: Limits;
  readonly observe: Observe;
  readonly clock: Clock;
  /** Of several processes the first has the embedded endpoint; each is a client of the external broker, where they can share its messages. */
  readonly worker: number;
};

export type Mqtt = {
  /** The number of clients of the embedded endpoint. */
  readonly clients: () => number;
  readonly stop: () => Promise<void>;
};

export async function openMqtt(dependencies: MqttDependencies): Promise<Mqtt> {
  const endpoint = await openEndpoint(dependencies);
  const broker = await openExternalBroker(dependencies);
  return {
    clients: () => endpoint?.clients ?? 0,
    async stop() {
      await Promise.all([endpoint?.stop(), broker?.stop()]);
    },
  };
}

async function openEndpoint(dependencies: MqttDependencies): Promise<MqttEndpoint | undefined> {
  const { config, worker, reads, limits, ingest, observe, clock } = dependencies;
  const { mqttPort, mqttsPort, host } = config;
  if ((mqttPort === null && mqttsPort === null) || worker !== 1) return undefined;
  const tls = mqttsPort === null ? undefined : readCertificate(config);
  const { MqttEndpoint: Endpoint } = await import("./ingest/mqtt/endpoint.ts");
  const authenticate = ingestAuthentication(reads, clock, limits, config.rateLimit);
  const limit = new ConnectionLimit(isProxyAddress(config.trustProxy));
  const admit = (socket: Socket): boolean => limit.admit(socket);
  const endpoint = new Endpoint({ ingest: ingestFrom("mqtt", ingest), observe, clock, authenticate, admit });
  const listen = async (port: number, setting: string, secure: Pick<Listener, "tls">): Promise<void> => {
    try {
      await endpoint.listen({ host: await numericHost(host), port, ...secure });
    } catch (error) {
      await endpoint.stop();
      throw listenError(error, { host, port, setting });
    }
  };
  if (mqttPort !== null) await listen(mqttPort, "--mqtt or MQTT", {});
  if (mqttsPort !== null && tls !== undefined) await listen(mqttsPort, "--mqtts or MQTTS", { tls });
  return endpoint;
}

function readCertificate({ mqttsCert, mqttsKey }: Config): NonNullable<Listener["tls"]> {
  const tls = { cert: readPem("MQTTS_CERT", mqttsCert), key: readPem("MQTTS_KEY", mqttsKey) };
  attempt("MQTTS_CERT and MQTTS_KEY are not a certificate and its private key in PEM format", () => createSecureContext(tls));
  return tls;
}

function readPem(name: string, file: string | null): string {
  if (file === null) throw new UserError(`--mqtts or MQTTS needs ${name}, the name of a PEM file`, 2);
  return attempt(`${name} cannot be read`, () => readFileSync(file, "utf8"));
}

function attempt<T>(problem: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new UserError(`${problem}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function openExternalBroker(dependencies: MqttDependencies): Promise<ExternalBroker | undefined> {
  const { config, worker, ingest, observe, clock } = dependencies;
  if (config.mqttUrl === null) return undefined;
  const { ExternalBroker: Broker } = await import("./ingest/mqtt/external-broker.ts");
  const broker = new Broker({
    url: config.mqttUrl,
    identity: identityOf(config, worker),
    ingest: ingestFrom("mqtt_url", ingest),
    observe,
    clock,
  });
  broker.start();
  return broker;
}

/**
 * The same after a restart, so that the broker keeps for it what was not acknowledged. With PORT=0 nothing tells two services on
 * one machine apart: each start gets a new id, for which nothing is kept.
 */
function identityOf({ databaseUrl, host, port }: Config, worker: number): BrokerIdentity {
  const isPersistent = port !== 0;
  const name = isPersistent ? hash("sha256", JSON.stringify([hostname(), host, port, databaseUrl]), "hex") : randomUUID();
  return { clientId: `tank-monitor-${name.replaceAll("-", "").slice(0, 12)}-${worker}`, isPersistent, isFirst: worker === 1 };
}
