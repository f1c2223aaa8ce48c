// Whether a request comes from a page of this service. A browser adds cookies to requests of any page, so that those which change
// something, and those which sign in, are accepted from our own pages only.

import type { FastifyRequest } from "fastify";
import { RequestError } from "../domain/errors.ts";

/**
 * Pages cannot set either header. Browsers send Sec-Fetch-Site over https and to loopback, and Origin with everything but GET and
 * HEAD: a request without both is not from a page of ours.
 */
function isSameOrigin({ headers, protocol }: FastifyRequest, publicUrl: string | null): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const { origin, host } = headers;
  if (origin === undefined) return false;
  return origin === `${protocol}://${host}` || (publicUrl !== null && origin === new URL(publicUrl).origin);
}

export function requireSameOrigin(request: FastifyRequest, publicUrl: string | null): void {
  if (isSameOrigin(request, publicUrl)) return;
  throw new RequestError("origin_not_allowed", "This request must come from a page of this service.");
}

export const isSafeMethod = (method: string): boolean => method === "GET" || method === "HEAD";
