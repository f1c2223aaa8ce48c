// /manage/v1/customers

import { CustomerChange, NewCustomer } from "../../../domain/commands/customers.ts";
import { CustomerObject } from "../../../domain/customer.ts";
import { RequestError } from "../../../domain/errors.ts";
import { isPossibleId } from "../../../domain/id.ts";
import { customerResource } from "../../../domain/resource.ts";
import { boolean, object, ref } from "../../../domain/schema.ts";
import { envelope, listObject } from "../../envelope.ts";
import { customerExample } from "../../examples.ts";
import { LIST_PARAMETERS, NO_PARAMETERS, pageQuestion } from "../../parameters.ts";
import { JSON_TYPE, type Route, route } from "../../route.ts";
import { beginning, CONFLICTS, jsonBody, madeAnswer, onceFor, patchBody, shownAnswer, yesOrNo } from "./parts.ts";

const PATH = "/manage/v1/customers";
const example = { ...customerExample, deleted: false };

const ManagedCustomer = object(
  { ...CustomerObject.properties, deleted: boolean({ description: "Whether the customer is deleted", examples: [false] }) },
  { description: "A customer, as the operator sees it" },
);
const ManagedCustomerList = listObject(ref("ManagedCustomer"), "One page of customers");

export const managedCustomerSchemas = { ManagedCustomer, ManagedCustomerList, NewCustomer, CustomerChange };

const one = (description: string) => ({
  mediaType: JSON_TYPE,
  schema: ref("ManagedCustomer"),
  description,
  examples: { customer: example },
  etag: true as const,
});

export const managedCustomerRoutes: readonly Route[] = [
  route({
    path: PATH,
    operation: "searchCustomers",
    summary: "Search customers",
    description: "Customers by creation date, newest first; the deleted ones apart.",
    tag: "Management",
    reach: "manage",
    parameters: {
      ...LIST_PARAMETERS,
      name: beginning("name"),
      email: beginning("email"),
      deleted: yesOrNo("Those that are deleted, instead of those that are not", false),
    },
    answer: {
      mediaType: JSON_TYPE,
      schema: ref("ManagedCustomerList"),
      description: "One page of customers",
      examples: { page: { object: "list", data: [example], page: 1, size: 10, total_pages: 1, total_items: 1 } },
    },
    refusals: [],
    async ask({ doors, values }) {
      const { name, email, deleted } = values;
      const question = { ...pageQuestion(values), name, email, deleted };
      const page = await doors.manage.overview.customerSearch(question);
      return envelope(page, question, (customer) => JSON.stringify(customerResource(customer).object));
    },
  }),
  route({
    method: "POST",
    path: PATH,
    operation: "createCustomer",
    summary: "Create a customer",
    description: "Makes a customer. Without an `id` it gets a new one; an id that was ever used is taken.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    takes: ["Idempotency-Key"],
    body: jsonBody(ref("NewCustomer"), "The customer", { name: "Brenner Gas GmbH", email: "office@brenner-gas.example" }),
    answer: { ...one("The customer that was made"), statuses: [201] },
    refusals: ["id_taken"],
    async ask({ doors, body, headers, key }) {
      const order = { type: "create_customer", newId: doors.manage.newId("cus"), fields: body } as const;
      const { resource, replayed } = await doors.manage.carryOut(order, key.id, onceFor(PATH, headers, body));
      return madeAnswer(PATH, resource, replayed);
    },
  }),
  route({
    path: `${PATH}/:id`,
    operation: "inspectCustomer",
    summary: "Inspect a customer",
    description: "One customer with all its fields, deleted or not.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    answer: one("The customer"),
    refusals: ["customer_unknown"],
    async ask({ doors, id }) {
      const found = isPossibleId(id) ? await doors.manage.overview.managedCustomer(id) : undefined;
      if (found === undefined) throw new RequestError("customer_unknown", "There is no customer with this id.");
      return shownAnswer(customerResource(found));
    },
  }),
  route({
    method: "PATCH",
    path: `${PATH}/:id`,
    operation: "changeCustomer",
    summary: "Change a customer",
    description: "A JSON merge patch: what is named changes, `null` empties a field that may be empty, the rest stays.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    takes: ["If-Match"],
    body: patchBody(ref("CustomerChange"), "What is to change", { phone: "+49 30 5550 0143" }),
    answer: one("The customer as it is now"),
    refusals: ["customer_unknown", ...CONFLICTS],
    async ask({ doors, body, headers, id, key }) {
      const order = { type: "change_customer", id, fields: body, ifMatch: headers.ifMatch } as const;
      return shownAnswer((await doors.manage.carryOut(order, key.id)).resource);
    },
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:id`,
    operation: "deleteCustomer",
    summary: "Delete a customer",
    description: "Deletes a customer, and its keys stop working. One who still owns tanks is kept, unless they go along.",
    tag: "Management",
    reach: "manage",
    parameters: { tanks: yesOrNo("Deletes the customer's tanks along with it", false) },
    takes: ["If-Match"],
    answer: one("The customer, deleted"),
    refusals: ["customer_unknown", "customer_has_tanks"],
    async ask({ doors, headers, id, key, values }) {
      const order = { type: "delete_customer", id, tanks: values.tanks, ifMatch: headers.ifMatch } as const;
      return shownAnswer((await doors.manage.carryOut(order, key.id)).resource);
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/:id/restore`,
    operation: "restoreCustomer",
    summary: "Restore a customer",
    description: "Brings a deleted customer back, with the tanks that were deleted along with it and all their readings.",
    tag: "Management",
    reach: "manage",
    parameters: { tanks: yesOrNo("Brings the tanks back that were deleted along with it", true) },
    takes: ["If-Match"],
    answer: one("The customer, restored"),
    refusals: ["customer_unknown", "device_in_use"],
    async ask({ doors, headers, id, key, values }) {
      const order = { type: "restore_customer", id, tanks: values.tanks, ifMatch: headers.ifMatch } as const;
      return shownAnswer((await doors.manage.carryOut(order, key.id)).resource);
    },
  }),
];
