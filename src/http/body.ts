// Request bodies as bytes. A body may carry list parameters as a form, as the documented curl calls do; a route with a body of
// its own reads it later (`content.ts`). The rest of a rejected body is read and dropped, because a client that is still
// sending would not see the response otherwise.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { RequestError } from "../domain/errors.ts";
import { FairQueue, type StepScheduler } from "../domain/fair-queue.ts";
import { MemoryBudget, type MemoryReservation } from "./memory-budget.ts";
import type { BodyRule } from "./route.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Content-Type as the client sent it. */
    contentType: string | null;
  }
  interface FastifyContextConfig {
    /** Set where the route reads the body itself. */
    body?: BodyRule | undefined;
    /** The route reads the body itself and has no BodyRule. */
    readsBody?: boolean;
  }
}

export const FORM_TYPE = "application/x-www-form-urlencoded";
const OTHER_TYPE = "application/octet-stream";
const FORM_MAX_BYTES = 8192;

/** Reads form bodies, also of GET and HEAD, whose bodies Fastify ignores by default. Other bodies are an error. */
export function readFormBodies(app: FastifyInstance): void {
  app.decorateRequest("contentType", null);
  app.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
  app.addHttpMethod("HEAD", { hasBody: true, overrideExisting: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", async (request: FastifyRequest, payload: Readable) => {
    const { body, readsBody } = request.routeOptions.config;
    if (body !== undefined || readsBody === true) return undefined;
    sendContinue(request.raw);
    const isForm = request.headers["content-type"] === FORM_TYPE;
    const bytes = isForm
      ? await readBytes(payload, FORM_MAX_BYTES, () => bodyTooLarge(`A form body may have at most ${FORM_MAX_BYTES} bytes.`))
      : await readBytes(payload, 0, () => notAForm(request));
    return stripBom(bytes).toString();
  });
}

function notAForm({ method }: FastifyRequest): RequestError {
  const isRead = method === "GET" || method === "HEAD";
  const detail = isRead
    ? `The request body must be ${FORM_TYPE} with list parameters; or use the query string.`
    : "This endpoint does not accept a body.";
  return new RequestError("media_type_unsupported", detail);
}

/** Fastify rejects a malformed Content-Type before there is a body. Ours is checked with the body, and ignored without one. */
export function normalizeContentType(request: FastifyRequest, contentType: string): void {
  request.contentType = contentType;
  const isForm = contentType.split(";", 1)[0]?.trim().toLowerCase() === FORM_TYPE;
  request.raw.headers["content-type"] = isForm ? FORM_TYPE : OTHER_TYPE;
}

const awaitingContinue = new WeakMap<IncomingMessage, ServerResponse>();

/** Responds to `Expect: 100-continue` once the body is wanted, so that no client sends a body that is rejected anyway. */
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

const draining = new WeakMap<Socket, IncomingMessage>();

/** Whether a response has been sent on this connection, but not its end, because the request body is still arriving. */
export const isDraining = (socket: Socket): boolean => draining.get(socket)?.complete === false;

/** Yields the text at once, and ends after the rest of the request body was received and dropped. */
export async function* whileDraining(request: IncomingMessage, text: string): AsyncGenerator<string> {
  const { socket } = request;
  draining.set(socket, request);
  yield text;
  // One chunk in each turn of the event loop, so that other requests are served in between.
  request.on("data", () => {
    request.pause();
    setImmediate(() => request.resume());
  });
  await finished(request.resume()).catch(() => {});
  draining.delete(socket);
}

/** All bytes of a request body. */
export async function readBytes(
  body: Readable,
  maxBytes: number,
  tooLarge: () => RequestError,
  reservation?: Reservation,
): Promise<Buffer> {
  try {
    return await readAll(body, maxBytes, tooLarge, reservation);
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    throw new RequestError("request_malformed", "The body is truncated.", { cause });
  }
}

/** Larger than the default of 16 KiB: fewer round trips to the thread pool. */
const GUNZIP_CHUNK_BYTES = 131_072;

/** Stops at the size limit, so that a decompression bomb costs no more than an ordinary body of that size. */
export async function gunzip(bytes: Buffer, maxBytes: number, reservation: Reservation): Promise<Buffer> {
  const stream = createGunzip({ chunkSize: Math.min(GUNZIP_CHUNK_BYTES, maxBytes) });
  stream.end(bytes);
  const tooLarge = () => bodyTooLarge(`The request body may have at most ${maxBytes} bytes after decompression.`);
  try {
    return await readAll(stream, maxBytes, tooLarge, reservation);
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    throw new RequestError("encoding_invalid", "Content-Encoding is gzip, but the body is not valid gzip.", { cause });
  } finally {
    stream.destroy();
  }
}

const READ_AT_ONCE_BYTES = 262_144;

/**
 * Chunks are copied into one buffer, because every small chunk by itself costs some hundred bytes more. Those of a large body are
 * read in turn.
 */
function readAll(
  stream: Readable,
  maxBytes: number,
  tooLarge: () => RequestError,
  reservation: Reservation | undefined,
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let bytes = Buffer.alloc(0);
  let size = 0;
  function onData(chunk: Buffer): void {
    const start = size;
    size += chunk.length;
    try {
      if (size > maxBytes) throw tooLarge();
      reservation?.reserve(chunk.length);
    } catch (error) {
      onError(error);
      return;
    }
    if (size > bytes.length) {
      const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(size, 2 * bytes.length)));
      bytes.copy(larger, 0, 0, start);
      bytes = larger;
    }
    chunk.copy(bytes, start);
    if (reservation === undefined || size <= READ_AT_ONCE_BYTES) return;
    stream.pause();
    reservation.schedule(() => stream.resume());
  }
  function onEnd(): void {
    stopListening();
    resolve(bytes.subarray(0, size));
  }
  function onError(error: unknown): void {
    stopListening();
    reject(error);
  }
  /** The stream outlives the use of its bytes, and would keep them in memory. */
  function stopListening(): void {
    stream.off("data", onData).off("end", onEnd).off("error", onError);
  }
  stream.on("data", onData).on("end", onEnd).on("error", onError);
  return promise;
}

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** UTF-8 without its byte order mark. */
export function stripBom(bytes: Buffer): Buffer {
  if (!isUtf8(bytes)) throw new RequestError("encoding_invalid", "The body is not valid UTF-8.");
  const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return hasMark ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

export const bodyTooLarge = (detail: string): RequestError => new RequestError("body_too_large", detail);

/**
 * Large bodies that are parsed and handled at a time; the others wait as bytes. Four keep the store busy, but leave little of
 * two processors to others, and their many objects make the pauses of the garbage collector long.
 */
const MAX_LARGE_BODIES = { onlyActiveKey: 4, otherKeysActive: 1 };

/** What the body of one request uses: memory, and time of the serving thread. */
export type Reservation = MemoryReservation & {
  /** Runs short work as one step of the scheduler. */
  readonly schedule: (work: () => void) => void;
  /** Resolves when a large body may be handled, until the reservation is released. */
  readonly startLarge: () => Promise<void>;
  /** Runs long work as steps of the scheduler. */
  readonly runInSteps: <T>(steps: Iterator<unknown, T>) => Promise<T>;
};

const MESSAGES = {
  ofKey: "This key or address is sending too much at a time. Nothing was stored; retry shortly.",
  ofAll: "The service is receiving too much data. Nothing was stored; retry shortly.",
};

/** What the bodies of all requests use. */
export class BodyBudget {
  readonly #memory: MemoryBudget;
  readonly scheduler: StepScheduler;
  readonly #large = new FairQueue(
    () => MAX_LARGE_BODIES[this.scheduler.hasOneKey() ? "onlyActiveKey" : "otherKeysActive"],
    // So a key uses at most half of the time while others send requests.
    (took) => (this.scheduler.hasOneKey() ? 0 : took),
  );

  constructor(maxBytes: number, scheduler: StepScheduler) {
    this.#memory = new MemoryBudget(maxBytes, MESSAGES);
    this.scheduler = scheduler;
  }

  reservation(key: string): Reservation {
    const memory = this.#memory.reservation(key);
    const released = Promise.withResolvers<void>();
    return {
      ...memory,
      schedule: (work) => void this.scheduler.runStep(key, work),
      startLarge: () =>
        new Promise((resolve) => {
          void this.#large.run(key, () => {
            resolve();
            return released.promise;
          });
        }),
      runInSteps: (steps) => this.scheduler.runSteps(key, steps),
      release: () => {
        memory.release();
        released.resolve();
      },
    };
  }
}
