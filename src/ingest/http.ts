// The doors over HTTP: from the values in a body to what became of each.

import type { Clock } from "../domain/instant.ts";
import { decodeChirpstack } from "./decode/chirpstack.ts";
import { BatchContext } from "./decode/delivery.ts";
import { decodeIncomingReading } from "./decode/readings.ts";
import { decodeTts } from "./decode/tts.ts";
import type { Ingest, ReadingResult, Sender } from "./ingest.ts";

type Item = { readonly value: unknown } | { readonly unreadable: string };

export function createHttpIngest(accept: Ingest, clock: Clock) {
  return {
    readings(items: readonly Item[], sender: Sender): Promise<ReadingResult[]> {
      const delivery = new BatchContext(clock());
      return accept(
        items.map((item) => ("value" in item ? decodeIncomingReading(item.value, delivery) : { rejected: item.unreadable })),
        sender,
      );
    },
    chirpstack: (message: unknown, sender: Sender): Promise<ReadingResult[]> =>
      accept(decodeChirpstack(message, clock()), sender),
    tts: (message: unknown, sender: Sender): Promise<ReadingResult[]> => accept(decodeTts(message, clock()), sender),
  };
}
