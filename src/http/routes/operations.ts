// GET /healthz, GET /readyz, GET /metrics: for the machines and people that run the service.

import { literal, object, text } from "../../domain/schema.ts";
import { JSON_TYPE, type Route, route } from "../route.ts";

const status = (value: string) => object({ status: literal(value) }, { description: "The state of the service" });

export const operationRoutes: readonly Route[] = [
  route({
    path: "/healthz",
    operation: "health",
    summary: "Is the process alive?",
    description: "Answers as long as the process runs, whatever the database does.",
    tag: "Operations",
    reach: "open",
    parameters: "unread",
    answer: { mediaType: JSON_TYPE, schema: status("ok"), description: "It is", examples: { ok: { status: "ok" } } },
    refusals: [],
    ask: async () => ({ status: "ok" }),
  }),
  route({
    path: "/readyz",
    operation: "readiness",
    summary: "Can requests be answered?",
    description: "Answers 200 while the database is in reach, 503 while it is not.",
    tag: "Operations",
    reach: "open",
    parameters: "unread",
    answer: { mediaType: JSON_TYPE, schema: status("ready"), description: "They can", examples: { ready: { status: "ready" } } },
    refusals: ["store_unavailable"],
    async ask({ reads }) {
      await reads.ping();
      return { status: "ready" };
    },
  }),
  route({
    path: "/metrics",
    operation: "metrics",
    summary: "Metrics for Prometheus",
    description: "Needs a key of the role `manage`, in X-API-Key or as a bearer token.",
    tag: "Operations",
    reach: "manage",
    bearer: true,
    parameters: "unread",
    answer: {
      mediaType: "text/plain; version=0.0.4; charset=utf-8",
      schema: text({ description: "Prometheus text format" }),
      description: "The metrics",
      examples: { line: 'tank_monitor_request_duration_seconds_count{route="/v1/tanks",method="GET",status="200"} 42\n' },
    },
    refusals: [],
    ask: ({ metrics }) => metrics.text(),
  }),
];
