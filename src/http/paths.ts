// URLs: path and query, which paths exist with which methods, and what of a path may be logged.

import { RequestError } from "../domain/errors.ts";

/** Also accepts the absolute form that proxies use. */
export function pathOf(url = ""): string {
  const local = url.startsWith("/") ? url : url.replace(/^[a-z]+:\/\/[^/?]*/i, "");
  const mark = local.indexOf("?");
  return mark === -1 ? local : local.slice(0, mark);
}

export function queryOf(url = ""): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
}

const MAX_LOGGED_LENGTH = 256;

export function loggedPath(url: string): string {
  const path = pathOf(url);
  return path.length > MAX_LOGGED_LENGTH ? `${path.slice(0, MAX_LOGGED_LENGTH)}…` : path;
}

const malformed = new WeakSet<object>();

/** The router rejects malformed percent-encoding before authentication. Such a URL is let through here and rejected later. */
export function routableUrl(request: { readonly url?: string | undefined }): string {
  const { url = "" } = request;
  if (!url.includes("%")) return url;
  try {
    decodeURIComponent(pathOf(url));
    return url;
  } catch {
    malformed.add(request);
    return pathOf(url).replaceAll("%", "%25");
  }
}

export function rejectMalformedPath(request: object): void {
  if (malformed.has(request)) throw malformedPath();
}

const malformedPath = (): RequestError => new RequestError("encoding_invalid", "The path is not valid percent-encoded UTF-8.");

/** Matches the path of a route, with or without a slash at its end, and captures its parameters. */
export function patternOf(path: string): RegExp {
  const parts = path.split("/").map((part) => (part.startsWith(":") ? "([^/]+)" : part === "*" ? ".*" : RegExp.escape(part)));
  return new RegExp(`^${parts.join("/")}/?$`);
}

/** Methods in the order of the header Allow. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** The paths of all routes, to tell an unknown path from a known one with another method. */
export class KnownPaths {
  readonly #known = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  readonly #allowsOptions: boolean;

  constructor(allowsOptions: boolean) {
    this.#allowsOptions = allowsOptions;
  }

  add(path: string, methods: readonly string[]): void {
    const known = this.#known.get(path) ?? { pattern: patternOf(path), methods: new Set() };
    for (const method of methods) known.methods.add(method);
    this.#known.set(path, known);
  }

  isKnown(url: string | undefined): boolean {
    return this.#methodsAt(url).length > 0;
  }

  /** The value of the header Allow. */
  allowed(url: string | undefined): string {
    return [...this.#methodsAt(url), ...(this.#allowsOptions ? ["OPTIONS"] : [])].join(", ");
  }

  /** Why no route matches. */
  error(method: string, url: string | undefined): RequestError {
    const methods = this.#methodsAt(url);
    if (methods.length === 0 || methods.includes(method)) {
      return new RequestError("route_unknown", "No route matches this path. /docs lists all routes.");
    }
    const list = [methods.slice(0, -1).join(", "), ...methods.slice(-1)].filter((part) => part !== "").join(" and ");
    const hint = method === "POST" && list === "GET and HEAD" ? " With curl, add -G to send parameters with GET." : "";
    return new RequestError(
      "method_not_allowed",
      `${method.slice(0, 20)} is not allowed here; this path supports ${list}.${hint}`,
    );
  }

  /** Several patterns may match one path: a fixed name beside an identifier. */
  #methodsAt(url: string | undefined): string[] {
    const path = pathOf(url);
    const matching = [...this.#known.values()].filter(({ pattern }) => pattern.test(path));
    return METHODS.filter((method) => matching.some(({ methods }) => methods.has(method)));
  }
}
