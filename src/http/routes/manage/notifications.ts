// /manage/v1/notifications

import { NOTIFICATION_STATES, NotificationObject, notificationObject } from "../../../domain/alerts/notification.ts";
import { MailRecovery } from "../../../domain/commands/notifications.ts";
import { integer, literal, object, ref } from "../../../domain/schema.ts";
import type { Executed } from "../../management.ts";
import { choice, LIST_PARAMETERS, listJson, listSchema, pageQuery, textFilter } from "../../parameters.ts";
import { jsonBody, type Route, RouteResponse } from "../../route.ts";
import { requireFound } from "../found.ts";
import { manageRoute, REPLAYED } from "./manage-route.ts";

const PATH = "/manage/v1/notifications";

export const schemas = {
  Notification: NotificationObject,
  NotificationList: listSchema(ref("Notification"), "One page of notifications"),
  MailRecovery,
  NotificationRecovery: object(
    {
      object: literal("notification_recovery", { description: "Always `notification_recovery`" }),
      recovered: integer({ minimum: 0, description: "Number of notifications that are sent again", examples: [12] }),
    },
    { description: "What is sent again" },
  ),
};

export const routes: readonly Route[] = [
  manageRoute("GET", PATH, {
    sessionRole: "admin",
    operation: "listNotifications",
    isLongRead: true,
    summary: "List notifications",
    description: "What was sent, or will be, newest first. Notifications are removed 30 days after they end.",
    parameters: {
      ...LIST_PARAMETERS,
      channel_id: textFilter("Only those to this channel"),
      customer_id: textFilter("Only mail to this customer"),
      alert_id: textFilter("Only those about this alert"),
      state: choice(NOTIFICATION_STATES, "Only those in this state", undefined),
    },
    response: { schema: ref("NotificationList"), description: "One page of notifications" },
    async handle({ services, parameters }) {
      const page = await services.management.reads.notificationPage({ ...parameters, ...pageQuery(parameters) });
      return listJson(page, parameters, (notification) => JSON.stringify(notificationObject(notification)));
    },
  }),
  manageRoute("GET", `${PATH}/:id`, {
    sessionRole: "admin",
    operation: "inspectNotification",
    summary: "Inspect a notification",
    description: "One notification with the attempts to send it.",
    response: { schema: ref("Notification"), description: "The notification" },
    errors: ["notification_unknown"],
    async handle({ services, id }) {
      return notificationObject(requireFound("notification", await services.management.reads.notificationById(id)));
    },
  }),
  manageRoute("POST", `${PATH}/recover`, {
    sessionRole: "admin",
    operation: "recoverNotifications",
    summary: "Send failed and expired mail to customers again",
    description:
      "Sends all mail about alerts to customers again, or to one, that has failed or expired since a time, with the same ids. Customers who have unsubscribed, are not verified or are deleted get none. For mail and webhooks to a channel, recover the channel.",
    body: jsonBody(ref("MailRecovery"), "Since when", { since: "2026-11-14T09:30:00.000Z" }),
    response: { schema: ref("NotificationRecovery"), description: "How many are sent again" },
    async handle({ services, key, body }) {
      return { object: "notification_recovery", recovered: await services.management.recoverMail(body, key.id) };
    },
  }),
  manageRoute("POST", `${PATH}/:id/retry`, {
    sessionRole: "admin",
    operation: "retryNotification",
    summary: "Send a notification again",
    description: "Sends a notification again, with the same id. One that is pending does not wait for its next attempt.",
    response: { schema: ref("Notification"), description: "The notification" },
    errors: ["notification_unknown", "state_conflict"],
    async handle({ services, id, key }) {
      return (await services.management.execute({ type: "retry_notification", id }, key.id)).resource.object;
    },
  }),
];

/** The response to a request that has created a notification. */
export function createdNotification({ resource: { object }, replayed }: Executed): RouteResponse {
  const location = `${PATH}/${encodeURIComponent(String(object["id"]))}`;
  return new RouteResponse(201, object, { location, ...(replayed && REPLAYED) });
}
