// The headers that writes may carry: one that makes a repetition harmless, one that keeps two writers apart.

import { RequestError } from "../domain/errors.ts";
import { NOTHING_CARRIED } from "./perform.ts";
import type { RequestHeaders, Route } from "./route.ts";

/** Every value that came under each name, apart. */
type Given = { readonly headersDistinct: Readonly<Record<string, readonly string[] | undefined>> };

export function headersFor({ takes }: Route, request: Given): RequestHeaders {
  if (takes === undefined) return NOTHING_CARRIED.headers;
  const given = request.headersDistinct;
  return {
    idempotencyKey: takes.includes("Idempotency-Key") ? idempotencyKey(given["idempotency-key"]) : undefined,
    // A list of tags may come in several lines.
    ifMatch: takes.includes("If-Match") ? given["if-match"]?.join(", ") : undefined,
  };
}

function idempotencyKey(given: readonly string[] | undefined): string | undefined {
  if (given === undefined) return undefined;
  const [key = "", ...more] = given;
  if (more.length === 0 && /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new RequestError(
    "idempotency_key_invalid",
    more.length > 0
      ? "Idempotency-Key is given more than once; a request has one."
      : "Idempotency-Key must have 1 to 255 characters, all of them printable ASCII.",
  );
}
