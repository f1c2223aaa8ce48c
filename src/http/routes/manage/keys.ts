// /manage/v1/keys

import { KeyChangeObject, NewKey } from "../../../domain/commands/keys.ts";
import { RequestError } from "../../../domain/errors.ts";
import { parseDuration } from "../../../domain/instant.ts";
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
  text,
} from "../../../domain/schema.ts";
import type { ManageDoor } from "../../doors.ts";
import { envelope, listObject } from "../../envelope.ts";
import { LIST_PARAMETERS, NO_PARAMETERS, type Parameter } from "../../parameters.ts";
import { type Answer, JSON_TYPE, type Route, route } from "../../route.ts";
import { CONFLICTS, jsonBody, madeAnswer, onceFor, patchBody, shownAnswer } from "./parts.ts";

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
    created_at: instantField("When the key was made"),
    expires_at,
    revoked_at: nullableInstantField("When the key was revoked"),
    replaced_by: nullable(idField("The key that took its place when it was rotated", example.id)),
    state: oneOf(KEY_STATES, { description: "Whether it works", examples: ["active"] }),
  },
  { description: "A key: what it may do, never its secret" },
);
const KeyMade = object(
  {
    ...KeyObject.properties,
    secret: nullableText({ description: "The key itself. It is told this once; null where the request is replayed" }),
  },
  { description: "A key that was made, with its secret" },
);
const KeyList = listObject(ref("Key"), "One page of keys");

export const keySchemas = { Key: KeyObject, KeyMade, KeyList, NewKey, KeyChange: KeyChangeObject };

const one = (description: string) => ({
  mediaType: JSON_TYPE,
  schema: ref("Key"),
  description,
  examples: { key: example },
  etag: true as const,
});
const made = {
  mediaType: JSON_TYPE,
  schema: ref("KeyMade"),
  description: "The key that was made, with its secret",
  examples: { key: { ...example, secret: "tm_…" } },
  etag: true as const,
  statuses: [201] as const,
};

const OVERLAP: Parameter<number> = {
  schema: text({ default: "24h", description: "For how long the old key works on, such as 24h or 30m" }),
  fallback: DEFAULT_OVERLAP_MS,
  read(given) {
    const value = parseDuration(given);
    return value === undefined ? { must: "a span such as 24h, 30m or 45s" } : { value };
  },
};

export const keyRoutes: readonly Route[] = [
  route({
    path: PATH,
    operation: "listKeys",
    summary: "List keys",
    description: "Every key, newest first, never its secret.",
    tag: "Management",
    reach: "manage",
    parameters: { page: LIST_PARAMETERS.page, size: LIST_PARAMETERS.size },
    answer: {
      mediaType: JSON_TYPE,
      schema: ref("KeyList"),
      description: "One page of keys",
      examples: { page: { object: "list", data: [example], page: 1, size: 10, total_pages: 1, total_items: 1 } },
    },
    refusals: [],
    async ask({ doors, values: { page, size } }) {
      const { overview, clock } = doors.manage;
      const keys = await overview.keyList();
      const data = keys.slice((page - 1) * size, page * size);
      return envelope({ data, totalItems: keys.length }, { page, size }, (key) =>
        JSON.stringify(keyResource(key, clock()).object),
      );
    },
  }),
  route({
    method: "POST",
    path: PATH,
    operation: "createKey",
    summary: "Create a key",
    description: "Makes a key. Its secret is in this answer, and nowhere else.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    takes: ["Idempotency-Key"],
    body: jsonBody(ref("NewKey"), "The key", { name: "gateway north", role: "ingest" }),
    answer: made,
    refusals: [],
    async ask({ doors, body, headers, key }) {
      const { resource, replayed, secret } = await doors.manage.createKey(body, key.id, onceFor(PATH, headers, body));
      return madeAnswer(PATH, { ...resource, object: { ...resource.object, secret } }, replayed);
    },
  }),
  route({
    path: `${PATH}/:id`,
    operation: "inspectKey",
    summary: "Inspect a key",
    description: "One key, never its secret.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    answer: one("The key"),
    refusals: ["key_unknown"],
    ask: ({ doors, id }) => inspect(doors.manage, id),
  }),
  route({
    method: "PATCH",
    path: `${PATH}/:id`,
    operation: "changeKey",
    summary: "Change a key",
    description: "A JSON merge patch of its name, its rate, or when it ends. What it may do does not change: make another.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    takes: ["If-Match"],
    body: patchBody(ref("KeyChange"), "What is to change", { rate: 50 }),
    answer: one("The key as it is now"),
    refusals: ["key_unknown", ...CONFLICTS],
    async ask({ doors, body, headers, id, key }) {
      const order = { type: "change_key", id, fields: body, ifMatch: headers.ifMatch } as const;
      return shownAnswer((await doors.manage.carryOut(order, key.id)).resource);
    },
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:id`,
    operation: "revokeKey",
    summary: "Revoke a key",
    description: "Ends a key within a second, for good.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    takes: ["If-Match"],
    answer: one("The key, revoked"),
    refusals: ["key_unknown"],
    async ask({ doors, headers, id, key }) {
      const order = { type: "revoke_key", id, ifMatch: headers.ifMatch } as const;
      return shownAnswer((await doors.manage.carryOut(order, key.id)).resource);
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/:id/rotate`,
    operation: "rotateKey",
    summary: "Rotate a key",
    description: "Makes a successor that may do the same and lives as long; the old key works on for the overlap.",
    tag: "Management",
    reach: "manage",
    parameters: { overlap: OVERLAP },
    answer: made,
    refusals: ["key_unknown", ...CONFLICTS],
    async ask({ doors, id, key, values }) {
      const { resource, secret } = await doors.manage.rotateKey(id, values.overlap, key.id);
      return madeAnswer(PATH, { ...resource, object: { ...resource.object, secret } }, false);
    },
  }),
];

async function inspect({ overview, clock }: ManageDoor, id: string): Promise<Answer> {
  const key = (await overview.keyList()).find((known) => known.id === id);
  if (key === undefined) throw new RequestError("key_unknown", "There is no key with this id.");
  return shownAnswer(keyResource(key, clock()));
}
