// Request bodies as bytes. A body may carry list parameters as a form, as the documented curl calls do; a route with a body of
// its own reads it later (`content.ts`). The rest of a rejected body is read and dropped, because a client that is still
// sending would not see the response otherwise.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { finished } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { RequestError } from "../domain/errors.ts";
import type { BodyRule } from "./route.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Content-Type as the client sent it. */
    contentType: string | null;
  }
  interface FastifyContextConfig {
    /** Set where the route reads the body itself. */
    body?: BodyRule | undefined;
  }
}

const FORM_TYPE = "application/x-www-form-urlencoded";
const OTHER_TYPE = "application/octet-stream";
const FORM_MAX_BYTES = 8192;

/** Reads form bodies, also of GET and HEAD, whose bodies Fastify ignores by default. Other bodies are an error. */
export function readFormBodies(app: FastifyInstance): void {
  app.decorateRequest("contentType", null);
  app.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
  app.addHttpMethod("HEAD", { hasBody: true, overrideExisting: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (request, payload, done) => {
    if (request.routeOptions.config.body !== undefined) {
      done(null);
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    payload.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= FORM_MAX_BYTES) chunks.push(chunk);
    });
    payload.on("error", (cause: Error) => done(bodyCutShort(cause)));
    payload.on("end", () => {
      try {
        done(null, parseForm(request, Buffer.concat(chunks), size));
      } catch (error) {
        done(error as Error);
      }
    });
    sendContinue(request.raw);
  });
}

function parseForm(request: FastifyRequest, bytes: Buffer, size: number): string {
  if (size === 0) return "";
  if (!isForm(request)) {
    const isRead = request.method === "GET" || request.method === "HEAD";
    const detail = isRead
      ? `A body here must be ${FORM_TYPE} with list parameters; or use the query string.`
      : "This endpoint does not accept a body.";
    throw new RequestError("media_type_unsupported", detail);
  }
  if (size > FORM_MAX_BYTES) throw bodyTooLarge(`A form body may have at most ${FORM_MAX_BYTES} bytes.`);
  return stripBom(bytes).toString();
}

function isForm(request: FastifyRequest): boolean {
  const type = request.headers["content-type"] ?? "";
  return type.split(";", 1)[0]?.trim().toLowerCase() === FORM_TYPE;
}

/** The form in the body, or an empty string. */
export function formOf(request: FastifyRequest): string {
  return typeof request.body === "string" ? request.body : "";
}

/** Fastify rejects a malformed Content-Type before there is a body. Ours is checked with the body, and ignored without one. */
export function normalizeContentType(request: FastifyRequest): void {
  const { headers } = request.raw;
  const contentType = headers["content-type"];
  if (contentType === undefined) return;
  request.contentType = contentType;
  headers["content-type"] = isForm(request) ? FORM_TYPE : OTHER_TYPE;
}

const awaitingContinue = new WeakMap<IncomingMessage, ServerResponse>();

/** `Expect: 100-continue` is answered once the body is wanted, so that no client sends a body that is rejected anyway. */
export function deferContinue(server: Server): void {
  server.on("checkContinue", (request, response) => {
    awaitingContinue.set(request, response);
    server.emit("request", request, response);
  });
  // Other expectations are ignored.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

export function sendContinue(request: IncomingMessage): void {
  awaitingContinue.get(request)?.writeContinue();
  awaitingContinue.delete(request);
}

/** False for a client that still waits for 100 Continue: it may never send a body, and Node closes its connection. */
export function isStillSending(request: IncomingMessage): boolean {
  if (request.complete || awaitingContinue.has(request)) return false;
  const { "content-length": length = "0", "transfer-encoding": chunked } = request.headers;
  return length !== "0" || chunked !== undefined;
}

/** Yields the text at once, and ends after the rest of the request body was received and dropped. */
export async function* whileDraining(request: IncomingMessage, text: string): AsyncGenerator<string> {
  yield text;
  request.resume();
  await finished(request).catch(() => {});
}

/** The returned buffer must be taken out of its holder once: the request object outlives the use of its body. */
export function readBytes(raw: IncomingMessage, maxBytes: number, reservation: Reservation): Promise<GrowingBuffer> {
  const { promise, resolve, reject } = Promise.withResolvers<GrowingBuffer>();
  const buffer = new GrowingBuffer(maxBytes);
  let size = 0;
  raw.on("data", (chunk: Buffer) => {
    size += chunk.length;
    try {
      if (size > maxBytes) throw bodyTooLarge(`A body here may have at most ${maxBytes} bytes.`);
      reservation.reserve(chunk.length);
      buffer.append(chunk);
    } catch (error) {
      buffer.take();
      // Drops what follows.
      size = Number.POSITIVE_INFINITY;
      reject(error);
    }
  });
  raw.on("end", () => resolve(buffer));
  raw.on("error", (cause) => reject(bodyCutShort(cause)));
  return promise;
}

/** Chunks are copied into one buffer, because every small chunk by itself costs some hundred bytes more. */
class GrowingBuffer {
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(0);
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    if (size > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#maxBytes, Math.max(size, 2 * this.#bytes.length)));
      this.#bytes.copy(larger, 0, 0, this.#size);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, this.#size);
    this.#size = size;
  }

  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#size);
    this.#bytes = Buffer.alloc(0);
    this.#size = 0;
    return bytes;
  }
}

/** Larger than the default of 16 KiB: fewer round trips to the thread pool. */
const GUNZIP_CHUNK_BYTES = 131_072;

/** Stops at the size limit, so that a decompression bomb costs no more than an ordinary body of that size. */
export async function gunzip(bytes: Buffer, maxBytes: number, reservation: Reservation): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stream = createGunzip({ chunkSize: Math.min(GUNZIP_CHUNK_BYTES, maxBytes) });
  stream.end(bytes);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw bodyTooLarge(`A body here may have at most ${maxBytes} bytes after decompression.`);
      reservation.reserve(chunk.length);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    throw new RequestError("encoding_invalid", "Content-Encoding is gzip, but the body is not valid gzip.", { cause });
  }
  return Buffer.concat(chunks, size);
}

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** UTF-8 without its byte order mark. */
export function stripBom(bytes: Buffer): Buffer {
  if (!isUtf8(bytes)) throw new RequestError("encoding_invalid", "The body is not valid UTF-8.");
  const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return hasMark ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

export const bodyTooLarge = (detail: string): RequestError => new RequestError("body_too_large", detail);

const bodyCutShort = (cause: unknown): RequestError =>
  new RequestError("request_malformed", "The body was cut short.", { cause });

const SMALL_BODY_BYTES = 65_536;
/** Part of the budget that only small bodies can use. */
const RESERVED_FOR_SMALL = 1 / 8;
/** Part of the budget for all bodies of one key. A single body is accepted whatever its size. */
const MAX_PART_PER_KEY = { small: 1 / 2, large: 1 / 4 };

/** The bytes of one request. */
export type Reservation = {
  /** Throws `overloaded` where the budget does not allow it. */
  readonly reserve: (bytes: number) => void;
  readonly release: () => void;
};

/**
 * The memory budget for request bodies: an upper limit on the bytes that all requests hold together. What does not fit is
 * rejected while it arrives, so that neither many senders nor a single one can exhaust the memory.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #bytesByKey = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  reservation(key: string): Reservation {
    let own = 0;
    return {
      reserve: (bytes) => {
        if (!this.#fits(key, own, bytes)) {
          throw new RequestError("overloaded", "The service is receiving too much data. Nothing was stored; retry shortly.", {
            retryAfter: 1,
          });
        }
        this.#add(key, bytes);
        own += bytes;
      },
      release: () => {
        this.#add(key, -own);
        own = 0;
      },
    };
  }

  #fits(key: string, own: number, bytes: number): boolean {
    const isSmall = own + bytes <= SMALL_BODY_BYTES;
    if (this.#bytes + bytes > this.#maxBytes * (isSmall ? 1 : 1 - RESERVED_FOR_SMALL)) return false;
    const ofKey = this.#bytesByKey.get(key) ?? 0;
    return ofKey === own || ofKey + bytes <= this.#maxBytes * (isSmall ? MAX_PART_PER_KEY.small : MAX_PART_PER_KEY.large);
  }

  #add(key: string, bytes: number): void {
    this.#bytes += bytes;
    const ofKey = (this.#bytesByKey.get(key) ?? 0) + bytes;
    if (ofKey === 0) this.#bytesByKey.delete(key);
    else this.#bytesByKey.set(key, ofKey);
  }
}
