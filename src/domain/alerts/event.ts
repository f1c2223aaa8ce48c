// Events: what integrators are notified of, by webhooks and in the feed. Sequence numbers rise in the whole service.

import { type CustomerWithCount, customerObject } from "../customer.ts";
import { refillObject } from "../forecast/objects.ts";
import type { Refill } from "../forecast/refills.ts";
import { DAY, errorInClockTimes, formatInstant, type Instant } from "../instant.ts";
import { type Tank, tankObject } from "../tank.ts";
import { isObject, parseJson } from "../validate.ts";
import { type Alert, alertObject } from "./alert.ts";

export const ALERT_EVENTS = ["alert.opened", "alert.acknowledged", "alert.closed"] as const;
export type AlertEventType = (typeof ALERT_EVENTS)[number];
/** What a channel can be notified of. */
export const CHANNEL_EVENTS = [...ALERT_EVENTS, "tank.refilled"] as const;
export const EVENT_TYPES = [...CHANNEL_EVENTS, "channel.test"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** How long the feed keeps events, and how long an ended notification is kept. */
export const EVENT_RETENTION_MS = 30 * DAY;

export type AlertEvent = {
  readonly type: AlertEventType;
  readonly at: Instant;
  readonly alert: Alert;
  readonly tank: Tank;
  readonly customer: CustomerWithCount;
};

/** `shouldNotify`: people are notified of it. `before` is undefined for an alert that is opened. */
export type AlertChange = {
  readonly before: Alert | undefined;
  readonly after: Alert;
  readonly type: AlertEventType;
  readonly shouldNotify: boolean;
};

/** In the feed. `payload` is JSON; `owner_id` is the owner of the tank at that time, who may see it. */
export type StoredEvent = {
  readonly sequence: number;
  readonly at: Instant;
  readonly owner_id: string;
  readonly payload: string;
};

export type RefillEvent = {
  readonly at: Instant;
  readonly refill: Refill;
  readonly tank: Tank;
  readonly customer: CustomerWithCount;
};

export function refillEventObject({ at, refill, tank, customer }: RefillEvent, sequence: number) {
  return {
    type: "tank.refilled",
    timestamp: formatInstant(at),
    sequence,
    data: { refill: refillObject(refill, tank), tank: tankObject(tank), customer: customerObject(customer) },
  } as const;
}

/** The refill in a stored event. */
export function refillIn(payload: string): { readonly tankId: string; readonly refill: Refill } {
  const { tank, refill } = (JSON.parse(payload) as ReturnType<typeof refillEventObject>).data;
  return {
    tankId: tank.id,
    refill: {
      startedAt: Date.parse(refill.started_at),
      endedAt: Date.parse(refill.ended_at),
      from: refill.from_percentage,
      to: refill.to_percentage,
    },
  };
}

export function eventObject({ type, at, alert, tank, customer }: AlertEvent, sequence: number) {
  return {
    type,
    timestamp: formatInstant(at),
    sequence,
    data: { alert: alertObject(alert), tank: tankObject(tank), customer: customerObject(customer) },
  } as const;
}

/** What is wrong with a stored event. */
export function errorInEvent({ sequence, at, payload }: StoredEvent): string | undefined {
  const event = parseJson(payload)?.value;
  if (!isObject(event) || !isObject(event["data"])) return "payload: cannot be read";
  const { type, data } = event;
  if (event["sequence"] !== sequence) return `payload: has the sequence number ${event["sequence"]}`;
  if (!CHANNEL_EVENTS.some((one) => one === type)) return `payload: type must be one of ${CHANNEL_EVENTS.join(", ")}`;
  const about = type === "tank.refilled" ? "refill" : "alert";
  const missing = [about, "tank", "customer"].find((name) => !isObject(data[name]));
  return missing === undefined ? errorInClockTimes({ at }) : `payload: ${missing} is missing`;
}
