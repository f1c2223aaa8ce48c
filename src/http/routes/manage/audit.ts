// GET /manage/v1/audit

import { AUDITED_ACTIONS, AUDITED_OBJECTS, type AuditEntry } from "../../../domain/audit.ts";
import { deviceKey } from "../../../domain/device.ts";
import { formatInstant } from "../../../domain/instant.ts";
import { instantField, integer, literal, object, oneOf, ref, text } from "../../../domain/schema.ts";
import { envelope, listObject } from "../../envelope.ts";
import { LIST_PARAMETERS, pageQuestion, textFilter } from "../../parameters.ts";
import { JSON_TYPE, type Route, route } from "../../route.ts";
import { choice } from "./parts.ts";

const example = {
  number: 4711,
  object: "audit_entry",
  created_at: "2026-11-14T09:30:00.000Z",
  by: "key_01kxa8w5s0d2f4g6h8j0k2m4n6",
  action: "changed",
  type: "tank",
  id: "tank_01kxa8w5s0b6h1k3p5x9z2f4g7",
  changes: { min_fill_alert_percentage: { from: 20, to: 25 } },
};

const AuditEntryObject = object(
  {
    number: integer({ minimum: 1, description: "Counted from 1, without a gap", examples: [example.number] }),
    object: literal("audit_entry", { description: "Always `audit_entry`" }),
    created_at: instantField("When it was done"),
    by: text({ description: "The id of the key, or in words who had none", examples: [example.by] }),
    action: oneOf(AUDITED_ACTIONS, { description: "What was done", examples: ["changed"] }),
    type: oneOf(AUDITED_OBJECTS, { description: "What it was done to", examples: ["tank"] }),
    id: text({ description: "The id of that object", examples: [example.id] }),
    changes: {
      type: "object",
      description: "The fields that differ, each with its value before (`from`) and after (`to`)",
      examples: [example.changes],
    },
  },
  { description: "Something that was done: by whom, when, and what changed" },
);
const AuditList = listObject(ref("AuditEntry"), "One page of the audit log");

export const auditSchemas = { AuditEntry: AuditEntryObject, AuditList };

export const auditRoutes: readonly Route[] = [
  route({
    path: "/manage/v1/audit",
    operation: "listAudit",
    summary: "Who changed what?",
    description: "The audit log, newest first.",
    tag: "Management",
    reach: "manage",
    parameters: {
      ...LIST_PARAMETERS,
      by: textFilter("Only what was done with this key"),
      type: choice(AUDITED_OBJECTS, "Only what was done to objects of this type"),
      id: textFilter("Only what was done to the object with this id"),
    },
    answer: {
      mediaType: JSON_TYPE,
      schema: ref("AuditList"),
      description: "One page of the audit log",
      examples: { page: { object: "list", data: [example], page: 1, size: 10, total_pages: 1, total_items: 1 } },
    },
    refusals: [],
    async ask({ doors, values }) {
      const id = values.type === "device" && values.id !== undefined ? deviceKey(values.id) : values.id;
      const question = { ...pageQuestion(values), by: values.by, object: values.type, id };
      return envelope(await doors.manage.overview.auditPage(question), question, (entry) => JSON.stringify(shown(entry)));
    },
  }),
];

function shown({ number, at, by, action, object: type, id, changes }: AuditEntry) {
  return { number, object: "audit_entry", created_at: formatInstant(at), by, action, type, id, changes };
}
