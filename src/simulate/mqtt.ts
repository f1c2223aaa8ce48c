// The transport over MQTT 3.1.1 at QoS 1: a publish that the broker has not acknowledged is repeated.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { MqttClient } from "mqtt";
import { UserError } from "../domain/errors.ts";
import { type Message, topicOf } from "./messages.ts";
import type { MessageTransport } from "./simulation.ts";

const IN_FLIGHT = 100;
const RETRY_DELAY_MS = 250;
const CONNECT_TIMEOUT_MS = 10_000;
/** CONNACK codes that a retry does not fix: bad user name or password, not authorized. */
const CREDENTIAL_ERRORS: readonly unknown[] = [4, 5];

/** Rejects if the broker is unreachable or does not accept the key. Without a key, the credentials in the address are used. */
export async function mqttTransport(url: string, key: string | undefined): Promise<MessageTransport> {
  const connection = new MqttConnection(url, key);
  try {
    await connection.open();
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`the broker cannot be reached: ${isNotMqtt(error as Error) ? NOT_MQTT : (error as Error).message}`);
  }
  return {
    concurrency: IN_FLIGHT,
    batchSize: 1,
    async deliver(messages, onResend, abort) {
      for (const message of messages) await publishUntilAcknowledged(connection, message, onResend, abort);
      return messages.flatMap(({ numbers }) => numbers.map(() => ({ status: "acknowledged" }) as const));
    },
    close: () => connection.close(),
  };
}

/** Errors of the connection have a code, and these have none; what is left is from the parser of packets. */
function isNotMqtt(error: Error): boolean {
  return !("code" in error || error.message === CONNECTION_CLOSED || error.message === "connack timeout");
}

async function publishUntilAcknowledged(
  connection: MqttConnection,
  message: Message,
  onResend: (readings: number) => void,
  abort: AbortSignal,
): Promise<void> {
  for (let isSent = false; ; ) {
    try {
      const client = await connection.open();
      if (isSent) onResend(message.numbers.length);
      isSent = true;
      await connection.publish(client, message, abort);
      return;
    } catch (error) {
      if (abort.aborted || error instanceof UserError) throw error;
    }
    await sleep(RETRY_DELAY_MS, undefined, { signal: abort });
  }
}

type Settle = (error: Error | null | undefined) => void;

/** Reopened on demand after it has ended. Publishes that are unacknowledged by then reject. */
class MqttConnection {
  readonly #url: string;
  readonly #key: string | undefined;
  /** Callbacks of publishes that are not acknowledged yet. */
  readonly #pending = new Set<Settle>();
  #client: Promise<MqttClient> | undefined;

  constructor(url: string, key: string | undefined) {
    this.#url = url;
    this.#key = key;
  }

  /** One attempt, shared by all concurrent callers. Rejects with a UserError if the credentials are not accepted. */
  open(): Promise<MqttClient> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<MqttClient> {
    const { connect } = await import("mqtt");
    const client = connect(this.#url, {
      ...(this.#key === undefined ? {} : { username: "simulate", password: this.#key }),
      clientId: `simulate-${randomUUID()}`,
      protocolVersion: 4,
      reconnectPeriod: 0,
      connectTimeout: CONNECT_TIMEOUT_MS,
    });
    return new Promise((resolve, reject) => {
      client.once("connect", () => resolve(client));
      client.on("error", (error) => {
        const isCredentialError = "code" in error && CREDENTIAL_ERRORS.includes(error.code);
        reject(isCredentialError ? new UserError(this.#key === undefined ? KEY_MISSING : KEY_INVALID) : error);
        client.end(true);
      });
      client.once("close", () => {
        reject(new Error(CONNECTION_CLOSED));
        client.end(true);
        this.#client = undefined;
        for (const settle of [...this.#pending]) settle(new Error(CONNECTION_CLOSED));
      });
    });
  }

  /** Resolves when the broker has acknowledged it. */
  publish(client: MqttClient, message: Message, abort: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => settle(new Error("aborted"));
      const settle: Settle = (error) => {
        abort.removeEventListener("abort", onAbort);
        this.#pending.delete(settle);
        if (error) reject(error);
        else resolve();
      };
      this.#pending.add(settle);
      abort.addEventListener("abort", onAbort);
      // A client that is not connected would queue it for a reconnect that never happens.
      if (client.connected && !abort.aborted) client.publish(topicOf(message), payloadOf(message), { qos: 1 }, settle);
      else settle(new Error(CONNECTION_CLOSED));
    });
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.endAsync(true);
  }
}

function payloadOf(message: Message): string {
  if (message.format !== "json") return message.text;
  return JSON.stringify(message.readings.length === 1 ? message.readings[0] : message.readings);
}

const CONNECTION_CLOSED = "the connection was closed";
const NOT_MQTT = "something other than an MQTT broker listens there";
const KEY_INVALID = "the broker does not accept the key: it must be a valid ingest key";
const KEY_MISSING =
  "the broker requires a key: set --key or TANK_MONITOR_KEY; for another broker, put its user and password into the address";
