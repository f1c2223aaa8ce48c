// A route as a value. The server registers it, the command line dispatches to it, and the OpenAPI document describes it.

import type { ErrorCode } from "../domain/errors.ts";
import type { Key, KeyBinding, Scope } from "../domain/key.ts";
import type { ReadingItem, ReadingResult } from "../domain/reading.ts";
import type { Schema } from "../domain/schema.ts";
import type { SessionWithAccount } from "../domain/session.ts";
import type { Reads } from "../domain/store.ts";
import type { Access } from "./auth.ts";
import type { ManagementService } from "./management.ts";
import type { ParameterSet, ParameterValues } from "./parameters.ts";
import type { ClientInfo, SignInService } from "./sign-in.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type Warning = { readonly code: string; readonly detail: string };

export type Metrics = { readonly text: () => Promise<string> };

/** Implemented by `src/ingest`. The result of each reading, in the order given, once it is durable. */
type IngestService = {
  readonly readings: (items: readonly ReadingItem[], sender: KeyBinding) => Promise<readonly ReadingResult[]>;
  /** A message of a network server; no results where it carries no reading. */
  readonly chirpstack: (message: unknown, sender: KeyBinding) => Promise<readonly ReadingResult[]>;
  readonly tts: (message: unknown, sender: KeyBinding) => Promise<readonly ReadingResult[]>;
};

export type Services = {
  readonly ingest: IngestService;
  readonly management: ManagementService;
  readonly signIn: Pick<SignInService, "request" | "inspect" | "signInWithToken" | "signInWithCode">;
  /** What is wrong although the service is ready. */
  readonly warnings: () => Promise<readonly Warning[]>;
  /** `/insight/v1/map` of all tanks, computed at most every 30 seconds. */
  readonly wholeMap: () => Promise<string>;
};

export type Dependencies = { readonly reads: Reads; readonly metrics: Metrics; readonly services: Services };

/** Only those that the route accepts; the others are undefined. */
export type RequestHeaders = { readonly idempotencyKey: string | undefined; readonly ifMatch: string | undefined };

export type RequestContent = {
  readonly headers: RequestHeaders;
  /** The value of a `json` body; undefined where there is none. */
  readonly body: unknown;
  /** The entries of a `readings` body. */
  readonly items: readonly ReadingItem[];
};

export const NO_CONTENT: RequestContent = {
  headers: { idempotencyKey: undefined, ifMatch: undefined },
  body: undefined,
  items: [],
};

export type RouteRequest<S extends ParameterSet = ParameterSet> = Dependencies &
  RequestContent & {
    readonly key: Key;
    readonly scope: Scope;
    /** The session of a caller without a key. */
    readonly session: SessionWithAccount | null;
    readonly client: () => ClientInfo;
    /** The identifier in the path; "" where there is none, or it cannot be one. */
    readonly id: string;
    readonly parameters: ParameterValues<S>;
    /** Runs work that proves to be long in the queue of long reads: a few at a time, keys round-robin. */
    readonly asLongRead: <T>(work: () => Promise<T>) => Promise<T>;
  };

/** The examples are derived from those of the schema by default. */
type Documented = {
  readonly schema: Schema;
  readonly description: string;
  readonly examples?: Readonly<Record<string, unknown>>;
};

/** `maxBytes` holds before and after decompression. */
type LimitedBody = Documented & { readonly maxBytes: number };
/** One reading or a list of them as JSON, or one per line. `schema` is that of one. */
export type ReadingsBodyRule = LimitedBody & { readonly kind: "readings"; readonly maxItems: number };
export type JsonBodyRule = LimitedBody & {
  readonly kind: "json";
  readonly mediaTypes: readonly string[];
  readonly optional?: true;
};
export type BodyRule = JsonBodyRule | ReadingsBodyRule;

/** JSON with the status 200 by default. `etag`: the response has an ETag that If-Match accepts. */
type ResponseRule = Documented & { readonly mediaType?: string; readonly status?: 201 | 202; readonly etag?: true };

export type Route<S extends ParameterSet = ParameterSet> = Access & {
  /** GET (with HEAD) by default. */
  readonly method?: Method;
  /** A path with `:id` for the identifier. */
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: "Customers" | "Tanks" | "Telemetry" | "Insight" | "Ingestion" | "Management" | "Accounts" | "Operations";
  /** None by default. */
  readonly parameters?: S | "ignored";
  readonly headers?: readonly ("Idempotency-Key" | "If-Match")[];
  /** It may read very many rows: a few such requests run at a time, one key after the other. */
  readonly isLongRead?: true;
  /** The response can be cached and revalidated. That of a read in /v1 always can. */
  readonly isCacheable?: true;
  /** Parts of its text that change with time alone: they do not count for the ETag, which is a weak one then. */
  readonly changesWithTime?: RegExp;
  readonly body?: BodyRule;
  readonly response: ResponseRule;
  /** Besides those that every route of its kind can respond with. */
  readonly errors?: readonly ErrorCode[];
  /** Returns the body of a 200 as an object or as JSON text, or a RouteResponse. */
  readonly handle: (request: RouteRequest<S>) => Promise<RouteResponse | object | string>;
};

/** A response that needs a status or headers of its own. */
export class RouteResponse {
  readonly status: 200 | 201 | 202;
  readonly body: object | string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: 200 | 201 | 202, body: object | string, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export const JSON_TYPE = "application/json";
export const PATCH_TYPES: readonly string[] = ["application/merge-patch+json", JSON_TYPE];
export const NDJSON_TYPES: readonly string[] = ["application/x-ndjson", "application/ndjson", "application/jsonl"];

/** undefined: parameters are ignored, whatever they are. */
export function queryParametersOf({ parameters = {} }: Route): ParameterSet | undefined {
  return parameters === "ignored" ? undefined : parameters;
}

export const methodOf = ({ method = "GET" }: Route): Method => method;

/** Responses of the read API and of a few other reads can be cached and revalidated; others cannot. */
export const hasCacheableResponse = ({ path, isCacheable }: Route): boolean => path.startsWith("/v1/") || isCacheable === true;

/** Infers the parameter types, then erases them so that all routes fit into one list. */
export function route<S extends ParameterSet>(definition: Route<S>): Route {
  return definition as unknown as Route;
}

/** For keys with the role `read`, and for everybody who is signed in. */
export function insightRoute<S extends ParameterSet>(definition: Omit<Route<S>, "tag" | "requiredRole" | "sessionRole">): Route {
  return route({ ...definition, tag: "Insight", requiredRole: "read", sessionRole: "customer" });
}

const MAX_BODY_BYTES = 262_144;

export function jsonBody(schema: Schema, description: string, example: object): JsonBodyRule {
  return { kind: "json", mediaTypes: [JSON_TYPE], maxBytes: MAX_BODY_BYTES, schema, description, examples: { example } };
}

export function patchBody(schema: Schema, example: object): JsonBodyRule {
  return { ...jsonBody(schema, "The changes", example), mediaTypes: PATCH_TYPES };
}
