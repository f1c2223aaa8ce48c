// An HTTP client that retries while the service is unreachable, overloaded or without its database; and the transport over it.

import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../domain/errors.ts";
import { isObject, parseJson } from "../domain/validate.ts";
import type { Message } from "./messages.ts";
import type { MessageTransport, SendResult } from "./simulation.ts";

const REQUEST_TIMEOUT_MS = 30_000;
const MIN_RETRY_DELAY_MS = 100;
const MAX_RETRY_DELAY_MS = 5000;
/** A longer `Retry-After` is cut to this. */
const MAX_RETRY_AFTER_MS = 60_000;
/** The service writes concurrent requests in one commit. */
const CONCURRENCY = 32;
const MAX_MESSAGES_PER_REQUEST = 500;

export type HttpResponse = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

type HttpRequest = {
  readonly method?: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly json?: string;
  /** Called before each retry. */
  readonly onRetry?: () => void;
  readonly abort?: AbortSignal | undefined;
};

/** Retries network errors, 429 and 5xx; resolves with every other response. */
export type HttpClient = (request: HttpRequest) => Promise<HttpResponse>;

export function httpClient(url: string, key: string): HttpClient {
  return async (request) => {
    for (let attempt = 0; ; attempt++) {
      const result = await sendOnce(url, key, request);
      if ("status" in result) return result;
      const { retryAfterMs = Math.min(MAX_RETRY_DELAY_MS, MIN_RETRY_DELAY_MS * 2 ** attempt) } = result;
      const { abort } = request;
      await sleep(Math.min(MAX_RETRY_AFTER_MS, retryAfterMs), undefined, abort === undefined ? {} : { signal: abort });
      request.onRetry?.();
    }
  };
}

const CONCURRENT_CALLS = 8;

/** Some at a time. */
export async function forEachConcurrently<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const remaining = Iterator.from(items);
  const worker = async (): Promise<void> => {
    for (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENT_CALLS }, worker));
}

export function unexpectedResponse({ status, body }: HttpResponse, doing: string): UserError {
  const detail = typeof body["detail"] === "string" ? body["detail"] : "no details given";
  const errors = Array.isArray(body["errors"]) ? ` ${JSON.stringify(body["errors"].slice(0, 3))}` : "";
  return new UserError(`${doing}: the service responded with ${status}: ${detail}${errors}`);
}

export function httpTransport(send: HttpClient): MessageTransport {
  return {
    concurrency: CONCURRENCY,
    batchSize: MAX_MESSAGES_PER_REQUEST,
    async deliver(messages, onResend, abort) {
      const readings = messages.reduce((sum, { numbers }) => sum + numbers.length, 0);
      const response = await send({ ...requestFor(messages), method: "POST", onRetry: () => onResend(readings), abort });
      const { results } = response.body;
      if (response.status !== 200 || !Array.isArray(results)) throw unexpectedResponse(response, "sending readings");
      return results as SendResult[];
    },
    close: async () => {},
  };
}

function requestFor(messages: readonly Message[]): { readonly path: string; readonly json: string } {
  const [first] = messages;
  if (first !== undefined && first.format !== "json") return { path: `/ingest/v1/${first.format}`, json: first.text };
  const readings = messages.flatMap((message) =>
    message.format === "json" ? message.readings.map((reading) => ({ device_id: message.device, ...reading })) : [],
  );
  return { path: "/ingest/v1/readings", json: JSON.stringify(readings) };
}

type Retry = { readonly retryAfterMs: number | undefined };

async function sendOnce(url: string, key: string, request: HttpRequest): Promise<HttpResponse | Retry> {
  const { method = "GET", path, json, abort } = request;
  abort?.throwIfAborted();
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const signal = abort === undefined ? timeout : AbortSignal.any([abort, timeout]);
  const headers = { "x-api-key": key, ...(json === undefined ? {} : { "content-type": "application/json" }) };
  try {
    // Redirects are not followed: the key is for this address only.
    const options = { method, headers, signal, redirect: "manual" } as const;
    const response = await fetch(url + path, json === undefined ? options : { ...options, body: json });
    const text = await response.text();
    if (response.status !== 429 && response.status < 500) return { status: response.status, body: parseObject(text) };
    const seconds = retryAfterSeconds(response.headers.get("retry-after"));
    return { retryAfterMs: seconds === undefined ? undefined : seconds * 1000 };
  } catch (error) {
    if (abort?.aborted) throw error;
    return { retryAfterMs: undefined };
  }
}

/** What the service sends as `Retry-After`; undefined for a date, which a proxy may send. */
export function retryAfterSeconds(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}

/** A proxy may respond with anything; what is no JSON object is treated as an empty one. */
function parseObject(text: string): HttpResponse["body"] {
  const value = parseJson(text)?.value;
  return isObject(value) ? value : {};
}
