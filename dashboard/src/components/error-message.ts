// Errors in words for the user.

import { ApiError } from "../../../client/src/index.ts";
import { counted } from "../format.ts";

export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  // The message of an error about fields repeats the first of them.
  if (error.errors.length === 0) return error.status === 429 ? limitMessage(error) : error.message;
  const fields = error.errors.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`));
  return fields.map((text) => (/[.?]$/.test(text) ? text : `${text}.`)).join(" ");
}

/** For programs. People see no headers. */
const HEADER_HINT = / Retry after the time in Retry-After\.$/;

/** "Too many requests. Try again in 3 minutes." */
function limitMessage({ message, retryAfterMs }: ApiError): string {
  const seconds = Math.ceil((retryAfterMs ?? 0) / 1000);
  const wait = seconds <= 60 ? counted(seconds, "second") : counted(Math.ceil(seconds / 60), "minute");
  return `${message.replace(HEADER_HINT, "")} Try again ${seconds === 0 ? "later" : `in ${wait}`}.`;
}
