// Requests to a running service over HTTP, with retries, and clear messages for whatever may fail in between.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { UserError } from "../domain/errors.ts";
import { isDotSegment } from "../domain/id.ts";
import { isWellFormedSecret, maskLongSecrets } from "../domain/key.ts";
import { quoted } from "../domain/text.ts";
import { parseJson } from "../domain/validate.ts";
import { clean } from "./output.ts";
import { queryString, retryAfter, type ServiceRequest, type ServiceResponse } from "./service.ts";

const TIMEOUT_MS = 120_000;
const MAX_ATTEMPTS = 4;
/** A service that requests a longer delay is reported instead. */
const MAX_RETRY_DELAY_S = 3;
const RECONNECT_DELAY_S = 0.5;
const GZIP_FROM_CHARACTERS = 65_536;

const compress = promisify(gzip);

type Endpoint = { readonly base: string; readonly key: string };

export function sendToService(url: string, key: string | null): (request: ServiceRequest) => Promise<ServiceResponse> {
  const endpoint = { base: baseUrl(url), key: checkedKey(key) };
  return async (request) => checkedResponse(endpoint.base, await sendWithRetries(endpoint, request));
}

function baseUrl(given: string): string {
  const url = /^https?:\/\//i.test(given) && URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined) throw new UserError(`--url must be a URL such as https://tanks.example.com, not ${quoted(given)}`, 2);
  if (url.username !== "" || url.password !== "") {
    throw new UserError("--url must not contain a user name or password. Set the key in TANK_MONITOR_KEY", 2);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** Messages never repeat the key. */
function checkedKey(key: string | null): string {
  if (key === null || key === "") {
    throw new UserError("a running service needs a key: set TANK_MONITOR_KEY, or use --key", 2);
  }
  if (!isWellFormedSecret(key)) throw new UserError("the key for --url is mistyped or truncated", 2);
  return key;
}

/** The connection ended before the response: the request may have been executed or not. */
class ConnectionLost extends UserError {}

async function sendWithRetries(endpoint: Endpoint, request: ServiceRequest): Promise<ServiceResponse> {
  if (request.path.split("/").some(isDotSegment)) {
    throw new UserError('the id "." or ".." cannot be part of a URL. Run this command on the database, without --url');
  }
  const url = `${request.path}?${queryString(request)}`;
  if (maskLongSecrets(url) !== url) {
    // Proxies log URLs.
    throw new UserError(
      'this is the secret of a key, not an id. "npx tank-monitor key list" shows the ids; "key revoke" also accepts the secret where the database is, without --url',
      2,
    );
  }
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const headers = request.sendsIdempotencyKey === true ? { "idempotency-key": randomUUID() } : {};
  for (let attempt = 1; ; attempt++) {
    const result = await send(endpoint, request, body, headers);
    const isLost = result instanceof ConnectionLost;
    const seconds = isLost ? RECONNECT_DELAY_S : (retryAfter(result) ?? 1);
    const isRetried = attempt < MAX_ATTEMPTS && seconds <= MAX_RETRY_DELAY_S && isRetryable(result, request);
    if (isRetried) await sleep(seconds * 1000);
    else if (isLost) throw result;
    else return result;
  }
}

function isRetryable(result: ServiceResponse | ConnectionLost, { notIdempotent }: ServiceRequest): boolean {
  if (result instanceof ConnectionLost || result.status === 503) return notIdempotent !== true;
  return result.status === 429;
}

async function send(
  { base, key }: Endpoint,
  request: ServiceRequest,
  body: string | undefined,
  extraHeaders: object,
): Promise<ServiceResponse | ConnectionLost> {
  const query = queryString(request);
  const isLarge = body !== undefined && body.length >= GZIP_FROM_CHARACTERS;
  const headers = {
    "x-api-key": key,
    accept: "application/json, application/problem+json",
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(isLarge ? { "content-encoding": "gzip" } : {}),
    ...extraHeaders,
  };
  try {
    const response = await fetch(`${base}${request.path}${query === "" ? "" : `?${query}`}`, {
      method: request.method,
      headers,
      // The key must not be sent to another host.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: isLarge ? await compress(body) : body }),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: parseJson(await response.text())?.value,
    };
  } catch (error) {
    return connectionError(base, request, error);
  }
}

/** Anything but JSON comes from a proxy, or from something other than Tank Monitor. */
function checkedResponse(base: string, response: ServiceResponse): ServiceResponse {
  const { status, headers, body } = response;
  const location = headers["location"] ?? "";
  if (status >= 300 && status < 400 && location !== "") {
    throw new UserError(`${base} redirects to ${quoted(location)}. If that is right, use it as --url`);
  }
  const mediaType = (headers["content-type"] ?? "").split(";")[0] ?? "";
  if (status === 204 || (body !== undefined && /^application\/(?:problem\+)?json$/i.test(mediaType))) return response;
  const source = status >= 500 ? "a proxy that cannot reach the service, or another server," : "another server";
  const what = `HTTP ${status} with ${mediaType === "" ? "no media type" : quoted(mediaType)} instead of JSON`;
  throw new UserError(`${source} responds at ${base}: ${what}. Is --url right?`);
}

/** `error` is what `fetch` threw. Everything but a lost connection is thrown. */
function connectionError(base: string, { method }: ServiceRequest, error: unknown): ConnectionLost {
  const { code } = causeOf(error);
  const unsure = method === "GET" ? "" : " The change may have been made: check, or run the command again";
  if (["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(code)) {
    return new ConnectionLost(`${base} closed the connection before it responded.${unsure}`);
  }
  if (error instanceof DOMException && error.name === "TimeoutError") {
    throw new UserError(`${base} accepted the request but did not respond in time.${unsure}`);
  }
  throw unreachable(base, error);
}

/** Throws if no HTTP server responds at this URL. */
export async function requireReachable(base: string): Promise<void> {
  try {
    await (await fetch(`${base}/healthz`, { signal: AbortSignal.timeout(TIMEOUT_MS) })).text();
  } catch (error) {
    throw unreachable(base, error);
  }
}

/** `error` is what `fetch` threw. */
function unreachable(base: string, error: unknown): UserError {
  const { cause, code } = causeOf(error);
  const message = clean(cause instanceof Error ? cause.message : String(cause));
  const known = REASONS.find(([pattern]) => pattern.test(code))?.[1];
  return new UserError(known?.(new URL(base), base) ?? `${base} cannot be reached: ${message || code}`);
}

function causeOf(error: unknown): { readonly cause: unknown; readonly code: string } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return { cause, code: String((cause as { code?: unknown }).code ?? "") };
}

/** Messages by error code of Node and OpenSSL. */
const REASONS: readonly [code: RegExp, message: (url: URL, base: string) => string][] = [
  [/^ECONNREFUSED$/, (_, base) => `connection refused by ${base}. Is the service running, and is the port correct?`],
  [/^(ENOTFOUND|EAI_AGAIN)$/, ({ hostname }) => `host ${hostname} not found, or its name cannot be resolved right now`],
  [/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/, ({ host }) => `${host} cannot be reached from here`],
  [
    /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
    ({ host }) => `${host} does not use TLS. Is it http:// instead of https://?`,
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, ({ host }) => `the certificate of ${host} does not match the host name`],
  [/^CERT_HAS_EXPIRED$/, ({ host }) => `the certificate of ${host} has expired`],
  [
    /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|CERT_UNTRUSTED/,
    ({ host }) => `the certificate of ${host} is not trusted. Trust your own with NODE_EXTRA_CA_CERTS=FILE`,
  ],
];
