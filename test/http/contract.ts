// Checks a response against the OpenAPI document that the service serves. The document allows new fields; here they are errors,
// so that no field is undocumented.

import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

export type Schema = Readonly<Record<string, unknown>>;
export type Media = { readonly schema: Schema; readonly examples?: Readonly<Record<string, { readonly value: unknown }>> };
export type Operation = {
  readonly operationId: string;
  /** An empty one: no key is needed. */
  readonly security?: readonly object[];
  readonly parameters: readonly { name: string; in: string; schema: Schema; example?: unknown }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>>; readonly headers?: object }>>;
};
export type Document = {
  /** By path and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> } & Readonly<Record<string, Schema>>;
};

/** The document with its shared parameters, responses, headers and examples in place of the references to them. */
export function resolved(document: Document): Document {
  const resolve = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(resolve);
    const [, kind = "", name = ""] = /^#\/components\/(?!schemas)(\w+)\/(.+)$/.exec(String((value as Schema)["$ref"])) ?? [];
    if (kind !== "") return resolve(document.components[kind]?.[name]);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  };
  return resolve(document) as Document;
}

/** The same schema without room for undocumented fields. */
function closed(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closed);
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === "examples" ? value : closed(value)]),
  );
  return "properties" in schema && "type" in schema ? { ...inner, additionalProperties: false } : inner;
}

export type Exchange = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

export type Contract = {
  readonly document: Document;
  readonly validator: (schema: Schema) => ValidateFunction;
  /** Fails the test where the answer is not as documented. */
  readonly check: (exchange: Exchange) => void;
};

const PROBLEM = "application/problem+json";

/** Refused before it is known which operation is meant, so no operation documents them. */
const OUTSIDE_OF_OPERATIONS = ["route_unknown", "method_not_allowed", "request_timeout", "url_too_long"];

/** The one form in which the service answers instants. */
function isExactInstant(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) return false;
  const parsed = new Date(text);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString() === text;
}

export function contractOf(document: Document): Contract {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  ajv.addFormat("date-time", isExactInstant);
  const local = (schema: unknown): Schema =>
    JSON.parse(JSON.stringify(closed(schema)).replaceAll('"#/components/schemas/', '"interface#/$defs/'));
  ajv.addSchema({ $id: "interface", $defs: local(document.components.schemas) });
  const compiled = new Map<Schema, ValidateFunction>();

  function validator(schema: Schema): ValidateFunction {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const made = ajv.compile(local(schema));
    compiled.set(schema, made);
    return made;
  }

  function expectValid(schema: Schema, value: unknown, where: string): void {
    const validate = validator(schema);
    assert.ok(validate(value), `${where}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)?.slice(0, 2000)}`);
  }

  function check({ method, path, status, headers, text }: Exchange): void {
    const where = `${method} ${path.slice(0, 200)} → ${status}`;
    assert.match(String(headers["x-request-id"]), /^[A-Za-z0-9._:/+=-]{1,128}$/, `${where} has a request id`);
    if (method === "HEAD" || status === 204 || status === 304) {
      assert.equal(text, "", `${where} has no body`);
      return;
    }
    const operation = operationAt(document, path, method);
    if (status >= 400) {
      checkProblem(operation, where, status, headers, text);
      return;
    }
    const content = Object.entries(operation?.responses[status]?.content ?? {})[0];
    assert.ok(content !== undefined, `${where} is documented`);
    const [type, { schema }] = content;
    const expected = type === "application/json" ? "application/json; charset=utf-8" : type;
    assert.equal(headers["content-type"], expected, where);
    expectValid(schema, type === "application/json" ? JSON.parse(text) : text, where);
  }

  function checkProblem(
    operation: Operation | undefined,
    where: string,
    status: number,
    headers: IncomingHttpHeaders,
    text: string,
  ): void {
    assert.equal(headers["content-type"], `${PROBLEM}; charset=utf-8`, where);
    const problem: unknown = JSON.parse(text);
    expectValid(document.components.schemas["Problem"] ?? {}, problem, where);
    const { code, status: said, request_id: id } = problem as { code: string; status: number; request_id: string };
    assert.equal(said, status, `${where}: the body repeats the status`);
    assert.equal(id, headers["x-request-id"], `${where}: the body repeats the request id`);
    assert.equal(headers["cache-control"], "no-store", `${where}: no cache keeps a refusal`);
    assert.equal(headers["www-authenticate"] !== undefined, status === 401, `${where}: WWW-Authenticate`);
    if (operation === undefined || OUTSIDE_OF_OPERATIONS.includes(code)) return;
    const media = operation.responses[status]?.content?.[PROBLEM];
    assert.ok(media !== undefined, `${where} is documented`);
    assert.ok(media.examples?.[code] !== undefined, `${where}: ${code} is documented with an example`);
  }

  return { document, validator, check };
}

/** The documented operation at a path, whatever stands behind it. */
function operationAt(document: Document, path: string, method: string): Operation | undefined {
  const parts = (path.split("?", 1)[0] ?? "").replace(/(?<=.)\/$/, "").split("/");
  for (const [template, methods] of Object.entries(document.paths)) {
    const pattern = template.split("/");
    const fits = pattern.length === parts.length && pattern.every((part, i) => part.startsWith("{") || part === parts[i]);
    if (fits) return methods[method.toLowerCase()];
  }
  return undefined;
}

export function operationsOf(document: Document): Operation[] {
  return Object.values(document.paths).flatMap((methods) => Object.values(methods));
}
