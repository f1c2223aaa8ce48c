// /manage/v1/customers

import { CustomerChange, NewCustomer } from "../../../domain/commands/customers.ts";
import { CustomerObject } from "../../../domain/customer.ts";
import { RequestError } from "../../../domain/errors.ts";
import { isPossibleId } from "../../../domain/id.ts";
import { customerResource } from "../../../domain/resource.ts";
import { boolean, object, ref } from "../../../domain/schema.ts";
import { customerExample } from "../../examples.ts";
import {
  flag,
  LIST_PARAMETERS,
  listExample,
  listJson,
  listSchema,
  NO_PARAMETERS,
  pageQuery,
  prefixFilter,
} from "../../parameters.ts";
import { JSON_TYPE, type Route, route } from "../../route.ts";
import { createdResponse, idempotencyKeyOf, jsonBody, patchBody, resourceResponse } from "./shared.ts";

const PATH = "/manage/v1/customers";
const example = { ...customerExample, deleted: false };

const ManagedCustomer = object(
  { ...CustomerObject.properties, deleted: boolean({ description: "Whether the customer is deleted", examples: [false] }) },
  { description: "A customer, as the operator sees it" },
);
const ManagedCustomerList = listSchema(ref("ManagedCustomer"), "One page of customers");

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
    description: "Customers by creation date, newest first. Deleted ones are listed separately.",
    tag: "Management",
    requiredRole: "manage",
    parameters: {
      ...LIST_PARAMETERS,
      name: prefixFilter("name"),
      email: prefixFilter("email"),
      deleted: flag("Deleted ones instead of existing ones", false),
    },
    response: {
      mediaType: JSON_TYPE,
      schema: ref("ManagedCustomerList"),
      description: "One page of customers",
      examples: { page: listExample(example) },
    },
    errors: [],
    async handle({ services, parameters }) {
      const { name, email, deleted } = parameters;
      const query = { ...pageQuery(parameters), name, email, deleted };
      const page = await services.management.reads.customerSearch(query);
      return listJson(page, query, (customer) => JSON.stringify(customerResource(customer).object));
    },
  }),
  route({
    method: "POST",
    path: PATH,
    operation: "createCustomer",
    summary: "Create a customer",
    description: "Creates a customer, with a new id if none is given. An id that was ever used cannot be used again.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    headers: ["Idempotency-Key"],
    body: jsonBody(ref("NewCustomer"), "The customer", { name: "Brenner Gas GmbH", email: "office@brenner-gas.example" }),
    response: { ...one("The new customer"), statuses: [201] },
    errors: ["id_taken"],
    async handle({ services, body, headers, key }) {
      const command = { type: "create_customer", newId: services.management.newId("cus"), fields: body } as const;
      const { resource, replayed } = await services.management.execute(command, key.id, idempotencyKeyOf(PATH, headers, body));
      return createdResponse(PATH, resource, replayed);
    },
  }),
  route({
    path: `${PATH}/:id`,
    operation: "inspectCustomer",
    summary: "Inspect a customer",
    description: "One customer with all its fields, deleted or not.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    response: one("The customer"),
    errors: ["customer_unknown"],
    async handle({ services, id }) {
      const found = isPossibleId(id) ? await services.management.reads.managedCustomer(id) : undefined;
      if (found === undefined) throw new RequestError("customer_unknown", "There is no customer with this id.");
      return resourceResponse(customerResource(found));
    },
  }),
  route({
    method: "PATCH",
    path: `${PATH}/:id`,
    operation: "changeCustomer",
    summary: "Change a customer",
    description: "A JSON merge patch: fields that are given change, `null` clears an optional field.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    headers: ["If-Match"],
    body: patchBody(ref("CustomerChange"), "The changes", { phone: "+49 30 5550 0143" }),
    response: one("The changed customer"),
    errors: ["customer_unknown", "state_conflict"],
    async handle({ services, body, headers, id, key }) {
      const command = { type: "change_customer", id, fields: body, ifMatch: headers.ifMatch } as const;
      return resourceResponse((await services.management.execute(command, key.id)).resource);
    },
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:id`,
    operation: "deleteCustomer",
    summary: "Delete a customer",
    description: "Deletes a customer and disables its keys. Fails while the customer owns tanks, unless `tanks` is true.",
    tag: "Management",
    requiredRole: "manage",
    parameters: { tanks: flag("Also deletes the customer's tanks", false) },
    headers: ["If-Match"],
    response: one("The deleted customer"),
    errors: ["customer_unknown", "customer_has_tanks"],
    async handle({ services, headers, id, key, parameters }) {
      const command = { type: "delete_customer", id, tanks: parameters.tanks, ifMatch: headers.ifMatch } as const;
      return resourceResponse((await services.management.execute(command, key.id)).resource);
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/:id/restore`,
    operation: "restoreCustomer",
    summary: "Restore a customer",
    description: "Restores a deleted customer, with the tanks that were deleted together with it and their readings.",
    tag: "Management",
    requiredRole: "manage",
    parameters: { tanks: flag("Also restores the tanks that were deleted together with it", true) },
    headers: ["If-Match"],
    response: one("The restored customer"),
    errors: ["customer_unknown", "device_in_use"],
    async handle({ services, headers, id, key, parameters }) {
      const command = { type: "restore_customer", id, tanks: parameters.tanks, ifMatch: headers.ifMatch } as const;
      return resourceResponse((await services.management.execute(command, key.id)).resource);
    },
  }),
];
