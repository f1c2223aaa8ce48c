// The client: the generated table of operations as nested functions.

import { ResponseCache } from "./cache.ts";
import { ApiError } from "./error.ts";
import { type Client, OPERATIONS } from "./generated.ts";
import { type Fields, iterate, List } from "./list.ts";
import { type Operation, type RequestOptions, type Settings, send } from "./request.ts";

export type ClientOptions = {
  /** URL of the service, such as `https://tanks.example.com`. In a browser the default is the origin of the page. */
  readonly baseUrl?: string;
  /** An API key. Without one, requests to the same origin carry the cookie of the session. */
  readonly key?: string;
  /** For each attempt, unless a request has its own: 30 seconds by default. */
  readonly timeoutMs?: number;
  /** After the first attempt: 3 by default. */
  readonly maxRetries?: number;
  /** Used instead of the global `fetch`, for example to go through a proxy. */
  readonly fetch?: typeof globalThis.fetch;
};

/** The options of a request that are no query parameters. */
type Controls = RequestOptions & { readonly ifMatch?: string | object; readonly idempotencyKey?: string };

export function createClient(options: ClientOptions = {}): Client {
  const { key, timeoutMs = 30_000, maxRetries = 3, fetch = globalThis.fetch } = options;
  const baseUrl = checkedBaseUrl(options.baseUrl);
  // An error of fetch about a header would quote its value.
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) throw new TypeError("key must be printable ASCII without spaces.");
  const settings: Settings = { fetch, credentials: key === undefined ? "same-origin" : "omit", maxRetries };
  const cache = new ResponseCache();
  /** ETags of objects that were received, for `ifMatch`. */
  const versions = new WeakMap<object, string>();

  async function request(operation: Operation, path: string, body: unknown, query: Fields, controls: Controls): Promise<unknown> {
    const { method, acceptsIdempotencyKey = false, isVersioned = false } = operation;
    const url = baseUrl + path + queryString(query);
    const cached = method === "GET" ? cache.get(url) : undefined;
    const headers = withoutUndefined({
      accept: "application/json",
      "x-api-key": key,
      "content-type": body === undefined ? undefined : "application/json",
      "idempotency-key": acceptsIdempotencyKey ? (controls.idempotencyKey ?? randomKey()) : undefined,
      "if-match": versionOf(controls.ifMatch),
      "if-none-match": cached?.etag,
    });
    const call = {
      method,
      url,
      headers,
      body: JSON.stringify(body),
      // With `ifMatch`, once it is executed, it would fail because of its own change.
      isIdempotent: acceptsIdempotencyKey || (isIdempotent(operation, body) && controls.ifMatch === undefined),
      signal: controls.signal,
      timeoutMs: controls.timeoutMs ?? timeoutMs,
    };
    const received = await send(call, settings);
    if (received.status === 304) return cached?.body;
    const result = parseBody(received.text, received.status);
    const etag = received.headers.get("etag");
    if (etag !== null && isVersioned && typeof result === "object" && result !== null) versions.set(result, etag);
    const isStorable = !(received.headers.get("cache-control") ?? "").includes("no-store");
    if (etag !== null && method === "GET" && isStorable) cache.set(url, { etag, body: result, length: received.text.length });
    return result;
  }

  function versionOf(given: string | object | undefined): string | undefined {
    if (typeof given !== "object") return given;
    const etag = versions.get(given);
    if (etag === undefined) throw new TypeError("ifMatch must be an ETag, or an object just as it was retrieved to be changed.");
    return etag;
  }

  function callOf(operation: Operation): (...given: readonly unknown[]) => unknown {
    const { path, hasBody = false, list } = operation;
    const parts = path.split(/\{\w+\}/);
    return (...given) => {
      const ids = given.slice(0, parts.length - 1);
      const [body, options] = hasBody ? given.slice(ids.length) : [undefined, given[ids.length]];
      const { signal, timeoutMs: limit, ifMatch, idempotencyKey, ...query } = (options ?? {}) as Controls & Fields;
      const controls = withoutUndefined({ signal, timeoutMs: limit, ifMatch, idempotencyKey }) as Controls;
      const read = async (of: Fields) => request(operation, pathWith(parts, ids), body, of, controls);
      return list === undefined
        ? read(query)
        : new List(
            () => read(query),
            () => iterate(read, query, list, signal),
          );
    };
  }

  return nested(OPERATIONS.map((operation) => [operation.name, callOf(operation)])) as Client;
}

/** A reading without a time would become another one. */
function isIdempotent({ isIdempotent, timeField }: Operation, body: unknown): boolean {
  if (isIdempotent !== true || timeField === undefined) return isIdempotent === true;
  return [body].flat().every((item) => isObject(item) && item[timeField] != null);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

/** Errors of `URL` and `fetch` would quote a password in it. */
function checkedBaseUrl(given = ""): string {
  if (given === "" && !("location" in globalThis)) throw new TypeError("baseUrl must be given outside of a browser.");
  if (given !== "" && !/^https?:\/\/[^@?#\s]+$/.test(given)) {
    throw new TypeError("baseUrl must begin with http:// or https://, and have no user, query or fragment.");
  }
  return given.replace(/\/+$/, "");
}

function pathWith(parts: readonly string[], ids: readonly unknown[]): string {
  // An empty id would be the path of the list, and dots are resolved before a request is sent.
  const isInvalid = ids.some((id) => typeof id !== "string" || /^\.{0,2}$/.test(id));
  if (ids.length < parts.length - 1 || isInvalid) throw new TypeError('An id must be a text other than "", "." and "..".');
  return parts.reduce((path, part, index) => path + encodeURIComponent(String(ids[index - 1])) + part);
}

function queryString(query: Fields): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

function parseBody(text: string, status: number): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError("unexpected_response", "The response is not JSON: is this the address of Tank Monitor?", {
      status,
      cause,
    });
  }
}

/** Not `crypto.randomUUID`, which browsers have on secure pages only. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function withoutUndefined<T>(fields: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, T] => entry[1] !== undefined));
}

/** `[["manage.tanks.update", f]]` as `{ manage: { tanks: { update: f } } }`. */
function nested(members: readonly (readonly [string, unknown])[]): object {
  const root: Record<string, unknown> = {};
  for (const [name, value] of members) {
    const names = name.split(".");
    const last = names.pop() ?? "";
    let place = root;
    for (const part of names) {
      place[part] ??= {};
      place = place[part] as Record<string, unknown>;
    }
    place[last] = value;
  }
  return root;
}
