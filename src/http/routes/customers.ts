// GET /v1/customers, GET /v1/customers/:id

import { CustomerObject, customerObject } from "../../domain/customer.ts";
import { RequestError } from "../../domain/errors.ts";
import { isPossibleId } from "../../domain/id.ts";
import { anyOf, idField, literal, object, ref } from "../../domain/schema.ts";
import { envelope, listObject } from "../envelope.ts";
import { customerExample } from "../examples.ts";
import { EMAIL, LIST_PARAMETERS, NO_PARAMETERS, pageQuestion } from "../parameters.ts";
import { JSON_TYPE, type Route, route } from "../route.ts";

const CustomerList = listObject(ref("Customer"), "One page of customers");

const DeletedCustomerObject = object(
  {
    id: idField("Identifier of the deleted customer", customerExample.id),
    object: literal("customer"),
    deleted: literal(true),
  },
  { description: "What remains to be seen of a deleted customer" },
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
    answer: {
      mediaType: JSON_TYPE,
      schema: ref("CustomerList"),
      description: "One page of customers",
      examples: {
        page: { object: "list", data: [customerExample], page: 1, size: 10, total_pages: 1, total_items: 1 },
        empty: { object: "list", data: [], page: 1, size: 10, total_pages: 0, total_items: 0 },
      },
    },
    refusals: [],
    reach: "read",
    async ask({ reads, sight, values }) {
      const question = { ...pageQuestion(values), email: values.email };
      return envelope(await reads.customerPage(question, sight), question, (one) => JSON.stringify(customerObject(one)));
    },
  }),
  route({
    path: "/v1/customers/:id",
    operation: "retrieveCustomer",
    summary: "Retrieve a customer",
    description: "One customer. A deleted one is answered with `deleted` set to true and nothing but its identifier.",
    tag: "Customers",
    parameters: NO_PARAMETERS,
    answer: {
      mediaType: JSON_TYPE,
      schema: anyOf(ref("Customer"), ref("DeletedCustomer")),
      description: "The customer",
      examples: { customer: customerExample, deleted: { id: customerExample.id, object: "customer", deleted: true } },
    },
    refusals: ["customer_unknown"],
    reach: "read",
    async ask({ reads, sight, id }) {
      const found = isPossibleId(id) ? await reads.customerById(id, sight) : undefined;
      if (found === undefined) throw new RequestError("customer_unknown", "There is no customer with this id.");
      return found === "deleted" ? { id, object: "customer", deleted: true } : customerObject(found);
    },
  }),
];
