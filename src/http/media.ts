// What a body says of itself in its headers: its media type, its charset, its packing.

import { RequestError } from "../domain/errors.ts";
import { quoted } from "../domain/text.ts";
import { type BodyRule, JSON_TYPE, LINES_TYPES } from "./route.ts";

export function typesOf(rule: BodyRule): readonly string[] {
  return rule.kind === "json" ? rule.mediaTypes : [JSON_TYPE, ...LINES_TYPES];
}

/** One of those that the rule takes. An empty `contentType` is one that was not said. */
export function mediaTypeOf(contentType: string, rule: BodyRule): string {
  const [name = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const known = typesOf(rule);
  if (!known.includes(name)) {
    const given = name === "" ? "Content-Type does not say what this is" : `not ${quoted(name)}`;
    throw unsupported(`A body here must be ${known.join(" or ")}; ${given}. With curl, add -H "Content-Type: ${known[0]}".`);
  }
  for (const parameter of parameters) {
    const charset = /^charset\s*=\s*"?([^"]*)"?$/.exec(parameter)?.[1];
    if (charset === undefined || charset === "utf-8" || charset === "utf8") continue;
    throw unsupported(`A body here must be in UTF-8, not ${quoted(charset)}.`);
  }
  return name;
}

export function isPacked(contentEncoding: string | undefined): boolean {
  const encoding = contentEncoding?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return false;
  if (encoding === "gzip" || encoding === "x-gzip") return true;
  throw unsupported(`A body here may be packed with gzip, or not at all; not with ${quoted(encoding)}.`);
}

function unsupported(detail: string): RequestError {
  return new RequestError("media_type_unsupported", detail);
}
