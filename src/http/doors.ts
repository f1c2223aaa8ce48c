// What routes may set in motion beyond reading: functions of `ingest` and `manage`, which `app.ts` hands in. `http` imports
// neither, so their types are told here by their shape.

import type { Command, IdempotencyKey } from "../domain/commands/command.ts";
import type { Clock } from "../domain/instant.ts";
import type { KeyBinding } from "../domain/key.ts";
import type { ManagementReads } from "../domain/management-reads.ts";
import type { Resource } from "../domain/resource.ts";

/** One of the readings in a body: its value, or why its line could not be read. */
export type Item = { readonly value: unknown } | { readonly unreadable: string };

export type Outcome = "stored" | "duplicate" | "replaced" | "waiting" | { readonly rejected: string };

/** What became of each, in the order given, once it is safe; a `store_unavailable` refusal where nothing was taken. */
type IngestDoor = {
  readonly readings: (items: readonly Item[], sender: KeyBinding) => Promise<readonly Outcome[]>;
  /** A message of a network server. None where it carries no reading. */
  readonly chirpstack: (message: unknown, sender: KeyBinding) => Promise<readonly Outcome[]>;
  readonly tts: (message: unknown, sender: KeyBinding) => Promise<readonly Outcome[]>;
};

/** What was done is shown; what is refused is thrown. `replayed`: it had been done before. */
type Done = { readonly resource: Resource; readonly replayed: boolean };
/** A secret is told once: not when its making is replayed. */
type KeyMade = Done & { readonly secret: string | null };

export type ManageDoor = {
  readonly clock: Clock;
  /** What an operator may ask. */
  readonly overview: ManagementReads;
  /** A name of our own for something new. */
  readonly newId: (prefix: "cus" | "tank") => string;
  readonly carryOut: (order: Command, by: string, once?: IdempotencyKey) => Promise<Done>;
  readonly createKey: (fields: unknown, by: string, once?: IdempotencyKey) => Promise<KeyMade>;
  /** The old one works for `overlap` milliseconds longer. */
  readonly rotateKey: (id: string, overlap: number, by: string) => Promise<KeyMade>;
};

export type Doors = { readonly ingest: IngestDoor; readonly manage: ManageDoor };
