// What follows admission, whether a request came over the network or from the command line: its parameters, the question
// that its route puts, and the answer with its status and headers.

import type { Caller } from "./auth.ts";
import { NO_PARAMETERS, type ParameterReader, type ParameterSet, parameterReader, type Values } from "./parameters.ts";
import { Answer, type Carried, JSON_TYPE, type Means, type Route } from "./route.ts";

export const NOTHING_CARRIED: Carried = {
  headers: { idempotencyKey: undefined, ifMatch: undefined },
  body: undefined,
  items: [],
};

export function readerOf({ parameters }: Route): ParameterReader<ParameterSet> {
  if (parameters !== "unread") return parameterReader(parameters);
  const none = NO_PARAMETERS;
  return () => none;
}

type Asking = (caller: Caller, id: string, values: Values<ParameterSet>, carried: Carried) => ReturnType<Route["ask"]>;

/** Not async, so that asking costs a request no turn more than the question itself. */
export function askerOf(route: Route, { reads, metrics, doors }: Means): Asking {
  return ({ key, sight }, id, values, { headers, body, items }) =>
    route.ask({ reads, metrics, doors, key, sight, id, values, headers, body, items });
}

export type Told = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly mediaType: string;
  /** undefined: nothing follows the headers. */
  readonly text: string | undefined;
};

export function toldBy(route: Route, given: Answer | object | string): Told {
  const { status, headers, body } = given instanceof Answer ? given : new Answer(200, given);
  const mediaType = "mediaType" in route.answer ? route.answer.mediaType : JSON_TYPE;
  return { status, headers, mediaType, text: typeof body === "object" ? JSON.stringify(body) : body };
}
