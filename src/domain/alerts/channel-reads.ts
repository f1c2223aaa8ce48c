// Reads of channels and notifications, for operators.

import type { Page, PageQuery } from "../page.ts";
import type { Channel, ChannelStatus, StoredChannel } from "./channel.ts";
import type { Notification, NotificationState } from "./notification.ts";

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
