// Reads of alerts and of the feed of events; and, for operators, of channels and notifications.

import type { Scope } from "../key.ts";
import type { Page, PageQuery } from "../page.ts";
import type { Alert, AlertKind } from "./alert.ts";
import type { Channel, ChannelStatus, StoredChannel } from "./channel.ts";
import type { Notification, NotificationState } from "./notification.ts";

/** `from` and `to`: when alerts were opened. */
export type AlertQuery = PageQuery & {
  readonly state: Alert["state"] | undefined;
  readonly kind: Alert["kind"] | undefined;
  readonly tank_id: string | undefined;
  readonly owner_id: string | undefined;
};

/** `after`: the sequence number that the caller has reached; undefined: from the oldest event that is kept. */
export type FeedQuery = { readonly after: number | undefined; readonly size: number };

/** Oldest first. All events up to `nextAfter` that are in scope and kept are in this page, or were in those before it. */
export type FeedPage = {
  /** JSON, as webhooks get it. */
  readonly payloads: readonly string[];
  readonly nextAfter: number;
  readonly hasMore: boolean;
  /** Events after the one that the caller has reached may have been removed, or that number is not one of this database. */
  readonly isIncomplete: boolean;
};

/** Alerts that are not closed. */
export type AlertCounts = Readonly<Record<"open" | "acknowledged", Readonly<Record<AlertKind, number>>>>;

export interface AlertReads {
  alertCounts(scope: Scope): Promise<AlertCounts>;
  /** `undefined`: there is no such alert, or it is out of scope. */
  alertById(id: string, scope: Scope): Promise<Alert | undefined>;
  /** Newest first. */
  alertPage(query: AlertQuery, scope: Scope): Promise<Page<Alert>>;
  /** Alerts of these tanks, at most one page of tanks; oldest first. */
  alertsNotClosed(tankIds: readonly string[]): Promise<readonly Alert[]>;
  eventFeed(query: FeedQuery, scope: Scope): Promise<FeedPage>;
}

/** Newest first. */
export type NotificationQuery = PageQuery & {
  readonly channel_id: string | undefined;
  readonly customer_id: string | undefined;
  readonly alert_id: string | undefined;
  readonly state: NotificationState | undefined;
};

export interface ChannelReads {
  /** Newest first, then by id. */
  channelList(): Promise<StoredChannel[]>;
  channelStatus(channel: Pick<Channel, "id" | "type">): Promise<ChannelStatus>;
  notificationById(id: string): Promise<Notification | undefined>;
  notificationPage(query: NotificationQuery): Promise<Page<Notification>>;
}
