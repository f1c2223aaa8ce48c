// Why a client is cut off, as an error that the broker's own ways of closing a connection can carry, and what one that cannot
// log in is told.

import type { ErrorCode } from "../../domain/errors.ts";
import type { MqttDisconnectReason } from "../../domain/events.ts";

export class Drop extends Error {
  readonly why: MqttDisconnectReason;

  constructor(why: MqttDisconnectReason) {
    super(why);
    this.why = why;
  }
}

/** Aedes says in words what it closes a connection for. */
export function whyOf(error: Error): MqttDisconnectReason {
  if (error instanceof Drop) return error.why;
  if (/protocol version/.test(error.message)) return "protocol_version";
  return /in time|timeout/.test(error.message) ? "too_slow" : "protocol";
}

/** MQTT 3.1.1 knows five: 3 is "server unavailable", 4 "bad user name or password", 5 "not authorized". */
export function returnCode(code: ErrorCode): 3 | 4 | 5 {
  switch (code) {
    case "key_missing":
    case "key_invalid":
      return 4;
    case "key_expired":
    case "key_revoked":
    case "role_insufficient":
      return 5;
    default:
      return 3;
  }
}
