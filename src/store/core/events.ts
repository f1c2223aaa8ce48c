// What a transaction needs to write events about tanks.

import type { Channel } from "../../domain/alerts/channel.ts";
import type { StoreTransaction, TankWithOwner } from "./transaction.ts";

export type EventContext = {
  readonly owners: ReadonlyMap<string, TankWithOwner>;
  readonly channels: readonly Channel[];
  readonly nextSequence: number;
};

/** From here to its end, only this transaction writes events. An engine may send these statements together, in this order. */
export async function lockForEvents(tx: StoreTransaction, tankIds: readonly string[]): Promise<EventContext> {
  const [, owners, channels, last] = await Promise.all([
    tx.lockAlerts(),
    tx.tanksWithOwners(tankIds),
    tx.channels(),
    tx.lastSequence(),
  ]);
  return { owners, channels, nextSequence: last + 1 };
}
