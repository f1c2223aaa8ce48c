// Writes src/generated.ts from openapi.json: the types of all schemas, the interface of the client, and the table of operations
// from which it is built. `npm run openapi` runs it; a test fails when the committed file differs.

import { readFileSync, writeFileSync } from "node:fs";

type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
};
type Parameter = {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly schema: Schema;
};
type Content = Readonly<Record<string, { readonly schema: Schema }>>;
type Response = { readonly content?: Content; readonly headers?: Readonly<Record<string, { readonly $ref?: string }>> };
type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
};
export type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
};

/** Requests that send readings, and the field of a reading that has its time. A reading that is sent twice is stored once if it has one. */
const TIME_FIELDS: Readonly<Record<string, string>> = {
  sendReadings: "created_at",
  receiveChirpstack: "time",
  receiveTts: "received_at",
};
/** POST requests that may be repeated although they have no idempotency key. */
const REPEATABLE_POSTS = new Set(["querySeries", ...Object.keys(TIME_FIELDS)]);
const REPEATABLE_METHODS = new Set(["get", "put", "delete"]);
const VERBS: Readonly<Record<string, string>> = {
  get: "retrieve",
  post: "create",
  put: "put",
  patch: "update",
  delete: "delete",
};
/** What a caller can set for any request; query parameters are in the same object. */
const OPTION_NAMES = new Set(["signal", "timeoutMs", "ifMatch", "idempotencyKey"]);
const API_PATH = /^\/(?:\w+\/)?v1\//;

const HEADER = `// Generated from openapi.json by generate.ts. Do not edit: "npm run openapi" writes it again.

import type { List } from "./list.ts";
import type { Operation, RequestOptions } from "./request.ts";
`;

export function generate(document: Document): string {
  const operations = Object.entries(document.paths)
    .filter(([path]) => API_PATH.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => describe(document, path, method, operation)),
    );
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${comment(schema.description, "")}export type ${name} = ${typeOf(schema, "")};\n`,
  );
  const rows = operations.map(({ row }) => `  ${row},\n`);
  return [
    HEADER,
    ...schemas,
    ...operations.map(({ optionsType }) => optionsType).filter((text) => text !== ""),
    `export type Client = ${clientType(operations)};\n`,
    `export const OPERATIONS: readonly Operation[] = [\n${rows.join("")}];\n`,
  ].join("\n");
}

type Described = {
  /** Where it is in the client: `["manage", "tanks", "update"]`. */
  readonly names: readonly string[];
  readonly signature: string;
  readonly documentation: string;
  readonly optionsType: string;
  /** Its row in the table of operations, as source text. */
  readonly row: string;
};

function describe(document: Document, path: string, method: string, operation: Operation): Described {
  const parameters = (operation.parameters ?? []).map((one) => resolve(document, one));
  const query = parameters.filter((one) => one.in === "query");
  const taken = query.find(({ name }) => OPTION_NAMES.has(name));
  if (taken !== undefined) throw new Error(`${operation.operationId}: ${taken.name} is the name of an option of the client.`);
  const headers = parameters.filter((one) => one.in === "header").map(({ name }) => name);
  const [, response = {}] = Object.entries(operation.responses).find(([status]) => status.startsWith("2")) ?? [];
  const result = response.content?.["application/json"]?.schema;
  const list = listKind(document, result, query);
  const body = operation.requestBody?.content["application/json"]?.schema;
  const names = namesOf(document, path, method, list !== undefined);

  const optionFields = [
    ...query.map(({ name, description, schema }) => field(name, schema, description)),
    ...(headers.includes("If-Match") ? [IF_MATCH] : []),
    ...(headers.includes("Idempotency-Key") ? [IDEMPOTENCY_KEY] : []),
  ];
  const optionsName = optionFields.length === 0 ? "RequestOptions" : `${pascalCase(operation.operationId)}Options`;
  const given = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`);
  if (body !== undefined) given.push(`body${operation.requestBody?.required === true ? "" : "?"}: ${typeOf(body, "")}`);
  const page = result === undefined ? "void" : typeOf(result, "");
  const returned = list === undefined ? `Promise<${page}>` : `List<${typeOf(list.item, "")}, ${page}>`;
  const traits = {
    name: names.join("."),
    method: method.toUpperCase(),
    path,
    hasBody: body === undefined ? undefined : true,
    isIdempotent: REPEATABLE_METHODS.has(method) || REPEATABLE_POSTS.has(operation.operationId) ? true : undefined,
    timeField: TIME_FIELDS[operation.operationId],
    acceptsIdempotencyKey: headers.includes("Idempotency-Key") ? true : undefined,
    isVersioned: response.headers?.["ETag"]?.$ref?.endsWith("/Version") === true ? true : undefined,
    list: list?.kind,
  };
  return {
    names,
    signature: `(${[...given, `options?: ${optionsName}`].join(", ")}) => ${returned}`,
    documentation: `${operation.summary}. ${operation.description}`,
    optionsType: optionFields.length === 0 ? "" : `export type ${optionsName} = RequestOptions & {\n${optionFields.join("")}};\n`,
    row: sourceOf(traits),
  };
}

const field = (name: string, schema: Schema, description: string | undefined): string =>
  `${comment(description, "  ")}  readonly ${name}?: ${typeOf(schema, "  ")};\n`;
const IF_MATCH = `  /** Only if the object is still as it was: the object as it was received, or its ETag. */\n  readonly ifMatch?: string | object;\n`;
const IDEMPOTENCY_KEY = `  /** A unique key for this request, under which it is executed only once. A random one by default. */\n  readonly idempotencyKey?: string;\n`;

/** An object literal without what is undefined. */
const sourceOf = (value: Readonly<Record<string, unknown>>): string =>
  `{ ${Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]) => `${name}: ${JSON.stringify(one)}`)
    .join(", ")} }`;

/** How to read a whole list: from the time of the last item, page by page, or from a sequence number. */
function listKind(document: Document, result: Schema | undefined, query: readonly Parameter[]) {
  const item = result === undefined ? undefined : resolveSchema(document, result).properties?.["data"]?.items;
  if (item === undefined) return undefined;
  const has = (name: string) => query.some((parameter) => parameter.name === name);
  if (has("after")) return { item, kind: "after" };
  if (!has("page")) return undefined;
  const bound = query.find(({ name }) => name.endsWith("_lte"));
  return { item, kind: bound === undefined ? "page" : bound.name.slice(0, -"_lte".length) };
}

/** `/manage/v1/tanks/{id}` with PATCH is `manage.tanks.update`; a path of one operation, such as `/v1/tanks/{id}/telemetry`, `tanks.telemetry`. */
function namesOf(document: Document, path: string, method: string, isList: boolean): readonly string[] {
  const [area = "", ...rest] = path.slice(1).split("/");
  const segments = area === "v1" ? rest : rest.slice(1);
  const names = [...(area === "v1" ? [] : [area]), ...segments].filter((segment) => !segment.startsWith("{")).map(camelCase);
  const hasId = segments.some((segment) => segment.startsWith("{"));
  const isAlone =
    !path.endsWith("}") &&
    Object.keys(document.paths[path] ?? {}).length === 1 &&
    !Object.keys(document.paths).some((other) => other.startsWith(`${path}/`));
  if (isAlone && (hasId || !isList)) return names;
  return [...names, isList ? "list" : (VERBS[method] ?? method)];
}

/** The operations as nested types. */
function clientType(operations: readonly Described[], depth = 0): string {
  const indent = "  ".repeat(depth + 1);
  const groups = Map.groupBy(operations, ({ names }) => names[depth] ?? "");
  const members = [...groups].map(([name, group]) => {
    const [first] = group;
    if (first?.names.length !== depth + 1) return `${indent}readonly ${name}: ${clientType(group, depth + 1)};\n`;
    if (group.length > 1) throw new Error(`Several operations have the name ${first.names.join(".")}.`);
    return `${comment(first.documentation, indent)}${indent}readonly ${name}: ${first.signature};\n`;
  });
  return `{\n${members.join("")}${"  ".repeat(depth)}}`;
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return nameIn(schema.$ref);
  if (schema.anyOf !== undefined) return union(schema.anyOf.map((one) => typeOf(one, indent)));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  return types.length === 0 ? "unknown" : union(types.map((type) => typeNamed(type, schema, indent)));
}

function typeNamed(type: string, schema: Schema, indent: string): string {
  if (type === "integer") return "number";
  if (type === "array") return `readonly ${parenthesized(typeOf(schema.items ?? {}, indent))}[]`;
  if (type !== "object") return type;
  const { properties, required = [] } = schema;
  if (properties === undefined) return "{ readonly [name: string]: unknown }";
  const deeper = `${indent}  `;
  const fields = Object.entries(properties).map(([name, one]) => {
    const mark = required.includes(name) ? "" : "?";
    return `${comment(one.description, deeper)}${deeper}readonly ${name}${mark}: ${typeOf(one, deeper)};\n`;
  });
  return `{\n${fields.join("")}${indent}}`;
}

const union = (types: readonly string[]): string => [...new Set(types)].join(" | ");
const parenthesized = (type: string): string => (/^readonly | \| /.test(type) ? `(${type})` : type);
const comment = (text: string | undefined, indent: string): string =>
  text === undefined ? "" : `${indent}/** ${text.replaceAll("*/", "*\\/").replaceAll("\n", " ")} */\n`;
const nameIn = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);
const camelCase = (text: string): string => text.replace(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
const pascalCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function resolve({ components }: Document, parameter: Parameter): Parameter {
  const named = parameter.$ref === undefined ? parameter : components.parameters[nameIn(parameter.$ref)];
  if (named === undefined) throw new Error(`There is no ${parameter.$ref}.`);
  return named;
}

const resolveSchema = ({ components }: Document, schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (components.schemas[nameIn(schema.$ref)] ?? {});

if (import.meta.main) {
  const document = JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8")) as Document;
  writeFileSync(new URL("src/generated.ts", import.meta.url), generate(document));
}
