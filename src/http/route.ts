// A route as a value: what it is called, who reaches it, what it takes, what it answers. The server mounts it and the
// OpenAPI document describes it, from this one definition.

import type { ErrorCode } from "../domain/errors.ts";
import type { Sight } from "../domain/key.ts";
import type { Schema } from "../domain/schema.ts";
import type { Reads } from "../domain/store.ts";
import type { Reach } from "./auth.ts";
import type { ParameterSet, Values } from "./parameters.ts";

export type Metrics = { readonly text: () => Promise<string> };

/** What a route may ask, and what it was asked. */
type Asked<S extends ParameterSet> = {
  readonly reads: Reads;
  readonly metrics: Metrics;
  readonly sight: Sight;
  readonly id: string;
  readonly values: Values<S>;
};

export type Route<S extends ParameterSet = ParameterSet> = {
  /** With `:id` where the identifier stands. */
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: "Customers" | "Tanks" | "Telemetry" | "Operations";
  readonly reach: Reach;
  /** `unread`: the query is not looked at, and the answer is not to be kept. */
  readonly parameters: S | "unread";
  readonly answer: {
    readonly mediaType: string;
    readonly schema: Schema;
    readonly description: string;
    readonly examples: Readonly<Record<string, unknown>>;
  };
  /** Refusals of this route's own, beside those that every route of its reach has. */
  readonly refusals: readonly ErrorCode[];
  readonly ask: (asked: Asked<S>) => Promise<object | string>;
};

export const JSON_TYPE = "application/json";

/** Keeps the parameters' types inside the route, and lets routes of all kinds stand in one list. */
export function route<S extends ParameterSet>(definition: Route<S>): Route {
  return definition as unknown as Route;
}
