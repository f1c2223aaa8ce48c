// A message of a broker, from its topic and bytes to readings. What cannot be read is one `Rejected`; a message that is not
// ours is an empty list.

import { isUtf8 } from "node:buffer";
import type { Instant } from "../../domain/instant.ts";
import { MAX_JSON_DEPTH, measureJson, TOO_DEEP } from "../../domain/json.ts";
import type { Arrival, Rejected } from "../arrival.ts";
import { chirpstackReadings } from "./chirpstack.ts";
import { ownReadings } from "./own.ts";
import { rejected } from "./parts.ts";
import { type Source, sourceOf } from "./topic.ts";
import { ttsReadings } from "./tts.ts";

/** As it waits: a text, since bytes would keep alive the larger piece of memory that they arrived in; or why it has none. */
export type Message = { readonly source: Source | undefined; readonly text: string | Rejected; readonly at: Instant };

/** Ten thousand readings have fewer. */
const VALUES_MOST = 100_000;

export function messageOf(topic: string, bytes: Buffer, at: Instant): Message {
  const source = sourceOf(topic);
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

export function readingsOf({ source, text, at }: Message): readonly (Arrival | Rejected)[] {
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
      return ownReadings(source.device, value, at);
    case "chirpstack":
      return chirpstackReadings(value, at, source.device);
    case "tts":
      return ttsReadings(value, at, source.device);
  }
}

/** For the log: the device that the topic names. */
export function deviceNamed({ source }: Message): string | null {
  return source !== undefined && "device" in source ? source.device : null;
}
