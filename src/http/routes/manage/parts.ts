// What the managing routes have in common: bodies, answers, and the parameters of their lists.

import { hash } from "node:crypto";
import type { IdempotencyKey } from "../../../domain/commands/command.ts";
import type { ErrorCode } from "../../../domain/errors.ts";
import type { Resource } from "../../../domain/resource.ts";
import { boolean, instantField, integer, nullable, object, oneOf, type Schema } from "../../../domain/schema.ts";
import { type Parameter, textFilter } from "../../parameters.ts";
import { Answer, type BodyRule, JSON_TYPE, PATCH_TYPES, type RequestHeaders } from "../../route.ts";

const BODY_MAX_BYTES = 262_144;

export function jsonBody(schema: Schema, description: string, example: object): BodyRule & { readonly kind: "json" } {
  return { kind: "json", mediaTypes: [JSON_TYPE], maxBytes: BODY_MAX_BYTES, schema, description, examples: { example } };
}

export function patchBody(schema: Schema, description: string, example: object): BodyRule {
  return { ...jsonBody(schema, description, example), mediaTypes: PATCH_TYPES };
}

export const shownAnswer = ({ object, etag: tag }: Resource): Answer => new Answer(200, object, { etag: tag });

/** Of something new: where it is, and whether it had been made before. */
export function madeAnswer(path: string, { object, etag: tag }: Resource, replayed: boolean): Answer {
  const headers = { etag: tag, location: `${path}/${encodeURIComponent(String(object["id"]))}` };
  return new Answer(201, object, replayed ? { ...headers, "idempotency-replayed": "true" } : headers);
}

/** What was asked under the sender's own key. */
export function onceFor(path: string, { idempotencyKey }: RequestHeaders, body: unknown): IdempotencyKey | undefined {
  if (idempotencyKey === undefined) return undefined;
  return { key: idempotencyKey, fingerprint: hash("sha256", `${path} ${JSON.stringify(body)}`, "hex") };
}

/** With what an order took in. */
export const TakenIn = nullable(
  object(
    {
      readings: integer({ minimum: 0, description: "How many readings that waited are the tank's now", examples: [12] }),
      rejected: integer({ minimum: 0, description: "How many could not be read in the end", examples: [0] }),
      from: instantField("When the first of them was measured"),
      to: instantField("When the last of them was measured"),
    },
    { description: "The readings that had waited for this; null where none had" },
  ),
);

export const CONFLICTS: readonly ErrorCode[] = ["state_conflict"];

export const beginning = (what: string): Parameter<string | undefined> =>
  textFilter(`Only those whose ${what} begins with this text, whatever the case of its letters A to Z`);

/** `fallback`: what it is where nobody says. */
export const yesOrNo = <T extends boolean | undefined>(description: string, fallback: T): Parameter<boolean | T> => ({
  schema: boolean({ description }),
  fallback,
  read: (given) => (given === "true" || given === "false" ? { value: given === "true" } : { must: "true or false" }),
});

export const choice = <T extends string>(values: readonly T[], description: string): Parameter<T | undefined> => ({
  schema: oneOf(values, { description }),
  fallback: undefined,
  read(given) {
    const value = values.find((known) => known === given);
    return value === undefined ? { must: `one of ${values.join(", ")}` } : { value };
  },
});
