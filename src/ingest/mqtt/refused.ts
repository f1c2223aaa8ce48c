// Readings that were refused: their sender cannot be told by MQTT, the operator can.

import type { MqttEndpointKind, Observe } from "../../domain/events.ts";
import { deviceInTopic, type MqttMessage } from "../decode/message.ts";
import type { ReadingResult } from "../ingest.ts";

export type Sent = {
  readonly endpoint: MqttEndpointKind;
  readonly keyId: string | null;
  readonly topic: string;
  readonly message: MqttMessage;
};

export function tellRefused(
  observe: Observe,
  { endpoint, keyId, topic, message }: Sent,
  outcomes: readonly ReadingResult[],
): void {
  const reasons = outcomes.flatMap((outcome) => (typeof outcome === "string" ? [] : [outcome.rejected]));
  const [reason] = reasons;
  if (reason === undefined) return;
  const device = deviceInTopic(message);
  observe({
    kind: "readings_rejected",
    endpoint,
    keyId,
    topic: shown(topic, TOPIC_SHOWN),
    device: device === null ? null : shown(device, DEVICE_SHOWN),
    count: reasons.length,
    reason,
  });
}

const TOPIC_SHOWN = 256;
/** An id has 128 characters at most; what is no id may be longer. */
const DEVICE_SHOWN = 128;
/** Control characters, and those that are not seen or turn the direction of what follows. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Who publishes where a device's name belongs a key, by mistake, shall not find it in the log. */
function shown(text: string, most: number): string {
  const bare = text.slice(0, 2 * most).replace(/tm_[0-9A-Za-z]{8,}/g, "tm_…");
  const short = bare.length > most ? `${bare.slice(0, most)}…` : bare;
  return short.toWellFormed().replace(UNSEEN, (unseen) => `\\u{${unseen.codePointAt(0)?.toString(16)}}`);
}
