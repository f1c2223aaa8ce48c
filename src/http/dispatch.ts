// Routes without the network: the command line gets what an HTTP client would get, without a key, a rate limit or a server.

import { RequestError } from "../domain/errors.ts";
import type { Caller } from "./auth.ts";
import { contentOfValue, emptyContent } from "./content.ts";
import { idIn, parameterReaderOf, type ResponseText, responseOf } from "./handler.ts";
import { patternOf } from "./paths.ts";
import { problemHeaders, problemOf, STATUS } from "./problems.ts";
import { type Dependencies, JSON_TYPE, type Method, methodOf, NO_CONTENT, type Route } from "./route.ts";

export type LocalRequest = {
  readonly method: Method;
  /** Identifiers in it are percent-encoded, as in a URL. */
  readonly path: string;
  /** The query as in a URL, without the question mark. */
  readonly query?: string;
  /** The value that would be sent as JSON. */
  readonly body?: unknown;
};

export type LocalResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON, or a problem. */
  readonly body: unknown;
  /** The cause of an error, which the service would log. */
  readonly cause?: unknown;
};

type Environment = Dependencies & { readonly caller: Caller };

/** There is no log in which to look up a request. */
const REQUEST_ID = "local";

/** A RequestError becomes a response; other errors are thrown. */
export async function dispatch(
  routes: readonly Route[],
  environment: Environment,
  request: LocalRequest,
): Promise<LocalResponse> {
  try {
    const { status, headers, mediaType, text } = await handle(routes, environment, request);
    return { status, headers, body: mediaType === JSON_TYPE ? JSON.parse(text) : text };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const problem: unknown = JSON.parse(JSON.stringify(problemOf(error, REQUEST_ID)));
    return { status: STATUS[error.code], headers: problemHeaders(error), body: problem, cause: error.cause };
  }
}

async function handle(
  routes: readonly Route[],
  { caller, ...dependencies }: Environment,
  request: LocalRequest,
): Promise<ResponseText> {
  const { route, id } = findRoute(routes, request);
  const parameters = parameterReaderOf(route)(request.query ?? "", "");
  const { body, items } = contentFor(route, request.body);
  const content = { id, parameters, headers: NO_CONTENT.headers, body, items };
  const environment = { ...dependencies, ...caller, client: noClient, asLongRead: <T>(work: () => Promise<T>) => work() };
  return responseOf(route, await route.handle({ ...environment, ...content }));
}

/** Nobody signs in from the command line. */
function noClient(): never {
  throw new RequestError("session_missing", "Sign in with a browser.");
}

function contentFor({ body: rule }: Route, body: unknown) {
  if (rule === undefined) return NO_CONTENT;
  return body === undefined ? emptyContent(rule) : contentOfValue(body, rule);
}

/** A fixed name takes precedence over an identifier, as in the server's router. */
function findRoute(routes: readonly Route[], { method, path }: LocalRequest): { readonly route: Route; readonly id: string } {
  const [route] = routes
    .filter((candidate) => methodOf(candidate) === method && patternOf(candidate.path).test(path))
    .toSorted((a, b) => a.path.split("/:").length - b.path.split("/:").length);
  if (route === undefined) throw new Error(`there is no route ${method} ${path}`);
  return { route, id: idIn(decodeURIComponent(patternOf(route.path).exec(path)?.[1] ?? "")) };
}
