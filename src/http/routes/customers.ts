// GET /v1/customers, GET /v1/customers/:id

import { CustomerObject, customerObject } from "../../domain/customer.ts";
import { RequestError } from "../../domain/errors.ts";
import { isPossibleId } from "../../domain/id.ts";
import { anyOf, idField, literal, object, ref } from "../../domain/schema.ts";
import { customerExample } from "../examples.ts";
import {
  EMAIL,
  EMPTY_LIST,
  LIST_PARAMETERS,
  listExample,
  listJson,
  listSchema,
  NO_PARAMETERS,
  pageQuery,
} from "../parameters.ts";
import { JSON_TYPE, type Route, route } from "../route.ts";

const CustomerList = listSchema(ref("Customer"), "One page of customers");

const DeletedCustomerObject = object(
  {
    id: idField("Identifier of the deleted customer", customerExample.id),
    object: literal("customer"),
    deleted: literal(true),
  },
  { description: "A deleted customer" },
);

export const customerSchemas = { Customer: CustomerObject, CustomerList, DeletedCustomer: DeletedCustomerObject };

export const customerRoutes: readonly Route[] = [
  route({
    path: "/v1/customers",
    operation: "listCustomers",
    summary: "List customers",
    description: "Customers by creation date, newest first.",
    tag: "Customers",
    parameters: { ...LIST_PARAMETERS, email: EMAIL },
    response: {
      mediaType: JSON_TYPE,
      schema: ref("CustomerList"),
      description: "One page of customers",
      examples: {
        page: listExample(customerExample),
        empty: EMPTY_LIST,
      },
    },
    errors: [],
    requiredRole: "read",
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
    parameters: NO_PARAMETERS,
    response: {
      mediaType: JSON_TYPE,
      schema: anyOf(ref("Customer"), ref("DeletedCustomer")),
      description: "The customer",
      examples: { customer: customerExample, deleted: { id: customerExample.id, object: "customer", deleted: true } },
    },
    errors: ["customer_unknown"],
    requiredRole: "read",
    async handle({ reads, scope, id }) {
      const found = isPossibleId(id) ? await reads.customerById(id, scope) : undefined;
      if (found === undefined) throw new RequestError("customer_unknown", "There is no customer with this id.");
      return found === "deleted" ? { id, object: "customer", deleted: true } : customerObject(found);
    },
  }),
];
