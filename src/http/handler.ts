// A request on its way through a route: authentication and rate limit → parameters → headers and body → `route.handle` → response.

import { hash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import { RequestError } from "../domain/errors.ts";
import type { FairQueue } from "../domain/fair-queue.ts";
import { isPossibleId } from "../domain/id.ts";
import { ANONYMOUS, type Authenticate } from "./auth.ts";
import { type BodyBudget, isStillSending, type Reservation, whileDraining } from "./body.ts";
import { clientAddress, networkOf } from "./connection-limit.ts";
import { readContent } from "./content.ts";
import { Cookies } from "./cookies.ts";
import type { MemoryBudget, MemoryReservation } from "./memory-budget.ts";
import { NO_PARAMETERS, type ParameterReader, type ParameterSet, parameterReader } from "./parameters.ts";
import { queryOf, rejectMalformedPath } from "./paths.ts";
import {
  type Dependencies,
  hasCacheableResponse,
  JSON_TYPE,
  methodOf,
  NO_CONTENT,
  queryParametersOf,
  type RequestContent,
  type RequestHeaders,
  type Route,
  RouteResponse,
} from "./route.ts";
import type { ClientInfo } from "./sign-in.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The path pattern of the matched route. */
    routePath: string | null;
  }
}

/** Per key. */
const MAX_WAITING_LONG_READS = 100;

/** What all routes share. */
type RouteContext = Dependencies & {
  readonly authenticate: Authenticate;
  readonly bodyBudget: BodyBudget;
  readonly responseMemory: MemoryBudget;
  readonly longReads: FairQueue;
};

export function registerRoute(app: FastifyInstance, route: Route, context: RouteContext): void {
  const { path, body } = route;
  const onRequest = (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.routePath = path;
    return context.authenticate(request, reply, route);
  };
  app.route({ method: methodOf(route), url: path, onRequest, config: { body }, handler: createHandler(route, context) });
}

function createHandler(route: Route, context: RouteContext): RouteHandlerMethod {
  const { reads, metrics, services, bodyBudget, responseMemory, longReads } = context;
  const readParameters = parameterReaderOf(route);
  const isCacheable = hasCacheableResponse(route);
  const isRead = methodOf(route) === "GET" || route.isLongRead === true;
  return async (request, reply) => {
    rejectMalformedPath(request.raw);
    const form = typeof request.body === "string" ? request.body : "";
    const parameters = readParameters(queryOf(request.raw.url), form);
    const { key, scope, session } = request.caller ?? ANONYMOUS;
    // Those without a key share by the network that they come from.
    const sender = key.id === "" ? networkOf(clientAddress(request)) : key.id;
    bodyBudget.scheduler.recordRequest(sender);
    const held = heldUntilReceived(reply.raw, responseMemory.reservation(sender));
    held.reserve(1);
    const id = idIn((request.params as { readonly id?: string }).id);
    const client = () => clientOf(request, services.management.settings.publicUrl);
    const asLongRead = <T>(work: () => Promise<T>): Promise<T> => runLongRead(longReads, sender, request, work);
    const handleNow = ({ headers, body, items }: RequestContent) =>
      route.handle({ reads, metrics, services, key, scope, session, client, id, parameters, headers, body, items, asLongRead });
    const handle: typeof handleNow = (content) =>
      route.isLongRead === true ? asLongRead(() => handleNow(content)) : handleNow(content);
    if (isCacheable) {
      const result = await handle(NO_CONTENT);
      const text = typeof result === "string" ? result : JSON.stringify(result);
      held.reserve(text.length);
      // Caches do not key responses by the body of a GET.
      if (form !== "") sendUncached(reply, JSON_UTF8, text);
      else sendCacheable(request, reply, text, await etagFor(route, text));
      return reply;
    }
    const reservation = bodyBudget.reservation(sender);
    try {
      // One chain, so that no variable here keeps the content in memory until the response is sent.
      const { status, headers, mediaType, text } = responseOf(route, await contentOf(request, route, reservation).then(handle));
      if (isRead) held.reserve(text.length);
      else held.add(text.length);
      sendUncached(reply.code(status).headers(headers), mediaType, text);
    } finally {
      reservation.release();
    }
    return reply;
  };
}

/** A text that cannot be an id becomes "", which nothing has. */
export const idIn = (given = ""): string => (isPossibleId(given) ? given : "");

/**
 * Memory for a response, which is held until the client has received it, or has gone. Little of it is reserved before the request is
 * handled, so that a key which does not receive its responses cannot write either.
 */
function heldUntilReceived(response: ServerResponse, memory: MemoryReservation): Pick<MemoryReservation, "reserve" | "add"> {
  response.once("close", memory.release);
  const unlessClosed = (hold: (bytes: number) => void) => (bytes: number) => {
    if (!response.closed) hold(bytes);
  };
  return { reserve: unlessClosed(memory.reserve), add: unlessClosed(memory.add) };
}

/** When its turn comes, a read whose client has gone is skipped. */
async function runLongRead<T>(queue: FairQueue, sender: string, { raw }: FastifyRequest, work: () => Promise<T>): Promise<T> {
  if (queue.waiting(sender) >= MAX_WAITING_LONG_READS) {
    throw new RequestError("overloaded", "Too many of your long reads are waiting. Retry shortly.", { retryAfter: 1 });
  }
  return queue.run(sender, async () => {
    if (raw.socket.destroyed) throw new RequestError("request_malformed", "The client has closed the connection.");
    return work();
  });
}

const clientOf = (request: FastifyRequest, publicUrl: string | null): ClientInfo => ({
  address: clientAddress(request),
  userAgent: request.headers["user-agent"],
  cookies: new Cookies(request, publicUrl),
  isDisconnected: () => request.raw.socket.destroyed,
});

export function parameterReaderOf(route: Route): ParameterReader<ParameterSet> {
  const parameters = queryParametersOf(route);
  return parameters === undefined ? () => NO_PARAMETERS : parameterReader(parameters);
}

/** The body is read last, so that a rejected request does not wait for it. */
async function contentOf({ raw, contentType }: FastifyRequest, route: Route, reservation: Reservation): Promise<RequestContent> {
  const headers = headersFor(route, raw.headersDistinct);
  if (route.body === undefined) return { ...NO_CONTENT, headers };
  const { body, items } = await readContent(raw, contentType ?? "", route.body, reservation);
  return { headers, body, items };
}

/** `given`: every value under each name. */
function headersFor(
  { headers: accepted }: Route,
  given: Readonly<Record<string, readonly string[] | undefined>>,
): RequestHeaders {
  if (accepted === undefined) return NO_CONTENT.headers;
  return {
    idempotencyKey: accepted.includes("Idempotency-Key") ? idempotencyKey(given["idempotency-key"]) : undefined,
    // A list of tags may be split over several header lines.
    ifMatch: accepted.includes("If-Match") ? given["if-match"]?.join(", ") : undefined,
  };
}

function idempotencyKey(given: readonly string[] | undefined): string | undefined {
  if (given === undefined) return undefined;
  const [key = ""] = given;
  if (given.length === 1 && /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new RequestError(
    "idempotency_key_invalid",
    "Idempotency-Key must be given once, with 1 to 255 printable ASCII characters.",
  );
}

export type ResponseText = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly mediaType: string;
  readonly text: string;
};

export function responseOf({ response }: Route, result: RouteResponse | object | string): ResponseText {
  const { status, headers, body } = result instanceof RouteResponse ? result : new RouteResponse(200, result);
  const { mediaType = JSON_TYPE } = response;
  return { status, headers, mediaType, text: typeof body === "object" ? JSON.stringify(body) : body };
}

const JSON_UTF8 = `${JSON_TYPE}; charset=utf-8`;

/**
 * SHA-1, since it only tells versions apart, and takes a third of the time of SHA-256 on processors without instructions for them.
 * Async, so that the hashes of all responses of one turn are computed together, which takes half the time.
 */
export async function etagOf(body: string | Buffer): Promise<string> {
  return `"${hash("sha1", body, "base64url")}"`;
}

const etagFor = async ({ changesWithTime }: Route, text: string): Promise<string> =>
  changesWithTime === undefined ? etagOf(text) : `W/${await etagOf(text.replaceAll(changesWithTime, ""))}`;

function sendCacheable(request: FastifyRequest, reply: FastifyReply, body: string, etag: string): void {
  reply.header("cache-control", "private, no-cache");
  reply.header("etag", etag);
  if (isKnownTag(request, etag)) reply.code(304).send();
  else reply.header("content-type", JSON_UTF8).send(body);
}

/** Whether the client has this version. If-None-Match compares weakly (RFC 9110, 13.1.2). */
export function isKnownTag({ headers }: FastifyRequest, etag: string): boolean {
  const header = headers["if-none-match"];
  if (header === undefined) return false;
  const strong = (tag: string): string => tag.trim().replace(/^W\//, "");
  return header === etag || header.split(",").some((tag) => tag.trim() === "*" || strong(tag) === strong(etag));
}

function sendUncached(reply: FastifyReply, mediaType: string, body: string): void {
  reply.header("content-type", mediaType).header("cache-control", "no-store").send(body);
}

/** Keeps the connection open until the client has sent all: closing it earlier would discard the response. */
export function sendError({ raw, method }: FastifyRequest, reply: FastifyReply, body: string): FastifyReply {
  if (!isStillSending(raw)) return reply.send(body);
  if (method === "HEAD") {
    // Ends with its headers, so it is sent after the request.
    finished(raw.resume())
      .catch(() => {})
      .finally(() => reply.send(body));
    return reply;
  }
  return reply.header("content-length", Buffer.byteLength(body)).send(Readable.from(whileDraining(raw, body)));
}
