// The catalogue of errors that a caller may get. HTTP statuses are not known here.

export const ERROR_TITLES = {
  parameter_unknown: "Unknown parameter",
  parameter_invalid: "Invalid parameter",
  parameter_repeated: "Repeated parameter",
  encoding_invalid: "Invalid encoding",
  request_malformed: "Malformed request",
  body_missing: "Missing body",
  body_malformed: "Malformed body",
  body_invalid: "Invalid body",
  idempotency_key_invalid: "Invalid idempotency key",
  key_missing: "Missing key",
  key_invalid: "Invalid key",
  key_expired: "Expired key",
  key_revoked: "Revoked key",
  session_missing: "Not signed in",
  session_ended: "Session has ended",
  account_changed: "Another account has signed in",
  sign_in_invalid: "Invalid link or code",
  role_insufficient: "Insufficient role",
  origin_not_allowed: "Origin not allowed",
  route_unknown: "Unknown route",
  customer_unknown: "Unknown customer",
  tank_unknown: "Unknown tank",
  tank_deleted: "Deleted tank",
  device_unknown: "Unknown device",
  key_unknown: "Unknown key",
  alert_unknown: "Unknown alert",
  channel_unknown: "Unknown channel",
  notification_unknown: "Unknown notification",
  user_unknown: "Unknown user",
  session_unknown: "Unknown session",
  method_not_allowed: "Method not allowed",
  request_timeout: "Request timeout",
  device_in_use: "Device in use",
  customer_has_tanks: "Customer has tanks",
  id_taken: "Id already in use",
  state_conflict: "Conflict with the current state",
  precondition_failed: "Precondition failed",
  body_too_large: "Body too large",
  url_too_long: "URL too long",
  media_type_unsupported: "Unsupported media type",
  idempotency_key_reused: "Idempotency key already used",
  headers_too_large: "Headers too large",
  rate_limited: "Too many requests",
  keys_throttled: "Too many wrong keys",
  internal: "Internal error",
  store_unavailable: "Database unavailable",
  data_damaged: "Damaged data",
  overloaded: "Overloaded",
} as const;

export type ErrorCode = keyof typeof ERROR_TITLES;

/** What is wrong with one field of a body, by its path: `location.latitude`, `points[3].height`; "" is the whole of it. */
export type FieldError = { readonly field: string; readonly message: string };

type ErrorDetails = {
  /** The invalid parameter. */
  readonly param?: string;
  /** The invalid fields. */
  readonly errors?: readonly FieldError[];
  /** Seconds after which to retry. */
  readonly retryAfter?: number;
  /** What happened, for the operator's log; a caller never sees it. */
  readonly cause?: unknown;
};

/** `message` is written for the caller, `cause` for the operator. */
export class RequestError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly errors: readonly FieldError[] | undefined;
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, detail: string, more: ErrorDetails = {}) {
    super(detail, { cause: more.cause });
    this.code = code;
    this.param = more.param;
    this.errors = more.errors;
    this.retryAfter = more.retryAfter;
  }
}

/** Of SQLite, PostgreSQL and the file system. Errors of another thread have lost their code. */
const DISK_FULL = /database or disk is full|no space left on device|disk quota exceeded/i;
const POSTGRES_DISK_FULL = "53100";

export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return DISK_FULL.test(error.message) || ("code" in error && error.code === POSTGRES_DISK_FULL);
}

export function storeUnavailable(cause: unknown): RequestError {
  const what = isDiskFull(cause) ? "The disk of the database is full." : "The database cannot be reached right now.";
  return new RequestError("store_unavailable", `${what} Try again shortly.`, { retryAfter: 1, cause });
}

export function dataDamaged(cause: unknown): RequestError {
  return new RequestError("data_damaged", "Stored data of this object is damaged. The operator has to restore it.", {
    retryAfter: 60,
    cause,
  });
}

export const hasCode = (error: unknown, code: ErrorCode): error is RequestError =>
  error instanceof RequestError && error.code === code;

/** Stored data is damaged: bytes on disk are not what was written. Other data is not affected. */
export class DamageError extends Error {
  /** The tank whose head is damaged. */
  readonly tankId: string | undefined;

  constructor(message: string, { tankId, ...options }: ErrorOptions & { readonly tankId?: string } = {}) {
    super(message, options);
    this.tankId = tankId;
  }
}

/** An error that the person at the command line can correct; shown as one line, without a stack. */
export class UserError extends Error {
  /** 2 where the call itself is wrong, 1 where it failed. */
  readonly exitCode: 1 | 2;
  /** `schema_mismatch`: the database was created by another version. */
  readonly code: "schema_mismatch" | undefined;

  constructor(message: string, exitCode: 1 | 2 = 1, code?: "schema_mismatch") {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** What ended a program, for the person who started it. */
export type FatalError = { readonly message: string; readonly exitCode: 1 | 2 };

export function describeFatalError(error: unknown): FatalError {
  if (error instanceof UserError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof RequestError) {
    return { message: `${error.message} (${error.cause instanceof Error ? error.cause.message : error.code})`, exitCode: 1 };
  }
  const trace = error instanceof Error ? error.stack : error;
  return { message: `internal error. Please report it with this trace:\n${trace}`, exitCode: 1 };
}
