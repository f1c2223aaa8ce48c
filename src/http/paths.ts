// Paths: what is known, what is broken, and what of it may be logged.

import { RequestError } from "../domain/errors.ts";

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
  if (broken.has(request)) throw new RequestError("encoding_invalid", "The path is not valid percent-encoded UTF-8.");
}

/** Finds the path of a route, with or without a slash at its end, and captures what stands for its parameters. */
export function patternOf(path: string): RegExp {
  const parts = path.split("/").map((part) => (part.startsWith(":") ? "([^/]+)" : part === "*" ? ".*" : RegExp.escape(part)));
  return new RegExp(`^${parts.join("/")}/?$`);
}

/** In the order in which they are told. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** The paths of all routes, for telling an unknown path from a known one with another method. */
export class KnownPaths {
  readonly #known = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  readonly #preflights: boolean;

  /** `preflights`: OPTIONS is answered too. */
  constructor(preflights: boolean) {
    this.#preflights = preflights;
  }

  add(path: string, methods: readonly string[]): void {
    const known = this.#known.get(path) ?? { pattern: patternOf(path), methods: new Set() };
    for (const method of methods) known.methods.add(method);
    this.#known.set(path, known);
  }

  isKnown(url: string | undefined): boolean {
    return this.#methodsAt(url).length > 0;
  }

  /** What a path answers, as the header Allow tells it. */
  allowed(url: string | undefined): string {
    return [...this.#methodsAt(url), ...(this.#preflights ? ["OPTIONS"] : [])].join(", ");
  }

  /** Why no route took this request. */
  refusal(method: string, url: string | undefined): RequestError {
    const methods = this.#methodsAt(url);
    if (methods.length === 0 || methods.includes(method)) {
      return new RequestError("route_unknown", "There is nothing at this path. The interface is described at /docs.");
    }
    const answered = [methods.slice(0, -1).join(", "), ...methods.slice(-1)].filter((part) => part !== "").join(" and ");
    return new RequestError("method_not_allowed", `${method.slice(0, 20)} is not possible here; this path answers ${answered}.`);
  }

  /** Several patterns may fit one path: a fixed name beside an identifier. */
  #methodsAt(url: string | undefined): string[] {
    const path = pathOf(url);
    const fitting = [...this.#known.values()].filter(({ pattern }) => pattern.test(path));
    return METHODS.filter((method) => fitting.some(({ methods }) => methods.has(method)));
  }
}
