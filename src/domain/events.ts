// Everything worth telling an operator, as one closed union. Whoever sees something happen says it; the log and the
// metrics each decide what to show. No event carries a secret, a query string or a body.

import type { ErrorCode } from "./errors.ts";

/** The way readings came in: the embedded broker (`--mqtt`), or an external one (`MQTT_URL`). */
export type MqttEndpointKind = "mqtt" | "mqtt_url";

/** Why a client of the embedded broker was cut off. */
export type MqttDisconnectReason =
  | "protocol"
  | "protocol_version"
  | "packet_too_large"
  | "too_slow"
  | "too_many"
  | "key"
  | "store_unavailable"
  | "failed";

export type Event =
  | {
      readonly kind: "request_answered";
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
  | { readonly kind: "connection_refused"; readonly code: ErrorCode; readonly status: number }
  | { readonly kind: "question_answered"; readonly question: string; readonly milliseconds: number; readonly ok: boolean }
  | {
      readonly kind: "listening";
      readonly url: string;
      readonly database: string;
      readonly workers: number;
      readonly milliseconds: number;
    }
  | { readonly kind: "worker_started"; readonly worker: number; readonly pid: number; readonly milliseconds: number }
  | {
      readonly kind: "worker_ended";
      readonly worker: number;
      readonly pid: number;
      readonly how: string;
      readonly inOrder: boolean;
      /** Milliseconds until it is replaced, or null where the service stops. */
      readonly pause: number | null;
    }
  /** An older database is brought to the newest version: so many readings of so many. */
  | { readonly kind: "migrating"; readonly done: number; readonly total: number }
  | { readonly kind: "store_lost" | "writing_lost"; readonly reason: string }
  | { readonly kind: "store_back" | "writing_back" }
  | { readonly kind: "replica_lost"; readonly replica: string; readonly reason: string }
  | { readonly kind: "replica_back"; readonly replica: string }
  | { readonly kind: "last_seen_delayed"; readonly error: unknown }
  /** Of one message: how many of its readings, and the reason of the first. */
  | {
      readonly kind: "readings_refused";
      readonly door: MqttEndpointKind;
      /** Of the client; an external broker does not say who publishes. */
      readonly keyId: string | null;
      /** As it may be shown: short, without a secret, and without characters that are not seen. */
      readonly topic: string;
      readonly device: string | null;
      readonly count: number;
      readonly reason: string;
    }
  | { readonly kind: "mqtt_listening"; readonly url: string }
  | { readonly kind: "mqtt_client_refused"; readonly code: ErrorCode; readonly address: string }
  | { readonly kind: "mqtt_client_dropped"; readonly why: MqttDisconnectReason; readonly address: string }
  | { readonly kind: "mqtt_failed"; readonly error: unknown }
  /** The external broker; `notGranted` are the topics it does not let us have. */
  | { readonly kind: "broker_connected"; readonly broker: string; readonly notGranted: readonly string[] }
  | { readonly kind: "broker_lost"; readonly broker: string; readonly reason: string }
  | { readonly kind: "stopping"; readonly signal: string }
  | { readonly kind: "stopped" };

export type Observe = (event: Event) => void;
