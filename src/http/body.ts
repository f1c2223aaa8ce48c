// The body of a request. A GET may carry list parameters as a form, as the documented curl calls do; nothing else.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { Refusal } from "../domain/errors.ts";

const FORM_TYPE = "application/x-www-form-urlencoded";
const OTHER_TYPE = "application/octet-stream";
const FORM_MAX_BYTES = 8192;

/** Fastify skips the bodies of GET and HEAD unless told otherwise. Every body becomes a text, or a refusal. */
export function readBodies(app: FastifyInstance): void {
  app.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
  app.addHttpMethod("HEAD", { hasBody: true, overrideExisting: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (request, payload, done) => {
    const chunks: Buffer[] = [];
    let size = 0;
    payload.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= FORM_MAX_BYTES) chunks.push(chunk);
    });
    payload.on("error", (cause: Error) => done(new Refusal("request_malformed", "The body was cut short.", { cause })));
    payload.on("end", () => {
      try {
        done(null, textOf(request, Buffer.concat(chunks), size));
      } catch (error) {
        done(error as Error);
      }
    });
  });
}

function textOf(request: FastifyRequest, bytes: Buffer, size: number): string {
  // A request that is refused for its path or method is refused for that, whatever its body holds.
  if (request.is404) return isForm(request) && size <= FORM_MAX_BYTES ? bytes.toString("latin1") : "";
  if (size === 0) return "";
  if (!isForm(request)) {
    throw new Refusal(
      "media_type_unsupported",
      `A body here must be ${FORM_TYPE} with list parameters; or use the query string.`,
    );
  }
  if (size > FORM_MAX_BYTES) throw new Refusal("body_too_large", `A form body may have at most ${FORM_MAX_BYTES} bytes.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal("encoding_invalid", "The body is not valid UTF-8.");
  }
}

export function isForm(request: FastifyRequest): boolean {
  const type = request.headers["content-type"] ?? "";
  return type.split(";", 1)[0]?.trim().toLowerCase() === FORM_TYPE;
}

/** Fastify judges a Content-Type before it knows of a body; ours is judged with the body, and says nothing without one. */
export function plainContentType(request: FastifyRequest): void {
  const { headers } = request.raw;
  if (headers["content-type"] !== undefined) headers["content-type"] = isForm(request) ? FORM_TYPE : OTHER_TYPE;
}

/** The form in the body, or the empty text. */
export function formOf(request: FastifyRequest): string {
  return typeof request.body === "string" ? request.body : "";
}
