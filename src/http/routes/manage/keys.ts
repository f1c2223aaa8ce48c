// /manage/v1/keys

import { KeyChangeObject, NewKey } from "../../../domain/commands/keys.ts";
import { RequestError } from "../../../domain/errors.ts";
import { KEY_STATES } from "../../../domain/key.ts";
import { keyResource } from "../../../domain/resource.ts";
import {
  idField,
  instantField,
  literal,
  nullable,
  nullableInstantField,
  nullableText,
  object,
  oneOf,
  ref,
} from "../../../domain/schema.ts";
import type { ManagementService } from "../../management.ts";
import { duration, LIST_PARAMETERS, listExample, listJson, listSchema, NO_PARAMETERS } from "../../parameters.ts";
import { JSON_TYPE, type Route, type RouteResponse, route } from "../../route.ts";
import { createdResponse, idempotencyKeyOf, jsonBody, patchBody, resourceResponse } from "./shared.ts";

const PATH = "/manage/v1/keys";
const DEFAULT_OVERLAP_MS = 24 * 3_600_000;

const example = {
  id: "key_01kxa8w5s0d2f4g6h8j0k2m4n6",
  object: "key",
  name: "gateway north",
  role: "ingest",
  customer_id: null,
  device_id: null,
  rate: null,
  created_at: "2026-11-14T09:30:00.000Z",
  expires_at: null,
  revoked_at: null,
  replaced_by: null,
  state: "active",
};

const { name, role, customer_id, device_id, rate, expires_at } = NewKey.properties;
const KeyObject = object(
  {
    id: idField("Identifier of the key; not its secret", example.id),
    object: literal("key", { description: "Always `key`" }),
    name,
    role,
    customer_id,
    device_id,
    rate,
    created_at: instantField("When the key was created"),
    expires_at,
    revoked_at: nullableInstantField("When the key was revoked"),
    replaced_by: nullable(idField("The key that replaced it when it was rotated", example.id)),
    state: oneOf(KEY_STATES, { description: "Whether it is active, or why not", examples: ["active"] }),
  },
  { description: "A key, without its secret" },
);
const CreatedKey = object(
  {
    ...KeyObject.properties,
    secret: nullableText({ description: "The key itself, shown only once; null if the request is replayed" }),
  },
  { description: "A new key with its secret" },
);
const KeyList = listSchema(ref("Key"), "One page of keys");

export const keySchemas = { Key: KeyObject, CreatedKey, KeyList, NewKey, KeyChange: KeyChangeObject };

const one = (description: string) => ({
  mediaType: JSON_TYPE,
  schema: ref("Key"),
  description,
  examples: { key: example },
  etag: true as const,
});
const created = {
  mediaType: JSON_TYPE,
  schema: ref("CreatedKey"),
  description: "The new key with its secret",
  examples: { key: { ...example, secret: "tm_4kB9vQ2mZt8xR1nLw7Hc5JyD3fG6sA0uQ9aZ" } },
  etag: true as const,
  statuses: [201] as const,
};

const OVERLAP = duration(
  { default: "24h", description: "How long the old key continues to work, such as 24h or 30m" },
  DEFAULT_OVERLAP_MS,
);

export const keyRoutes: readonly Route[] = [
  route({
    path: PATH,
    operation: "listKeys",
    summary: "List keys",
    description: "All keys, newest first, without their secrets.",
    tag: "Management",
    requiredRole: "manage",
    parameters: { page: LIST_PARAMETERS.page, size: LIST_PARAMETERS.size },
    response: {
      mediaType: JSON_TYPE,
      schema: ref("KeyList"),
      description: "One page of keys",
      examples: { page: listExample(example) },
    },
    errors: [],
    async handle({ services, parameters: { page, size } }) {
      const { reads, clock } = services.management;
      const keys = await reads.keyList();
      const data = keys.slice((page - 1) * size, page * size);
      return listJson({ data, totalItems: keys.length }, { page, size }, (key) =>
        JSON.stringify(keyResource(key, clock()).object),
      );
    },
  }),
  route({
    method: "POST",
    path: PATH,
    operation: "createKey",
    summary: "Create a key",
    description: "Creates a key. Its secret is in this response and nowhere else.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    headers: ["Idempotency-Key"],
    body: jsonBody(ref("NewKey"), "The key", { name: "gateway north", role: "ingest" }),
    response: created,
    errors: [],
    async handle({ services, body, headers, key }) {
      const { resource, replayed, secret } = await services.management.createKey(
        body,
        key.id,
        idempotencyKeyOf(PATH, headers, body),
      );
      return createdResponse(PATH, { ...resource, object: { ...resource.object, secret } }, replayed);
    },
  }),
  route({
    path: `${PATH}/:id`,
    operation: "inspectKey",
    summary: "Inspect a key",
    description: "One key, without its secret.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    response: one("The key"),
    errors: ["key_unknown"],
    handle: ({ services, id }) => inspect(services.management, id),
  }),
  route({
    method: "PATCH",
    path: `${PATH}/:id`,
    operation: "changeKey",
    summary: "Change a key",
    description:
      "A JSON merge patch of its name, rate limit or expiry. To change its role, customer or device, create another key.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    headers: ["If-Match"],
    body: patchBody(ref("KeyChange"), "The changes", { rate: 50 }),
    response: one("The changed key"),
    errors: ["key_unknown", "state_conflict"],
    async handle({ services, body, headers, id, key }) {
      const command = { type: "change_key", id, fields: body, ifMatch: headers.ifMatch } as const;
      return resourceResponse((await services.management.execute(command, key.id)).resource);
    },
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:id`,
    operation: "revokeKey",
    summary: "Revoke a key",
    description: "Revokes a key permanently. It stops working within a second.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    headers: ["If-Match"],
    response: one("The revoked key"),
    errors: ["key_unknown"],
    async handle({ services, headers, id, key }) {
      const command = { type: "revoke_key", id, ifMatch: headers.ifMatch } as const;
      return resourceResponse((await services.management.execute(command, key.id)).resource);
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/:id/rotate`,
    operation: "rotateKey",
    summary: "Rotate a key",
    description: "Creates a replacement with the same permissions and lifetime. The old key continues to work for the overlap.",
    tag: "Management",
    requiredRole: "manage",
    parameters: { overlap: OVERLAP },
    response: created,
    errors: ["key_unknown", "state_conflict"],
    async handle({ services, id, key, parameters }) {
      const { resource, secret } = await services.management.rotateKey(id, parameters.overlap, key.id);
      return createdResponse(PATH, { ...resource, object: { ...resource.object, secret } }, false);
    },
  }),
];

async function inspect({ reads, clock }: ManagementService, id: string): Promise<RouteResponse> {
  const key = (await reads.keyList()).find((known) => known.id === id);
  if (key === undefined) throw new RequestError("key_unknown", "There is no key with this id.");
  return resourceResponse(keyResource(key, clock()));
}
