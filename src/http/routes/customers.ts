// GET /v1/customers, GET /v1/customers/:id

import { CustomerObject, customerObject } from "../../domain/customer.ts";
import { RequestError } from "../../domain/errors.ts";
import { isPossibleId } from "../../domain/id.ts";
import { anyOf, literal, object, ref } from "../../domain/schema.ts";
import { EMAIL, LIST_PARAMETERS, listJson, listSchema, pageQuery } from "../parameters.ts";
import { type Route, route } from "../route.ts";

export const schemas = {
  Customer: CustomerObject,
  CustomerList: listSchema(ref("Customer"), "One page of customers"),
  DeletedCustomer: object(
    {
      id: { ...CustomerObject.properties.id, description: "Identifier of the deleted customer" },
      object: literal("customer"),
      deleted: literal(true),
    },
    { description: "A deleted customer" },
  ),
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
      const found = isPossibleId(id) ? await reads.customerById(id, scope) : undefined;
      if (found === undefined) throw customerUnknown();
      return found === "deleted" ? { id, object: "customer", deleted: true } : customerObject(found);
    },
  }),
];

export const customerUnknown = () => new RequestError("customer_unknown", "There is no customer with this id.");
