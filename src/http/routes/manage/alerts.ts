// PATCH /manage/v1/alerts/:id, POST /manage/v1/alerts/:id/acknowledge and POST /manage/v1/alerts/:id/close

import { AlertNote, AlertNoteChange } from "../../../domain/commands/alerts.ts";
import { ref } from "../../../domain/schema.ts";
import { jsonBody, patchBody, type Route } from "../../route.ts";
import { commandRoute, MERGE_PATCH, objectResponse } from "./manage-route.ts";

const PATH = "/manage/v1/alerts";

export const schemas = { AlertNote, AlertNoteChange };

const body = {
  ...jsonBody(ref("AlertNote"), "A note, if there is something to say", { note: "Delivery on Thursday" }),
  optional: true,
} as const;

export const routes: readonly Route[] = [
  commandRoute("PATCH", `${PATH}/:id`, {
    sessionRole: "dispatcher",
    operation: "changeAlert",
    summary: "Change the note of an alert",
    description: `${MERGE_PATCH} Only an acknowledged alert can get another note. Nobody is notified.`,
    body: patchBody(ref("AlertNoteChange"), { note: "Delivery on Friday" }),
    response: objectResponse(ref("Alert"), "The changed alert"),
    errors: ["alert_unknown", "state_conflict"],
    command: ({ id, body, headers: { ifMatch } }) => ({ type: "change_alert", id, fields: body, ifMatch }),
  }),
  commandRoute("POST", `${PATH}/:id/acknowledge`, {
    sessionRole: "dispatcher",
    operation: "acknowledgeAlert",
    summary: "Acknowledge an alert",
    description:
      "Records that a person is handling the alert. The owner of the tank gets no reminder. An alert that is acknowledged already stays as it is.",
    headers: ["Idempotency-Key", "If-Match"],
    body,
    response: objectResponse(ref("Alert"), "The acknowledged alert"),
    errors: ["alert_unknown", "state_conflict"],
    command({ id, body, key, headers: { ifMatch } }) {
      return { type: "acknowledge_alert", id, fields: body, by: key.id, ifMatch };
    },
  }),
  commandRoute("POST", `${PATH}/:id/close`, {
    sessionRole: "dispatcher",
    operation: "closeAlert",
    summary: "Close an alert",
    description:
      "Closes an alert manually. As long as its condition lasts, it is not opened again. An alert that is closed already stays as it is.",
    headers: ["Idempotency-Key", "If-Match"],
    body,
    response: objectResponse(ref("Alert"), "The closed alert"),
    errors: ["alert_unknown"],
    command: ({ id, body, headers: { ifMatch } }) => ({ type: "close_alert", id, fields: body, ifMatch }),
  }),
];
