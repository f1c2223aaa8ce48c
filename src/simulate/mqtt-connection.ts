// A connection to a broker that is made again whenever it ends. Publications that were not acknowledged by then are told so:
// whoever made them publishes again.

import { randomUUID } from "node:crypto";
import type { MqttClient } from "mqtt";
import { UserError } from "../domain/errors.ts";

const CONNECT_MS = 10_000;
/** A broker that acknowledges nothing for so long is left, and found again. */
const ACKNOWLEDGE_MS = 30_000;
/** Of CONNACK: bad user name or password, not authorized. Trying again mends neither. */
const KEY_REFUSED: readonly unknown[] = [4, 5];

type Settle = (error: Error | null | undefined) => void;

export class MqttConnection {
  readonly #url: string;
  readonly #key: string | undefined;
  /** Of publications that wait for their acknowledgement. */
  readonly #unsettled = new Set<Settle>();
  #client: Promise<MqttClient> | undefined;

  /** Without a key, whoever the address names logs in. */
  constructor(url: string, key: string | undefined) {
    this.#url = url;
    this.#key = key;
  }

  /** One attempt, for all who ask meanwhile. A refused key is a complaint. */
  open(): Promise<MqttClient> {
    if (this.#client === undefined) {
      const client = this.#connect(() => {
        if (this.#client === client) this.#client = undefined;
        for (const settle of [...this.#unsettled]) settle(new Error("the connection has ended"));
      });
      this.#client = client;
    }
    return this.#client;
  }

  /** Resolves when the broker has acknowledged it. */
  publish(client: MqttClient, topic: string, text: string, hurry: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => client.end(true), ACKNOWLEDGE_MS);
      const giveUp = (): void => settle(new Error("given up"));
      const settle: Settle = (error) => {
        clearTimeout(timer);
        hurry.removeEventListener("abort", giveUp);
        this.#unsettled.delete(settle);
        if (error) reject(error);
        else resolve();
      };
      this.#unsettled.add(settle);
      hurry.addEventListener("abort", giveUp);
      // One that is not connected would keep it for a next time that never comes.
      if (client.connected && !hurry.aborted) client.publish(topic, text, { qos: 1 }, settle);
      else settle(new Error("the connection has ended"));
    });
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    if (client !== undefined) await new Promise<void>((resolve) => client.end(true, {}, () => resolve()));
  }

  async #connect(ended: () => void): Promise<MqttClient> {
    const { connect } = await import("mqtt");
    const client = connect(this.#url, {
      ...(this.#key === undefined ? {} : { username: "simulate", password: this.#key }),
      clientId: `simulate-${randomUUID()}`,
      protocolVersion: 4,
      clean: true,
      reconnectPeriod: 0,
      connectTimeout: CONNECT_MS,
    });
    return new Promise((resolve, reject) => {
      client.once("connect", () => resolve(client));
      client.on("error", (error) => {
        reject(isKeyRefused(error) ? new UserError(this.#key === undefined ? KEY_MISSING : KEY_WRONG) : error);
        client.end(true);
      });
      client.once("close", () => {
        reject(new Error("the connection has ended"));
        client.end(true);
        ended();
      });
    });
  }
}

const KEY_WRONG = "the broker refuses the key: it must be an ingest key that is valid";
const KEY_MISSING =
  "the broker asks for a key to send with: --key, or TANK_MONITOR_KEY; for a broker of your own, its user in the address";

function isKeyRefused(error: Error): boolean {
  return "code" in error && KEY_REFUSED.includes(error.code);
}
