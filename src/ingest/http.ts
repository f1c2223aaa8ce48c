// The doors over HTTP: from the values in a body to what became of each.

import type { Clock } from "../domain/instant.ts";
import type { Accept, Outcome, Sender } from "./arrival.ts";
import { chirpstackReadings } from "./decode/chirpstack.ts";
import { Delivery } from "./decode/delivery.ts";
import { ownReading } from "./decode/own.ts";
import { ttsReadings } from "./decode/tts.ts";

type Item = { readonly value: unknown } | { readonly unreadable: string };

export function httpDoors(accept: Accept, clock: Clock) {
  return {
    readings(items: readonly Item[], sender: Sender): Promise<Outcome[]> {
      const delivery = new Delivery(clock());
      return accept(
        items.map((item) => ("value" in item ? ownReading(item.value, delivery) : { rejected: item.unreadable })),
        sender,
      );
    },
    chirpstack: (message: unknown, sender: Sender): Promise<Outcome[]> => accept(chirpstackReadings(message, clock()), sender),
    tts: (message: unknown, sender: Sender): Promise<Outcome[]> => accept(ttsReadings(message, clock()), sender),
  };
}
