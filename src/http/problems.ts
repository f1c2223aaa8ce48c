// Problem details (RFC 9457): the only place that knows which status a refusal has, and what a caller sees of it.

import { ERROR_TITLES, type ErrorCode, RequestError } from "../domain/errors.ts";
import { array, integer, object, oneOf, text } from "../domain/schema.ts";

export const STATUS: Readonly<Record<ErrorCode, number>> = {
  parameter_unknown: 400,
  parameter_invalid: 400,
  parameter_repeated: 400,
  encoding_invalid: 400,
  request_malformed: 400,
  body_missing: 400,
  body_malformed: 400,
  body_invalid: 400,
  idempotency_key_invalid: 400,
  key_missing: 401,
  key_invalid: 401,
  key_expired: 401,
  key_revoked: 401,
  role_insufficient: 403,
  route_unknown: 404,
  customer_unknown: 404,
  tank_unknown: 404,
  tank_deleted: 404,
  device_unknown: 404,
  key_unknown: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  device_in_use: 409,
  customer_has_tanks: 409,
  id_taken: 409,
  state_conflict: 409,
  precondition_failed: 412,
  body_too_large: 413,
  url_too_long: 414,
  media_type_unsupported: 415,
  idempotency_key_reused: 422,
  rate_limited: 429,
  keys_throttled: 429,
  headers_too_large: 431,
  internal: 500,
  store_unavailable: 503,
  overloaded: 503,
};

export const PROBLEM_MEDIA_TYPE = "application/problem+json";

const FaultObject = object(
  {
    field: text({ description: "The path of the field; empty for the body as a whole", examples: ["location.latitude"] }),
    message: text({ description: "What is wrong with it", examples: ["must be from -90 to 90"] }),
  },
  { description: "One field at fault" },
);

export const ProblemObject = object(
  {
    type: text({ description: "A name for this kind of problem", examples: [typeOf("parameter_invalid")] }),
    title: text({ description: "The kind of problem, in words", examples: [ERROR_TITLES.parameter_invalid] }),
    status: integer({ description: "The HTTP status", examples: [400] }),
    detail: text({
      description: "What is wrong with this request, and what to do",
      examples: ['size must be a whole number from 1 to 100, not "500".'],
    }),
    code: oneOf(Object.keys(ERROR_TITLES), {
      description: "The kind of problem, for programs",
      examples: ["parameter_invalid"],
    }),
    param: text({ description: "The parameter at fault, where there is one", examples: ["size"] }),
    errors: array(FaultObject, { description: "The fields of the body at fault, where there are some" }),
    request_id: text({
      description: "The request's id, also in X-Request-Id and in the service's log",
      examples: ["kQ3vY2m8Zt0x-00001hs"],
    }),
  },
  { description: "Problem details (RFC 9457)" },
  ["param", "errors"],
);

/** The body of a refusal. Only the words written for the caller leave the house. */
export function problemOf(refusal: RequestError, requestId: string) {
  return {
    type: typeOf(refusal.code),
    title: ERROR_TITLES[refusal.code],
    status: STATUS[refusal.code],
    detail: refusal.message,
    code: refusal.code,
    param: refusal.param,
    errors: refusal.errors,
    request_id: requestId,
  };
}

export function problemBody(refusal: RequestError, requestId: string): string {
  return JSON.stringify(problemOf(refusal, requestId));
}

function typeOf(code: ErrorCode): string {
  return `urn:tank-monitor:problem:${code}`;
}

/** Headers that belong to a refusal, whichever way it is written to the connection. */
export function problemHeaders(refusal: RequestError): Record<string, string> {
  const headers: Record<string, string> = { "content-type": `${PROBLEM_MEDIA_TYPE}; charset=utf-8`, "cache-control": "no-store" };
  if (STATUS[refusal.code] === 401) headers["www-authenticate"] = 'ApiKey realm="tank-monitor", header="X-API-Key"';
  if (refusal.retryAfter !== undefined) headers["retry-after"] = String(refusal.retryAfter);
  return headers;
}

/** Whatever was thrown, as a refusal. What is not one is our fault, and its words are not for the caller. */
export function refusalOf(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  return new RequestError("internal", "Something went wrong on our side. The request id helps the operator find it.", {
    cause: error,
  });
}
