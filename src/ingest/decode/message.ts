// An MQTT message, from its topic and bytes to readings.

import { isUtf8 } from "node:buffer";
import type { Instant } from "../../domain/instant.ts";
import { MAX_JSON_DEPTH, measureJson, TOO_DEEP } from "../../domain/validate.ts";
import type { IncomingReading, Rejected } from "../ingest.ts";
import { decodeChirpstack } from "./chirpstack.ts";
import { decodeDeviceReadings, rejected } from "./readings.ts";
import { decodeTts } from "./tts.ts";

export type TopicMatch =
  | { readonly format: "readings" | "chirpstack" | "tts"; readonly device: string }
  /** Something other than a measurement, from a network server. */
  | { readonly format: "ignored" };

/** Kept as text while it is pending: its bytes would keep the whole network buffer in memory. */
export type MqttMessage = {
  readonly topic: TopicMatch | undefined;
  readonly text: string | Rejected;
  readonly receivedAt: Instant;
};

/** The topics with readings, to subscribe to. */
export const TOPIC_FILTERS = ["tanks/+/readings", "application/+/device/+/event/up", "v3/+/devices/+/up"] as const;
/** More than any message of 10,000 readings has. */
const MAX_VALUES = 100_000;
const IGNORED: TopicMatch = { format: "ignored" };

export function matchTopic(topic: string): TopicMatch | undefined {
  const levels = topic.split("/");
  const [first, second = "", third, fourth = "", fifth, sixth] = levels;
  if (first === "tanks" && third === "readings" && levels.length === 3) return { format: "readings", device: second };
  if (first === "application" && third === "device") {
    return fifth === "event" && sixth === "up" && levels.length === 6 ? { format: "chirpstack", device: fourth } : IGNORED;
  }
  if (first === "v3" && third === "devices") {
    return fifth === "up" && levels.length === 5 ? { format: "tts", device: fourth } : IGNORED;
  }
  return undefined;
}

export function createMqttMessage(topic: string, bytes: Buffer, receivedAt: Instant): MqttMessage {
  const match = matchTopic(topic);
  const hasReadings = match !== undefined && match.format !== "ignored";
  return { topic: match, text: hasReadings ? checkedText(bytes) : "", receivedAt };
}

/** Parsed values need many times the memory of their text, so their number and depth are checked first. */
function checkedText(bytes: Buffer): string | Rejected {
  if (!isUtf8(bytes)) return rejected("the message is not valid UTF-8");
  const { values, levels } = measureJson(bytes, MAX_VALUES);
  if (levels > MAX_JSON_DEPTH) return rejected(`the message ${TOO_DEEP}`);
  if (values > MAX_VALUES) return rejected(`the message must have at most ${MAX_VALUES} values`);
  return bytes.toString("utf8");
}

/** A message that cannot be read is one `Rejected`; one that carries no reading is an empty list. */
export function decodeMqttMessage({ topic, text, receivedAt }: MqttMessage): readonly (IncomingReading | Rejected)[] {
  if (topic === undefined) return [rejected("topic not recognised")];
  if (topic.format === "ignored") return [];
  if (typeof text !== "string") return [text];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [rejected("the message is not valid JSON")];
  }
  switch (topic.format) {
    case "readings":
      return decodeDeviceReadings(topic.device, value, receivedAt);
    case "chirpstack":
      return decodeChirpstack(value, receivedAt, topic.device);
    case "tts":
      return decodeTts(value, receivedAt, topic.device);
  }
}

/** For the log. */
export function deviceInTopic({ topic }: MqttMessage): string | null {
  return topic !== undefined && "device" in topic ? topic.device : null;
}
