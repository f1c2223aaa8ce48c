// A channel: where the operator is notified, a webhook or an e-mail address.

import type { Instant } from "../instant.ts";
import type { AlertKind } from "./alert.ts";
import type { EventType } from "./event.ts";

export const CHANNEL_TYPES = ["webhook", "email"] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];
export const CHANNEL_STATES = ["active", "disabled"] as const;

/** Local times of day; mail is held from one to the other. */
export type QuietHours = { readonly from: string; readonly to: string; readonly timezone: string };

export type Channel = {
  readonly id: string;
  readonly type: ChannelType;
  /** Of a webhook. */
  readonly url: string | null;
  /** Of an e-mail channel. */
  readonly to: string | null;
  /** Null: all. */
  readonly events: readonly EventType[] | null;
  readonly kinds: readonly AlertKind[] | null;
  /** Only alerts of this customer's tanks; null: of all. */
  readonly customer_id: string | null;
  /** Milliseconds; only what is still open and unacknowledged then is sent. 0: everything at once. */
  readonly delay: number;
  readonly quiet_hours: QuietHours | null;
  readonly state: (typeof CHANNEL_STATES)[number];
  readonly disabled_reason: string | null;
  readonly description: string | null;
  readonly created_at: Instant;
  readonly updated_at: Instant;
};

/** What is needed to send; never part of a response, an audit entry or an export. */
export type ChannelSecrets = {
  /** `whsec_` and base64. Null for e-mail. */
  readonly secret: string | null;
  /** The secret before a rotation, which signs, too, until then. */
  readonly previous_secret: string | null;
  readonly previous_until: Instant | null;
};

/** Whether a channel wants an event; `ownerId` is that of the tank. */
export function wants(channel: Channel, type: EventType, kind: AlertKind, ownerId: string): boolean {
  const { state, events, kinds, customer_id } = channel;
  if (state !== "active") return false;
  return (
    (events === null || events.includes(type)) &&
    (kinds === null || kinds.includes(kind)) &&
    (customer_id === null || customer_id === ownerId)
  );
}
