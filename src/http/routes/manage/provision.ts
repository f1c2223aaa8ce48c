// POST /manage/v1/provision

import { NewCustomer } from "../../../domain/commands/customers.ts";
import { MAX_PROVISION_ROWS } from "../../../domain/commands/provision.ts";
import { NewTank } from "../../../domain/commands/tanks.ts";
import { derivedId } from "../../../domain/id.ts";
import { array, boolean, integer, literal, object, partial, ref, text } from "../../../domain/schema.ts";
import { printable } from "../../../domain/text.ts";
import { invalidBody, isObject } from "../../../domain/validate.ts";
import { flag } from "../../parameters.ts";
import { jsonBody, type Route, RouteResponse } from "../../route.ts";
import { profileOrNull } from "./devices.ts";
import { idempotencyKeyOf, manageRoute, REPLAYED } from "./manage-route.ts";
import { changedAlerts, changedShape, newTankExample } from "./tanks.ts";

const PATH = "/manage/v1/provision";
const MAX_BODY_BYTES = 33_554_432;

const Count = object({
  new: integer({ minimum: 0 }),
  changed: integer({ minimum: 0, examples: [1] }),
  unchanged: integer({ minimum: 0 }),
});

const row = (name: string) => `A ${name} to create or change; one that is created has the fields of a new one`;

export const schemas = {
  CustomerRow: partial(NewCustomer, { description: row("customer") }),
  /** `profile`: of the device that is assigned to the tank. */
  TankRow: partial(
    { properties: { ...NewTank.properties, shape: changedShape, alerts: changedAlerts, profile: profileOrNull } },
    { description: row("tank") },
  ),
  Provisioning: object(
    {
      object: literal("provisioning", { description: "Always `provisioning`" }),
      dry_run: boolean({ description: "Whether nothing was written" }),
      customers: Count,
      tanks: Count,
      changes: array(ref("ProvisionedChange"), { description: "The first 100 changes of existing objects, row by row" }),
      more_changes: integer({ minimum: 0, description: "Number of further changes" }),
    },
    { description: "The result of a provisioning" },
  ),
  ProvisionedChange: object(
    {
      row: text({ description: "The position in the request", examples: ["tanks[0]"] }),
      id: text({ description: "The id of the customer or tank", examples: ["tank_01kxa8w5s0b6h1k3p5x9z2f4g7"] }),
      field: text({ description: "The field", examples: ["min_fill_alert_percentage"] }),
      from: { description: "The old value", examples: [20] },
      to: { description: "The new value", examples: [25] },
    },
    { description: "A field that changes" },
  ),
};

const rows = (name: string) =>
  array(ref(name), { maxItems: MAX_PROVISION_ROWS, description: "An existing id changes the object" });
const Provision = object({ customers: rows("CustomerRow"), tanks: rows("TankRow") }, {}, ["customers", "tanks"]);
const example = {
  customers: [{ id: newTankExample.owner_id, name: "Brenner Gas GmbH", email: "office@brenner-gas.example" }],
  tanks: [newTankExample],
};

export const routes: readonly Route[] = [
  manageRoute("POST", PATH, {
    sessionRole: "dispatcher",
    operation: "provision",
    summary: "Create or change many customers and tanks",
    description: `Up to ${MAX_PROVISION_ROWS} in total, customers before tanks. All are validated before any is written. Up to 1,000 are written in one transaction, more in several: if one fails, send the request again. An id may occur only once.`,
    errors: ["state_conflict"],
    parameters: { dry_run: flag("Validates only, and writes nothing", false) },
    headers: ["Idempotency-Key"],
    body: { ...jsonBody(Provision, "The customers and the tanks", example), maxBytes: MAX_BODY_BYTES },
    response: { schema: ref("Provisioning"), description: "What was created and changed, or would be" },
    async handle(request) {
      const { services, body, key, parameters } = request;
      const { management } = services;
      const { customers, tanks } = rowsIn(body);
      const idempotencyKey = parameters.dry_run ? undefined : idempotencyKeyOf(PATH, request);
      // Many rows are written in parts: a repeated request finds those that were written before it.
      const newId = (prefix: "cus" | "tank", row: number): string =>
        idempotencyKey === undefined
          ? management.newId(prefix)
          : derivedId(prefix, JSON.stringify([key.id, idempotencyKey.key, idempotencyKey.fingerprint, row]));
      const rows = {
        customers: customers.map((fields, row) => ({ newId: newId("cus", row), fields })),
        tanks: tanks.map((fields, row) => ({ newId: newId("tank", row), fields })),
      };
      const { resource, replayed } = await management.provision(rows, parameters.dry_run, key.id, idempotencyKey);
      return new RouteResponse(200, resource.object, replayed ? REPLAYED : {});
    },
  }),
];

function rowsIn(body: unknown): { readonly customers: readonly unknown[]; readonly tanks: readonly unknown[] } {
  if (!isObject(body)) throw invalidBody([{ field: "", message: "must be an object" }]);
  const { customers = [], tanks = [], ...rest } = body;
  const errors = Object.keys(rest).map((field) => ({ field: printable(field), message: "is not a known field" }));
  for (const [field, value] of Object.entries({ customers, tanks })) {
    if (!Array.isArray(value)) errors.push({ field, message: "must be a list" });
  }
  if (errors.length > 0 || !Array.isArray(customers) || !Array.isArray(tanks)) throw invalidBody(errors);
  if (customers.length + tanks.length > MAX_PROVISION_ROWS) {
    throw invalidBody([{ field: "", message: `must have at most ${MAX_PROVISION_ROWS} customers and tanks in total` }]);
  }
  return { customers, tanks };
}
