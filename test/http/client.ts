// An HTTP client for tests: checked requests, JSON requests, and raw bytes on a socket. A checked response must match the
// OpenAPI document that the service serves. The document allows new fields; here an undocumented field is an error.

import assert from "node:assert/strict";
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import { connect, type Socket } from "node:net";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { ErrorCode } from "../../src/domain/errors.ts";

type Address = { readonly url: string };

export type RequestOptions = {
  readonly method?: string;
  readonly key?: string;
  /** An undefined header is not sent, even if it would be by default. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  /** Sent as a form unless the headers say otherwise. */
  readonly body?: string | Buffer;
};

export type Response = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

export type Item = Readonly<Record<string, unknown>>;
export type List = {
  readonly object: "list";
  readonly data: readonly Item[];
  readonly page: number;
  readonly size: number;
  readonly total_pages: number;
  readonly total_items: number;
};
export type Problem = {
  readonly title: string;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly param?: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
  readonly request_id: string;
};

/** An unchecked request, for what the OpenAPI document does not describe. */
export function send({ url }: Address, path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", key, headers = {}, body } = options;
  const defaults: Record<string, string | undefined> = { "x-api-key": key };
  if (body !== undefined) {
    defaults["content-type"] = "application/x-www-form-urlencoded";
    if (headers["transfer-encoding"] === undefined) defaults["content-length"] = String(Buffer.byteLength(body));
  }
  const given = Object.entries({ ...defaults, ...headers }).filter(([, value]) => value !== undefined);
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const sent = Object.fromEntries(given) as OutgoingHttpHeaders;
  const call = httpRequest({ hostname, port, path, method, headers: sent }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
    );
  });
  call.on("error", reject);
  call.end(body);
  return promise;
}

/** A request whose response is checked against the OpenAPI document. */
export async function request(service: Address, path: string, options: RequestOptions = {}): Promise<Response> {
  const { check } = await contract(service);
  const response = await send(service, path, options);
  check({ ...response, path, method: options.method ?? "GET" });
  return response;
}

/** The object in a 200. */
export function object({ status, text }: Response): Item {
  assert.equal(status, 200, text);
  return JSON.parse(text) as Item;
}

/** The list in a 200. */
export function list({ status, text }: Response): List {
  assert.equal(status, 200, text);
  return JSON.parse(text) as List;
}

export function ids(response: Response): unknown[] {
  return list(response).data.map(({ id }) => id);
}

export function expectError(response: Response, status: number, code: ErrorCode, param?: string): Problem {
  assert.equal(response.status, status, response.text);
  const problem = JSON.parse(response.text) as Problem;
  assert.equal(problem.code, code, response.text);
  assert.equal(problem.param, param, response.text);
  return problem;
}

/** What must be equal for two requests with the same result. */
export function withoutRequestId({ status, headers, text }: Response): object {
  const { "x-request-id": id, date: _, ...rest } = headers;
  return { status, headers: rest, text: text.replace(String(id), "…") };
}

export type JsonResponse = Omit<Response, "text"> & { readonly body: Item };
export type JsonClient = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<JsonResponse>;

/** Sends JSON and parses the response. */
export function jsonClient(service: Address, key: string): JsonClient {
  return async (method, path, body, headers = {}) => {
    const encoded = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const options = encoded === undefined ? { headers } : { headers: { "content-type": "application/json", ...headers } };
    const response = await send(service, path, { method, key, ...options, ...(encoded === undefined ? {} : { body: encoded }) });
    const { status, text } = response;
    return { status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
  };
}

/** The body of a response that must have this status. */
export function expectStatus({ status, body }: JsonResponse, expected: number, code?: ErrorCode): Item {
  assert.equal(status, expected, JSON.stringify(body));
  if (code !== undefined) assert.equal(body["code"], code);
  return body;
}

// The OpenAPI document.

export type Schema = Readonly<Record<string, unknown>>;
export type Media = { readonly schema: Schema; readonly examples?: Readonly<Record<string, { readonly value: unknown }>> };
export type Operation = {
  readonly operationId: string;
  /** Empty: no key is required. */
  readonly security?: readonly object[];
  readonly parameters: readonly { name: string; in: string; schema: Schema; example?: unknown }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>>; readonly headers?: object }>>;
};
export type Document = {
  /** By path and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks?: Document["paths"];
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> } & Readonly<Record<string, Schema>>;
};

type Contract = {
  /** With its shared parameters, responses, headers and examples in place of the references to them. */
  readonly document: Document;
  readonly validator: (schema: Schema) => ValidateFunction;
  /** Fails the test where the response is not as documented. */
  readonly check: (exchange: Response & { readonly method: string; readonly path: string }) => void;
};

const contracts = new Map<string, Promise<Contract>>();
/** Services that serve the same document share its compiled schemas. */
const contractsByText = new Map<string, Contract>();

export function contract(service: Address): Promise<Contract> {
  const known = contracts.get(service.url);
  if (known !== undefined) return known;
  const loaded = send(service, "/openapi.json").then(({ text }) => {
    const same = contractsByText.get(text) ?? compile(resolveReferences(JSON.parse(text) as Document));
    contractsByText.set(text, same);
    return same;
  });
  contracts.set(service.url, loaded);
  return loaded;
}

export function operations(document: Document): Operation[] {
  return Object.values(document.paths).flatMap((methods) => Object.values(methods));
}

function resolveReferences(document: Document): Document {
  const resolve = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(resolve);
    const [, kind = "", name = ""] = /^#\/components\/(?!schemas)(\w+)\/(.+)$/.exec(String((value as Schema)["$ref"])) ?? [];
    if (kind !== "") return resolve(document.components[kind]?.[name]);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  };
  return resolve(document) as Document;
}

/** The same schema, but undocumented fields are errors. */
function closed(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closed);
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === "examples" ? value : closed(value)]),
  );
  return "properties" in schema && "type" in schema ? { ...inner, additionalProperties: false } : inner;
}

const PROBLEM = "application/problem+json";

/** Errors found before the operation is known, so no operation documents them. */
const OUTSIDE_OF_OPERATIONS = ["route_unknown", "method_not_allowed", "request_timeout", "url_too_long"];

/** The one format in which the service returns instants. */
function isInstant(text: string): boolean {
  const isFormatted = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text);
  return isFormatted && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text;
}

function compile(document: Document): Contract {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  ajv.addFormat("date-time", isInstant);
  const local = (schema: unknown): Schema =>
    JSON.parse(JSON.stringify(closed(schema)).replaceAll('"#/components/schemas/', '"interface#/$defs/'));
  ajv.addSchema({ $id: "interface", $defs: local(document.components.schemas) });
  const templates = Object.entries(document.paths).map(([path, methods]) => ({ parts: path.split("/"), methods }));
  const compiled = new WeakMap<Schema, ValidateFunction>();
  /** Many operations have equal schemas. */
  const compiledByText = new Map<string, ValidateFunction>();

  function validator(schema: Schema): ValidateFunction {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const text = JSON.stringify(schema);
    const validate = compiledByText.get(text) ?? ajv.compile(local(schema));
    compiled.set(schema, validate);
    compiledByText.set(text, validate);
    return validate;
  }

  function expectValid(schema: Schema, value: unknown, where: string): void {
    const validate = validator(schema);
    if (validate(value)) return;
    assert.fail(`${where}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)?.slice(0, 2000)}`);
  }

  const check: Contract["check"] = ({ method, path, status, headers, text }) => {
    const where = `${method} ${path.slice(0, 200)} → ${status}`;
    assert.match(String(headers["x-request-id"]), /^[A-Za-z0-9._:/+=-]{1,128}$/, `${where} has a request id`);
    assert.equal(headers["x-content-type-options"], "nosniff", `${where} is not interpreted as another type`);
    if (method === "HEAD" || status === 204 || status === 304) {
      assert.equal(text, "", `${where} has no body`);
      return;
    }
    const operation = operationAt(templates, path, method);
    if (status >= 400) {
      checkProblem(operation, where, { status, headers, text });
      return;
    }
    const content = Object.entries(operation?.responses[status]?.content ?? {})[0];
    assert.ok(content !== undefined, `${where} is documented`);
    const [type, { schema }] = content;
    assert.equal(headers["content-type"], type === "application/json" ? "application/json; charset=utf-8" : type, where);
    expectValid(schema, type === "application/json" ? JSON.parse(text) : text, where);
  };

  function checkProblem(operation: Operation | undefined, where: string, { status, headers, text }: Response): void {
    assert.equal(headers["content-type"], `${PROBLEM}; charset=utf-8`, where);
    const problem = JSON.parse(text) as { code: string; status: number; request_id: string };
    expectValid(document.components.schemas["Problem"] ?? {}, problem, where);
    assert.equal(problem.status, status, `${where}: the body repeats the status`);
    assert.equal(problem.request_id, headers["x-request-id"], `${where}: the body repeats the request id`);
    assert.equal(headers["cache-control"], "no-store", `${where}: errors are not cached`);
    assert.equal(headers["www-authenticate"] !== undefined, status === 401, `${where}: WWW-Authenticate`);
    if (operation === undefined || OUTSIDE_OF_OPERATIONS.includes(problem.code)) return;
    const media = operation.responses[status]?.content?.[PROBLEM];
    assert.ok(media?.examples?.[problem.code] !== undefined, `${where}: ${problem.code} is documented with an example`);
  }

  return { document, validator, check };
}

type Template = { readonly parts: readonly string[]; readonly methods: Readonly<Record<string, Operation>> };

function operationAt(templates: readonly Template[], path: string, method: string): Operation | undefined {
  const given = (path.split("?", 1)[0] ?? "").replace(/(?<=.)\/$/, "").split("/");
  const matches = ({ parts }: Template) =>
    parts.length === given.length && parts.every((part, i) => part.startsWith("{") || part === given[i]);
  const methods = templates.filter(matches).map((template) => template.methods[method.toLowerCase()]);
  return methods.find((operation) => operation !== undefined);
}

// Raw sockets, for requests that no HTTP library would send.

export function openSocket({ url }: Address): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.setNoDelay(true);
  return socket;
}

/** Everything that the service sends until it closes or resets the connection. */
export function readAll(socket: Socket, timeoutMs = 5000): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const timer = setTimeout(() => {
    reject(new Error(`still open after ${timeoutMs} ms; received ${JSON.stringify(Buffer.concat(chunks).toString("latin1"))}`));
    socket.destroy();
  }, timeoutMs);
  socket.on("data", (chunk) => chunks.push(Buffer.from(chunk)));
  socket.on("end", () => socket.end());
  socket.on("error", () => {});
  socket.on("close", () => {
    clearTimeout(timer);
    resolve(Buffer.concat(chunks));
  });
  return promise;
}

/** Sends the bytes and returns the responses. `end` closes our side of the connection after the last byte. */
export async function exchange(service: Address, bytes: string | Buffer, { end = false } = {}): Promise<Response[]> {
  const socket = openSocket(service);
  const received = readAll(socket);
  if (end) socket.end(bytes);
  else socket.write(bytes);
  return parseResponses(await received);
}

/** `isHead`: the responses are to HEAD requests and have no bodies. */
export function parseResponses(received: Buffer, isHead = false): Response[] {
  const responses: Response[] = [];
  for (let rest = received; rest.length > 0; ) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) throw new Error(`not a response: ${JSON.stringify(rest.toString("latin1"))}`);
    const [line = "", ...lines] = rest.subarray(0, end).toString("latin1").split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    const headers = Object.fromEntries(lines.map(splitHeader)) as IncomingHttpHeaders;
    const length = isHead || status < 200 || status === 304 ? 0 : Number(headers["content-length"] ?? 0);
    if (rest.length < end + 4 + length) throw new Error(`incomplete response: ${line}`);
    responses.push({ status, headers, text: rest.subarray(end + 4, end + 4 + length).toString() });
    rest = rest.subarray(end + 4 + length);
  }
  return responses;
}

export const statuses = (responses: readonly Pick<Response, "status">[]): number[] => responses.map(({ status }) => status);

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

const INTERNALS = /fastify|sqlite|node_modules|find-my-way|llhttp|HPE_|\n\s+at |\.[jt]s:\d|\bError:|\/src\//i;

/** No 5xx, no internals in any response, every error a problem document, and the service still works. */
export async function expectHarmless(
  service: Address & { readonly operator: string },
  responses: readonly Response[],
): Promise<void> {
  const { check } = await contract(service);
  for (const response of responses) {
    assert.ok(!INTERNALS.test(JSON.stringify(response)), `exposes internals: ${response.text}`);
    assert.ok(response.status < 500, response.text);
    if (response.status >= 400) check({ ...response, method: "GET", path: "" });
  }
  assert.equal((await send(service, "/v1/tanks/tank_hall", { key: service.operator })).status, 200, "the service still works");
}
