// Events and states of notifications, in words.

import type { Channel, Notification } from "../../../client/src/index.ts";

export type ChannelEvent = NonNullable<Channel["events"]>[number];

export const EVENTS: Readonly<Record<Notification["event"], string>> = {
  "alert.opened": "Alert opened",
  "alert.acknowledged": "Alert acknowledged",
  "alert.closed": "Alert closed",
  "alert.reminder": "Reminder",
  "alert.digest": "Several alerts",
  "tank.refilled": "Tank refilled",
  "channel.test": "Test",
  "channel.disabled": "Channel disabled",
  "customer.verification": "Link to verify an address",
};

/** What a channel can be limited to. A test is sent in any case. */
export const CHANNEL_EVENTS: readonly ChannelEvent[] = ["alert.opened", "alert.acknowledged", "alert.closed", "tank.refilled"];
