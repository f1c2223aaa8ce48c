// Paths: what is known, what is broken, and what of it may be logged.

import { Refusal } from "../domain/errors.ts";

/** Also of the absolute form that proxies use. */
function pathOf(url = ""): string {
  const local = url.startsWith("/") ? url : url.replace(/^[a-z]+:\/\/[^/?]*/i, "");
  const mark = local.indexOf("?");
  return mark === -1 ? local : local.slice(0, mark);
}

export function queryOf(url = ""): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
}

const LOGGED_LENGTH = 256;

/** Who puts a key into the path by mistake shall not find it in the log. */
export function loggedPath(url: string): string {
  const path = pathOf(url);
  const short = path.length > LOGGED_LENGTH ? `${path.slice(0, LOGGED_LENGTH)}…` : path;
  return short.includes("tm_") ? short.replace(/tm_[0-9A-Za-z]{8,}/g, "tm_…") : short;
}

const broken = new WeakSet<object>();

/** The router gives up on broken percent-encoding before anyone has asked for a key: it is let through, and refused later. */
export function routableUrl(request: { readonly url?: string | undefined }): string {
  const { url = "" } = request;
  if (!url.includes("%")) return url;
  try {
    decodeURIComponent(pathOf(url));
    return url;
  } catch {
    broken.add(request);
    return pathOf(url).replaceAll("%", "%25");
  }
}

export function refuseBrokenPath(request: object): void {
  if (broken.has(request)) throw new Refusal("encoding_invalid", "The path is not valid percent-encoded UTF-8.");
}

/** The paths of all routes, for telling an unknown path from a known one with another method. */
export class KnownPaths {
  readonly #patterns: RegExp[] = [];

  add(url: string): void {
    const parts = url.split("/").map((part) => (part.startsWith(":") ? "[^/]+" : part === "*" ? ".*" : RegExp.escape(part)));
    this.#patterns.push(new RegExp(`^${parts.join("/")}/?$`));
  }

  isKnown(url: string | undefined): boolean {
    const path = pathOf(url);
    return this.#patterns.some((pattern) => pattern.test(path));
  }

  /** Why no route took this request. */
  refusal(method: string, url: string | undefined): Refusal {
    if (method === "GET" || method === "HEAD" || !this.isKnown(url)) {
      return new Refusal("route_unknown", "There is nothing at this path. The interface is described at /docs.");
    }
    return new Refusal("method_not_allowed", `${method.slice(0, 20)} is not possible here; this path answers GET and HEAD.`);
  }
}
