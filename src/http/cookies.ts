// The cookies of people who sign in: one with the secret of the session, and a short-lived one that names the browser that requested
// a link. A browser accepts one whose name begins with `__Host-` only over https, and from this host alone.

import type { FastifyRequest } from "fastify";
import { RequestError } from "../domain/errors.ts";

const NAMES = { session: "tank_monitor_session", browser: "tank_monitor_browser" } as const;
type CookieName = keyof typeof NAMES;
export const SESSION_COOKIE = `__Host-${NAMES.session}`;

const LOOPBACK = /^(?:localhost|[a-z0-9-]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

/**
 * Whether people reach the service over https. PUBLIC_URL says so; without it, only plain HTTP to loopback is known to be none:
 * a proxy may add https in front of any other name.
 */
function isSecure({ protocol, headers }: FastifyRequest, publicUrl: string | null): boolean {
  if (publicUrl !== null) return publicUrl.startsWith("https:");
  return protocol === "https" || !LOOPBACK.test(headers.host ?? "");
}

/**
 * Rejects a sign-in from a page opened over plain HTTP if the cookie requires https: the browser would drop the cookie, and the link
 * would be used for nothing. Such a page sends its origin, but no Sec-Fetch-Site, which browsers send over https and to loopback.
 */
export function requireSecureContext(request: FastifyRequest, publicUrl: string | null): void {
  const { origin, "sec-fetch-site": site } = request.headers;
  if (site !== undefined || origin?.startsWith("http://") !== true || LOOPBACK.test(origin.slice("http://".length))) return;
  if (!isSecure(request, publicUrl)) return;
  const remedy =
    publicUrl === null
      ? `Open it over https. In a private network the operator of the service can set PUBLIC_URL=${origin} instead.`
      : `Open ${publicUrl} instead.`;
  const problem = "This page was opened over plain HTTP, where browsers reject the cookie that signs you in.";
  throw new RequestError("origin_not_allowed", `${problem} ${remedy}`);
}

export class Cookies {
  readonly #header: string;
  readonly #isSecure: boolean;

  constructor(request: FastifyRequest, publicUrl: string | null) {
    this.#header = request.headers.cookie ?? "";
    this.#isSecure = isSecure(request, publicUrl);
  }

  /** If several have the same name, returns the first. */
  get(name: CookieName): string | undefined {
    const start = `${this.#nameOf(name)}=`;
    const found = this.#header.split(";").find((part) => part.trimStart().startsWith(start));
    return found?.trim().slice(start.length);
  }

  /** The value of a Set-Cookie header. With 0 seconds it removes the cookie. */
  setting(name: CookieName, value: string, seconds: number): string {
    const secure = this.#isSecure ? "; Secure" : "";
    return `${this.#nameOf(name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
  }

  #nameOf(name: CookieName): string {
    return this.#isSecure ? `__Host-${NAMES[name]}` : NAMES[name];
  }
}
