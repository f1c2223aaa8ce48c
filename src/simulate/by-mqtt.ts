// The way over MQTT 3.1.1, at QoS 1: what a broker has not acknowledged is published again.

import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../domain/errors.ts";
import type { Way } from "./delivery.ts";
import { type Message, topicOf } from "./message.ts";
import { MqttConnection } from "./mqtt-connection.ts";

const CONNECTIONS = 4;
const UNDER_WAY = 25;
const PAUSE_MS = 250;

/** Rejects where the broker cannot be reached now, or does not want the key. */
export async function byMqtt(url: string, key: string | undefined): Promise<Way> {
  const connections = Array.from({ length: CONNECTIONS }, () => new MqttConnection(url, key));
  const close = async (): Promise<void> => void (await Promise.all(connections.map((connection) => connection.close())));
  try {
    await Promise.all(connections.map((connection) => connection.open()));
  } catch (error) {
    await close();
    throw error instanceof UserError ? error : new UserError(`the broker cannot be reached: ${(error as Error).message}`);
  }
  let turn = 0;
  return {
    lanes: CONNECTIONS * UNDER_WAY,
    most: 1,
    async deliver(messages, again, hurry) {
      for (const message of messages) {
        const connection = connections[turn++ % CONNECTIONS];
        if (connection !== undefined) await publishUntilSafe(connection, message, again, hurry);
      }
      return messages.flatMap(({ numbers }) => numbers.map(() => ({ status: "acknowledged" }) as const));
    },
    close,
  };
}

async function publishUntilSafe(
  connection: MqttConnection,
  message: Message,
  again: (readings: number) => void,
  hurry: AbortSignal,
): Promise<void> {
  const [topic, text] = [topicOf(message), textOf(message)];
  for (let isSent = false; ; ) {
    try {
      const client = await connection.open();
      if (isSent) again(message.numbers.length);
      isSent = true;
      await connection.publish(client, topic, text, hurry);
      return;
    } catch (error) {
      if (hurry.aborted || error instanceof UserError) throw error;
    }
    await pause(PAUSE_MS, undefined, { signal: hurry });
  }
}

function textOf(message: Message): string {
  if (message.by !== "own") return message.text;
  return JSON.stringify(message.readings.length === 1 ? message.readings[0] : message.readings);
}
