// HTTP: the way of a request through the map of routes (`routes.ts`):
// shape → key → role → rate → parameters → body → question → answer. Lives here: everything that knows HTTP. May not: SQL,
// rules of the domain.

import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type ErrorCode, RequestError } from "../domain/errors.ts";
import type { Observe } from "../domain/events.ts";
import type { Clock } from "../domain/instant.ts";
import type { Reads } from "../domain/store.ts";
import { Admission, misshapen } from "./admission.ts";
import { sendRefusal } from "./answer.ts";
import type { Caller } from "./auth.ts";
import { formOf, isForm, plainContentType, readBodies } from "./body.ts";
import { answerExpectations } from "./continue.ts";
import { Cors } from "./cors.ts";
import { mountDocumentation } from "./documentation.ts";
import type { Doors } from "./doors.ts";
import type { Limits } from "./limits.ts";
import { mount } from "./mount.ts";
import { openapiDocument } from "./openapi.ts";
import { LIST_PARAMETERS } from "./parameters.ts";
import { KnownPaths, loggedPath, routableUrl } from "./paths.ts";
import { problemBody, problemHeaders, refusalOf, STATUS } from "./problems.ts";
import { answerBrokenConnections } from "./refused.ts";
import { Room } from "./room.ts";
import type { Metrics, Route } from "./route.ts";
import { ROUTES } from "./routes.ts";
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
  readonly limits: Limits;
  readonly doors: Doors;
  /** Left out, those of the service. */
  readonly routes?: readonly Route[];
  readonly version: string;
  readonly rateLimit: number;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: boolean | number | readonly string[];
  /** How long a request may take to arrive: its headers, and all of it. */
  readonly patience: { readonly headersMs: number; readonly requestMs: number };
};

const MAX_HEADER_BYTES = 16_384;
/** Of all requests under way. */
const BODIES_MAX_BYTES = 134_217_728;
const SANE_REQUEST_ID = /^(?!tm_)[A-Za-z0-9._:/+=-]{1,128}$/;

export async function buildServer(parts: ServerParts): Promise<FastifyInstance> {
  const { reads, metrics, doors, routes = ROUTES } = parts;
  const cors = new Cors(parts.corsOrigins);
  const paths = new KnownPaths(cors.isOn);
  const admission = new Admission(parts.reads, parts.clock, parts.limits, parts.rateLimit, parts.seen);
  const app = makeFastify(parts, paths);
  readBodies(app);
  addHooks(app, paths, cors, parts.observe);
  addRefusals(app, paths, parts.observe);
  const room = new Room(BODIES_MAX_BYTES);
  for (const route of routes) mount(app, route, admission, { reads, metrics, doors }, room);
  await mountDocumentation(app, openapiDocument(routes, parts.version));
  return app;
}

function makeFastify({ trustProxy, patience, observe }: ServerParts, paths: KnownPaths): FastifyInstance {
  const app = Fastify({
    logger: false,
    trustProxy: trusted(trustProxy),
    genReqId: requestIds(),
    forceCloseConnections: "idle",
    return503OnClosing: false,
    requestTimeout: patience.requestMs,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: patience.headersMs,
      requestTimeout: patience.requestMs,
      connectionsCheckingInterval: Math.min(1000, patience.headersMs / 2),
      requireHostHeader: false,
    },
    routerOptions: {
      ignoreTrailingSlash: true,
      // An id of any length that fits into a request is looked at; too long a one is unknown, not an error of the URL.
      maxParamLength: MAX_HEADER_BYTES,
      // Parameters are read by `parameters.ts`, which sees repeated and broken ones.
      querystringParser: () => ({}),
    },
    rewriteUrl: routableUrl,
    clientErrorHandler: answerBrokenConnections(observe, paths),
  });
  // The number of headers is checked in `admission.ts`; Node would silently drop those over its own limit.
  app.server.maxHeadersCount = 0;
  answerExpectations(app.server);
  return app;
}

function addHooks(app: FastifyInstance, paths: KnownPaths, cors: Cors, observe: Observe): void {
  app.decorateRequest("caller", null);
  app.decorateRequest("refused", null);
  app.decorateRequest("taken", null);
  app.addHook("onRoute", ({ url, method }) => paths.add(url, [method].flat()));
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    cors.mark(request, reply);
    plainContentType(request);
    const refusal = misshapen(request);
    // Of what no route took, only the body of a POST is still of interest, for the hint it may give.
    if (refusal !== undefined || !request.is404 || isForm(request)) done(refusal);
    else if (request.method === "OPTIONS" && cors.isOn && paths.isKnown(request.raw.url)) {
      cors.preflight(reply, paths.allowed(request.raw.url));
    } else done(paths.refusal(request.method, request.raw.url));
  });
  app.addHook("onResponse", (request, reply, done) => {
    observe({
      kind: "request_completed",
      requestId: request.id,
      method: request.method,
      path: loggedPath(request.originalUrl),
      route: request.taken,
      status: reply.statusCode,
      code: request.refused,
      keyId: request.caller?.key.id ?? null,
      address: request.ip,
      milliseconds: reply.elapsedTime,
    });
    done();
  });
}

function addRefusals(app: FastifyInstance, paths: KnownPaths, observe: Observe): void {
  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const refusal = refusalOf(error);
    if (refusal.code === "internal") observe({ kind: "request_failed", requestId: request.id, error });
    request.refused = refusal.code;
    if (refusal.code === "method_not_allowed") reply.header("allow", paths.allowed(request.raw.url));
    reply.headers(problemHeaders(refusal));
    reply.code(STATUS[refusal.code]);
    return sendRefusal(request, reply, problemBody(refusal, request.id));
  }
  app.setErrorHandler(refuse);
  app.setNotFoundHandler((request, reply) => {
    refuse(hinted(paths.refusal(request.method, request.raw.url), request), request, reply);
  });
}

/** Fastify knows hops as a function only. */
function trusted(proxy: ServerParts["trustProxy"]): boolean | string[] | ((address: string, hop: number) => boolean) {
  if (typeof proxy === "number") return (_address, hop) => hop < proxy;
  return typeof proxy === "boolean" ? proxy : [...proxy];
}

/** The caller's own id where it is sane; else a name of chance for the process, and a count. */
function requestIds(): (request: IncomingMessage) => string {
  const processId = randomBytes(9).toString("base64url");
  let count = 0;
  return (request) => {
    const given = request.headers["x-request-id"];
    if (typeof given === "string" && SANE_REQUEST_ID.test(given)) return given;
    count++;
    return `${processId}-${count.toString(36).padStart(7, "0")}`;
  };
}

/** `curl -d size=2 …` makes a POST of what was meant as a GET. */
function hinted(refusal: RequestError, request: FastifyRequest): RequestError {
  const names = formOf(request)
    .split("&")
    .map((pair) => pair.split("=", 1)[0] ?? "");
  const looksLikeParameters = names.every((name) => name === "email" || Object.hasOwn(LIST_PARAMETERS, name));
  if (refusal.code !== "method_not_allowed" || request.method !== "POST" || !looksLikeParameters) return refusal;
  return new RequestError(
    refusal.code,
    `${refusal.message} The body looks like list parameters: add -G to the curl call to send them with GET.`,
  );
}
