// The content of a write: from the bytes on a connection to the JSON that a route takes. What is refused is refused as early
// as it is known: by its headers, while it arrives, while it is unpacked, by a look at its text.

import type { IncomingMessage } from "node:http";
import { RequestError } from "../domain/errors.ts";
import { MAX_JSON_DEPTH, measureJson, TOO_DEEP } from "../domain/json.ts";
import { invalidBody } from "../domain/validate.ts";
import { bytesOf, plainUtf8, textOf, tooLarge, unpacked } from "./bytes.ts";
import { goOn } from "./continue.ts";
import type { Item } from "./doors.ts";
import { faultInJson } from "./json-fault.ts";
import { linesOf } from "./lines.ts";
import { isPacked, mediaTypeOf, typesOf } from "./media.ts";
import { NOTHING_CARRIED } from "./perform.ts";
import type { Share } from "./room.ts";
import { type BodyRule, type Carried, LINES_TYPES, type ReadingsRule } from "./route.ts";

export type Content = Pick<Carried, "body" | "items">;

/** `contentType` as the sender wrote it. */
export async function contentOf(raw: IncomingMessage, contentType: string, rule: BodyRule, share: Share): Promise<Content> {
  const { "content-length": length, "transfer-encoding": chunked, "content-encoding": encoding } = raw.headers;
  if (chunked === undefined && (length === undefined || length === "0")) return noContent(rule);
  const mediaType = mediaTypeOf(contentType, rule);
  const packed = isPacked(encoding);
  if (Number(length) > rule.maxBytes) throw tooLarge(`A body here may have at most ${rule.maxBytes} bytes.`);
  goOn(raw);
  const bytes = (await bytesOf(raw, rule.maxBytes, share)).handOver();
  if (bytes.length === 0) return noContent(rule);
  const whole = packed ? await unpacked(bytes, rule.maxBytes, share) : bytes;
  if (rule.kind === "readings" && LINES_TYPES.includes(mediaType)) return linesIn(whole, rule, share);
  takeValues(valuesIn(whole, rule), share);
  return contentOfValue(jsonIn(textOf(whole), rule), rule);
}

/** An honest body of the largest size has fewer. */
const mostValues = ({ maxBytes }: BodyRule): number => maxBytes / 16;
/** What a body becomes is held until the store has answered. */
const takeValues = (values: number, share: Share): void => share.take(values * 32);

/** How many values there are; refused where they are too many or too deep to be read. */
function valuesIn(bytes: Buffer, rule: BodyRule): number {
  const most = mostValues(rule);
  const { values, levels, entries } = measureJson(bytes, most);
  if (levels > MAX_JSON_DEPTH) throw invalidBody([{ field: "", message: TOO_DEEP }]);
  if (rule.kind === "readings" && entries > rule.maxItems) throw tooMany(rule.maxItems);
  if (values > most) throw tooManyValues(most);
  return values;
}

export function noContent(rule: BodyRule): Content {
  if (rule.kind === "json" && rule.optional === true) return NOTHING_CARRIED;
  throw new RequestError("body_missing", `A body is needed here: ${typesOf(rule).join(" or ")}.`);
}

/** Of a value that is JSON already. */
export function contentOfValue(value: unknown, rule: BodyRule): Content {
  if (rule.kind === "json") return { body: value, items: [] };
  if (typeof value !== "object" || value === null) {
    throw invalidBody([{ field: "", message: "must be one reading or a list of them" }]);
  }
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.length > rule.maxItems) throw tooMany(rule.maxItems);
  return { body: undefined, items: values.map((one) => ({ value: one })) };
}

function jsonIn(text: string, rule: BodyRule): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const lines = rule.kind === "readings" ? ` One object a line is ${LINES_TYPES[0]}.` : "";
    throw new RequestError("body_malformed", `The body is not JSON: ${faultInJson(text)}.${lines}`);
  }
}

/** A line that cannot be read is refused by itself; those around it are not. */
function linesIn(bytes: Buffer, rule: ReadingsRule, share: Share): Content {
  const items: Item[] = [];
  let left = mostValues(rule);
  for (const { line, number } of linesOf(plainUtf8(bytes))) {
    if (items.length === rule.maxItems) throw tooMany(rule.maxItems);
    const { values, levels } = measureJson(line, left);
    left -= values;
    if (left < 0) throw tooManyValues(mostValues(rule));
    items.push(levels > MAX_JSON_DEPTH ? { unreadable: TOO_DEEP } : itemIn(line.toString(), number));
  }
  takeValues(mostValues(rule) - left, share);
  return { body: undefined, items };
}

function itemIn(line: string, number: number): Item {
  try {
    return { value: JSON.parse(line) };
  } catch {
    return { unreadable: `is not JSON: ${faultInJson(line, number)}` };
  }
}

function tooMany(maxItems: number): RequestError {
  return tooLarge(`A body here may have at most ${maxItems} readings.`);
}

function tooManyValues(most: number): RequestError {
  return tooLarge(`A body here may have at most ${most} values.`);
}
