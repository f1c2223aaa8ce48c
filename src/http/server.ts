// The HTTP server: Fastify's options, the hooks that every request passes, errors, and the registration of all routes
// (`routes.ts`). A request continues in `handler.ts`.

import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import cors from "@fastify/cors";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type ErrorCode, RequestError } from "../domain/errors.ts";
import { FairQueue, type StepScheduler } from "../domain/fair-queue.ts";
import type { Clock } from "../domain/instant.ts";
import type { Observe } from "../domain/log-events.ts";
import type { Reads } from "../domain/store.ts";
import { type Caller, createAuthenticator } from "./auth.ts";
import { BodyBudget, deferContinue, normalizeContentType, readFormBodies } from "./body.ts";
import { ConnectionLimit, clientAddress, isProxyAddress, type TrustProxy, trustedProxies } from "./connection-limit.ts";
import { CONNECTION_DEFAULTS, type ConnectionRules, manageConnections } from "./connections.ts";
import { isUnknownScreen, registerDashboard, sendUnknownScreen } from "./dashboard.ts";
import { registerDocumentation } from "./documentation.ts";
import { registerRoute, sendError } from "./handler.ts";
import type { LastSeen } from "./last-seen.ts";
import type { Limits } from "./limits.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { registerPages } from "./pages/links.ts";
import { KnownPaths, loggedPath, routableUrl } from "./paths.ts";
import { connectionErrorHandler, problemBody, problemHeaders, requestErrorOf, STATUS } from "./problems.ts";
import type { Metrics, Route, Services } from "./route.ts";
import { ROUTES } from "./routes.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
    errorCode: ErrorCode | null;
  }
}

export type ServerOptions = {
  readonly reads: Reads;
  readonly services: Services;
  readonly lastSeen: LastSeen;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly metrics: Metrics;
  readonly limits: Limits;
  readonly scheduler: StepScheduler;
  /** The routes of the service by default. */
  readonly routes?: readonly Route[];
  readonly version: string;
  readonly rateLimit: number;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: TrustProxy;
  readonly connections?: Partial<ConnectionRules>;
  /** Time for a request to arrive: its headers, and all of it. */
  readonly timeouts: { readonly headersMs: number; readonly requestMs: number };
};

const MAX_HEADER_BYTES = 16_384;
const MAX_HEADERS = 100;
/** Each check looks at all clients; rarer ones find more clients that time out at once. */
const CHECK_CONNECTIONS_MS = 200;
/** Long reads at a time: few, so that other reads find a free connection to the database. */
const MAX_LONG_READS = 2;
/** Memory for the bodies of all requests together. */
const MAX_BODY_MEMORY_BYTES = 134_217_728;
/** Memory for all responses that clients have not received yet. */
const MAX_RESPONSE_MEMORY_BYTES = 134_217_728;
const RESPONSE_MESSAGES = {
  ofKey: "This key or address has not received the responses to its other requests yet. Receive them, then retry.",
  ofAll: "Too many responses are waiting to be received. Retry shortly.",
};
/** In the log and the metrics, the status of a request whose connection was closed before the response was sent. */
const CONNECTION_CLOSED = 499;
/** A key is not an id, and would be masked in the log. */
const VALID_REQUEST_ID = /^(?!.*tm_)[A-Za-z0-9._:/+=-]{1,128}$/;

const CORS = {
  exposedHeaders:
    "ETag, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, Location, Idempotency-Replayed",
  allowedHeaders:
    "X-API-Key, X-Request-Id, If-None-Match, Authorization, Content-Type, Content-Encoding, Idempotency-Key, If-Match",
  maxAge: 600,
  // The plugin sets the headers; our hook responds, because it knows the methods of each path.
  preflightContinue: true,
  strictPreflight: false,
};

/** In place of Fastify's compilers of schemas, which would be loaded at each start: no route has a schema for Fastify. */
function noCompiler(): never {
  throw new Error("a route has a schema");
}

export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const { reads, metrics, services, corsOrigins, routes = ROUTES } = options;
  const paths = new KnownPaths(corsOrigins.length > 0);
  const authenticate = createAuthenticator({ ...options, publicUrl: services.management.settings.publicUrl });
  const app = createFastify(options, paths);
  readFormBodies(app);
  addErrorHandlers(app, paths, options.observe);
  if (corsOrigins.length > 0) await app.register(cors, { ...CORS, origin: [...corsOrigins] });
  addHooks(app, options, paths);
  const bodyBudget = new BodyBudget(MAX_BODY_MEMORY_BYTES, options.scheduler);
  const responseMemory = new MemoryBudget(MAX_RESPONSE_MEMORY_BYTES, RESPONSE_MESSAGES);
  const longReads = new FairQueue(MAX_LONG_READS);
  const context = { reads, metrics, services, authenticate, bodyBudget, responseMemory, longReads };
  for (const route of routes) registerRoute(app, route, context);
  registerPages(app, { management: services.management, limits: options.limits });
  registerDashboard(app);
  registerDocumentation(app, async () => (await import("./openapi.ts")).openapiDocument(routes, options.version));
  return app;
}

function createFastify({ trustProxy, connections, timeouts, observe }: ServerOptions, paths: KnownPaths): FastifyInstance {
  const app = Fastify({
    logger: false,
    trustProxy: trustedProxies(trustProxy),
    genReqId: requestIds(),
    forceCloseConnections: "idle",
    return503OnClosing: false,
    requestTimeout: timeouts.requestMs,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: CHECK_CONNECTIONS_MS,
      requireHostHeader: false,
    },
    routerOptions: {
      ignoreTrailingSlash: true,
      // An id that is too long is unknown; it is not an error of the URL.
      maxParamLength: MAX_HEADER_BYTES,
      // `parameters.ts` reads the query, and sees repeated and malformed parameters.
      querystringParser: () => ({}),
    },
    rewriteUrl: routableUrl,
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    clientErrorHandler: connectionErrorHandler(observe, paths),
  });
  // The number of headers is checked below; Node would silently drop those over its own limit.
  app.server.maxHeadersCount = 0;
  deferContinue(app.server);
  const limit = new ConnectionLimit(isProxyAddress(trustProxy));
  manageConnections(app.server, { ...CONNECTION_DEFAULTS, limit, ...connections }, observe);
  return app;
}

function addHooks(app: FastifyInstance, { corsOrigins, observe }: ServerOptions, paths: KnownPaths): void {
  app.decorateRequest("caller", null);
  app.decorateRequest("errorCode", null);
  app.decorateRequest("routePath", null);
  function complete(request: FastifyRequest, reply: FastifyReply, startedAt: number): void {
    const isSent = reply.raw.writableFinished;
    observe({
      kind: "request_completed",
      requestId: request.id,
      method: request.method,
      path: loggedPath(request.originalUrl),
      route: request.routePath,
      status: isSent ? reply.statusCode : CONNECTION_CLOSED,
      code: isSent ? request.errorCode : null,
      keyId: request.caller?.key.id ?? null,
      address: clientAddress(request),
      milliseconds: performance.now() - startedAt,
    });
  }
  app.addHook("onRoute", ({ url, method }) => paths.add(url, [method].flat()));
  app.addHook("onRequest", (request, reply, done) => {
    const { raw, method } = request;
    const startedAt = performance.now();
    reply.raw.once("close", () => complete(request, reply, startedAt));
    const contentType = raw.headers["content-type"];
    if (contentType !== undefined) normalizeContentType(request, contentType);
    reply.header("x-request-id", request.id).header("x-content-type-options", "nosniff");
    // Node drops what arrives behind a request for another protocol: on an open connection, the next response would be taken for it.
    if (raw.headers.upgrade !== undefined) reply.header("connection", "close");
    const error = malformedRequest(raw);
    if (error !== undefined) done(error);
    else if (method === "OPTIONS" && corsOrigins.length > 0 && paths.isKnown(raw.url)) {
      reply.header("access-control-allow-methods", paths.allowed(raw.url)).code(204).send();
    } else if (isUnknownScreen(request) && !paths.isKnown(raw.url)) done();
    else if (request.is404 || method === "OPTIONS") done(paths.error(method, raw.url));
    else done();
  });
}

/** What HTTP/1.1 requires and Node does not check. */
function malformedRequest({ rawHeaders, httpVersion, url = "" }: IncomingMessage): RequestError | undefined {
  if (url.includes("#")) return new RequestError("request_malformed", "A request URL must not have a fragment (#…).");
  if (rawHeaders.length > MAX_HEADERS * 2) {
    return new RequestError("headers_too_large", `A request may have at most ${MAX_HEADERS} headers.`);
  }
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) {
    return new RequestError("request_malformed", "A request must have exactly one Host header.");
  }
  return undefined;
}

function addErrorHandlers(app: FastifyInstance, paths: KnownPaths, observe: Observe): void {
  function respond(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const error = requestErrorOf(thrown);
    if (error.code === "internal") observe({ kind: "request_failed", requestId: request.id, error: thrown });
    request.errorCode = error.code;
    if (error.code === "method_not_allowed") reply.header("allow", paths.allowed(request.raw.url));
    reply.headers(problemHeaders(error));
    reply.code(STATUS[error.code]);
    return sendError(request, reply, problemBody(error, request.id));
  }
  app.setErrorHandler(respond);
  // All others are rejected before.
  app.setNotFoundHandler(sendUnknownScreen);
}

/** The client's own id where it is valid; otherwise a random prefix of the process and a counter. */
function requestIds(): (request: IncomingMessage) => string {
  const processId = randomBytes(9).toString("base64url");
  let count = 0;
  return (request) => {
    const given = request.headers["x-request-id"];
    if (typeof given === "string" && VALID_REQUEST_ID.test(given)) return given;
    count++;
    return `${processId}-${count.toString(36).padStart(7, "0")}`;
  };
}
