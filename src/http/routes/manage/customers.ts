// /manage/v1/customers

import { CustomerChange, NewCustomer } from "../../../domain/commands/customers.ts";
import { CustomerObject, NotificationSettings } from "../../../domain/customer.ts";
import { customerResource } from "../../../domain/resource.ts";
import { boolean, object, ref } from "../../../domain/schema.ts";
import { flag, LIST_PARAMETERS, listJson, listSchema, pageQuery, prefixFilter, wordSearch } from "../../parameters.ts";
import { jsonBody, patchBody, type Route } from "../../route.ts";
import { requireFound } from "../found.ts";
import {
  commandRoute,
  create,
  idempotencyKeyOf,
  MERGE_PATCH,
  manageRoute,
  objectResponse,
  resourceResponse,
} from "./manage-route.ts";
import { createdNotification } from "./notifications.ts";

const PATH = "/manage/v1/customers";

export const schemas = {
  ManagedCustomer: object(
    {
      ...CustomerObject.properties,
      notifications: NotificationSettings,
      deleted: boolean({ description: "Whether the customer is deleted", examples: [false] }),
    },
    { description: "A customer, as the operator sees it" },
  ),
  ManagedCustomerList: listSchema(ref("ManagedCustomer"), "One page of customers"),
  NewCustomer,
  CustomerChange,
};

export const routes: readonly Route[] = [
  manageRoute("GET", PATH, {
    sessionRole: "viewer",
    operation: "searchCustomers",
    isLongRead: true,
    summary: "Search customers",
    description: "Customers by creation date, newest first. Deleted ones are listed separately.",
    parameters: {
      ...LIST_PARAMETERS,
      name: prefixFilter("name"),
      email: prefixFilter("email"),
      search: wordSearch("the customer's name, id, e-mail address or phone number"),
      deleted: flag("Deleted ones instead of existing ones", false),
    },
    response: { schema: ref("ManagedCustomerList"), description: "One page of customers" },
    async handle({ services, parameters }) {
      const page = await services.management.reads.customerSearch({ ...parameters, ...pageQuery(parameters) });
      return listJson(page, parameters, (customer) => JSON.stringify(customerResource(customer).object));
    },
  }),
  manageRoute("POST", PATH, {
    sessionRole: "dispatcher",
    operation: "createCustomer",
    summary: "Create a customer",
    description: "Creates a customer, with a new id if none is given. An id that was ever used cannot be used again.",
    headers: ["Idempotency-Key"],
    body: jsonBody(ref("NewCustomer"), "The customer", { name: "Brenner Gas GmbH", email: "office@brenner-gas.example" }),
    response: { ...objectResponse(ref("ManagedCustomer"), "The new customer"), status: 201 },
    errors: ["id_taken"],
    handle(request) {
      const newId = request.services.management.newId("cus");
      return create(PATH, request, { type: "create_customer", newId, fields: request.body });
    },
  }),
  manageRoute("GET", `${PATH}/:id`, {
    sessionRole: "viewer",
    operation: "inspectCustomer",
    summary: "Inspect a customer",
    description: "One customer with all its fields, deleted or not.",
    response: objectResponse(ref("ManagedCustomer"), "The customer"),
    errors: ["customer_unknown"],
    async handle({ services, id }) {
      const found = requireFound("customer", await services.management.reads.managedCustomer(id));
      return resourceResponse(customerResource(found));
    },
  }),
  commandRoute("PATCH", `${PATH}/:id`, {
    sessionRole: "dispatcher",
    operation: "changeCustomer",
    summary: "Change a customer",
    description: MERGE_PATCH,
    body: patchBody(ref("CustomerChange"), { phone: "+49 30 5550 0143" }),
    response: objectResponse(ref("ManagedCustomer"), "The changed customer"),
    errors: ["customer_unknown", "state_conflict"],
    command: ({ id, body, headers: { ifMatch } }) => ({ type: "change_customer", id, fields: body, ifMatch }),
  }),
  commandRoute("DELETE", `${PATH}/:id`, {
    sessionRole: "dispatcher",
    operation: "deleteCustomer",
    summary: "Delete a customer",
    description: "Deletes a customer and disables its keys. Fails while the customer owns tanks, unless `tanks` is true.",
    parameters: { tanks: flag("Also deletes the customer's tanks", false) },
    response: objectResponse(ref("ManagedCustomer"), "The deleted customer"),
    errors: ["customer_unknown", "customer_has_tanks", "state_conflict"],
    command: ({ id, parameters: { tanks }, headers: { ifMatch } }) => ({ type: "delete_customer", id, tanks, ifMatch }),
  }),
  manageRoute("POST", `${PATH}/:id/verification`, {
    sessionRole: "dispatcher",
    operation: "requestVerification",
    summary: "Verify an address",
    description:
      "Sends a link to the customer's e-mail address, valid for 7 days. Whoever uses it verifies the address. Earlier links become invalid. At most 5 an hour.",
    headers: ["Idempotency-Key"],
    response: { schema: ref("Notification"), description: "The notification with the link", status: 201 },
    errors: ["customer_unknown", "state_conflict", "rate_limited"],
    async handle(request) {
      const { services, id, key } = request;
      const idempotencyKey = idempotencyKeyOf(`${PATH}/${id}/verification`, request);
      return createdNotification(await services.management.requestVerification(id, key.id, idempotencyKey));
    },
  }),
  commandRoute("POST", `${PATH}/:id/restore`, {
    sessionRole: "dispatcher",
    operation: "restoreCustomer",
    summary: "Restore a customer",
    description: "Restores a deleted customer, with the tanks that were deleted together with it and their readings.",
    parameters: { tanks: flag("Also restores the tanks that were deleted together with it", true) },
    response: objectResponse(ref("ManagedCustomer"), "The restored customer"),
    errors: ["customer_unknown", "device_in_use"],
    command: ({ id, parameters: { tanks }, headers: { ifMatch } }) => ({ type: "restore_customer", id, tanks, ifMatch }),
  }),
];
