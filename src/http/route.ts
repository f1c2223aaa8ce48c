// A route as a value: what it is called, who reaches it, what it takes, what it answers. The server mounts it, the command
// line dispatches to it, and the OpenAPI document describes it, from this one definition.

import type { ErrorCode } from "../domain/errors.ts";
import type { Key, Scope } from "../domain/key.ts";
import type { Schema } from "../domain/schema.ts";
import type { Reads } from "../domain/store.ts";
import type { Reach } from "./auth.ts";
import type { Doors, Item } from "./doors.ts";
import type { ParameterSet, Values } from "./parameters.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type Metrics = { readonly text: () => Promise<string> };

/** What routes are given to answer with. */
export type Means = { readonly reads: Reads; readonly metrics: Metrics; readonly doors: Doors };

/** Of those that the route takes; the others are undefined. */
export type RequestHeaders = { readonly idempotencyKey: string | undefined; readonly ifMatch: string | undefined };

/** What a request carries beside its parameters. */
export type Carried = {
  readonly headers: RequestHeaders;
  /** The JSON of a `json` body; undefined where there is none. */
  readonly body: unknown;
  /** The entries of a `readings` body. */
  readonly items: readonly Item[];
};

/** What a route may ask, and what it was asked. */
export type Asked<S extends ParameterSet = ParameterSet> = Means &
  Carried & {
    /** The key it was asked with; where none is needed, nobody's. */
    readonly key: Key;
    readonly sight: Scope;
    readonly id: string;
    readonly values: Values<S>;
  };

type Shown = {
  readonly schema: Schema;
  readonly description: string;
  readonly examples: Readonly<Record<string, unknown>>;
};

/** What a route takes for a body. Bytes are counted as they arrive, and again once they are unpacked. */
export type BodyRule =
  | (Bounded & { readonly kind: "json"; readonly mediaTypes: readonly string[]; readonly optional?: true })
  | ReadingsRule;
type Bounded = Shown & { readonly maxBytes: number };
/** One reading or a list of them as JSON, or one a line. `schema` is that of one. */
export type ReadingsRule = Bounded & { readonly kind: "readings"; readonly maxItems: number };

/** What a route answers where all is well; with 200 unless it says otherwise. `etag`: it marks the object's state. */
type AnswerRule =
  | (Shown & { readonly mediaType: string; readonly statuses?: readonly (200 | 201)[]; readonly etag?: true })
  | { readonly statuses: readonly [204]; readonly description: string };

export type Route<S extends ParameterSet = ParameterSet> = {
  /** GET, and HEAD with it, unless it says otherwise. */
  readonly method?: Method;
  /** With `:id` where the identifier stands. */
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: "Customers" | "Tanks" | "Telemetry" | "Ingestion" | "Management" | "Operations";
  readonly reach: Reach;
  /** The key may also come as a bearer token. */
  readonly bearer?: true;
  /** `unread`: the query is not looked at. */
  readonly parameters: S | "unread";
  readonly takes?: readonly ("Idempotency-Key" | "If-Match")[];
  readonly body?: BodyRule;
  readonly answer: AnswerRule;
  /** Refusals of this route's own, beside those that every route of its kind has. */
  readonly refusals: readonly ErrorCode[];
  readonly ask: (asked: Asked<S>) => Promise<Answer | object | string>;
};

/** An answer that is more than a body with 200. A text is JSON already. `throw` a Refusal, `return` an Answer. */
export class Answer {
  readonly status: 200 | 201 | 204;
  readonly body: object | string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: 200 | 201 | 204, body?: object | string, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export const JSON_TYPE = "application/json";
export const PATCH_TYPES: readonly string[] = ["application/merge-patch+json", JSON_TYPE];
export const LINES_TYPES: readonly string[] = ["application/x-ndjson", "application/ndjson", "application/jsonl"];

export const methodOf = ({ method = "GET" }: Route): Method => method;

/** The read interface: its answers may be kept and validated. Nothing else may be kept. */
export const isInterface = ({ path }: Route): boolean => path.startsWith("/v1/");

/** Keeps the parameters' types inside the route, and lets routes of all kinds stand in one list. */
export function route<S extends ParameterSet>(definition: Route<S>): Route {
  return definition as unknown as Route;
}
