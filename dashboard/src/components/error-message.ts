// Errors in words for the user.

import { ApiError } from "../../../client/src/index.ts";

export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  // The message of an error about fields repeats the first of them.
  if (error.errors.length === 0) return error.message;
  const fields = error.errors.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`));
  return fields.map((text) => (/[.?]$/.test(text) ? text : `${text}.`)).join(" ");
}
