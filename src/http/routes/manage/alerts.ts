// POST /manage/v1/alerts/:id/acknowledge and POST /manage/v1/alerts/:id/close

import { AlertNote } from "../../../domain/commands/alerts.ts";
import type { Command } from "../../../domain/commands/command.ts";
import { ref } from "../../../domain/schema.ts";
import { type Route, type RouteRequest, RouteResponse } from "../../route.ts";
import { idempotencyKeyOf, jsonBody, manageRoute, REPLAYED } from "./shared.ts";

const PATH = "/manage/v1/alerts";

export const schemas = { AlertNote };

const body = {
  ...jsonBody(ref("AlertNote"), "A note, if there is something to say", { note: "Delivery on Thursday" }),
  optional: true,
} as const;

export const routes: readonly Route[] = [
  manageRoute("POST", `${PATH}/:id/acknowledge`, {
    sessionRole: "dispatcher",
    operation: "acknowledgeAlert",
    summary: "Acknowledge an alert",
    description:
      "Says that a person is handling it: its owner gets no reminder. An alert that is acknowledged already stays as it is.",
    headers: ["Idempotency-Key", "If-Match"],
    body,
    response: { schema: ref("Alert"), description: "The acknowledged alert", etag: true },
    errors: ["alert_unknown", "state_conflict"],
    handle(request) {
      const { id, body: fields, headers, key } = request;
      const command = { type: "acknowledge_alert", id, fields, by: key.id, ifMatch: headers.ifMatch } as const;
      return execute(`${PATH}/${id}/acknowledge`, request, command);
    },
  }),
  manageRoute("POST", `${PATH}/:id/close`, {
    sessionRole: "dispatcher",
    operation: "closeAlert",
    summary: "Close an alert",
    description:
      "Closes an alert manually. As long as its condition lasts, it is not opened again. An alert that is closed already stays as it is.",
    headers: ["Idempotency-Key", "If-Match"],
    body,
    response: { schema: ref("Alert"), description: "The closed alert", etag: true },
    errors: ["alert_unknown"],
    handle(request) {
      const { id, body: fields, headers } = request;
      return execute(`${PATH}/${id}/close`, request, { type: "close_alert", id, fields, ifMatch: headers.ifMatch });
    },
  }),
];

/** Once per idempotency key. */
async function execute(path: string, request: RouteRequest, command: Command): Promise<RouteResponse> {
  const { services, key } = request;
  const { resource, replayed } = await services.management.execute(command, key.id, idempotencyKeyOf(path, request));
  return new RouteResponse(200, resource.object, { etag: resource.etag, ...(replayed && REPLAYED) });
}
