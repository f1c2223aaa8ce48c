// /manage/v1/users, and the sessions and sign-in links of users and customers

import { NewUser, UserChangeObject } from "../../../domain/commands/users.ts";
import { userResource } from "../../../domain/resource.ts";
import { idField, instantField, literal, nullable, object, ref, text } from "../../../domain/schema.ts";
import type { AccountKey } from "../../../domain/session.ts";
import { asciiLowerCase } from "../../../domain/text.ts";
import { type User, UserObject } from "../../../domain/user.ts";
import { listSchema, PAGE_PARAMETERS, pageOfAllJson, textFilter } from "../../parameters.ts";
import { jsonBody, patchBody, type Route, type RouteRequest } from "../../route.ts";
import { sessionsJson } from "../auth.ts";
import { deletedSchema, requireFound } from "../found.ts";
import { commandRoute, create, MERGE_PATCH, manageRoute, objectResponse, resourceResponse } from "./manage-route.ts";

const PATH = "/manage/v1/users";

export const schemas = {
  User: UserObject,
  UserList: listSchema(ref("User"), "One page of users"),
  NewUser,
  UserChange: UserChangeObject,
  RemovedUser: deletedSchema("user", UserObject.properties.id),
  SignInLink: object(
    {
      object: literal("sign_in_link", { description: "Always `sign_in_link`" }),
      user_id: nullable(idField("The user who signs in with it; null for a customer", "usr_01kxa8w5s0v3m4q9t7r2n6c8d1")),
      customer_id: { ...nullable(idField("The customer who signs in with it; null for a user", "")), examples: [null] },
      url: text({
        description: "Where they sign in, on PUBLIC_URL; without it, a path of this service",
        examples: ["https://tanks.example.com/sign-in#token=tm_4kB9vQ2mZt8xR1nLw7Hc5JyD3fG6sA0uQ9aZ"],
      }),
      expires_at: instantField("Until when it is valid"),
    },
    { description: "A link that signs a user or customer in, once" },
  ),
};

const admin = { sessionRole: "admin" } as const;

function linkRoute(type: AccountKey["type"], definition: Pick<Route, "operation" | "errors">): Route {
  return manageRoute("POST", `/manage/v1/${type}s/:id/link`, {
    ...admin,
    ...definition,
    summary: `Create a link for a ${type}`,
    description: `A link that signs the ${type} in, for use without mail. Valid for 10 minutes, for one use.`,
    response: { schema: ref("SignInLink"), description: "The link" },
    async handle({ services, id, key }) {
      return services.management.createSignInLink({ type, id }, key.id);
    },
  });
}

export const routes: readonly Route[] = [
  manageRoute("GET", PATH, {
    ...admin,
    operation: "listUsers",
    summary: "List users",
    description: "The operator's staff who can sign in, newest first.",
    parameters: { ...PAGE_PARAMETERS, email: textFilter("Only the user with this address, in whatever case") },
    response: { schema: ref("UserList"), description: "One page of users" },
    async handle({ services, parameters: { email, ...page } }) {
      const all = await services.management.reads.userList();
      const users = all.filter((user) => email === undefined || asciiLowerCase(user.email) === asciiLowerCase(email));
      return pageOfAllJson(users, page, (user) => JSON.stringify(userResource(user).object));
    },
  }),
  manageRoute("POST", PATH, {
    ...admin,
    operation: "createUser",
    summary: "Create a user",
    description: "A member of the operator's staff, who signs in with an e-mail address. Addresses are unique.",
    headers: ["Idempotency-Key"],
    body: jsonBody(ref("NewUser"), "The user", { email: "dispatch@example.com", name: "Dana Fischer", role: "dispatcher" }),
    response: { ...objectResponse(ref("User"), "The new user"), status: 201 },
    errors: ["state_conflict"],
    handle(request) {
      const newId = request.services.management.newId("usr");
      return create(PATH, request, { type: "create_user", newId, fields: request.body });
    },
  }),
  manageRoute("GET", `${PATH}/:id`, {
    ...admin,
    operation: "inspectUser",
    summary: "Inspect a user",
    description: "One user.",
    response: objectResponse(ref("User"), "The user"),
    errors: ["user_unknown"],
    handle: async (request) => resourceResponse(userResource(await existingUser(request))),
  }),
  commandRoute("PATCH", `${PATH}/:id`, {
    ...admin,
    operation: "changeUser",
    summary: "Change a user",
    description: `${MERGE_PATCH} Changing the role or address ends the user's sessions. The last admin keeps the role.`,
    body: patchBody(ref("UserChange"), { role: "admin" }),
    response: objectResponse(ref("User"), "The changed user"),
    errors: ["user_unknown", "state_conflict"],
    command: ({ id, body, headers: { ifMatch } }) => ({ type: "change_user", id, fields: body, ifMatch }),
  }),
  commandRoute("DELETE", `${PATH}/:id`, {
    ...admin,
    operation: "removeUser",
    summary: "Remove a user",
    description: "Ends the user's sessions within a second. The last admin cannot be removed.",
    response: objectResponse(ref("RemovedUser"), "The user that was removed"),
    errors: ["user_unknown", "state_conflict"],
    command: ({ id, headers: { ifMatch } }) => ({ type: "remove_user", id, ifMatch }),
  }),
  linkRoute("user", { operation: "createSignInLink", errors: ["user_unknown"] }),
  linkRoute("customer", { operation: "createCustomerSignInLink", errors: ["customer_unknown", "state_conflict"] }),
  manageRoute("GET", `${PATH}/:id/sessions`, {
    ...admin,
    operation: "listUserSessions",
    summary: "List the sessions of a user",
    description: "Where the user is signed in, newest first.",
    parameters: PAGE_PARAMETERS,
    response: { schema: ref("SessionList"), description: "One page of sessions" },
    errors: ["user_unknown"],
    async handle(request) {
      const { id } = await existingUser(request);
      return sessionsJson(request, { type: "user", id }, request.parameters);
    },
  }),
  manageRoute("GET", "/manage/v1/customers/:id/sessions", {
    ...admin,
    operation: "listCustomerSessions",
    summary: "List the sessions of a customer",
    description: "Where the customer is signed in, newest first.",
    parameters: PAGE_PARAMETERS,
    response: { schema: ref("SessionList"), description: "One page of sessions" },
    errors: ["customer_unknown"],
    async handle(request) {
      const { services, id, parameters } = request;
      requireFound("customer", await services.management.reads.managedCustomer(id));
      return sessionsJson(request, { type: "customer", id }, parameters);
    },
  }),
  manageRoute("DELETE", "/manage/v1/sessions/:id", {
    ...admin,
    operation: "revokeSession",
    summary: "Revoke a session",
    description: "Ends a session of a user or customer within a second.",
    response: { schema: ref("EndedSession"), description: "The session that has ended" },
    errors: ["session_unknown"],
    async handle({ services, id, key }) {
      return (await services.management.execute({ type: "end_session", id }, key.id)).resource.object;
    },
  }),
];

async function existingUser({ services, id }: Pick<RouteRequest, "services" | "id">): Promise<User> {
  const found = (await services.management.reads.userList()).find((user) => user.id === id);
  return requireFound("user", found);
}
