// What a transaction needs to write events about tanks, and to notify channels of them.

import type { Channel } from "../../domain/alerts/channel.ts";
import type { NewNotification } from "../../domain/alerts/notification.ts";
import { newId } from "../../domain/id.ts";
import type { Instant } from "../../domain/instant.ts";
import type { TankWithOwner } from "./alert-tables.ts";
import type { DeferredNotification } from "./deferred-tables.ts";
import type { StoreTransaction } from "./transaction.ts";

export type EventContext = {
  readonly owners: ReadonlyMap<string, TankWithOwner>;
  readonly channels: readonly Channel[];
  readonly nextSequence: number;
};

/** From here to its end, only this transaction writes events. */
export async function lockForEvents(tx: StoreTransaction, tankIds: readonly string[]): Promise<EventContext> {
  const [, owners, channels, last] = await Promise.all([
    tx.lockAlerts(),
    tx.tanksWithOwners(tankIds),
    tx.channels(),
    tx.lastSequence(),
  ]);
  return { owners, channels, nextSequence: last + 1 };
}

/** Mail about what happens at the same time is sent together. */
export const MAIL_COLLECT_MS = 5000;

type OutgoingEvent = Pick<DeferredNotification, "event" | "alert_id" | "tank_id"> & {
  readonly sequence: number;
  /** Of the tank. */
  readonly owner_id: string;
  readonly payload: string;
};
export type Outgoing = { readonly notifications: readonly NewNotification[]; readonly deferred: readonly DeferredNotification[] };

/** To channels that want it. Webhooks without a delay get the event at once; all else is deferred. */
export function toChannels(
  { event, alert_id, tank_id, sequence, owner_id, payload }: OutgoingEvent,
  channels: readonly Channel[],
  now: Instant,
): Outgoing {
  const isImmediate = ({ type, delay }: Channel): boolean => type === "webhook" && delay === 0;
  const recipient = (id: string) => ({
    id: newId("msg", now),
    channel_id: id,
    customer_id: null,
    event,
    tank_id,
    created_at: now,
  });
  return {
    notifications: channels.filter(isImmediate).map(({ id }) => ({
      ...recipient(id),
      about_customer: owner_id,
      destination: id,
      alert_ids: alert_id === null ? [] : [alert_id],
      due_at: now,
      payload,
    })),
    deferred: channels
      .filter((channel) => !isImmediate(channel))
      .map(({ id, type, delay }) => ({
        ...recipient(id),
        recipient: id,
        sequence,
        alert_id,
        due_at: now + Math.max(delay, type === "email" ? MAIL_COLLECT_MS : 0),
      })),
  };
}
