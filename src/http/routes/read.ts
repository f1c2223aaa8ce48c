// The read API: /v1/customers, /v1/tanks and their telemetry.

import { CustomerObject, customerObject } from "../../domain/customer.ts";
import { TelemetryObject, telemetryJson } from "../../domain/reading.ts";
import { anyOf, ref } from "../../domain/schema.ts";
import { TankObject, tankObject } from "../../domain/tank.ts";
import { EMAIL, LIST_PARAMETERS, listJson, listSchema, pageQuery } from "../parameters.ts";
import { type Route, route } from "../route.ts";
import { deletedSchema, NO_LONGER_AVAILABLE, requireFound, requireTank } from "./found.ts";

export const schemas = {
  Customer: CustomerObject,
  CustomerList: listSchema(ref("Customer"), "One page of customers"),
  DeletedCustomer: deletedSchema("customer", CustomerObject.properties.id),
  Tank: TankObject,
  TankList: listSchema(ref("Tank"), "One page of tanks"),
  DeletedTank: deletedSchema("tank", TankObject.properties.id),
  Telemetry: TelemetryObject,
  TelemetryList: listSchema(ref("Telemetry"), "One page of a tank's readings"),
};

export const routes: readonly Route[] = [
  route({
    path: "/v1/customers",
    operation: "listCustomers",
    summary: "List customers",
    description: "Customers by creation date, newest first.",
    tag: "Customers",
    requiredRole: "read",
    parameters: { ...LIST_PARAMETERS, email: EMAIL },
    response: { schema: ref("CustomerList"), description: "One page of customers" },
    async handle({ reads, scope, parameters }) {
      const query = { ...pageQuery(parameters), email: parameters.email };
      return listJson(await reads.customerPage(query, scope), query, (one) => JSON.stringify(customerObject(one)));
    },
  }),
  route({
    path: "/v1/customers/:id",
    operation: "retrieveCustomer",
    summary: "Retrieve a customer",
    description: "One customer. Of a deleted one, only its identifier is returned, with `deleted` set to true.",
    tag: "Customers",
    requiredRole: "read",
    response: { schema: anyOf(ref("Customer"), ref("DeletedCustomer")), description: "The customer" },
    errors: ["customer_unknown"],
    async handle({ reads, scope, id }) {
      const customer = requireFound("customer", await reads.customerById(id, scope));
      return customer === "deleted" ? { id, object: "customer", deleted: true } : customerObject(customer);
    },
  }),
  route({
    path: "/v1/tanks",
    operation: "listTanks",
    summary: "List tanks",
    description: "Tanks by creation date, newest first.",
    tag: "Tanks",
    requiredRole: "read",
    parameters: LIST_PARAMETERS,
    response: { schema: ref("TankList"), description: "One page of tanks" },
    async handle({ reads, scope, parameters }) {
      const query = pageQuery(parameters);
      return listJson(await reads.tankPage(query, scope), query, (one) => JSON.stringify(tankObject(one)));
    },
  }),
  route({
    path: "/v1/tanks/:id",
    operation: "retrieveTank",
    summary: "Retrieve a tank",
    description: "One tank. Of a deleted one, only its identifier is returned, with `deleted` set to true.",
    tag: "Tanks",
    requiredRole: "read",
    response: { schema: anyOf(ref("Tank"), ref("DeletedTank")), description: "The tank" },
    errors: ["tank_unknown"],
    async handle({ reads, scope, id }) {
      const tank = requireFound("tank", await reads.tankById(id, scope));
      return tank === "deleted" ? { id, object: "tank", deleted: true } : tankObject(tank);
    },
  }),
  route({
    path: "/v1/tanks/:id/telemetry",
    operation: "listTelemetry",
    summary: "List telemetry of a tank",
    description: "The fill readings of one tank, newest first.",
    tag: "Telemetry",
    requiredRole: "read",
    parameters: LIST_PARAMETERS,
    response: { schema: ref("TelemetryList"), description: "One page of readings" },
    errors: ["tank_unknown", "tank_deleted"],
    async handle({ reads, scope, id, parameters }) {
      const query = pageQuery(parameters);
      return listJson(requireTank(await reads.telemetryPage(id, query, scope), NO_LONGER_AVAILABLE), query, telemetryJson);
    },
  }),
];
