// Signatures of webhooks, as Standard Webhooks defines them: receivers verify them with any library for it.

import { createHmac, randomBytes } from "node:crypto";
import type { Instant } from "../instant.ts";
import type { ChannelSecrets } from "./channel.ts";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The headers that identify and sign a message; by both secrets until the time of the rotation is over. */
export function signatureHeaders(id: string, payload: string, secrets: ChannelSecrets, now: Instant): Record<string, string> {
  const { secret, previous_secret, previous_until } = secrets;
  if (secret === null) throw new Error("a webhook has no secret to sign with");
  const isRotating = previous_secret !== null && previous_until !== null && now < previous_until;
  const timestamp = Math.floor(now / 1000);
  const signature = (key: string): string => {
    const bytes = Buffer.from(key.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", bytes).update(`${id}.${timestamp}.${payload}`).digest("base64")}`;
  };
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": (isRotating ? [secret, previous_secret] : [secret]).map(signature).join(" "),
  };
}
