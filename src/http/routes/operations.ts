// GET /healthz, GET /readyz, GET /metrics: for the machines and people that run the service.

import { NOTIFICATION_WARNINGS } from "../../domain/alerts/notification-queue.ts";
import { array, literal, object, oneOf, text } from "../../domain/schema.ts";
import { type Route, route } from "../route.ts";

const status = (value: string) => object({ status: literal(value) }, { description: "The state of the service" });

/** Without the reason, which only the log has: anybody may read this. */
export const WRITES_UNAVAILABLE = {
  code: "writes_unavailable",
  detail: "Readings and changes cannot be stored: see the log. Reads continue.",
} as const;

const Readiness = object(
  {
    status: literal("ready"),
    warnings: array(
      object({
        code: oneOf([WRITES_UNAVAILABLE.code, ...NOTIFICATION_WARNINGS], {
          description:
            "writes_unavailable: the last write failed, as on a full disk; mail_not_configured: a recipient should get mail, but mail settings are missing; channels_disabled: some channels are disabled; notifications_delayed: a notification has been pending for over 10 minutes",
          examples: ["channels_disabled"],
        }),
        detail: text({ description: "For people", examples: ["Disabled channels: 1."] }),
      }),
      { description: "Omitted if there are no warnings" },
    ),
  },
  { description: "The state of the service" },
  ["warnings"],
);

export const routes: readonly Route[] = [
  route({
    path: "/healthz",
    operation: "health",
    summary: "Check whether the process is alive",
    description: "Responds as long as the process runs, whatever the state of the database.",
    tag: "Operations",
    requiredRole: "none",
    parameters: "ignored",
    response: { schema: status("ok"), description: "The process is alive" },
    handle: async () => ({ status: "ok" }),
  }),
  route({
    path: "/readyz",
    operation: "readiness",
    summary: "Check whether the service is ready",
    description:
      "Responds with 200 while the database is reachable, 503 while it is not. `warnings` lists other problems; those about notifications may be 30 seconds late.",
    tag: "Operations",
    requiredRole: "none",
    parameters: "ignored",
    response: { schema: Readiness, description: "The service is ready" },
    errors: ["store_unavailable", "data_damaged"],
    async handle({ reads, services }) {
      await reads.ping();
      const warnings = await services.warnings();
      return { status: "ready", ...(warnings.length > 0 && { warnings }) };
    },
  }),
  route({
    path: "/metrics",
    operation: "metrics",
    summary: "Metrics for Prometheus",
    description: "The key is sent in X-API-Key or as a bearer token.",
    tag: "Operations",
    requiredRole: "metrics",
    bearer: true,
    parameters: "ignored",
    response: {
      mediaType: "text/plain; version=0.0.4; charset=utf-8",
      schema: text({ description: "Prometheus text format" }),
      description: "The metrics",
      examples: { line: 'tank_monitor_request_duration_seconds_count{route="/v1/tanks",method="GET",status="200"} 42\n' },
    },
    handle: ({ metrics }) => metrics.text(),
  }),
];
