// Random requests for every operation of the OpenAPI document: mostly with valid parameters, headers and bodies and a
// sufficient key, sometimes with something else.

import { gzipSync } from "node:zlib";
import fc from "fast-check";
import type { Document, Media, Operation } from "../client.ts";
import {
  hostileText,
  type Kind,
  mostly,
  type Offset,
  type Reference,
  reference,
  validValues,
  valuesFor,
  valuesLike,
} from "./values.ts";

/** Which key or session a request is sent with: a sufficient one, or any, which may also be wrong, expired, revoked or missing. */
export type RequestSender = { readonly isSufficient: boolean; readonly index: number; readonly asBearer: boolean };

type Text = string | Offset | Reference;

export type Body =
  | { readonly kind: "json"; readonly value: unknown; readonly damage: Damage }
  | { readonly kind: "lines"; readonly values: readonly unknown[] }
  | { readonly kind: "bytes"; readonly bytes: Buffer };

/** What happens to the text of a body. */
type Damage = (typeof DAMAGES)[number];

export type GeneratedRequest = {
  readonly operation: Operation & { readonly "x-required-role"?: string; readonly "x-session-role"?: string };
  readonly template: string;
  readonly method: string;
  readonly id: Text | { readonly raw: string };
  readonly parameters: readonly (readonly [name: string, value: unknown])[];
  /** The parameters are sent as a form. */
  readonly isForm: boolean;
  readonly rawQuery: string;
  readonly headers: Readonly<Record<string, Text | readonly string[]>>;
  readonly sender: RequestSender;
  readonly body: Body | undefined;
  readonly contentType: string;
  readonly isCompressed: boolean;
  /** The request is sent again: not at all, afterwards, or at the same time. */
  readonly repeat: "no" | "after" | "at once";
  /** Milliseconds since the request before. */
  readonly pause: number;
};

/** Stands for the ETag of the latest response for this path. */
export const CURRENT_ETAG = "current";

const usually = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  mostly(fc.constant(usual), fc.constantFrom(...others), 30);

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];
const DAMAGES = ["none", "cut off", "followed", "mark", "duplicate field", "not UTF-8", "spaces"] as const;
const RAW_IDS = [
  "",
  "%",
  "%00",
  "%zz",
  "%c3%28",
  "%ed%a0%80",
  ".",
  "..",
  "%2e%2e",
  "a%2fb",
  "a;b",
  "~",
  "x".repeat(9000),
  "%F0%9F%92%A7",
];
const RAW_QUERIES = [
  "&",
  "&&&",
  "=",
  "%",
  "size",
  "size=",
  "size=%",
  "=1",
  "a=%c3%28",
  "size[]=1",
  "?",
  "size=1;page=2",
  "x".repeat(9000),
];

/** Values of headers are Latin-1 without control characters: Node sends nothing else. */
const headerText = hostileText.map((text) => text.slice(0, 300).replace(/[^\t\x20-\x7e\x80-\xff]/g, "?"));
const EXTRA_HEADERS: Readonly<Record<string, readonly string[]>> = {
  accept: ["*/*", "text/html", "application/xml", "application/json;q=0", "*/*;q=0"],
  "accept-encoding": ["gzip", "br;q=1.0, gzip;q=0.5", "identity;q=0", "*"],
  "content-type": [
    "text/plain",
    "application/json",
    "application/json; charset=utf-16",
    "multipart/form-data",
    "application/x-ndjson",
    ";",
  ],
  "content-encoding": ["gzip", "identity", "br", "gzip, gzip", "deflate"],
  "if-none-match": ["*", '"x"', 'W/"x"', "x", ",,", '"'],
  "if-match": ["*", '"x"', 'W/"x"', "", ",,"],
  "if-modified-since": ["Sat, 14 Nov 2026 09:30:00 GMT", "x"],
  "idempotency-key": ["a", "~", "a b"],
  range: ["bytes=0-1", "bytes=-5", "bytes=99999-", "items=0-1"],
  authorization: ["Bearer x", "bearer", "Basic YTpi", "Bearer  ", "ApiKey x"],
  "x-request-id": ["mine", "a b", "tm_secret", "x".repeat(200)],
  origin: ["https://evil.example", "null"],
  expect: ["100-continue", "200-ok"],
  "x-forwarded-for": ["1.2.3.4", "x"],
  "x-http-method-override": ["DELETE"],
  "x-original-url": ["/manage/v1/keys"],
  connection: ["close", "keep-alive, x-api-key"],
  cookie: ["a=b"],
  te: ["trailers"],
};
const extraHeader = fc
  .constantFrom(...Object.entries(EXTRA_HEADERS))
  .chain(([name, values]) => mostly(fc.constantFrom(...values), headerText, 6).map((value) => [name, value] as const));
const chunked = fc.constant(["transfer-encoding", "chunked"] as const);
const repeatedHeader = fc
  .constantFrom("x-api-key", "idempotency-key", "if-match", "accept", "x-request-id")
  .map((name) => [name, ["a", "b"]] as const);
const extraHeaders = fc
  .array(mostly(extraHeader, fc.oneof(repeatedHeader, chunked), 10), { minLength: 1, maxLength: 3 })
  .map((all) => Object.fromEntries(all) as Record<string, string | string[]>);

/** Metrics take as long as many others. */
const weightOf = (template: string): number => (template === "/metrics" ? 1 : 5);

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ template, method, operation, weight: weightOf(template) })),
  );

export function requestsFor(document: Document): fc.Arbitrary<GeneratedRequest> {
  const all = operationsOf(document).map(({ template, method, operation, weight }) => ({
    arbitrary: requestsOf(document, template, method.toUpperCase(), operation),
    weight,
  }));
  return fc.oneof(...all);
}

/** The share of the requests that each operation gets, by operationId. */
export function requestShares(document: Document): ReadonlyMap<string, number> {
  const all = operationsOf(document);
  const total = all.reduce((sum, { weight }) => sum + weight, 0);
  return new Map(all.map(({ operation, weight }) => [operation.operationId, weight / total]));
}

function requestsOf(document: Document, template: string, method: string, operation: Operation): fc.Arbitrary<GeneratedRequest> {
  const ofPlace = (place: string) => operation.parameters.filter((parameter) => parameter.in === place);
  const query = ofPlace("query").map(({ name, schema }) => [name, mostly(validValues(schema, name, document), hostileText, 20)]);
  const given = fc.record(Object.fromEntries(query), { requiredKeys: [] }).map((values) => Object.entries(values));
  const unknown = fc.tuple(hostileText, hostileText).map((pair) => [pair]);
  const documented = ofPlace("header").map(({ name }) => [name.toLowerCase(), headerValues(name)]);
  const revalidated = operation.responses["304"] === undefined ? [] : [["if-none-match", headerValues("If-None-Match")]];
  const headers = fc.record(Object.fromEntries([...documented, ...revalidated]), { requiredKeys: [] });
  return fc
    .record({
      operation: fc.constant(operation),
      template: fc.constant(template),
      method: mostly(fc.constant(method), fc.constantFrom(...METHODS)),
      id: idsFor(template),
      parameters: fc.tuple(given, mostly(fc.constant([]), unknown)).map(([usual, more]) => [...usual, ...more]),
      isRepeatedParameter: usually(false, true),
      isForm: mostly(fc.constant(false), fc.boolean(), 5),
      rawQuery: usually("", ...RAW_QUERIES),
      usualHeaders: fc.oneof(fc.constant({}), headers),
      extraHeaders: mostly(fc.constant({}), extraHeaders, 5),
      sender: senders,
      body: bodiesFor(document, operation),
      isCompressed: mostly(fc.constant(false), fc.boolean(), 5),
      repeat: mostly(fc.constant("no" as const), fc.constantFrom("after" as const, "at once" as const), 15),
      pause: fc.constantFrom(0, 0, 1, 20, 600, 1000),
    })
    .map(({ isRepeatedParameter, usualHeaders, extraHeaders, body: [contentType, body], ...request }) => ({
      ...request,
      parameters: isRepeatedParameter ? [...request.parameters, ...request.parameters.slice(0, 1)] : request.parameters,
      headers: { ...usualHeaders, ...extraHeaders } as GeneratedRequest["headers"],
      contentType,
      body,
    }));
}

const senders: fc.Arbitrary<RequestSender> = fc.record({
  isSufficient: mostly(fc.constant(true), fc.constant(false), 9),
  index: fc.nat({ max: 999 }),
  asBearer: usually(false, true),
});

function headerValues(name: string): fc.Arbitrary<unknown> {
  if (name === "Idempotency-Key") return mostly(fc.stringMatching(/^[a-c][0-9]$/), headerText, 15);
  return mostly(fc.constant(CURRENT_ETAG), headerText, 8);
}

const KINDS: Readonly<Record<string, Kind>> = {
  customers: "customer",
  tanks: "tank",
  fleet: "tank",
  devices: "device",
  keys: "key",
  alerts: "alert",
  channels: "channel",
  notifications: "notification",
  users: "user",
  sessions: "session",
};

function idsFor(template: string): fc.Arbitrary<GeneratedRequest["id"]> {
  const kind = KINDS[/\/(\w+)\/\{id\}/.exec(template)?.[1] ?? ""];
  if (kind === undefined) {
    if (template.includes("{id}")) throw new Error(`no ids are known for ${template}`);
    return fc.constant("");
  }
  const raw = fc.constantFrom(...RAW_IDS).map((text) => ({ raw: text }));
  const other = fc.oneof(raw, hostileText, ...Object.values(KINDS).map((one) => reference(one)));
  return mostly(reference(kind, template.endsWith("/restore") ? 30 : 2), other, 9);
}

/** With the content type, which is empty where there is no body. */
function bodiesFor(document: Document, { requestBody }: Operation): fc.Arbitrary<readonly [string, Body | undefined]> {
  const none = fc.constant(["", undefined] as const);
  const unexpected = fc
    .constantFrom("{}", "x", "page=1", "size=1&size=2")
    .map((text) => ["application/json", { kind: "bytes", bytes: Buffer.from(text) }] as const);
  if (requestBody === undefined) return mostly(none, unexpected);
  const all = Object.entries(requestBody.content).map(([type, media]) =>
    bodiesOf(document, type, media, requestBody.content).map((body) => [type, body] as const),
  );
  return mostly(fc.oneof(...all), none, requestBody.required ? 60 : 2);
}

function bodiesOf(document: Document, type: string, media: Media, content: Readonly<Record<string, Media>>): fc.Arbitrary<Body> {
  const bytes = fc
    .oneof(
      fc.constantFrom(
        "",
        "[",
        "null",
        "[]",
        "{}",
        "1",
        '"',
        "[".repeat(50_000),
        '{"a":'.repeat(5000),
        `[${"0,".repeat(20_000)}0]`,
        `"${"x".repeat(300_000)}"`,
        "\n\n\n",
        "{}\n{}",
      ),
      fc.uint8Array({ maxLength: 30 }).map((array) => Buffer.from(array)),
    )
    .map((given): Body => ({ kind: "bytes", bytes: Buffer.from(given as string) }));
  if (type === "application/x-ndjson") {
    const { schema } = content["application/json"] ?? media;
    const value = valuesFor({ anyOf: [(schema["anyOf"] as object[] | undefined)?.[0] ?? schema] }, "", document);
    return mostly(
      fc.array(value, { minLength: 1, maxLength: 5 }).map((values): Body => ({ kind: "lines", values })),
      bytes,
    );
  }
  const examples = Object.values(media.examples ?? {}).map(({ value }) => valuesLike(value));
  const bySchema =
    Object.keys(media.schema).length === 1 && media.schema["type"] === "object" ? [] : [valuesFor(media.schema, "", document)];
  const values = fc.oneof(...bySchema.flatMap((one) => [one, one]), ...examples);
  const json = fc
    .tuple(values, usually<Damage>("none", ...DAMAGES.slice(1)))
    .map(([value, damage]): Body => ({ kind: "json", value, damage }));
  return mostly(json, bytes);
}

/** `resolved` replaces references in the values. */
export function encodeBody(body: Body, isCompressed: boolean, resolved: (value: unknown) => unknown): Buffer {
  const bytes = encoded(body, resolved);
  return isCompressed ? gzipSync(bytes, { level: 1 }) : bytes;
}

function encoded(body: Body, resolved: (value: unknown) => unknown): Buffer {
  if (body.kind === "bytes") return body.bytes;
  if (body.kind === "lines") return Buffer.from(body.values.map((value) => `${JSON.stringify(resolved(value))}\n`).join(""));
  const text = JSON.stringify(resolved(body.value));
  switch (body.damage) {
    case "none":
      return Buffer.from(text);
    case "cut off":
      return Buffer.from(text.slice(0, -1));
    case "followed":
      return Buffer.from(`${text},{}`);
    case "mark":
      return Buffer.from(`\ufeff${text}`);
    case "duplicate field":
      return Buffer.from(text.replace(/^\{("\w+":)/, "{$1null,$1"));
    case "not UTF-8":
      return Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from(text.slice(-2))]);
    case "spaces":
      return Buffer.from(` \r\n\t${text}${" ".repeat(5000)}`);
  }
}
