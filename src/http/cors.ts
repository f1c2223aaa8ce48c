// Cross-origin requests: off unless origins are configured.

import type { FastifyReply, FastifyRequest } from "fastify";

const EXPOSED = "ETag, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate";
const ALLOWED_HEADERS =
  "X-API-Key, X-Request-Id, If-None-Match, Authorization, Content-Type, Content-Encoding, Idempotency-Key, If-Match";

export class Cors {
  readonly #origins: readonly string[];

  constructor(origins: readonly string[]) {
    this.#origins = origins;
  }

  get isOn(): boolean {
    return this.#origins.length > 0;
  }

  /** On every answer, refusals included. */
  mark(request: FastifyRequest, reply: FastifyReply): void {
    if (!this.isOn) return;
    const any = this.#origins.includes("*");
    if (!any) reply.header("vary", "Origin");
    const origin = request.headers.origin;
    if (origin === undefined || !(any || this.#origins.includes(origin))) return;
    reply.header("access-control-allow-origin", any ? "*" : origin);
    reply.header("access-control-expose-headers", EXPOSED);
  }

  /** `methods` of the path that is asked about. */
  preflight(reply: FastifyReply, methods: string): void {
    reply.header("access-control-allow-methods", methods);
    reply.header("access-control-allow-headers", ALLOWED_HEADERS);
    reply.header("access-control-max-age", "600");
    reply.code(204).send();
  }
}
