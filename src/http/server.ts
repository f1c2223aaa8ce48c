// HTTP: the whole map of routes, and the way of a request through it:
// shape → key → role → rate → parameters → question → answer. Lives here: everything that knows HTTP. May not: SQL, rules
// of the domain.

import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type ErrorCode, Refusal } from "../domain/errors.ts";
import type { Observe } from "../domain/events.ts";
import type { Clock } from "../domain/instant.ts";
import { SEES_NOTHING } from "../domain/key.ts";
import type { Reads } from "../domain/store.ts";
import { Admission, misshapen } from "./admission.ts";
import { etagOf, sendFresh, sendValidated } from "./answer.ts";
import type { Caller } from "./auth.ts";
import { formOf, isForm, plainContentType, readBodies } from "./body.ts";
import { Cors } from "./cors.ts";
import { mountDocumentation } from "./documentation.ts";
import type { Limits } from "./limits.ts";
import { openapiDocument } from "./openapi.ts";
import { LIST_PARAMETERS, NO_PARAMETERS, parameterReader } from "./parameters.ts";
import { KnownPaths, loggedPath, queryOf, refuseBrokenPath, routableUrl } from "./paths.ts";
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
  readonly limits: Limits;
  readonly version: string;
  readonly rateLimit: number;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: boolean | number | readonly string[];
  /** How long a request may take to arrive: its headers, and all of it. */
  readonly patience: { readonly headersMs: number; readonly requestMs: number };
};

const MAX_HEADER_BYTES = 16_384;
const SANE_REQUEST_ID = /^(?!tm_)[A-Za-z0-9._:/+=-]{1,128}$/;

/** The whole map; the OpenAPI document is made from it too. */
export const ROUTES: readonly Route[] = [...customerRoutes, ...tankRoutes, ...telemetryRoutes, ...operationRoutes];

export async function buildServer(parts: ServerParts): Promise<FastifyInstance> {
  const paths = new KnownPaths();
  const cors = new Cors(parts.corsOrigins);
  const admission = new Admission(parts.reads, parts.clock, parts.limits, parts.rateLimit, parts.seen);
  const app = makeFastify(parts, paths, cors);
  readBodies(app);
  addHooks(app, paths, cors, parts.observe);
  addRefusals(app, paths, cors, parts.observe);
  for (const route of ROUTES) mount(app, route, admission, parts);
  await mountDocumentation(app, openapiDocument(ROUTES, parts.version));
  return app;
}

function makeFastify({ trustProxy, patience, observe }: ServerParts, paths: KnownPaths, cors: Cors): FastifyInstance {
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
    clientErrorHandler: answerBrokenConnections(observe, paths, cors.methods),
  });
  // The number of headers is checked in `admission.ts`; Node would silently drop those over its own limit.
  app.server.maxHeadersCount = 0;
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  return app;
}

function addHooks(app: FastifyInstance, paths: KnownPaths, cors: Cors, observe: Observe): void {
  app.decorateRequest("caller", null);
  app.decorateRequest("refused", null);
  app.decorateRequest("taken", null);
  app.addHook("onRoute", ({ url }) => paths.add(url));
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    cors.mark(request, reply);
    plainContentType(request);
    const refusal = misshapen(request);
    // Of what no route took, only the body of a POST is still of interest, for the hint it may give.
    if (refusal !== undefined || !request.is404 || isForm(request)) done(refusal);
    else if (request.method === "OPTIONS" && cors.isOn && paths.isKnown(request.raw.url)) cors.preflight(reply);
    else done(paths.refusal(request.method, request.raw.url));
  });
  app.addHook("onResponse", (request, reply, done) => {
    observe({
      kind: "request_answered",
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

function addRefusals(app: FastifyInstance, paths: KnownPaths, cors: Cors, observe: Observe): void {
  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const refusal = refusalOf(error);
    if (refusal.code === "internal") observe({ kind: "request_failed", requestId: request.id, error });
    request.refused = refusal.code;
    if (refusal.code === "method_not_allowed") reply.header("allow", cors.methods);
    reply.headers(problemHeaders(refusal));
    return reply.code(STATUS[refusal.code]).send(problemBody(refusal, request.id));
  }
  app.setErrorHandler(refuse);
  app.setNotFoundHandler((request, reply) => {
    refuse(hinted(paths.refusal(request.method, request.raw.url), request), request, reply);
  });
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
    refuseBrokenPath(request.raw);
    const values = isInterface ? read(queryOf(request.raw.url), formOf(request)) : {};
    const sight = request.caller?.sight ?? SEES_NOTHING;
    const answer = await route.ask({ reads, metrics, sight, id, values });
    const body = typeof answer === "string" ? answer : JSON.stringify(answer);
    if (isInterface) sendValidated(request, reply, body, await etagOf(body));
    else sendFresh(reply, route.answer.mediaType, body);
    return reply;
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
function hinted(refusal: Refusal, request: FastifyRequest): Refusal {
  const names = formOf(request)
    .split("&")
    .map((pair) => pair.split("=", 1)[0] ?? "");
  const looksLikeParameters = names.every((name) => name === "email" || Object.hasOwn(LIST_PARAMETERS, name));
  if (refusal.code !== "method_not_allowed" || request.method !== "POST" || !looksLikeParameters) return refusal;
  return new Refusal(
    refusal.code,
    `${refusal.message} The body looks like list parameters: add -G to the curl call to send them with GET.`,
  );
}
