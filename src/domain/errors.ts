// The catalogue of everything that can be refused, or can go wrong, in front of a caller. Statuses are not known here.

export const CATALOGUE = {
  parameter_unknown: "Unknown parameter",
  parameter_invalid: "Invalid parameter",
  parameter_repeated: "Repeated parameter",
  encoding_invalid: "Broken encoding",
  request_malformed: "Malformed request",
  key_missing: "Missing key",
  key_invalid: "Invalid key",
  key_expired: "Expired key",
  key_revoked: "Revoked key",
  role_insufficient: "Role does not reach this",
  route_unknown: "Unknown route",
  customer_unknown: "Unknown customer",
  tank_unknown: "Unknown tank",
  tank_deleted: "Deleted tank",
  method_not_allowed: "Method not allowed",
  request_timeout: "Request took too long",
  body_too_large: "Body too large",
  url_too_long: "URL too long",
  media_type_unsupported: "Unsupported media type",
  headers_too_large: "Headers too large",
  rate_limited: "Too many requests",
  keys_throttled: "Too many wrong keys",
  internal: "Internal error",
  store_unavailable: "Store unavailable",
} as const;

export type ErrorCode = keyof typeof CATALOGUE;

type More = {
  /** The parameter at fault. */
  readonly param?: string;
  /** Seconds after which trying again makes sense. */
  readonly retryAfter?: number;
  /** What happened, for the operator's log; a caller never sees it. */
  readonly cause?: unknown;
};

/** A refusal: `message` is written for the caller, `cause` for the operator. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, detail: string, more: More = {}) {
    super(detail, { cause: more.cause });
    this.code = code;
    this.param = more.param;
    this.retryAfter = more.retryAfter;
  }
}

export function storeUnavailable(cause: unknown): Refusal {
  return new Refusal("store_unavailable", "The database cannot be reached right now. Try again shortly.", {
    retryAfter: 1,
    cause,
  });
}

/** Something the person at the command line or in the configuration can mend; shown as one line, without a stack. */
export class Complaint extends Error {
  /** 2 where the call itself is wrong, 1 where it failed. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What ended a program, for the person who started it. */
export type LastWords = { readonly words: string; readonly exitCode: 1 | 2 };

export function lastWords(error: unknown): LastWords {
  if (error instanceof Complaint) return { words: error.message, exitCode: error.exitCode };
  if (error instanceof Refusal) {
    return { words: `${error.message} (${error.cause instanceof Error ? error.cause.message : error.code})`, exitCode: 1 };
  }
  const trace = error instanceof Error ? error.stack : error;
  return { words: `this should not have happened. Please report it with what follows.\n${trace}`, exitCode: 1 };
}
