// /insight/v1/me: who the caller is, and the settings that customers change themselves.

import { NotificationSettings, notificationSettingsObject } from "../../domain/customer.ts";
import { RequestError } from "../../domain/errors.ts";
import { boolean, idField, literal, nullable, object, oneOf, partial, ref, text, textField } from "../../domain/schema.ts";
import { errorsInObject, invalidBody } from "../../domain/validate.ts";
import { insightRoute, patchBody, type Route, type RouteRequest, route } from "../route.ts";

const PATH = "/insight/v1/me";

const MeChange = object(
  { notifications: partial(NotificationSettings, { description: "The mail settings to change" }) },
  { description: "What a customer may change" },
);

export const schemas = {
  Me: object(
    {
      object: literal("me", { description: "Always `me`" }),
      type: oneOf(["user", "customer", "key"], { description: "Who the caller is", examples: ["customer"] }),
      id: idField("Identifier of the user, customer or key", "cus_01kxa8w5s0v3m4q9t7r2n6c8d1"),
      name: textField("The name of the user, customer or key", "Brenner Gas GmbH"),
      email: nullable(text({ description: "Their address; null for a key", examples: ["office@brenner-gas.example"] })),
      role: text({ description: "`viewer`, `dispatcher`, `admin` or `customer`; of a key, its role", examples: ["customer"] }),
      customer_id: nullable(idField("The only customer the caller can see; null for all", "cus_01kxa8w5s0v3m4q9t7r2n6c8d1")),
      is_verified: nullable(boolean({ description: "Whether the customer's address is verified", examples: [true] })),
      notifications: nullable(NotificationSettings),
    },
    { description: "The caller" },
  ),
  MeChange,
};

export const routes: readonly Route[] = [
  insightRoute({
    path: PATH,
    operation: "retrieveMe",
    summary: "Retrieve the caller",
    description: "Who you are, what you may do, and a customer's mail settings.",
    response: { schema: ref("Me"), description: "The caller" },
    handle: (request) => me(request),
  }),
  route({
    method: "PATCH",
    path: PATH,
    operation: "changeMe",
    summary: "Change your settings",
    description:
      "A JSON merge patch of the mail settings, by a customer who is signed in. Ten changes at once, then one in six seconds.",
    tag: "Insight",
    requiredRole: "session",
    sessionRole: "customer",
    changesMailSettings: true,
    body: patchBody(ref("MeChange"), { notifications: { language: "de" } }),
    response: { schema: ref("Me"), description: "The caller" },
    errors: ["state_conflict"],
    async handle(request) {
      const { services, session, body } = request;
      const id = session?.customer_id ?? null;
      if (id === null) throw new RequestError("state_conflict", "Only customers have mail settings.");
      const errors = errorsInObject(MeChange, body);
      if (errors.length > 0) throw invalidBody(errors);
      await services.management.execute({ type: "change_customer", id, fields: body }, id);
      return me(request);
    },
  }),
];

async function me({ services, key, session }: RouteRequest): Promise<object> {
  const { id, name, customer_id } = key;
  const found = customer_id === null ? undefined : await services.management.reads.managedCustomer(customer_id);
  return {
    object: "me",
    type: session?.account.type ?? "key",
    id,
    name,
    email: session?.account.email ?? null,
    role: session?.account.role ?? key.role,
    customer_id,
    is_verified: found === undefined ? null : found.customer.verified_at !== null,
    notifications: found === undefined ? null : notificationSettingsObject(found.notifications),
  };
}
