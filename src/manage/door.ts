// The door for those who manage, whichever way they come: over HTTP, or from the command line.

import type { Command, IdempotencyKey } from "../domain/commands/command.ts";
import { newId } from "../domain/id.ts";
import type { Clock } from "../domain/instant.ts";
import type { ManagementReads } from "../domain/management-reads.ts";
import type { Reads, Writes } from "../domain/store.ts";
import { createKey, type MadeKey, rotateKey } from "./keys.ts";
import { carryOut, type Done } from "./orders.ts";

export function manageDoor(store: ManagementReads & Pick<Writes, "execute"> & Pick<Reads, "customerById">, clock: Clock) {
  return {
    clock,
    overview: store,
    newId: (prefix: "cus" | "tank"): string => newId(prefix, clock()),
    carryOut: (order: Command, by: string, once?: IdempotencyKey): Promise<Done> => carryOut(store, clock, order, by, once),
    createKey: (fields: unknown, by: string, once?: IdempotencyKey): Promise<MadeKey> =>
      createKey(store, clock, fields, by, once),
    rotateKey: (id: string, overlap: number, by: string): Promise<MadeKey> => rotateKey(store, clock, id, overlap, by),
  };
}
