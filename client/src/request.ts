// One request: attempts with a time limit, and retries where repeating the request is safe.

import { ApiError, responseError } from "./error.ts";

/** A row of the generated table. */
export type Operation = {
  /** Where it is in the client, as `manage.tanks.update`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly hasBody?: true;
  /** Executing it twice has the effect of executing it once. */
  readonly isIdempotent?: true;
  /** It is repeatable only if all readings in its body have this field. */
  readonly timeField?: string;
  /** It accepts an idempotency key, which makes it repeatable. */
  readonly acceptsIdempotencyKey?: true;
  /** Its ETag is one for `ifMatch`. */
  readonly isVersioned?: true;
  /** How its whole list is read: by this field, which is a time; by `page`; or by `after`, a sequence number. */
  readonly list?: string;
};

export type RequestOptions = {
  /** Ends the request, its retries, or the iteration. */
  readonly signal?: AbortSignal;
  /** For each attempt. By default that of the client. */
  readonly timeoutMs?: number;
};

export type Settings = {
  readonly fetch: typeof globalThis.fetch;
  readonly credentials: "omit" | "same-origin";
  readonly maxRetries: number;
};

export type Call = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly isIdempotent: boolean;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
};

/** A success, or 304. */
export type Received = { readonly status: number; readonly headers: Headers; readonly text: string };

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** After a longer Retry-After the error is thrown at once. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Timers with more fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const RETRIED_STATUSES: readonly number[] = [408, 502, 503, 504];
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

export async function send(call: Call, settings: Settings): Promise<Received> {
  for (let attempt = 0; ; attempt++) {
    const result = await attemptOnce(call, settings);
    if (!(result instanceof ApiError)) return result;
    if (attempt >= settings.maxRetries || !mayRetry(result, call)) throw result;
    await sleep(delayBefore(attempt, result.retryAfterMs), call.signal);
  }
}

function mayRetry({ code, status, retryAfterMs = 0 }: ApiError, { isIdempotent }: Call): boolean {
  if (retryAfterMs > MAX_RETRY_AFTER_MS || code === "data_damaged") return false;
  // Over a rate limit, nothing has been executed.
  if (status === 429) return true;
  return isIdempotent && (code === "network_error" || code === "timeout" || RETRIED_STATUSES.includes(status));
}

/** Longer after each attempt, and random, so that clients which failed together do not return together. */
function delayBefore(attempt: number, retryAfterMs = 0): number {
  const backoff = Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS);
  return retryAfterMs + backoff * (0.5 + Math.random() / 2);
}

async function attemptOnce(call: Call, { fetch, credentials }: Settings): Promise<Received | ApiError> {
  const { method, url, headers, body, signal, timeoutMs } = call;
  signal?.throwIfAborted();
  // Outside of the attempt: an invalid value is an error of the caller.
  const sent = new Headers(headers);
  const controller = new AbortController();
  const abort = () => controller.abort();
  signal?.addEventListener("abort", abort);
  let isLate = false;
  const timer = setTimeout(
    () => {
      isLate = true;
      abort();
    },
    Math.min(timeoutMs, MAX_TIMER_MS),
  );
  try {
    // A redirect would send the key to another address.
    const request = { method, headers: sent, credentials, redirect: "manual", signal: controller.signal } as const;
    const response = await fetch(url, body === undefined ? request : { ...request, body });
    if (response.type === "opaqueredirect" || REDIRECTS.includes(response.status)) return redirectError(response);
    const text = await response.text();
    const isSuccess = response.ok || (response.status === 304 && "if-none-match" in headers);
    return isSuccess
      ? { status: response.status, headers: response.headers, text }
      : responseError(response.status, response.headers, text);
  } catch (cause) {
    signal?.throwIfAborted();
    return isLate
      ? new ApiError("timeout", `There was no complete response within ${timeoutMs} ms.`)
      : new ApiError("network_error", "The service could not be reached, or the connection was lost.", { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** A browser shows neither the status nor the address. */
function redirectError({ status, headers }: Response): ApiError {
  const address = headers.get("location") ?? "another address";
  return new ApiError("unexpected_response", `There is a redirect to ${address}. Set the right baseUrl.`, { status });
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted === true) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
    if (signal?.aborted === true) end();
  });
}
