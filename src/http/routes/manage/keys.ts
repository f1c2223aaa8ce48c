// /manage/v1/keys

import { KeyChangeObject, NewKey } from "../../../domain/commands/keys.ts";
import { KEY_STATES } from "../../../domain/key.ts";
import { keyResource } from "../../../domain/resource.ts";
import { idField, instantField, literal, nullable, object, oneOf, ref, type Schema, text } from "../../../domain/schema.ts";
import type { CreatedWithSecret } from "../../management.ts";
import { listSchema, PAGE_PARAMETERS, pageOfAllJson } from "../../parameters.ts";
import { jsonBody, patchBody, type Route, type RouteResponse } from "../../route.ts";
import { requireFound } from "../found.ts";
import {
  commandRoute,
  createdResponse,
  idempotencyKeyOf,
  manageRoute,
  objectResponse,
  overlapParameter,
  resourceResponse,
} from "./manage-route.ts";

const PATH = "/manage/v1/keys";

const { name, role, customer_id, device_id, rate, expires_at } = NewKey.properties;
/** Null in the example, which is an active key without restrictions. */
const unset = <T>(schema: Schema<T>): Schema<T> => ({ ...schema, examples: [null] });

const Key = object(
  {
    id: idField("Identifier of the key; not its secret", "key_01kxa8w5s0d2f4g6h8j0k2m4n6"),
    object: literal("key", { description: "Always `key`" }),
    name,
    role,
    customer_id: unset(customer_id),
    device_id: unset(device_id),
    rate,
    created_at: instantField("When the key was created"),
    expires_at: unset(expires_at),
    revoked_at: unset(nullable(instantField("When the key was revoked"))),
    replaced_by: unset(nullable(idField("The key that replaced it when it was rotated", ""))),
    state: oneOf(KEY_STATES, { description: "Whether it is active, or why not", examples: ["active"] }),
  },
  { description: "A key, without its secret" },
);
const secret = nullable(
  text({
    description: "The key itself, shown only once; null if the request is replayed",
    examples: ["tm_4kB9vQ2mZt8xR1nLw7Hc5JyD3fG6sA0uQ9aZ"],
  }),
);

export const schemas = {
  Key,
  CreatedKey: object({ ...Key.properties, secret }, { description: "A new key with its secret" }),
  KeyList: listSchema(ref("Key"), "One page of keys"),
  NewKey,
  KeyChange: KeyChangeObject,
};

const created = { ...objectResponse(ref("CreatedKey"), "The new key with its secret"), status: 201 } as const;

export const routes: readonly Route[] = [
  manageRoute("GET", PATH, {
    sessionRole: "admin",
    operation: "listKeys",
    summary: "List keys",
    description: "All keys, newest first, without their secrets.",
    parameters: PAGE_PARAMETERS,
    response: { schema: ref("KeyList"), description: "One page of keys" },
    async handle({ services, parameters }) {
      const { reads, clock } = services.management;
      return pageOfAllJson(await reads.keyList(), parameters, (key) => JSON.stringify(keyResource(key, clock()).object));
    },
  }),
  manageRoute("POST", PATH, {
    sessionRole: "admin",
    operation: "createKey",
    summary: "Create a key",
    description: "Creates a key. Its secret is in this response and nowhere else.",
    headers: ["Idempotency-Key"],
    body: jsonBody(ref("NewKey"), "The key", { name: "gateway north", role: "ingest" }),
    response: created,
    async handle(request) {
      const { services, body, key } = request;
      return keyResponse(await services.management.createKey(body, key.id, idempotencyKeyOf(PATH, request)));
    },
  }),
  manageRoute("GET", `${PATH}/:id`, {
    sessionRole: "admin",
    operation: "inspectKey",
    summary: "Inspect a key",
    description: "One key, without its secret.",
    response: objectResponse(ref("Key"), "The key"),
    errors: ["key_unknown"],
    async handle({ services, id }) {
      const { reads, clock } = services.management;
      const key = (await reads.keyList()).find((known) => known.id === id);
      return resourceResponse(keyResource(requireFound("key", key), clock()));
    },
  }),
  commandRoute("PATCH", `${PATH}/:id`, {
    sessionRole: "admin",
    operation: "changeKey",
    summary: "Change a key",
    description:
      "A JSON merge patch of its name, rate limit or expiry. To change its role, customer or device, create another key.",
    body: patchBody(ref("KeyChange"), { rate: 50 }),
    response: objectResponse(ref("Key"), "The changed key"),
    errors: ["key_unknown", "state_conflict"],
    command: ({ id, body, headers: { ifMatch } }) => ({ type: "change_key", id, fields: body, ifMatch }),
  }),
  commandRoute("DELETE", `${PATH}/:id`, {
    sessionRole: "admin",
    operation: "revokeKey",
    summary: "Revoke a key",
    description: "Revokes a key permanently. It stops working within a second.",
    response: objectResponse(ref("Key"), "The revoked key"),
    errors: ["key_unknown"],
    command: ({ id, headers: { ifMatch } }) => ({ type: "revoke_key", id, ifMatch }),
  }),
  manageRoute("POST", `${PATH}/:id/rotate`, {
    sessionRole: "admin",
    operation: "rotateKey",
    summary: "Rotate a key",
    description: "Creates a replacement with the same permissions and lifetime. The old key continues to work for the overlap.",
    parameters: { overlap: overlapParameter("How long the old key continues to work, such as 24h or 30m") },
    response: created,
    errors: ["key_unknown", "state_conflict"],
    async handle({ services, id, key, parameters: { overlap } }) {
      return keyResponse(await services.management.rotateKey(id, overlap, key.id));
    },
  }),
];

function keyResponse({ resource, secret, replayed }: CreatedWithSecret): RouteResponse {
  return createdResponse(PATH, { ...resource, object: { ...resource.object, secret } }, replayed);
}
