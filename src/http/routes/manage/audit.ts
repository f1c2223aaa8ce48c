// GET /manage/v1/audit

import { AUDITED_ACTIONS, AUDITED_OBJECTS, type AuditEntry } from "../../../domain/audit.ts";
import { deviceKey } from "../../../domain/id.ts";
import { formatInstant } from "../../../domain/instant.ts";
import { instantField, integer, literal, object, oneOf, ref, text } from "../../../domain/schema.ts";
import { choice, LIST_PARAMETERS, listJson, listSchema, pageQuery, textFilter } from "../../parameters.ts";
import type { Route } from "../../route.ts";
import { manageRoute } from "./manage-route.ts";

export const schemas = {
  AuditEntry: object(
    {
      number: integer({ minimum: 1, description: "Sequence number from 1, without gaps", examples: [4711] }),
      object: literal("audit_entry", { description: "Always `audit_entry`" }),
      created_at: instantField("When it was done"),
      by: text({
        description: "The id of the key, user or customer that made the change, or a name such as `command line` or `import`",
        examples: ["key_01kxa8w5s0d2f4g6h8j0k2m4n6"],
      }),
      action: oneOf(AUDITED_ACTIONS, { description: "What was done", examples: ["changed"] }),
      type: oneOf(AUDITED_OBJECTS, { description: "Type of the changed object", examples: ["tank"] }),
      id: text({ description: "The id of that object", examples: ["tank_01kxa8w5s0b6h1k3p5x9z2f4g7"] }),
      changes: {
        type: "object",
        description: "The fields that differ, each with its value before (`from`) and after (`to`)",
        examples: [{ min_fill_alert_percentage: { from: 20, to: 25 } }],
      },
    },
    { description: "An action: by whom, when, and what changed" },
  ),
  AuditList: listSchema(ref("AuditEntry"), "One page of the audit log"),
};

export const routes: readonly Route[] = [
  manageRoute("GET", "/manage/v1/audit", {
    sessionRole: "admin",
    operation: "listAudit",
    isLongRead: true,
    summary: "List the audit log",
    description: "Who changed what, newest first.",
    parameters: {
      ...LIST_PARAMETERS,
      by: textFilter("Only actions by this key, user or customer"),
      type: choice(AUDITED_OBJECTS, "Only actions on objects of this type", undefined),
      id: textFilter("Only actions on the object with this id"),
    },
    response: { schema: ref("AuditList"), description: "One page of the audit log" },
    async handle({ services, parameters }) {
      const id = parameters.type === "device" && parameters.id !== undefined ? deviceKey(parameters.id) : parameters.id;
      const query = { ...pageQuery(parameters), by: parameters.by, object: parameters.type, id };
      return listJson(await services.management.reads.auditPage(query), query, (entry) => JSON.stringify(auditObject(entry)));
    },
  }),
];

function auditObject({ number, at, by, action, object: type, id, changes }: AuditEntry) {
  return { number, object: "audit_entry", created_at: formatInstant(at), by, action, type, id, changes };
}
