// Connections that never become a request: broken HTTP, headers without end, senders that dawdle. They are answered by
// hand, once, and closed.

import { randomUUID } from "node:crypto";
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { RequestError } from "../domain/errors.ts";
import type { Observe } from "../domain/events.ts";
import type { KnownPaths } from "./paths.ts";
import { problemBody, problemHeaders, STATUS } from "./problems.ts";

/** The bytes at which the parser stopped come along, though the declared types say otherwise. */
type ConnectionError = { readonly code?: string; readonly rawPacket?: unknown; readonly bytesParsed?: number };

/** `paths` say what is wrong where the HTTP parser itself did not know the method. */
export function answerBrokenConnections(observe: Observe, paths: KnownPaths): (error: ConnectionError, socket: Socket) => void {
  return (error, socket) => {
    // What Node's own handler looks at: a response under way must not be followed by another.
    const response = (socket as { _httpMessage?: ServerResponse })._httpMessage;
    if (error.code === "ECONNRESET" || !socket.writable || response?.headersSent === true) {
      socket.destroy();
      return;
    }
    const unknown = unknownMethod(error);
    const refusal = unknown === undefined ? refusalOf(error) : paths.refusal(unknown.method, unknown.url);
    observe({ kind: "connection_rejected", code: refusal.code, status: STATUS[refusal.code] });
    const allow = refusal.code === "method_not_allowed" ? { allow: paths.allowed(unknown?.url) } : {};
    socket.end(rawAnswer(refusal, randomUUID(), allow), () => socket.destroy());
  };
}

/** The request line of a method that the HTTP parser does not know. */
function unknownMethod(error: ConnectionError): { readonly method: string; readonly url: string } | undefined {
  if (error.code !== "HPE_INVALID_METHOD") return undefined;
  const line = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (\/[^ \r\n]*) HTTP\/1\.[01]\r?\n/.exec(brokenPart(error));
  return line === null ? undefined : { method: line[1] ?? "", url: line[2] ?? "" };
}

function refusalOf(error: ConnectionError): RequestError {
  switch (error.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new RequestError("request_timeout", "The request did not arrive in time.");
    case "HPE_HEADER_OVERFLOW":
      return overflow(packetOf(error));
  }
  return new RequestError("request_malformed", "This is not a well-formed HTTP request.");
}

function packetOf(error: ConnectionError): Buffer {
  return Buffer.isBuffer(error.rawPacket) ? error.rawPacket : Buffer.alloc(0);
}

/** Good requests may stand before the broken one in the same packet. */
function brokenPart(error: ConnectionError): string {
  const text = packetOf(error).toString("latin1");
  return text.slice(text.lastIndexOf("\n", error.bytesParsed ?? 0) + 1);
}

/** A URL that takes half of the room is what to mend; otherwise it is the headers. */
function overflow(packet: Buffer): RequestError {
  const url = /^[A-Z]+ (\S*)/.exec(packet.toString("latin1"))?.[1] ?? "";
  if (url.length > 8192) {
    return new RequestError("url_too_long", "The URL does not fit into the 16 KiB that a request may have before its body.");
  }
  return new RequestError("headers_too_large", "The headers of a request may have at most 16 KiB in all.");
}

function rawAnswer(refusal: RequestError, requestId: string, allow: { readonly allow?: string }): string {
  const body = problemBody(refusal, requestId);
  const status = STATUS[refusal.code];
  const headers = {
    ...problemHeaders(refusal),
    "content-length": String(Buffer.byteLength(body)),
    "x-request-id": requestId,
    ...allow,
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`;
}
