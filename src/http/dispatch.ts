// Routes without the network: the command line asks what a caller would ask over HTTP, and is told the same, without a key,
// a rate or a framework. Whoever stands at the machine is handed in as the caller.

import { RequestError } from "../domain/errors.ts";
import type { Caller } from "./auth.ts";
import { type Content, contentOfValue, noContent } from "./content.ts";
import { headersFor } from "./headers.ts";
import { KnownPaths, patternOf } from "./paths.ts";
import { askerOf, NOTHING_CARRIED, readerOf, type Told, toldBy } from "./perform.ts";
import { problemHeaders, problemOf, STATUS } from "./problems.ts";
import { type BodyRule, JSON_TYPE, type Means, type Method, methodOf, type Route } from "./route.ts";

export type LocalRequest = {
  readonly method: Method;
  /** Identifiers in it percent-encoded, as in a URL. */
  readonly path: string;
  /** As in a URL, without the question mark. */
  readonly query?: string;
  /** The value that would be sent as JSON. */
  readonly body?: unknown;
  readonly headers?: { readonly idempotencyKey?: string; readonly ifMatch?: string };
};

export type LocalAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON of the answer, or a problem; undefined where there is none. */
  readonly body: unknown;
  /** What lies behind a refusal: for whoever stands at the machine, as the log is for the service's operator. */
  readonly cause?: unknown;
};

/** There is no log to look a request up in. */
const REQUEST_ID = "local";

/** Refusals are answers; what is our own fault is thrown. */
export async function dispatch(
  routes: readonly Route[],
  means: Means & { readonly caller: Caller },
  request: LocalRequest,
): Promise<LocalAnswer> {
  try {
    return answerOf(await perform(routes, means, request));
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const problem: unknown = JSON.parse(JSON.stringify(problemOf(error, REQUEST_ID)));
    return { status: STATUS[error.code], headers: problemHeaders(error), body: problem, cause: error.cause };
  }
}

async function perform(
  routes: readonly Route[],
  { caller, ...means }: Means & { readonly caller: Caller },
  request: LocalRequest,
): Promise<Told> {
  const { route, id } = found(routes, request);
  const values = readerOf(route)(request.query ?? "", "");
  const { idempotencyKey, ifMatch } = request.headers ?? {};
  const given = { "idempotency-key": listed(idempotencyKey), "if-match": listed(ifMatch) };
  const headers = headersFor(route, { headersDistinct: given });
  const { body, items } = route.body === undefined ? NOTHING_CARRIED : contentOfLocal(request.body, route.body);
  return toldBy(route, await askerOf(route, means)(caller, id, values, { headers, body, items }));
}

const listed = (value: string | undefined): string[] | undefined => (value === undefined ? undefined : [value]);

function contentOfLocal(body: unknown, rule: BodyRule): Content {
  return body === undefined ? noContent(rule) : contentOfValue(body, rule);
}

/** A fixed name goes before an identifier, as in the server's own map. */
function found(routes: readonly Route[], { method, path }: LocalRequest): { readonly route: Route; readonly id: string } {
  const fitting = routes
    .filter((route) => methodOf(route) === method && patternOf(route.path).test(path))
    .toSorted((a, b) => a.path.split("/:").length - b.path.split("/:").length);
  const [route] = fitting;
  if (route === undefined) throw refusal(routes, method, path);
  return { route, id: decoded(patternOf(route.path).exec(path)?.[1] ?? "") };
}

function refusal(routes: readonly Route[], method: Method, path: string): RequestError {
  const paths = new KnownPaths(false);
  for (const route of routes) paths.add(route.path, [methodOf(route)]);
  return paths.refusal(method, path);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RequestError("encoding_invalid", "The path is not valid percent-encoded UTF-8.");
  }
}

function answerOf({ status, headers, mediaType, text }: Told): LocalAnswer {
  const body: unknown = text === undefined || mediaType !== JSON_TYPE ? text : JSON.parse(text);
  return { status, headers, body };
}
