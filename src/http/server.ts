// HTTP: the whole map of routes, and the way of a request through it:
// shape → key → role → rate → parameters → question → answer. Lives here: everything that knows HTTP. May not: SQL, rules
// of the domain.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type ErrorCode, Refusal } from "../domain/errors.ts";
import type { Observe } from "../domain/events.ts";
import type { Clock } from "../domain/instant.ts";
import { SEES_NOTHING } from "../domain/key.ts";
import type { Reads } from "../domain/store.ts";
import { Admission, refuseMisshapen } from "./admission.ts";
import { sendFresh, sendValidated } from "./answer.ts";
import type { Caller } from "./auth.ts";
import { formOf, ignoreTypeOfNothing, readBodies } from "./body.ts";
import { Cors } from "./cors.ts";
import { mountDocumentation } from "./documentation.ts";
import { openapiDocument } from "./openapi.ts";
import { LIST_PARAMETERS, NO_PARAMETERS, parameterReader } from "./parameters.ts";
import { problemBody, problemHeaders, refusalOf, STATUS } from "./problems.ts";
import { answerBrokenConnections } from "./refused.ts";
import type { Metrics, Route } from "./route.ts";
import { customerRoutes } from "./routes/customers.ts";
import { operationRoutes } from "./routes/operations.ts";
import { tankRoutes } from "./routes/tanks.ts";
import { telemetryRoutes } from "./routes/telemetry.ts";
import type { LastSeen } from "./seen.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
    refused: ErrorCode | null;
    /** The pattern of the route that took the request. */
    taken: string | null;
  }
}

export type ServerParts = {
  readonly reads: Reads;
  readonly seen: LastSeen;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly metrics: Metrics;
  readonly version: string;
  readonly rateLimit: number;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: boolean | number | readonly string[];
  /** How long a request may take to arrive: its headers, and all of it. */
  readonly patience: { readonly headersMs: number; readonly requestMs: number };
};

const MAX_HEADER_BYTES = 16_384;
const SANE_REQUEST_ID = /^[A-Za-z0-9._:/+=-]{1,128}$/;

/** The whole map; the OpenAPI document is made from it too. */
export const ROUTES: readonly Route[] = [...customerRoutes, ...tankRoutes, ...telemetryRoutes, ...operationRoutes];

export async function buildServer(parts: ServerParts): Promise<FastifyInstance> {
  const { reads, observe } = parts;
  const paths: RegExp[] = [];
  const refuseRoute = (method: string, url: string) => refusalOfRoute(paths, method, url);
  const cors = new Cors(parts.corsOrigins);
  const admission = new Admission(reads, parts.clock, parts.rateLimit, parts.seen);

  const app = Fastify({
    logger: false,
    trustProxy: trusted(parts.trustProxy),
    genReqId: requestId,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    requestTimeout: parts.patience.requestMs,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: parts.patience.headersMs,
      requestTimeout: parts.patience.requestMs,
      connectionsCheckingInterval: Math.min(1000, parts.patience.headersMs / 2),
      requireHostHeader: false,
    },
    routerOptions: {
      ignoreTrailingSlash: true,
      // An id of any length that fits into a request is looked at; too long a one is unknown, not an error of the URL.
      maxParamLength: MAX_HEADER_BYTES,
      // Parameters are read by `parameters.ts`, which sees repeated and broken ones.
      querystringParser: () => ({}),
    },
    rewriteUrl: (request) => routableUrl(request),
    clientErrorHandler: answerBrokenConnections(observe, refuseRoute, cors.methods),
  });
  app.server.maxHeadersCount = 0;
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.decorateRequest("caller", null);
  app.decorateRequest("refused", null);
  app.decorateRequest("taken", null);
  readBodies(app);

  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    cors.mark(request, reply);
    try {
      ignoreTypeOfNothing(request);
      refuseMisshapen(request);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  app.addHook("onResponse", (request, reply, done) => {
    observe({
      kind: "request_answered",
      requestId: request.id,
      method: request.method,
      path: pathOf(request.originalUrl),
      route: request.taken,
      status: reply.statusCode,
      code: request.refused,
      keyId: request.caller?.key.id ?? null,
      address: request.ip,
      milliseconds: reply.elapsedTime,
    });
    done();
  });
  app.addHook("onRoute", ({ url }) => {
    paths.push(patternOf(url));
  });

  app.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const refusal = refuseRoute(request.method, request.raw.url ?? "");
    if (refusal.code === "method_not_allowed") {
      reply.header("allow", cors.methods);
      if (request.method === "OPTIONS" && cors.isOn) return cors.preflight(reply);
      return refuse(hinted(refusal, request), request, reply);
    }
    return refuse(refusal, request, reply);
  });

  for (const route of ROUTES) mount(app, route, admission, parts);
  await mountDocumentation(app, openapiDocument(ROUTES, parts.version));
  return app;

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const refusal = refusalOf(known(error));
    if (refusal.code === "internal") observe({ kind: "request_failed", requestId: request.id, error });
    request.refused = refusal.code;
    reply.headers(problemHeaders(refusal));
    return reply.code(STATUS[refusal.code]).send(problemBody(refusal, request.id));
  }
}

/** A request that was admitted: parameters, question, answer. */
function mount(app: FastifyInstance, route: Route, admission: Admission, { reads, metrics }: ServerParts): void {
  const { path, reach } = route;
  const isInterface = route.parameters !== "unread";
  const read = parameterReader(route.parameters === "unread" ? NO_PARAMETERS : route.parameters);
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    request.taken = path;
    if (reach === "open") done();
    else admission.admit(request, reply, reach, done);
  };
  app.get(path, { onRequest }, async (request, reply) => {
    const { id = "" } = request.params as { id?: string };
    if (brokenPaths.has(request.raw)) throw new Refusal("encoding_invalid", "The path is not valid percent-encoded UTF-8.");
    const values = isInterface ? read(queryOf(request.raw.url), formOf(request)) : {};
    const sight = request.caller?.sight ?? SEES_NOTHING;
    const answer = await route.ask({ reads, metrics, sight, id, values });
    if (isInterface) sendValidated(request, reply, JSON.stringify(answer));
    else sendFresh(reply, route.answer.mediaType, typeof answer === "string" ? answer : JSON.stringify(answer));
    return reply;
  });
}

/** What Fastify refuses by itself, in the words of our catalogue. */
function known(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new Refusal("media_type_unsupported", "The Content-Type of the body cannot be read.");
    default:
      return error;
  }
}

/** Fastify knows hops as a function only. */
function trusted(proxy: ServerParts["trustProxy"]): boolean | string[] | ((address: string, hop: number) => boolean) {
  if (typeof proxy === "number") return (_address, hop) => hop < proxy;
  return typeof proxy === "boolean" ? proxy : [...proxy];
}

function requestId(request: IncomingMessage): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

const brokenPaths = new WeakSet<object>();

/** The router gives up on broken percent-encoding before anyone has asked for a key: it is let through, and refused later. */
function routableUrl(request: { readonly url?: string | undefined }): string {
  const { url = "" } = request;
  if (!url.includes("%")) return url;
  const path = pathOf(url);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    brokenPaths.add(request);
    return path.replaceAll("%", "%25") + url.slice(path.length);
  }
}

function pathOf(url = ""): string {
  const mark = url.indexOf("?");
  return mark === -1 ? url : url.slice(0, mark);
}

function queryOf(url = ""): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
}

function patternOf(url: string): RegExp {
  const source = url.split("/").map((part) => (part.startsWith(":") ? "[^/]+" : part === "*" ? ".*" : RegExp.escape(part)));
  return new RegExp(`^${source.join("/")}/?$`);
}

function refusalOfRoute(paths: readonly RegExp[], method: string, url: string): Refusal {
  const path = pathOf(url);
  const isKnown = method !== "GET" && method !== "HEAD" && paths.some((pattern) => pattern.test(path));
  if (!isKnown) {
    return new Refusal("route_unknown", "There is nothing at this path. The interface is described at /docs.");
  }
  return new Refusal("method_not_allowed", `${method.slice(0, 20)} is not possible here; this path answers GET and HEAD.`);
}

/** `curl -d size=2 …` makes a POST of what was meant as a GET. */
function hinted(refusal: Refusal, request: FastifyRequest): Refusal {
  const names = formOf(request)
    .split("&")
    .map((pair) => pair.split("=", 1)[0] ?? "");
  const looksLikeParameters = names.every((name) => name === "email" || Object.hasOwn(LIST_PARAMETERS, name));
  if (request.method !== "POST" || !looksLikeParameters) return refusal;
  return new Refusal(
    refusal.code,
    `${refusal.message} The body looks like list parameters: add -G to the curl call to send them with GET.`,
  );
}
