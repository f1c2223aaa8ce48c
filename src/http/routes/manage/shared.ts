// What the management routes share: request bodies, responses and idempotency keys.

import { hash } from "node:crypto";
import type { IdempotencyKey } from "../../../domain/commands/command.ts";
import type { Resource } from "../../../domain/resource.ts";
import { instantField, integer, nullable, object, type Schema } from "../../../domain/schema.ts";
import { JSON_TYPE, type JsonBodyRule, PATCH_TYPES, type RequestHeaders, RouteResponse } from "../../route.ts";

const MAX_BODY_BYTES = 262_144;

export function jsonBody(schema: Schema, description: string, example: object): JsonBodyRule {
  return { kind: "json", mediaTypes: [JSON_TYPE], maxBytes: MAX_BODY_BYTES, schema, description, examples: { example } };
}

export function patchBody(schema: Schema, description: string, example: object): JsonBodyRule {
  return { ...jsonBody(schema, description, example), mediaTypes: PATCH_TYPES };
}

export const resourceResponse = ({ object, etag }: Resource): RouteResponse => new RouteResponse(200, object, { etag });

export function createdResponse(path: string, { object, etag }: Resource, replayed: boolean): RouteResponse {
  const headers = { etag, location: `${path}/${encodeURIComponent(String(object["id"]))}` };
  return new RouteResponse(201, object, replayed ? { ...headers, ...REPLAYED } : headers);
}

export const REPLAYED = { "idempotency-replayed": "true" };

export function idempotencyKeyOf(path: string, headers: RequestHeaders, body: unknown): IdempotencyKey | undefined {
  const { idempotencyKey: key } = headers;
  if (key === undefined) return undefined;
  return { key, fingerprint: hash("sha256", `${path} ${JSON.stringify(body)}`, "hex") };
}

/** Pending readings that a command released, under `taken_in`. */
export const ReleasedReadings = nullable(
  object(
    {
      readings: integer({ minimum: 0, description: "Number of pending readings stored for the tank", examples: [12] }),
      rejected: integer({ minimum: 0, description: "Number of pending readings that were not readable", examples: [0] }),
      from: instantField("When the first of them was measured"),
      to: instantField("When the last of them was measured"),
    },
    { description: "The pending readings that this stored; null if there were none" },
  ),
);
