// The OpenAPI 3.1 document, from the routes, parameters and schemas that the server uses.

import type { ErrorCode } from "../domain/errors.ts";
import { anyOf, array, ref, type Schema, text } from "../domain/schema.ts";
import { SESSION_ROLES } from "../domain/session.ts";
import type { JsonObject } from "../domain/validate.ts";
import { SUFFICIENT_ROLES } from "./auth.ts";
import { SESSION_COOKIE } from "./cookies.ts";
import { exampleProblem, PROBLEM_MEDIA_TYPE, ProblemObject, STATUS, STATUS_CODES } from "./problems.ts";
import {
  type BodyRule,
  hasCacheableResponse,
  JSON_TYPE,
  methodOf,
  NDJSON_TYPES,
  queryParametersOf,
  type ReadingsBodyRule,
  type Route,
} from "./route.ts";
import { SCHEMAS } from "./routes.ts";
import { webhooks } from "./webhooks.ts";

type SchemaWithExamples = { readonly schema: Schema; readonly examples?: JsonObject };

const TAGS: readonly { readonly name: Route["tag"] | "Webhooks"; readonly description: string }[] = [
  { name: "Customers", description: "Account holders who own tanks" },
  { name: "Tanks", description: "Containers with a capacity, an alert threshold, a location and a device" },
  { name: "Telemetry", description: "Fill readings of a tank" },
  { name: "Insight", description: "Which tank needs a delivery next, how much fits into it, and which one needs attention" },
  { name: "Ingestion", description: "Readings from devices and gateways" },
  { name: "Management", description: "For the operator: create, change and delete customers, tanks, devices, keys and channels" },
  { name: "Accounts", description: "For pages of this service: people sign in, and see where they are signed in" },
  { name: "Operations", description: "For those who run the service" },
  { name: "Webhooks", description: "What the service sends to your channels" },
];

/** The errors of routes with a common trait. `name` becomes part of the names of shared responses. */
type ErrorGroup = { readonly name: string; readonly codes: readonly ErrorCode[] };
const EVERY_ROUTE: ErrorGroup = {
  name: "",
  codes: ["request_malformed", "encoding_invalid", "body_too_large", "media_type_unsupported", "headers_too_large", "internal"],
};
const WITH_KEY: ErrorGroup = {
  name: "",
  codes: [
    "key_missing",
    "key_invalid",
    "key_expired",
    "key_revoked",
    "role_insufficient",
    "rate_limited",
    "keys_throttled",
    "store_unavailable",
    "data_damaged",
  ],
};
const WITH_SESSION: ErrorGroup = { name: "Session", codes: ["session_ended", "account_changed", "origin_not_allowed"] };
const SESSION_ONLY: ErrorGroup = { name: "SessionOnly", codes: ["session_missing"] };
const WITH_PARAMETERS: ErrorGroup = {
  name: "Parameters",
  codes: ["parameter_unknown", "parameter_invalid", "parameter_repeated"],
};
const WITH_BODY: ErrorGroup = { name: "Body", codes: ["body_missing", "body_malformed", "body_invalid"] };
const OVERLOADED: ErrorGroup = { name: "Overloaded", codes: ["overloaded"] };

const REQUEST_HEADERS = {
  "Idempotency-Key": {
    description: "A unique key for this request. A request that is repeated with the same key is executed only once.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
    errors: { name: "IdempotencyKey", codes: ["idempotency_key_invalid", "idempotency_key_reused"] },
  },
  "If-Match": {
    description: "The ETag of the version to change. If the object has changed since, nothing is done.",
    schema: { type: "string" },
    errors: { name: "IfMatch", codes: ["precondition_failed"] },
  },
} as const satisfies Record<string, { description: string; schema: Schema; errors: ErrorGroup }>;

const HEADERS = {
  RequestId: { description: "The id of the request, also in the log of the service", schema: { type: "string" } },
  ETag: { description: "Send it as If-None-Match to get 304 if nothing has changed", schema: { type: "string" } },
  Version: { description: "Send it as If-Match to change this version only", schema: { type: "string" } },
  Location: { description: "The path of the new object", schema: { type: "string" } },
};
const REQUEST_ID = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } };
const ETAG = { ETag: { $ref: "#/components/headers/ETag" } };
const VERSION_TAG = { ETag: { $ref: "#/components/headers/Version" } };
const LOCATION = { Location: { $ref: "#/components/headers/Location" } };
const NOT_MODIFIED = {
  description: "Nothing has changed since the response with this ETag",
  headers: { ...REQUEST_ID, ...ETAG },
};

export function openapiDocument(routes: readonly Route[], version: string): JsonObject {
  const shared: Shared = { parameters: sharedParameters(routes), responses: { NotModified: NOT_MODIFIED }, examples: {} };
  const paths = pathsOf(routes, shared);
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Tank Monitor",
      version,
      summary: "Customers, tanks and their fill levels",
      description:
        "How full is every tank, and which one needs a truck next? All operations under /v1 are reads. List parameters are sent in the query string, or as a form body of the same GET. New fields may be added to responses at any time.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: ".", description: "This service" }],
    tags: TAGS,
    security: [{ key: [] }],
    paths,
    webhooks: opened(webhooks(exampleOf)),
    components: {
      securitySchemes: {
        key: { type: "apiKey", in: "header", name: "X-API-Key", description: "A key issued by the operator" },
        session: {
          type: "apiKey",
          in: "cookie",
          name: SESSION_COOKIE,
          description: "The cookie of a signed-in person. Requests other than GET must come from a page of this service.",
        },
      },
      headers: HEADERS,
      ...shared,
      schemas: openResponseSchemas(routes, { ...SCHEMAS, Problem: ProblemObject }),
    },
  };
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}

/** Filled in while operations are described. */
type Shared = {
  readonly parameters: Readonly<Record<string, JsonObject>>;
  readonly responses: Record<string, JsonObject>;
  readonly examples: Record<string, JsonObject>;
};

function pathsOf(routes: readonly Route[], shared: Shared): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [methodOf(route).toLowerCase()]: operationOf(route, shared) };
  }
  return paths;
}

function operationOf(route: Route, shared: Shared): JsonObject {
  const { requiredRole, sessionRole, body } = route;
  return {
    operationId: route.operation,
    summary: route.summary,
    description: `${route.description} ${requirementOf(route)}`,
    tags: [route.tag],
    ...(requiredRole === "none" ? { security: [] } : { "x-required-role": requiredRole }),
    ...(sessionRole === undefined ? {} : { security: securityOf(route), "x-session-role": sessionRole }),
    parameters: parametersOf(route).map((parameter) => {
      const isShared = JSON.stringify(shared.parameters[parameter.name]) === JSON.stringify(parameter);
      return isShared ? { $ref: `#/components/parameters/${parameter.name}` } : parameter;
    }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, shared) }),
    responses: {
      ...success(route, shared),
      ...(hasCacheableResponse(route) ? { 304: { $ref: "#/components/responses/NotModified" } } : {}),
      ...errorResponses(route, shared),
    },
  };
}

const LIST_OF_ROLES = new Intl.ListFormat("en-GB", { type: "disjunction" });
const markdownRoles = (roles: readonly string[]): string => LIST_OF_ROLES.format(roles.map((role) => `\`${role}\``));

function requirementOf({ requiredRole, sessionRole }: Route): string {
  if (requiredRole === "none") return "No key is required.";
  const credentials: string[] = [];
  if (sessionRole === "customer") credentials.push("a session");
  else if (sessionRole !== undefined) {
    credentials.push(`a session with the role ${markdownRoles(SESSION_ROLES.slice(SESSION_ROLES.indexOf(sessionRole)))}`);
  }
  if (requiredRole !== "session") credentials.push(`a key with the role ${markdownRoles(SUFFICIENT_ROLES[requiredRole])}`);
  return `Requires ${credentials.join(", or ")}.`;
}

function securityOf({ requiredRole }: Route): object[] {
  return requiredRole === "session" ? [{ session: [] }] : [{ key: [] }, { session: [] }];
}

type ParameterObject = { readonly name: string; readonly in: string } & JsonObject;

function parametersOf(route: Route): ParameterObject[] {
  const path = [...route.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: "Identifier of the object",
    schema: { type: "string" },
  }));
  const query = Object.entries(queryParametersOf(route) ?? {}).map(([name, parameter]) => {
    // Without an example, because Swagger UI would send it as a filter.
    const { description, ...schema } = parameter.schema;
    return { name, in: "query", required: false, description, schema };
  });
  const headers = (route.headers ?? []).map((name) => {
    const { description, schema } = REQUEST_HEADERS[name];
    return { name, in: "header", required: false, description, schema };
  });
  return [...path, ...query, ...headers];
}

/** The most frequent definition of each name, if more than one operation has it. */
function sharedParameters(routes: readonly Route[]): Record<string, JsonObject> {
  const definitions = Map.groupBy(routes.flatMap(parametersOf), (parameter) => JSON.stringify(parameter));
  const repeated = [...definitions.values()].filter(({ length }) => length > 1).toSorted((a, b) => a.length - b.length);
  return Object.fromEntries(repeated.map(([parameter]) => [parameter?.name ?? "", parameter as JsonObject]));
}

function requestBody(rule: BodyRule, shared: Shared): JsonObject {
  if (rule.kind === "readings") return { required: true, description: rule.description, content: readingsContent(rule) };
  const media = { schema: rule.schema, examples: examplesOf(rule, shared) };
  const content = Object.fromEntries(rule.mediaTypes.map((type) => [type, media]));
  return { required: rule.optional !== true, description: rule.description, content };
}

function readingsContent({ schema, maxItems, examples = {} }: ReadingsBodyRule): JsonObject {
  const lines = Object.values(examples)
    .flat()
    .map((one) => `${JSON.stringify(one)}\n`);
  const [ndjson = ""] = NDJSON_TYPES;
  return {
    [JSON_TYPE]: { schema: anyOf(schema, array(schema, { maxItems })), examples: valuesOf(examples) },
    [ndjson]: {
      schema: text({ description: `One reading per line, up to ${maxItems}` }),
      examples: valuesOf({ lines: lines.join("") }),
    },
  };
}

const valuesOf = (examples: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));

/** By default one example of each named schema, which all operations share. */
function examplesOf({ schema, examples }: SchemaWithExamples, shared: Shared): JsonObject {
  if (examples !== undefined) return valuesOf(examples);
  const derived = (schema.anyOf ?? [schema]).map((one): [string, JsonObject] => {
    const name = nameIn(one);
    if (name === undefined) return ["example", { value: exampleOf(one) }];
    shared.examples[name] = { value: exampleOf(one) };
    return [name, { $ref: `#/components/examples/${name}` }];
  });
  return Object.fromEntries(derived);
}

const SCHEMA_REF = "#/components/schemas/";
const nameIn = ({ $ref }: Schema): string | undefined => $ref?.slice(SCHEMA_REF.length);

/** A value with the required fields, made of the examples in the schema. */
function exampleOf(schema: Schema): unknown {
  const name = nameIn(schema);
  if (name !== undefined) return exampleOf(SCHEMAS[name] ?? {});
  const { anyOf: [alternative] = [], properties, required = [], items } = schema;
  const [value] = schema.examples ?? schema.enum ?? [schema.const];
  if (value !== undefined) return value;
  if (alternative !== undefined) return exampleOf(alternative);
  if (properties !== undefined) return Object.fromEntries(required.map((field) => [field, exampleOf(properties[field] ?? {})]));
  return items === undefined ? (schema.minimum ?? false) : [exampleOf(items)];
}

function success(route: Route, shared: Shared): JsonObject {
  const { response } = route;
  const { status = 200, mediaType = JSON_TYPE, description } = response;
  const etag = hasCacheableResponse(route) ? ETAG : response.etag === true ? VERSION_TAG : {};
  const headers = { ...REQUEST_ID, ...etag, ...(status === 201 ? LOCATION : {}) };
  const media = { schema: opened(response.schema), examples: examplesOf(response, shared) };
  return { [status]: { description, headers, content: { [mediaType]: media } } };
}

function errorGroupsOf(route: Route): readonly ErrorGroup[] {
  return [
    EVERY_ROUTE,
    ...(route.requiredRole === "none" ? [] : [WITH_KEY]),
    ...(route.sessionRole === undefined ? [] : [WITH_SESSION]),
    ...(route.requiredRole === "session" ? [SESSION_ONLY] : []),
    ...(queryParametersOf(route) === undefined ? [] : [WITH_PARAMETERS]),
    ...(route.body === undefined ? [] : [WITH_BODY]),
    ...(route.body !== undefined || route.isLongRead === true ? [OVERLOADED] : []),
    ...(route.headers ?? []).map((name) => REQUEST_HEADERS[name].errors),
    ...(route.errors ?? []).map((code) => ({ name: pascalCase(code), codes: [code] })),
  ];
}

/** One response per status, shared by all operations with the same errors under that status. */
function errorResponses(route: Route, shared: Shared): JsonObject {
  const groups = errorGroupsOf(route);
  const statuses = new Set(groups.flatMap(({ codes }) => codes.map((code) => STATUS[code])));
  const responses = [...statuses].map((status): [number, JsonObject] => {
    const ofStatus = groups.filter(({ codes }) => codes.some((code) => STATUS[code] === status));
    const codes = new Set(ofStatus.flatMap((group) => group.codes.filter((code) => STATUS[code] === status)));
    const isCommon = (group: ErrorGroup) => group.codes.every((code) => WITH_KEY.codes.includes(code));
    const suffix = ofStatus.map((group) => (isCommon(group) ? "" : group.name)).join("");
    const name = `Error${status}${suffix}`;
    shared.responses[name] ??= errorResponse(status, [...codes], shared);
    return [status, { $ref: `#/components/responses/${name}` }];
  });
  return Object.fromEntries(responses);
}

function errorResponse(status: number, codes: readonly ErrorCode[], shared: Shared): JsonObject {
  for (const code of codes) shared.examples[code] = { value: exampleProblem(code) };
  return {
    description: `${STATUS_CODES[status]}: ${codes.map((code) => `\`${code}\``).join(", ")}`,
    headers: REQUEST_ID,
    content: {
      [PROBLEM_MEDIA_TYPE]: {
        schema: ref("Problem"),
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

const pascalCase = (words: string): string =>
  words.replace(/(?:^|[ _-])(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/\W/g, "");

/** Schemas that occur in responses allow more fields, because new ones may be added. */
function openResponseSchemas(routes: readonly Route[], schemas: Readonly<Record<string, Schema>>): JsonObject {
  const inResponses = new Set<string>(["Problem"]);
  const visit = (value: unknown): void => {
    for (const [, name = ""] of (JSON.stringify(value) ?? "").matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (inResponses.has(name)) continue;
      inResponses.add(name);
      visit(schemas[name]);
    }
  };
  for (const { response } of routes) visit(response.schema);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, inResponses.has(name) ? opened(schema) : schema]),
  );
}

const opened = (schema: object): unknown =>
  JSON.parse(JSON.stringify(schema, (key, value) => (key === "additionalProperties" && value === false ? undefined : value)));

const LINE_WIDTH = 160;

/** JSON with a line for every value that fits into one: easy to compare, and half the size of the usual indentation. */
export function formatDocument(value: unknown, indent = ""): string {
  const flat = JSON.stringify(value);
  if (flat.length + indent.length <= LINE_WIDTH || typeof value !== "object" || value === null) return flat;
  const deeper = `${indent} `;
  const lines = Array.isArray(value)
    ? value.map((item) => deeper + formatDocument(item, deeper))
    : Object.entries(value).map(([key, item]) => `${deeper}${JSON.stringify(key)}: ${formatDocument(item, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}
