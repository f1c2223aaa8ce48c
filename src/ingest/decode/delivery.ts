// Readings that come together, in one request or one message: what they share, and what whoever wrote them may have meant.

import type { Instant } from "../../domain/instant.ts";
import { quoted, suggestion } from "../../domain/text.ts";
import type { JsonObject } from "../../domain/validate.ts";
import type { IncomingReading } from "../ingest.ts";

/** Guessing takes longer than all else here, and who misspells a name does so in every reading. */
const GUESSES_MOST = 10;

export class BatchContext {
  /** When it was received. */
  readonly at: Instant;
  readonly #told = new Map<string, string>();
  readonly #undated = new Set<string>();

  constructor(at: Instant) {
    this.at = at;
  }

  /** Whether another reading of the same tank or device names no instant either: they would be of one, and only one is kept. */
  isUndatedAgain(of: IncomingReading["source"]): boolean {
    const name = "tankId" in of ? `tank ${of.tankId}` : `device ${of.deviceId}`;
    const before = this.#undated.size;
    return this.#undated.add(name).size === before;
  }

  /** Why an item with this field, which is none of `names`, is refused. */
  unknownField(name: string, item: JsonObject, names: readonly string[]): string {
    const told = this.#told.get(name);
    if (told !== undefined) return told;
    const unknown = `unknown field ${quoted(name)}`;
    if (this.#told.size === GUESSES_MOST) return unknown;
    const reason = ofNetworkServer(item) ?? `${unknown}.${meant(name, names)}`;
    this.#told.set(name, reason);
    return reason;
  }
}

/** Names for the same, too far from ours to be guessed. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  ...{ fill: "fill_percentage", fill_level: "fill_percentage", percent: "fill_percentage", percentage: "fill_percentage" },
  ...{ tank: "tank_id", device: "device_id", deveui: "device_id", dev_eui: "device_id" },
  ...{ time: "created_at", timestamp: "created_at", ts: "created_at" },
};

function meant(name: string, names: readonly string[]): string {
  const word = name.toLowerCase();
  const ours = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : undefined;
  if (ours !== undefined && names.includes(ours)) return ` Did you mean "${ours}"?`;
  if (name === "device_id" || name === "tank_id") return " The topic says whose readings these are.";
  return suggestion(name, names) || ' What a sensor measures, other than a percentage, goes into "payload".';
}

function ofNetworkServer(item: JsonObject): string | undefined {
  if ("deviceInfo" in item || "deduplicationId" in item || "devEUI" in item) {
    return "this is an event of ChirpStack, and no reading: its webhook is /ingest/v1/chirpstack";
  }
  if ("end_device_ids" in item || "uplink_message" in item) {
    return "this is a message of The Things Stack, and no reading: its webhook is /ingest/v1/tts";
  }
  return undefined;
}
