// POST /manage/v1/provision: many customers and tanks at once.

import { array, boolean, integer, literal, object, ref, text } from "../../../domain/schema.ts";
import { invalidBody } from "../../../domain/validate.ts";
import { customerExample, tankExample } from "../../examples.ts";
import { Answer, JSON_TYPE, type Route, route } from "../../route.ts";
import { jsonBody, onceFor, yesOrNo } from "./parts.ts";

const PATH = "/manage/v1/provision";
const ROWS_MOST = 50_000;
const MAX_BYTES = 33_554_432;

const Count = object({ new: integer({ minimum: 0 }), changed: integer({ minimum: 0 }), unchanged: integer({ minimum: 0 }) });
const ProvisionedChange = object(
  {
    row: text({ description: "Where it stands in what was sent", examples: ["tanks[0]"] }),
    id: text({ description: "The id of the customer or tank", examples: [tankExample.id] }),
    field: text({ description: "The field", examples: ["min_fill_alert_percentage"] }),
    from: { description: "What it was", examples: [20] },
    to: { description: "What it is then", examples: [25] },
  },
  { description: "A field that changes" },
);
const Provisioning = object(
  {
    object: literal("provisioning", { description: "Always `provisioning`" }),
    dry_run: boolean({ description: "Whether nothing was written" }),
    customers: Count,
    tanks: Count,
    changes: array(ref("ProvisionedChange"), {
      description: "What differs in those that were there before, row by row; the first 100",
    }),
    more_changes: integer({ minimum: 0, description: "How many more there are" }),
  },
  { description: "What became of many customers and tanks" },
);

export const provisionSchemas = { Provisioning, ProvisionedChange };

const rows = (name: string) => array(ref(name), { maxItems: ROWS_MOST, description: "A known id changes what is there" });
const example = {
  customers: [{ id: customerExample.id, name: customerExample.name, email: customerExample.email }],
  tanks: [
    {
      id: tankExample.id,
      name: tankExample.name,
      owner_id: tankExample.owner_id,
      capacity: 2700,
      capacity_unit: "liters",
      min_fill_alert_percentage: 20,
      assigned_device_id: tankExample.assigned_device_id,
    },
  ],
};

export const provisionRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: PATH,
    operation: "provision",
    summary: "Create or change many customers and tanks",
    description: `Up to ${ROWS_MOST} in all, customers before tanks. All are judged before any is written, and all are written or none. An id may stand in one row alone.`,
    tag: "Management",
    reach: "manage",
    parameters: { dry_run: yesOrNo("Judges, and writes nothing", false) },
    takes: ["Idempotency-Key"],
    body: {
      ...jsonBody(
        object({ customers: rows("NewCustomer"), tanks: rows("NewTank") }, {}, ["customers", "tanks"]),
        "The customers and the tanks",
        example,
      ),
      maxBytes: MAX_BYTES,
    },
    answer: {
      mediaType: JSON_TYPE,
      schema: ref("Provisioning"),
      description: "What was made and changed, or would be",
      examples: {
        done: {
          object: "provisioning",
          dry_run: false,
          customers: { new: 1, changed: 0, unchanged: 0 },
          tanks: { new: 0, changed: 1, unchanged: 0 },
          changes: [{ row: "tanks[0]", id: tankExample.id, field: "min_fill_alert_percentage", from: 25, to: 20 }],
          more_changes: 0,
        },
      },
    },
    refusals: [],
    async ask({ doors, body, headers, key, values }) {
      const { newId, carryOut } = doors.manage;
      const { customers, tanks } = rowsIn(body);
      const order = {
        type: "provision",
        customers: customers.map((fields) => ({ newId: newId("cus"), fields })),
        tanks: tanks.map((fields) => ({ newId: newId("tank"), fields })),
        isDryRun: values.dry_run,
      } as const;
      const once = values.dry_run ? undefined : onceFor(PATH, headers, body);
      const { resource, replayed } = await carryOut(order, key.id, once);
      return new Answer(200, resource.object, replayed ? { "idempotency-replayed": "true" } : {});
    },
  }),
];

function rowsIn(body: unknown): { readonly customers: readonly unknown[]; readonly tanks: readonly unknown[] } {
  const { customers = [], tanks = [], ...rest } = (typeof body === "object" ? (body ?? {}) : {}) as Record<string, unknown>;
  const faults = Object.keys(rest).map((field) => ({ field, message: "is not known here" }));
  if (Array.isArray(body) || typeof body !== "object") faults.push({ field: "", message: "must be an object" });
  for (const [field, value] of Object.entries({ customers, tanks })) {
    if (!Array.isArray(value)) faults.push({ field, message: "must be a list" });
  }
  if (faults.length > 0 || !Array.isArray(customers) || !Array.isArray(tanks)) throw invalidBody(faults);
  if (customers.length + tanks.length > ROWS_MOST) {
    throw invalidBody([{ field: "", message: `must have at most ${ROWS_MOST} customers and tanks in all` }]);
  }
  return { customers, tanks };
}
