// A message of a broker, from its topic and bytes to readings. What cannot be read is one `Rejected`; a message that is not
// ours is an empty list.

import { isUtf8 } from "node:buffer";
import type { Instant } from "../../domain/instant.ts";
import { MAX_JSON_DEPTH, measureJson, TOO_DEEP } from "../../domain/json.ts";
import type { IncomingReading, Rejected } from "../ingest.ts";
import { decodeChirpstack } from "./chirpstack.ts";
import { rejected } from "./parts.ts";
import { decodeDeviceReadings } from "./readings.ts";
import { decodeTts } from "./tts.ts";

/** As it waits: a text, since bytes would keep alive the larger piece of memory that they arrived in; or why it has none. */
export type MqttMessage = { readonly source: TopicMatch | undefined; readonly text: string | Rejected; readonly at: Instant };

/** Ten thousand readings have fewer. */
const VALUES_MOST = 100_000;

export function createMqttMessage(topic: string, bytes: Buffer, at: Instant): MqttMessage {
  const source = matchTopic(topic);
  const isRead = source !== undefined && source.decoder !== "none";
  return { source, text: isRead ? textOf(bytes) : "", at };
}

function textOf(bytes: Buffer): string | Rejected {
  if (!isUtf8(bytes)) return rejected("the message is not valid UTF-8");
  const { values, levels } = measureJson(bytes, VALUES_MOST);
  if (levels > MAX_JSON_DEPTH) return rejected(`the message ${TOO_DEEP}`);
  if (values > VALUES_MOST) return rejected(`the message must have at most ${VALUES_MOST} values`);
  return bytes.toString("utf8");
}

export function decodeMqttMessage({ source, text, at }: MqttMessage): readonly (IncomingReading | Rejected)[] {
  if (source === undefined) return [rejected("the topic is none of ours")];
  if (source.decoder === "none") return [];
  if (typeof text !== "string") return [text];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [rejected("the message is not valid JSON")];
  }
  switch (source.decoder) {
    case "own":
      return decodeDeviceReadings(source.device, value, at);
    case "chirpstack":
      return decodeChirpstack(value, at, source.device);
    case "tts":
      return decodeTts(value, at, source.device);
  }
}

/** For the log: the device that the topic names. */
export function deviceInTopic({ source }: MqttMessage): string | null {
  return source !== undefined && "device" in source ? source.device : null;
}

export type TopicMatch =
  | { readonly decoder: "own" | "chirpstack" | "tts"; readonly device: string }
  /** A network server telling of something that is not a measurement. */
  | { readonly decoder: "none" };

/** To subscribe to; each is one of the sources below. */
export const TOPIC_FILTERS = ["tanks/+/readings", "application/+/device/+/event/up", "v3/+/devices/+/up"] as const;

export function matchTopic(topic: string): TopicMatch | undefined {
  const levels = topic.split("/");
  const [first, second = "", third, fourth = "", fifth, sixth] = levels;
  if (first === "tanks" && third === "readings" && levels.length === 3) return { decoder: "own", device: second };
  if (first === "application" && third === "device") {
    return fifth === "event" && sixth === "up" && levels.length === 6 ? { decoder: "chirpstack", device: fourth } : NONE;
  }
  if (first === "v3" && third === "devices") {
    return fifth === "up" && levels.length === 5 ? { decoder: "tts", device: fourth } : NONE;
  }
  return undefined;
}

const NONE: TopicMatch = { decoder: "none" };
