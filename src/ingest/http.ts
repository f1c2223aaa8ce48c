// Readings over HTTP: from the values in a request body to one result per reading.

import type { Clock } from "../domain/instant.ts";
import { decodeChirpstack } from "./decode/chirpstack.ts";
import { BatchContext, decodeIncomingReading } from "./decode/readings.ts";
import { decodeTts } from "./decode/tts.ts";
import type { Ingest, ReadingResult, Sender } from "./ingest.ts";

type Item = { readonly value: unknown } | { readonly unreadable: string };

export function createHttpIngest(ingest: Ingest, clock: Clock) {
  return {
    readings(items: readonly Item[], sender: Sender): Promise<ReadingResult[]> {
      const context = new BatchContext(clock());
      const readings = items.map((item) =>
        "value" in item ? decodeIncomingReading(item.value, context) : { rejected: item.unreadable },
      );
      return ingest(readings, sender);
    },
    chirpstack: (message: unknown, sender: Sender): Promise<ReadingResult[]> =>
      ingest(decodeChirpstack(message, clock()), sender),
    tts: (message: unknown, sender: Sender): Promise<ReadingResult[]> => ingest(decodeTts(message, clock()), sender),
  };
}
