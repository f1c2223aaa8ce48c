// Everything an operator may want to know, as one closed union; only the log itself reports that it dropped lines. The log and the
// metrics decide what to show of it.
// No event carries a query string or a body. Where a client put a secret into a path, an id or a name, the log masks it.

import type { ChannelType } from "./alerts/channel.ts";
import type { RecipientType } from "./alerts/notification-queue.ts";
import type { ErrorCode } from "./errors.ts";

/** Where readings arrived: over HTTP, at the embedded MQTT endpoint (`--mqtt`), or from an external broker (`MQTT_URL`). */
export const INGEST_ENDPOINTS = ["http", "mqtt", "mqtt_url"] as const;
export type IngestEndpoint = (typeof INGEST_ENDPOINTS)[number];
export type MqttEndpointKind = Exclude<IngestEndpoint, "http">;

/** Why the embedded endpoint closed a client's connection. */
export type MqttDisconnectReason =
  | "protocol"
  | "protocol_version"
  | "packet_too_large"
  | "too_slow"
  | "too_many"
  | "key"
  | "store_unavailable"
  | "data_damaged"
  | "failed";

export type LogEvent =
  | {
      readonly kind: "request_completed";
      readonly requestId: string;
      readonly method: string;
      readonly path: string;
      /** The pattern of the route, or null where none matched. */
      readonly route: string | null;
      readonly status: number;
      readonly code: ErrorCode | null;
      readonly keyId: string | null;
      readonly address: string;
      readonly milliseconds: number;
    }
  | { readonly kind: "request_failed"; readonly requestId: string; readonly error: unknown }
  /** The connection sent something that is not an HTTP request. */
  | { readonly kind: "connection_rejected"; readonly code: ErrorCode; readonly status: number }
  /** There are too many connections, from this address or in all; or the client sent many requests without reading responses. */
  | { readonly kind: "connection_dropped"; readonly reason: "too_many" | "too_slow"; readonly address: string }
  /** A write is completed when it is durable. */
  | { readonly kind: "write_completed"; readonly write: string; readonly milliseconds: number; readonly ok: boolean }
  | { readonly kind: "query_completed"; readonly query: string; readonly milliseconds: number; readonly ok: boolean }
  | {
      readonly kind: "listening";
      readonly url: string;
      readonly database: string;
      readonly workers: number;
      readonly milliseconds: number;
    }
  | { readonly kind: "worker_started"; readonly worker: number; readonly pid: number; readonly milliseconds: number }
  | {
      readonly kind: "worker_exited";
      readonly worker: number;
      readonly pid: number;
      readonly reason: string;
      readonly isClean: boolean;
      /** Milliseconds until it is replaced, or null while the service stops. */
      readonly restartInMs: number | null;
    }
  /** The start waits for another process that creates or restores the database. */
  | { readonly kind: "database_locked" }
  | { readonly kind: "store_unavailable" | "writes_unavailable"; readonly reason: string }
  | { readonly kind: "store_recovered" | "writes_recovered" }
  /** `object`: a tank, a customer or a device with its id, or the name of the query. */
  | { readonly kind: "data_damaged"; readonly object: string; readonly reason: string }
  /** `replica`: its host. */
  | { readonly kind: "replica_unavailable" | "replica_damaged"; readonly replica: string; readonly reason: string }
  /** It has become available, also after the start. */
  | { readonly kind: "replica_available"; readonly replica: string }
  | { readonly kind: "last_seen_delayed"; readonly error: unknown }
  /** Tanks that have become silent, or whose pause has ended, could not be evaluated. */
  | { readonly kind: "sweep_failed"; readonly error: unknown }
  /** Forecasts, or the fleet order, could not be updated. */
  | { readonly kind: "forecast_job_failed"; readonly error: unknown }
  /**
   * A forecast that could not be computed: the tank has none until its next reading, or for a day. Or one that could not be stored:
   * the tank keeps the last one, and it is tried again after an hour.
   */
  | { readonly kind: "forecast_failed"; readonly tankId: string; readonly error: unknown }
  /** `stored`: new readings and those that replaced another value. */
  | { readonly kind: "readings_ingested"; readonly endpoint: IngestEndpoint; readonly stored: number; readonly rejected: number }
  /** Some readings of one message: `count` of them, with the reason for the first. */
  | {
      readonly kind: "readings_rejected";
      readonly endpoint: MqttEndpointKind;
      /** The client's key; null for an external broker, which does not name the publisher. */
      readonly keyId: string | null;
      /** Shortened, and without invisible characters. */
      readonly topic: string;
      readonly device: string | null;
      readonly count: number;
      readonly reason: string;
    }
  | { readonly kind: "mqtt_listening"; readonly url: string }
  | { readonly kind: "mqtt_client_rejected"; readonly code: ErrorCode; readonly address: string }
  | { readonly kind: "mqtt_client_dropped"; readonly reason: MqttDisconnectReason; readonly address: string }
  | { readonly kind: "mqtt_failed"; readonly error: unknown }
  /** The external broker; `notGranted` are the topics it does not let us subscribe to. */
  | { readonly kind: "broker_connected"; readonly broker: string; readonly notGranted: readonly string[] }
  | { readonly kind: "broker_disconnected"; readonly broker: string; readonly reason: string }
  | { readonly kind: "composing_failed"; readonly error: unknown }
  /** They are due at once. */
  | { readonly kind: "notifications_created"; readonly count: number }
  /** `recipient`: the kind of recipient. No event has the address of a customer, or the path of a webhook. */
  | {
      readonly kind: "notification_delivered";
      readonly id: string;
      readonly recipient: RecipientType;
      readonly channelId: string | null;
      readonly milliseconds: number;
    }
  /** Retried: it will be sent again. `host` is that of a webhook; `reason` is known of webhooks only. */
  | {
      readonly kind: "notification_failed";
      readonly id: string;
      readonly recipient: RecipientType;
      readonly channelId: string | null;
      readonly outcome: "retried" | "failed";
      readonly host: string | null;
      readonly status: number | null;
      readonly reason: string | null;
    }
  /** Notifications ended without an attempt: their channel was disabled, or they were pending for too long. */
  | {
      readonly kind: "notifications_ended";
      readonly recipient: RecipientType;
      readonly outcome: "failed" | "expired";
      readonly count: number;
    }
  | {
      readonly kind: "channel_disabled";
      readonly channelId: string;
      readonly type: ChannelType;
      readonly host: string | null;
      readonly reason: string;
    }
  /** `missing`: settings, separated by commas. */
  | { readonly kind: "mail_not_configured"; readonly missing: string }
  /** The oldest pending notification is over 10 minutes late. */
  | { readonly kind: "notifications_delayed"; readonly pending: number; readonly oldestSeconds: number }
  /** No notification is that late any more. */
  | { readonly kind: "notifications_caught_up" }
  | { readonly kind: "sending_failed"; readonly error: unknown }
  /** Somebody has requested a link to sign in, and could not be sent one. */
  | { readonly kind: "sign_in_mail_failed"; readonly outcome: "retried" | "failed"; readonly status: number | null }
  | { readonly kind: "sign_in_failed"; readonly error: unknown }
  /** Nobody can sign in. */
  | { readonly kind: "no_users" }
  | { readonly kind: "stopping"; readonly signal: string }
  | { readonly kind: "stopped" };

export type Observe = (event: LogEvent) => void;
