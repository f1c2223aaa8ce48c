// What the doors hand over, and what they are told: a reading as it arrived, and what became of it.

import type { Instant } from "../domain/instant.ts";
import type { KeyBinding } from "../domain/key.ts";

/** A reading as a door hands it over. Where its sender names no instant, it is that of receipt. */
export type Arrival = {
  readonly of: { readonly tankId: string } | { readonly deviceId: string };
  readonly createdAt: Instant;
  /** `payload` is the decoded object of a device, which its profile tells how to read: as JSON, a fraction of its size as values. */
  readonly measured: { readonly fill: number } | { readonly payload: string };
};

/** With the reason, in words for the sender. */
export type Rejected = { readonly rejected: string };

/** Who sends, as the key says. `hasWaited`: it is what waited elsewhere, and waits on where it cannot be read. */
export type Sender = KeyBinding & { readonly hasWaited?: boolean };

export type Outcome = "stored" | "duplicate" | "replaced" | "waiting" | Rejected;

/**
 * Outcomes in the order given. Whoever acknowledges does so after it resolves; it rejects with a `store_unavailable` refusal
 * where nothing was taken, or where nobody can tell: sent again, it is at worst a duplicate.
 */
export type Accept = (arrivals: readonly (Arrival | Rejected)[], sender: Sender) => Promise<Outcome[]>;
