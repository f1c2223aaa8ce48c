// GET /insight/v1/alerts, …/counts and …/:id, and GET /insight/v1/events, the feed of alert events and refills.

import { ALERT_KINDS, ALERT_STATES, AlertObject, alertObject } from "../../domain/alerts/alert.ts";
import { ALERT_EVENTS } from "../../domain/alerts/event.ts";
import type { FeedPage } from "../../domain/alerts/reads.ts";
import { PAGE_SIZE } from "../../domain/page.ts";
import { alertResource } from "../../domain/resource.ts";
import { array, boolean, instantField, integer, literal, object, oneOf, ref } from "../../domain/schema.ts";
import { choice, instant, listJson, listSchema, PAGE_PARAMETERS, textFilter, wholeNumber } from "../parameters.ts";
import { insightRoute, type Route, RouteResponse } from "../route.ts";
import { requireFound } from "./found.ts";

const SEQUENCES = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const sequence = (description: string) => integer({ ...SEQUENCES, description, examples: [4711] });

const countsByKind = (description: string) =>
  object(
    Object.fromEntries(
      ALERT_KINDS.map((kind) => [kind, integer({ minimum: 0, description: `Of the kind \`${kind}\``, examples: [3] })]),
    ),
    { description },
  );

export const schemas = {
  Alert: AlertObject,
  AlertCounts: object(
    {
      object: literal("alert_counts", { description: "Always `alert_counts`" }),
      open: countsByKind("Alerts that nobody has acknowledged"),
      acknowledged: countsByKind("Alerts that somebody has acknowledged"),
    },
    { description: "How many alerts are not closed" },
  ),
  AlertList: listSchema(ref("Alert"), "One page of alerts"),
  AlertEvent: object(
    {
      type: oneOf(ALERT_EVENTS, { description: "What has happened to the alert", examples: ["alert.opened"] }),
      timestamp: instantField("When it happened"),
      sequence: sequence("Rises with every event of the service"),
      data: object(
        { alert: ref("Alert"), tank: ref("Tank"), customer: ref("Customer") },
        { description: "The alert, its tank and the owner of the tank, as they were then" },
      ),
    },
    { description: "Something that happened to an alert, as webhooks and the feed have it" },
  ),
  RefillEvent: object(
    {
      type: literal("tank.refilled", { description: "Always `tank.refilled`" }),
      timestamp: instantField("When the refill was found"),
      sequence: sequence("Rises with every event of the service"),
      data: object(
        { refill: ref("Refill"), tank: ref("Tank"), customer: ref("Customer") },
        { description: "The refill, its tank and the owner of the tank, as they were then" },
      ),
    },
    { description: "A tank was refilled, as webhooks and the feed have it" },
  ),
  EventList: object(
    {
      object: literal("event_list", { description: "Always `event_list`" }),
      data: array(
        { anyOf: [ref("AlertEvent"), ref("RefillEvent")] },
        { maxItems: PAGE_SIZE.maximum, description: "Up to `size` events, oldest first" },
      ),
      next_after: sequence("What to send as `after` next"),
      has_more: boolean({ description: "Whether there are more events already", examples: [false] }),
      missed: boolean({
        description:
          "Events after `after` may have been removed, or `after` is from another database: read the alerts again, then go on with `next_after`",
        examples: [false],
      }),
    },
    { description: "Events after a sequence number" },
  ),
};

export const routes: readonly Route[] = [
  insightRoute({
    path: "/insight/v1/alerts",
    operation: "listAlerts",
    isLongRead: true,
    isCacheable: true,
    summary: "List alerts",
    description: "Alerts of tanks by the time they were opened, newest first.",
    parameters: {
      opened_at_gte: instant("Minimum value of `opened_at` to include (inclusive)", true),
      opened_at_lte: instant("Maximum value of `opened_at` to include (inclusive)", false),
      ...PAGE_PARAMETERS,
      state: choice(ALERT_STATES, "Only those in this state", undefined),
      kind: choice(ALERT_KINDS, "Only those of this kind", undefined),
      tank_id: textFilter("Only those of this tank"),
      owner_id: textFilter("Only those of tanks that this customer owns now"),
    },
    response: { schema: ref("AlertList"), description: "One page of alerts" },
    async handle({ reads, scope, parameters }) {
      const { opened_at_gte: from, opened_at_lte: to, ...rest } = parameters;
      const page = await reads.alertPage({ ...rest, from, to }, scope);
      return listJson(page, parameters, (alert) => JSON.stringify(alertObject(alert)));
    },
  }),
  insightRoute({
    path: "/insight/v1/alerts/counts",
    operation: "countAlerts",
    isCacheable: true,
    summary: "Count alerts",
    description: "How many alerts are not closed, by state and kind. A tank has at most one of each kind.",
    response: { schema: ref("AlertCounts"), description: "The numbers" },
    handle: async ({ reads, scope }) => ({ object: "alert_counts", ...(await reads.alertCounts(scope)) }),
  }),
  insightRoute({
    path: "/insight/v1/alerts/:id",
    operation: "retrieveAlert",
    summary: "Retrieve an alert",
    description: "One alert, closed or not.",
    response: { schema: ref("Alert"), description: "The alert", etag: true },
    errors: ["alert_unknown"],
    async handle({ reads, scope, id }) {
      const { object: body, etag } = alertResource(requireFound("alert", await reads.alertById(id, scope)));
      return new RouteResponse(200, body, { etag });
    },
  }),
  insightRoute({
    path: "/insight/v1/events",
    operation: "listEvents",
    isCacheable: true,
    summary: "Follow events",
    description:
      "Alert events and refills after a sequence number, oldest first. Events are kept for 30 days. Request the next page with `next_after`, immediately while `has_more` is true; every event appears once, in order.",
    parameters: {
      after: wholeNumber("The sequence number that you have reached; from the oldest event by default", {
        ...SEQUENCES,
        default: undefined,
      }),
      size: PAGE_PARAMETERS.size,
    },
    response: { schema: ref("EventList"), description: "The next events" },
    handle: async ({ reads, scope, parameters }) => feedJson(await reads.eventFeed(parameters, scope)),
  }),
];

/** Payloads are stored as the JSON that webhooks get. */
function feedJson({ payloads, nextAfter, hasMore, isIncomplete }: FeedPage): string {
  const position = `"next_after":${nextAfter},"has_more":${hasMore},"missed":${isIncomplete}`;
  return `{"object":"event_list","data":[${payloads.join()}],${position}}`;
}
