// What the service sends to webhooks, for the OpenAPI document. docs/webhooks.md explains how to receive it.

import type { Alert } from "../domain/alerts/alert.ts";
import { ChannelObject } from "../domain/alerts/channel.ts";
import { ALERT_EVENTS, type AlertEventType, type EventType } from "../domain/alerts/event.ts";
import type { ForecastKind } from "../domain/alerts/forecast-conditions.ts";
import { instantField, literal, object, ref, type Schema, text } from "../domain/schema.ts";
import type { JsonObject } from "../domain/validate.ts";
import { JSON_TYPE } from "./route.ts";

type WebhookDescription = {
  readonly operation: string;
  readonly summary: string;
  readonly description: string;
  readonly schema: Schema;
  /** Keyed by name. */
  readonly examples: Readonly<Record<string, JsonObject>>;
};

/** Example values of one alert that is opened, acknowledged and then closed. */
const ALERT_DETAILS: Readonly<Record<AlertEventType, Partial<Record<keyof Alert, unknown>>>> = {
  "alert.opened": { state: "open" },
  "alert.acknowledged": {
    state: "acknowledged",
    acknowledged_at: "2026-11-14T10:05:00.000Z",
    acknowledged_by: "key_01kxa8w5s0d2f4g6h8j0k2m4n6",
    note: "Delivery on Thursday",
  },
  "alert.closed": {
    state: "closed",
    acknowledged_at: "2026-11-14T10:05:00.000Z",
    acknowledged_by: "key_01kxa8w5s0d2f4g6h8j0k2m4n6",
    note: "Delivery on Thursday",
    closed_at: "2026-11-16T13:40:00.000Z",
    close_reason: "recovered",
    latest_fill_percentage: 91.5,
    latest_reading_at: "2026-11-16T13:40:00.000Z",
  },
};

/** Example values of alerts that follow from forecasts. */
const OTHER_KINDS: Readonly<Record<ForecastKind, Partial<Record<keyof Alert, unknown>>>> = {
  runs_low_soon: {
    kind: "runs_low_soon",
    fill_percentage: 24.1,
    latest_fill_percentage: 24.1,
    runs_low_at: "2026-11-20T17:00:00.000Z",
  },
  leak: {
    kind: "leak",
    fill_percentage: 61.3,
    latest_fill_percentage: 61.3,
    leak: { since: "2026-11-08T11:20:00.000Z", percentage_per_day: 1.2, percentage_lost: null },
  },
};

const SUMMARIES: Readonly<Record<AlertEventType, readonly [summary: string, description: string]>> = {
  "alert.opened": ["An alert was opened", "A tank is low, is expected to be soon, may leak, or is silent."],
  "alert.acknowledged": ["An alert was acknowledged", "A person is handling it."],
  "alert.closed": [
    "An alert was closed",
    "Its condition has cleared, another alert has replaced it, alerts of this kind were turned off, the tank was deleted, or somebody closed it: see `close_reason`.",
  ],
};

const HEADERS = [
  ["webhook-id", "The id of the notification; the same whenever it is sent again", "msg_01kxa8w5s0d2f4g6h8j0k2m4n6"],
  ["webhook-timestamp", "When it was sent, in seconds since 1970", "1794649800"],
  [
    "webhook-signature",
    "Its signatures, separated by spaces (Standard Webhooks)",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ],
] as const;

const ChannelTestEvent = object(
  {
    type: literal("channel.test", { description: "Always `channel.test`" }),
    timestamp: instantField("When it was requested"),
    sequence: { type: "null", description: "It is not part of the feed", examples: [null] },
    data: object({ channel: ChannelObject }, { description: "The channel" }),
  },
  { description: "A test of a channel" },
);

/** A value made of the examples in a schema. */
type ExampleOf = (schema: Schema) => unknown;

export function webhooks(exampleOf: ExampleOf): JsonObject {
  const test: WebhookDescription = {
    operation: operationName("channel.test"),
    summary: "A channel is tested",
    description: "Somebody tests the channel. Respond as to any other event.",
    schema: ChannelTestEvent,
    examples: { example: exampleOf(ChannelTestEvent) as JsonObject },
  };
  const refilled: WebhookDescription = {
    operation: operationName("tank.refilled"),
    summary: "A tank was refilled",
    description: "The level of a tank has risen and stayed up: found 12 hours to two days after the delivery.",
    schema: ref("RefillEvent"),
    examples: { example: exampleOf(ref("RefillEvent")) as JsonObject },
  };
  return Object.fromEntries([
    ...ALERT_EVENTS.map((type) => [type, { post: operationOf(alertWebhook(type, exampleOf)) }]),
    ["tank.refilled" satisfies EventType, { post: operationOf(refilled) }],
    ["channel.test" satisfies EventType, { post: operationOf(test) }],
  ]);
}

function alertWebhook(type: AlertEventType, exampleOf: ExampleOf): WebhookDescription {
  const schema = ref("AlertEvent");
  const event = exampleOf(schema) as JsonObject & { readonly data: { readonly alert: JsonObject } };
  const exampleWith = (details: object): JsonObject => ({
    ...event,
    type,
    data: { ...event.data, alert: { ...event.data.alert, ...ALERT_DETAILS[type], ...details } },
  });
  const others = Object.entries(OTHER_KINDS).map(([kind, details]) => [kind, exampleWith(details)]);
  const [summary, description] = SUMMARIES[type];
  return {
    operation: operationName(type),
    summary,
    description,
    schema,
    examples: { example: exampleWith({}), ...(type === "alert.opened" ? Object.fromEntries(others) : {}) },
  };
}

/** `alert.opened` → `onAlertOpened` */
const operationName = (type: string): string =>
  `on${type.replaceAll(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}`;

function operationOf({ operation, summary, description, schema, examples }: WebhookDescription): JsonObject {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return {
    operationId: operation,
    summary,
    description,
    tags: ["Webhooks"],
    security: [],
    parameters: HEADERS.map(([name, about, value]) => {
      return { name, in: "header", required: true, description: about, schema: text({ examples: [value] }) };
    }),
    requestBody: {
      required: true,
      description: "The event",
      content: { [JSON_TYPE]: { schema, examples: Object.fromEntries(named) } },
    },
    responses: {
      "2XX": { description: "Received. Respond within 15 seconds; the body is ignored" },
      410: { description: "No longer wanted: the channel is disabled" },
      default: { description: "Not received: it is retried, ten attempts in all over about 75 hours" },
    },
  };
}
