// The door for those who manage, whichever way they come: over HTTP, or from the command line.

import { newId } from "../domain/id.ts";
import type { Clock } from "../domain/instant.ts";
import type { Once, Order } from "../domain/orders/order.ts";
import type { Overview } from "../domain/overview.ts";
import type { Reads, Writes } from "../domain/store.ts";
import { createKey, type MadeKey, rotateKey } from "./keys.ts";
import { carryOut, type Done } from "./orders.ts";

export function manageDoor(store: Overview & Pick<Writes, "carryOut"> & Pick<Reads, "customerById">, clock: Clock) {
  return {
    clock,
    overview: store,
    newId: (prefix: "cus" | "tank"): string => newId(prefix, clock()),
    carryOut: (order: Order, by: string, once?: Once): Promise<Done> => carryOut(store, clock, order, by, once),
    createKey: (fields: unknown, by: string, once?: Once): Promise<MadeKey> => createKey(store, clock, fields, by, once),
    rotateKey: (id: string, overlap: number, by: string): Promise<MadeKey> => rotateKey(store, clock, id, overlap, by),
  };
}
