// A notification in words: what it is about, to whom it goes, and what became of it.

import type { Notification } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { dateTime } from "../format.ts";
import { customerPath, href } from "../location.ts";
import { ActionButton } from "./action-button.tsx";
import { Badge } from "./badge.tsx";
import type { Named, NameOf } from "./names.ts";
import { notify } from "./notices.tsx";

export const EVENTS: Readonly<Record<Notification["event"], string>> = {
  "alert.opened": "Alert opened",
  "alert.acknowledged": "Alert acknowledged",
  "alert.closed": "Alert closed",
  "alert.reminder": "Reminder",
  "alert.digest": "Several events",
  "tank.refilled": "Tank refilled",
  "channel.test": "Test",
  "channel.disabled": "Channel disabled",
  "customer.verification": "Link to verify an address",
};

type To = Pick<Notification, "channel_id" | "customer_id">;

/** The channel or the customer it goes to. */
export const recipientsOf = ({ channel_id, customer_id }: To): readonly Named[] => [
  ...(channel_id === null ? [] : [{ type: "channel" as const, id: channel_id }]),
  ...(customer_id === null ? [] : [{ type: "customer" as const, id: customer_id }]),
];

type RecipientProps = { readonly notification: Notification; readonly nameOf: NameOf };

export function Recipient({ notification: { channel_id, customer_id }, nameOf }: RecipientProps) {
  if (customer_id !== null) {
    return (
      <a href={href(customerPath(customer_id))} title={customer_id} dir="auto">
        {nameOf(customer_id) ?? customer_id}
      </a>
    );
  }
  return channel_id === null ? null : (
    <span title={channel_id} dir="auto">
      {nameOf(channel_id) ?? channel_id}
    </span>
  );
}

export function NotificationState({ notification: { state, next_attempt_at } }: { readonly notification: Notification }) {
  switch (state) {
    case "delivered":
      return <Badge text="Delivered" icon="check" tone="ok" />;
    case "pending":
      return (
        <>
          <Badge text="To be sent" icon="clock" tone="soon" />
          {next_attempt_at === null ? null : <span class="dim block">{dateTime(next_attempt_at)}</span>}
        </>
      );
    case "failed":
      return <Badge text="Failed" icon="alert" tone="low" />;
    case "expired":
      return <Badge text="Not sent in time" icon="clock" tone="silent" />;
  }
}

/** The last one; the number of all. */
export function Attempts({ notification: { attempts } }: { readonly notification: Notification }) {
  const last = attempts.at(-1);
  if (last === undefined) return <span class="dim block">No attempt yet</span>;
  return (
    <>
      <span class="block break">
        {last.error ?? "Accepted"}
        {last.status === null ? "" : ` (${last.status})`}
      </span>
      <span class="dim block">
        Attempt {attempts.length}, {dateTime(last.at)}, {last.duration_ms} ms
      </span>
    </>
  );
}

/** Nothing for one that was delivered. */
export function SendAgain({ notification, sent }: { readonly notification: Notification; readonly sent: () => Promise<void> }) {
  const { id, event, state, created_at } = notification;
  if (state === "delivered") return null;
  const act = async () => {
    await api.manage.notifications.retry(id);
    notify({ text: "The notification will be sent again" });
    await sent();
  };
  return (
    <ActionButton act={act} of={`${EVENTS[event]} of ${dateTime(created_at)}`}>
      {state === "pending" ? "Send now" : "Send again"}
    </ActionButton>
  );
}
