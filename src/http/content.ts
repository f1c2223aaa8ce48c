// The content of a request body: from its bytes to the JSON that a route takes. A body is rejected as early as possible: by its
// headers, while it arrives, while it is decompressed, or by its structure before it is parsed.

import type { IncomingMessage } from "node:http";
import { RequestError } from "../domain/errors.ts";
import { forEachInSteps } from "../domain/fair-queue.ts";
import type { ReadingItem } from "../domain/reading.ts";
import { printable, quoted } from "../domain/text.ts";
import {
  invalidBody,
  MAX_JSON_DEPTH,
  MAX_JSON_FIELDS,
  measureJson,
  measureJsonInSteps,
  TOO_DEEP,
  TOO_MANY_FIELDS,
} from "../domain/validate.ts";
import { bodyTooLarge, gunzip, type Reservation, readBytes, sendContinue, stripBom } from "./body.ts";
import { type BodyRule, JSON_TYPE, NDJSON_TYPES, NO_CONTENT, type ReadingsBodyRule, type RequestContent } from "./route.ts";

type Content = Pick<RequestContent, "body" | "items">;

/** `contentType` as the client sent it. */
export async function readContent(
  raw: IncomingMessage,
  contentType: string,
  rule: BodyRule,
  reservation: Reservation,
): Promise<Content> {
  const { "content-length": length, "transfer-encoding": chunked, "content-encoding": encoding } = raw.headers;
  if (chunked === undefined && (length === undefined || length === "0")) return emptyContent(rule);
  const mediaType = acceptedMediaType(contentType, rule);
  const isCompressed = isGzip(encoding);
  const tooLarge = () => bodyTooLarge(`The request body may have at most ${rule.maxBytes} bytes.`);
  if (Number(length) > rule.maxBytes) throw tooLarge();
  sendContinue(raw);
  const received = await readBytes(raw, rule.maxBytes, tooLarge, reservation);
  if (received.length === 0) return emptyContent(rule);
  const bytes = stripBom(isCompressed ? await gunzip(received, rule.maxBytes, reservation) : received);
  const isLines = rule.kind === "readings" && NDJSON_TYPES.includes(mediaType);
  const steps = isLines ? collectItems(parseLines(bytes, rule, reservation)) : parseValue(bytes, rule, reservation);
  if (bytes.length <= PARSED_AT_ONCE_BYTES) return completed(steps);
  await reservation.startLarge();
  return reservation.runInSteps(steps);
}

type Steps<T> = Generator<undefined, T>;

/** Takes less than 0.2 ms. */
const PARSED_AT_ONCE_BYTES = 16_384;

function completed<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function* parseValue(bytes: Buffer, rule: BodyRule, reservation: Reservation): Steps<Content> {
  const size = yield* measureJsonInSteps(bytes, maxValues(rule));
  checkSize(size, rule);
  reserveParsed(size, rule, reservation);
  if (rule.kind === "json" || size.cuts.length === 0) return contentOfValue(parseJson(bytes.toString(), rule), rule);
  return yield* collectItems(parsePieces(bytes, size));
}

function acceptedTypes(rule: BodyRule): readonly string[] {
  return rule.kind === "json" ? rule.mediaTypes : [JSON_TYPE, ...NDJSON_TYPES];
}

function acceptedMediaType(contentType: string, rule: BodyRule): string {
  const [name = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const accepted = acceptedTypes(rule);
  if (!accepted.includes(name)) {
    const given = name === "" ? "Content-Type is missing" : `not ${quoted(name)}`;
    throw unsupported(
      `The request body must be ${accepted.join(" or ")}; ${given}. With curl, add -H "Content-Type: ${accepted[0]}".`,
    );
  }
  for (const parameter of parameters) {
    const [attribute = "", ...value] = parameter.split("=");
    const charset = value.join("=").trim();
    if (attribute.trim() !== "charset" || UTF_8.includes(charset)) continue;
    throw unsupported(`The request body must be in UTF-8, not ${quoted(charset)}.`);
  }
  return name;
}

const UTF_8 = ["utf-8", "utf8", '"utf-8"', '"utf8"'];

function isGzip(contentEncoding: string | undefined): boolean {
  const encoding = contentEncoding?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return false;
  if (encoding === "gzip" || encoding === "x-gzip") return true;
  throw unsupported(`The request body may be compressed with gzip only, not with ${quoted(encoding)}.`);
}

const unsupported = (detail: string): RequestError => new RequestError("media_type_unsupported", detail);

/** More than any reasonable body of the largest size has. */
const maxValues = ({ maxBytes }: BodyRule): number => maxBytes / 16;
/** More than a reading with the longest payload has. One reading is parsed at once. */
const MAX_VALUES_OF_READING = 10_000;
/** Parsed values, and readings on their way to the store, are held until it has responded. */
const VALUE_BYTES = 32;
const READING_BYTES = 1024;

type Size = ReturnType<typeof measureJson>;

function reserveParsed({ values, entries }: Pick<Size, "values" | "entries">, rule: BodyRule, reservation: Reservation): void {
  reservation.reserve(values * VALUE_BYTES + (rule.kind === "readings" ? entries * READING_BYTES : 0));
}

function checkSize({ values, depth, fields, entries, longestEntry }: Size, rule: BodyRule): void {
  if (depth > MAX_JSON_DEPTH) throw invalidBody([{ field: "", message: TOO_DEEP }]);
  if (fields > MAX_JSON_FIELDS) throw invalidBody([{ field: "", message: TOO_MANY_FIELDS }]);
  if (rule.kind === "readings" && entries > rule.maxItems) throw tooManyReadings(rule.maxItems);
  if (values > maxValues(rule)) throw tooManyValues(maxValues(rule));
  if (rule.kind === "readings" && longestEntry > MAX_VALUES_OF_READING) {
    throw bodyTooLarge(`A reading may have at most ${MAX_VALUES_OF_READING} values.`);
  }
}

export function emptyContent(rule: BodyRule): Content {
  if (rule.kind === "json" && rule.optional === true) return NO_CONTENT;
  throw new RequestError("body_missing", `A body is required: ${acceptedTypes(rule).join(" or ")}.`);
}

export function contentOfValue(value: unknown, rule: BodyRule): Content {
  if (rule.kind === "json") return { body: value, items: [] };
  if (typeof value !== "object" || value === null) {
    throw invalidBody([{ field: "", message: "must be one reading or a list of them" }]);
  }
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.length > rule.maxItems) throw tooManyReadings(rule.maxItems);
  return { body: undefined, items: values.map((one) => ({ value: one })) };
}

function parseJson(text: string, rule: BodyRule): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const hint = rule.kind === "readings" ? ` One object per line is ${NDJSON_TYPES[0]}.` : "";
    throw bodyMalformed(`${printable((error as Error).message, 200)}.${hint}`);
  }
}

const bodyMalformed = (reason: string): RequestError => new RequestError("body_malformed", `The body is not JSON: ${reason}`);

function* collectItems(parts: Iterable<readonly ReadingItem[]>): Steps<Content> {
  const items: ReadingItem[] = [];
  yield* forEachInSteps(parts, (part) => items.push(...part));
  return { body: undefined, items };
}

/** The entries of a list, some at a time: those between two cuts. */
function* parsePieces(bytes: Buffer, { cuts }: Size): Generator<ReadingItem[]> {
  let from = 0;
  let entriesBefore = 0;
  for (const { at, entriesBefore: next } of [...cuts, { at: bytes.length, entriesBefore: 0 }]) {
    // Each piece with a further entry in place of the rest, so that it is JSON only if the whole list is.
    const text = `${from === 0 ? "" : "[0,"}${bytes.toString("utf8", from, at)}${at === bytes.length ? "" : ",0]"}`;
    const values = parsePiece(text, entriesBefore);
    yield values.slice(from === 0 ? 0 : 1, at === bytes.length ? undefined : -1).map((value) => ({ value }));
    from = at + 1;
    entriesBefore = next;
  }
}

function parsePiece(text: string, entriesBefore: number): unknown[] {
  try {
    const values: unknown = JSON.parse(text);
    if (Array.isArray(values)) return values;
  } catch (error) {
    const [reason = ""] = (error as Error).message.split(" at position ");
    throw bodyMalformed(`${printable(reason, 200)}, after reading ${entriesBefore}.`);
  }
  throw bodyMalformed("it is not a list.");
}

/** A malformed line is rejected by itself. */
function* parseLines(bytes: Buffer, rule: ReadingsBodyRule, reservation: Reservation): Generator<ReadingItem[]> {
  let entries = 0;
  let remaining = maxValues(rule);
  for (const { line, number } of linesOf(bytes)) {
    if (line === undefined) {
      yield [];
      continue;
    }
    if (entries++ === rule.maxItems) throw tooManyReadings(rule.maxItems);
    const { values, depth, fields } = measureJson(line, Math.min(remaining, MAX_VALUES_OF_READING));
    remaining -= values;
    if (remaining < 0) throw tooManyValues(maxValues(rule));
    reserveParsed({ values, entries: 1 }, rule, reservation);
    if (values > MAX_VALUES_OF_READING) yield [{ unreadable: `must have at most ${MAX_VALUES_OF_READING} values` }];
    else if (fields > MAX_JSON_FIELDS) yield [{ unreadable: TOO_MANY_FIELDS }];
    else yield [depth > MAX_JSON_DEPTH ? { unreadable: TOO_DEEP } : parseLine(line.toString(), number)];
  }
}

function parseLine(line: string, number: number): ReadingItem {
  try {
    return { value: JSON.parse(line) };
  } catch (error) {
    return {
      unreadable: `line ${number} is not JSON: ${printable((error as Error).message.replace(/ \(line \d+ column \d+\)$/, ""), 200)}`,
    };
  }
}

const NEWLINE = 0x0a;

/** More blank bytes than these take longer than a step. */
const BLANK_STEP_BYTES = 32_768;

/**
 * The lines that are not blank. Among many blank ones, an undefined line ends a step. A generator, so that a body of newlines costs
 * no more than any other.
 */
function* linesOf(bytes: Buffer): Generator<{ readonly line: Buffer | undefined; readonly number: number }> {
  let start = 0;
  let number = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === NEWLINE) {
      start = at + 1;
      number++;
    }
    if (isJsonWhitespace(byte)) {
      if (at % BLANK_STEP_BYTES === 0) yield { line: undefined, number };
      continue;
    }
    const end = bytes.indexOf(NEWLINE, at);
    at = (end === -1 ? bytes.length : end) - 1;
    yield { line: bytes.subarray(start, at + 1), number };
  }
}

const isJsonWhitespace = (byte: number): boolean => byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;

const tooManyReadings = (max: number): RequestError => bodyTooLarge(`The request body may have at most ${max} readings.`);
const tooManyValues = (max: number): RequestError => bodyTooLarge(`The request body may have at most ${max} values.`);
