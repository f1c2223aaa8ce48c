// Readings that were refused: their sender cannot be told by MQTT, the operator can.

import type { Door, Observe } from "../../domain/events.ts";
import type { Outcome } from "../arrival.ts";
import { deviceNamed, type Message } from "../decode/message.ts";

export function tellRefused(observe: Observe, door: Door, message: Message, outcomes: readonly Outcome[]): void {
  const reasons = outcomes.flatMap((outcome) => (typeof outcome === "string" ? [] : [outcome.rejected]));
  const [reason] = reasons;
  if (reason === undefined) return;
  observe({ kind: "readings_refused", door, device: deviceNamed(message), count: reasons.length, reason });
}
