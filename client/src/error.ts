// What a request can fail with. An abort by the caller's own signal is not here: it rejects with the reason of the signal.

import type { Problem } from "./generated.ts";

/** The codes of the service, and those for requests that got no proper response. */
export type ErrorCode = Problem["code"] | "network_error" | "timeout" | "unexpected_response" | "events_missed";

export type FieldError = { readonly field: string; readonly message: string };

type Details = {
  readonly status?: number;
  readonly param?: string | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
};

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  /** The invalid parameter, if there is one. */
  readonly param: string | undefined;
  /** The invalid fields of the body. */
  readonly errors: readonly FieldError[];
  /** For the operator, who finds it in the log of the service. */
  readonly requestId: string | undefined;
  /** From Retry-After: the time until the request may be repeated. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    { status = 0, param, errors = [], requestId, retryAfterMs, cause }: Details = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.status = status;
    this.param = param;
    this.errors = errors;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The error that a response without success stands for. A proxy in between may have sent anything. */
export function responseError(status: number, headers: Headers, text: string): ApiError {
  const retryAfterMs = retryAfter(headers.get("retry-after"));
  const requestId = headers.get("x-request-id") ?? undefined;
  const problem = parseProblem(text);
  if (problem === undefined) {
    return new ApiError("unexpected_response", `The response has the status ${status}, and is not one of Tank Monitor.`, {
      status,
      requestId,
      retryAfterMs,
    });
  }
  const { code, detail, param, errors, request_id } = problem;
  return new ApiError(code, detail, { status, param, errors, requestId: request_id ?? requestId, retryAfterMs });
}

function parseProblem(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text) as Problem | null;
    return typeof value?.code === "string" && typeof value.detail === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds, or an HTTP date. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}
