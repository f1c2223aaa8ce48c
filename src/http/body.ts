// The body of a request, as far as the framework is concerned. A request may carry parameters as a form, as the documented
// curl calls do; a route that takes a body of its own reads it itself (`content.ts`), once all else is found good.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { RequestError } from "../domain/errors.ts";
import { cutShort, textOf, tooLarge } from "./bytes.ts";
import { goOn } from "./continue.ts";
import type { BodyRule } from "./route.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** As it was sent; null where it was not. */
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

/** Fastify skips the bodies of GET and HEAD unless told otherwise. Every body becomes a text, or a refusal. */
export function readBodies(app: FastifyInstance): void {
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
    payload.on("error", (cause: Error) => done(cutShort(cause)));
    payload.on("end", () => {
      try {
        done(null, formIn(request, Buffer.concat(chunks), size));
      } catch (error) {
        done(error as Error);
      }
    });
    goOn(request.raw);
  });
}

function formIn(request: FastifyRequest, bytes: Buffer, size: number): string {
  // A request that is refused for its path or method is refused for that, whatever its body holds.
  if (request.is404) return isForm(request) && size <= FORM_MAX_BYTES ? bytes.toString("latin1") : "";
  if (size === 0) return "";
  if (!isForm(request)) throw new RequestError("media_type_unsupported", noBody(request.method));
  if (size > FORM_MAX_BYTES) throw tooLarge(`A form body may have at most ${FORM_MAX_BYTES} bytes.`);
  return textOf(bytes);
}

function noBody(method: string): string {
  if (method !== "GET" && method !== "HEAD") return "Nothing is read from a body here: send none.";
  return `A body here must be ${FORM_TYPE} with list parameters; or use the query string.`;
}

export function isForm(request: FastifyRequest): boolean {
  const type = request.headers["content-type"] ?? "";
  return type.split(";", 1)[0]?.trim().toLowerCase() === FORM_TYPE;
}

/** Fastify judges a Content-Type before it knows of a body; ours is judged with the body, and says nothing without one. */
export function plainContentType(request: FastifyRequest): void {
  const { headers } = request.raw;
  const said = headers["content-type"];
  if (said === undefined) return;
  request.contentType = said;
  headers["content-type"] = isForm(request) ? FORM_TYPE : OTHER_TYPE;
}

/** The form in the body, or the empty text. */
export function formOf(request: FastifyRequest): string {
  return typeof request.body === "string" ? request.body : "";
}
