// Error responses: problem details (RFC 9457) with their HTTP statuses, and responses to connections that never become a
// request, because the HTTP is malformed, the headers are too large or the client is too slow.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { ERROR_TITLES, type ErrorCode, RequestError } from "../domain/errors.ts";
import type { Observe } from "../domain/log-events.ts";
import { array, integer, object, oneOf, text } from "../domain/schema.ts";
import { throttled } from "../domain/throttled.ts";
import { isDraining } from "./body.ts";
import { lastCompleteRequest, unsentResponse } from "./connections.ts";
import type { KnownPaths } from "./paths.ts";

/** The status of each error, and an example of its detail. */
const ERRORS: Readonly<Record<ErrorCode, readonly [status: number, detail: string]>> = {
  parameter_unknown: [400, 'There is no parameter "sise". Did you mean "size"?'],
  parameter_invalid: [400, 'size must be a whole number from 1 to 100, not "500".'],
  parameter_repeated: [400, "size may be given only once, in the query or in the body."],
  encoding_invalid: [400, "The path is not valid percent-encoded UTF-8."],
  request_malformed: [400, "A request must have exactly one Host header."],
  body_missing: [400, "A body is required: application/json."],
  body_malformed: [400, "The body is not JSON: Expected ':' after property name in JSON at position 8 (line 2 column 7)."],
  body_invalid: [400, "location.latitude: must be from -90 to 90."],
  idempotency_key_invalid: [400, "Idempotency-Key must be given once, with 1 to 255 printable ASCII characters."],
  key_missing: [401, "Send your key in the header X-API-Key."],
  key_invalid: [401, "There is no such key."],
  key_expired: [401, "This key has expired. Ask the operator for a new one."],
  key_revoked: [401, "This key has been revoked. Ask the operator for a new one."],
  session_missing: [401, "Sign in first."],
  session_ended: [401, "Your session has ended. Sign in again."],
  account_changed: [403, "Another account has signed in in this browser. Load the page again."],
  sign_in_invalid: [401, "This link or code is invalid or has expired. Request a new one."],
  role_insufficient: [403, 'This key has the role "read"; this endpoint requires the role "manage".'],
  origin_not_allowed: [403, "This request must come from a page of this service."],
  route_unknown: [404, "No route matches this path. /docs lists all routes."],
  customer_unknown: [404, "There is no customer with this id."],
  tank_unknown: [404, "There is no tank with this id."],
  tank_deleted: [404, "This tank has been deleted; its telemetry is no longer available."],
  device_unknown: [404, "There is no device with this id."],
  key_unknown: [404, "There is no key with this id."],
  alert_unknown: [404, "There is no alert with this id."],
  channel_unknown: [404, "There is no channel with this id."],
  notification_unknown: [404, "There is no notification with this id."],
  user_unknown: [404, "There is no user with this id."],
  session_unknown: [404, "There is no session with this id."],
  method_not_allowed: [
    405,
    "POST is not allowed here; this path supports GET and HEAD. With curl, add -G to send parameters with GET.",
  ],
  request_timeout: [408, "The request did not arrive in time."],
  device_in_use: [409, "Device a84041c2f1827d3e is assigned to tank t-17. Assign another device to that tank first."],
  customer_has_tanks: [
    409,
    "This customer still owns 3 tanks. Assign them to another customer, or add tanks=true to delete them too.",
  ],
  id_taken: [409, "The id c-17 is already used by another customer, perhaps a deleted one. Omit the id to have one generated."],
  state_conflict: [409, "This tank is deleted. Restore it before you change it."],
  precondition_failed: [412, "The object has changed since you read it. Read it again before you change it."],
  body_too_large: [413, "The request body may have at most 262144 bytes."],
  url_too_long: [414, "The URL is too long: URL and headers may have at most 16 KiB together."],
  media_type_unsupported: [415, 'The request body must be application/json, not "text/plain".'],
  idempotency_key_reused: [422, "This Idempotency-Key was used for another request within the last 24 hours."],
  rate_limited: [429, "Too many requests. Retry after the time in Retry-After."],
  keys_throttled: [429, "Too many wrong keys from this address. Retry after the time in Retry-After."],
  headers_too_large: [431, "A request may have at most 100 headers."],
  internal: [500, "An internal error occurred. The operator can look it up by the request id."],
  store_unavailable: [503, "The database cannot be reached right now. Try again shortly."],
  data_damaged: [503, "Stored data of this object is damaged. The operator has to restore it."],
  overloaded: [503, "The service is receiving too much data. Nothing was stored; retry shortly."],
};

/** Not imported: an import loads all of `node:http`, also its WebSocket client, which delays each start. */
export const { STATUS_CODES } = process.getBuiltinModule("node:http");

export const STATUS = Object.fromEntries(Object.entries(ERRORS).map(([code, [status]]) => [code, status])) as Record<
  ErrorCode,
  number
>;

const REQUEST_ID_EXAMPLE = "kQ3vY2m8Zt0x-00001hs";
export const PROBLEM_MEDIA_TYPE = "application/problem+json";

export const ProblemObject = object(
  {
    type: text({ description: "A URN for this kind of error", examples: [typeOf("parameter_invalid")] }),
    title: text({ description: "The kind of error, in words", examples: [ERROR_TITLES.parameter_invalid] }),
    status: integer({ description: "The HTTP status", examples: [400] }),
    detail: text({
      description: "What is wrong with this request, and how to correct it",
      examples: [ERRORS.parameter_invalid[1]],
    }),
    code: oneOf(Object.keys(ERROR_TITLES), {
      description: "The kind of error, for programs",
      examples: ["parameter_invalid"],
    }),
    param: text({ description: "The invalid parameter, if there is one", examples: ["size"] }),
    errors: array(
      object(
        {
          field: text({ description: "The path of the field; empty for the whole body", examples: ["location.latitude"] }),
          message: text({ description: "What is wrong with it", examples: ["must be from -90 to 90"] }),
        },
        { description: "An invalid field" },
      ),
      { description: "The invalid fields of the body, if there are any" },
    ),
    request_id: text({
      description: "The id of the request, also in X-Request-Id and in the log of the service",
      examples: [REQUEST_ID_EXAMPLE],
    }),
  },
  { description: "Problem details (RFC 9457)" },
  ["param", "errors"],
);

export function problemOf(error: RequestError, requestId: string) {
  return {
    type: typeOf(error.code),
    title: ERROR_TITLES[error.code],
    status: STATUS[error.code],
    detail: error.message,
    code: error.code,
    param: error.param,
    errors: error.errors,
    request_id: requestId,
  };
}

/** An example for the OpenAPI document. */
export function exampleProblem(code: ErrorCode): object {
  const [, detail] = ERRORS[code];
  const param = code.startsWith("parameter_") ? { param: code === "parameter_unknown" ? "sise" : "size" } : {};
  const errors = code === "body_invalid" ? { errors: [{ field: "location.latitude", message: "must be from -90 to 90" }] } : {};
  return problemOf(new RequestError(code, detail, { ...param, ...errors }), REQUEST_ID_EXAMPLE);
}

export const problemBody = (error: RequestError, id: string): string => JSON.stringify(problemOf(error, id));

function typeOf(code: ErrorCode): string {
  return `urn:tank-monitor:problem:${code}`;
}

export function problemHeaders(error: RequestError): Record<string, string> {
  const headers: Record<string, string> = { "content-type": `${PROBLEM_MEDIA_TYPE}; charset=utf-8`, "cache-control": "no-store" };
  if (STATUS[error.code] === 401) headers["www-authenticate"] = 'ApiKey realm="tank-monitor", header="X-API-Key"';
  if (error.retryAfter !== undefined) headers["retry-after"] = String(error.retryAfter);
  return headers;
}

/** Errors other than a RequestError are ours; their messages are not for the caller. */
export function requestErrorOf(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  return new RequestError("internal", "An internal error occurred. The operator can look it up by the request id.", {
    cause: error,
  });
}

/** The declared type lacks the bytes at which the parser stopped. */
type ConnectionError = { readonly code?: string; readonly rawPacket?: unknown; readonly bytesParsed?: number };

/** Responds once to a malformed connection, after the requests that came before, and closes it. The HTTP parser knows only some methods; `paths` knows the rest. */
export function connectionErrorHandler(observe: Observe, paths: KnownPaths): (error: ConnectionError, socket: Socket) => void {
  const waiting = new WeakSet<Socket>();
  function handle(error: ConnectionError, socket: Socket): void {
    // A client that does not read what was sent before would not read this either.
    if (error.code === "ECONNRESET" || !socket.writable || socket.writableLength > 0 || isDraining(socket)) {
      socket.destroy();
      return;
    }
    if (waiting.has(socket)) return;
    const unsent = unsentResponse(socket);
    if (unsent !== undefined) {
      waiting.add(socket);
      unsent.once("close", () => {
        waiting.delete(socket);
        if (socket.writable) handle(error, socket);
      });
      return;
    }
    const unknown = unknownMethod(error);
    const rejection = unknown === undefined ? connectionErrorOf(error) : paths.error(unknown.method, unknown.url);
    observe({ kind: "connection_rejected", code: rejection.code, status: STATUS[rejection.code] });
    const allow = rejection.code === "method_not_allowed" ? { allow: paths.allowed(unknown?.url) } : {};
    const [head, body] = rawResponse(rejection, randomUUID(), allow);
    socket.end(packetOf(error).startsWith("HEAD ") ? head : head + body, () => socket.destroy());
  }
  const handleTimeout = throttled(({ error, socket, request }: RequestTimeout) => {
    const complete = lastCompleteRequest(socket);
    const hasArrived = complete !== undefined && complete !== request;
    if (socket.destroyed || hasArrived) return false;
    handle(error, socket);
    return true;
  });
  return (error, socket) => {
    if (error.code === TIMEOUT) handleTimeout({ error, socket, request: lastCompleteRequest(socket) });
    else handle(error, socket);
  };
}

/** `request`: the last complete one before the request that did not arrive in time. */
type RequestTimeout = {
  readonly error: ConnectionError;
  readonly socket: Socket;
  readonly request: IncomingMessage | undefined;
};

const TIMEOUT = "ERR_HTTP_REQUEST_TIMEOUT";

/** The request line, where the HTTP parser does not know the method. */
function unknownMethod(error: ConnectionError): { readonly method: string; readonly url: string } | undefined {
  if (error.code !== "HPE_INVALID_METHOD") return undefined;
  // Valid requests may precede the malformed one in the same packet.
  const packet = packetOf(error);
  const request = packet.slice(packet.lastIndexOf("\n", error.bytesParsed ?? 0) + 1);
  const line = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (\/[^ \r\n]*) HTTP\/1\.[01]\r?\n/.exec(request);
  return line === null ? undefined : { method: line[1] ?? "", url: line[2] ?? "" };
}

function connectionErrorOf(error: ConnectionError): RequestError {
  switch (error.code) {
    case TIMEOUT:
      return new RequestError("request_timeout", "The request did not arrive in time.");
    case "HPE_HEADER_OVERFLOW": {
      // Reports the URL if it takes half of the space.
      const url = /^[A-Z]+ (\S*)/.exec(packetOf(error))?.[1] ?? "";
      return url.length > 8192
        ? new RequestError("url_too_long", "The URL is too long: URL and headers may have at most 16 KiB together.")
        : new RequestError("headers_too_large", "The headers of a request may have at most 16 KiB together.");
    }
  }
  return new RequestError("request_malformed", "This is not a well-formed HTTP request.");
}

const packetOf = ({ rawPacket }: ConnectionError): string => (Buffer.isBuffer(rawPacket) ? rawPacket.toString("latin1") : "");

function rawResponse(error: RequestError, requestId: string, allow: { readonly allow?: string }): [head: string, body: string] {
  const body = problemBody(error, requestId);
  const status = STATUS[error.code];
  const headers = {
    ...problemHeaders(error),
    "content-length": String(Buffer.byteLength(body)),
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    ...allow,
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`, body];
}
