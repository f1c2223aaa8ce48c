// The OpenAPI 3.1 document, from the same routes, parameters and schemas that the server works with.

import { STATUS_CODES } from "node:http";
import { CATALOGUE, type ErrorCode } from "../domain/errors.ts";
import { ref } from "../domain/schema.ts";
import { PROBLEM_MEDIA_TYPE, ProblemObject, STATUS } from "./problems.ts";
import type { Route } from "./route.ts";
import { customerSchemas } from "./routes/customers.ts";
import { tankSchemas } from "./routes/tanks.ts";
import { telemetrySchemas } from "./routes/telemetry.ts";

type Json = Readonly<Record<string, unknown>>;

const OF_EVERY_ROUTE: readonly ErrorCode[] = [
  "request_malformed",
  "encoding_invalid",
  "body_too_large",
  "media_type_unsupported",
  "headers_too_large",
  "internal",
];
const OF_EVERY_KEY: readonly ErrorCode[] = [
  "key_missing",
  "key_invalid",
  "key_expired",
  "key_revoked",
  "role_insufficient",
  "rate_limited",
  "keys_throttled",
  "store_unavailable",
];
const OF_PARAMETERS: readonly ErrorCode[] = ["parameter_unknown", "parameter_invalid", "parameter_repeated"];

export function openapiDocument(routes: readonly Route[], version: string): Json {
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Tank Monitor",
      version,
      summary: "Customers, tanks and their fill levels",
      description:
        "How full is every tank, and which one needs a truck next? All operations are reads. List parameters travel in the query string, or as a form body of the same GET.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "This service" }],
    tags: [
      { name: "Customers", description: "Account holders who own tanks" },
      { name: "Tanks", description: "Containers with a capacity, an alert threshold, a location and a device" },
      { name: "Telemetry", description: "Fill readings of a tank" },
      { name: "Operations", description: "For those who run the service" },
    ],
    security: [{ key: [] }],
    paths: Object.fromEntries(routes.map((route) => [templateOf(route.path), { get: operation(route) }])),
    components: {
      securitySchemes: {
        key: { type: "apiKey", in: "header", name: "X-API-Key", description: "A key that the operator handed out" },
      },
      headers: {
        RequestId: { description: "The request's id, also in the service's log", schema: { type: "string" } },
        ETag: { description: "Send it back as If-None-Match to learn that nothing changed", schema: { type: "string" } },
      },
      schemas: { ...customerSchemas, ...tankSchemas, ...telemetrySchemas, Problem: ProblemObject },
    },
  };
  return JSON.parse(JSON.stringify(document)) as Json;
}

function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, "{$1}");
}

function operation(route: Route): Json {
  return {
    operationId: route.operation,
    summary: route.summary,
    description: route.description,
    tags: [route.tag],
    ...(route.reach === "open" ? { security: [] } : {}),
    parameters: parametersOf(route),
    responses: { 200: success(route), ...(isCacheable(route) ? { 304: NOT_MODIFIED } : {}), ...refusals(route) },
  };
}

const isCacheable = (route: Route): boolean => route.parameters !== "unread";

const NOT_MODIFIED = {
  description: "Nothing has changed since the answer with this ETag",
  headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" }, ETag: { $ref: "#/components/headers/ETag" } },
};

function parametersOf(route: Route): Json[] {
  const path = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    description: "Identifier of the object",
    schema: { type: "string" },
  }));
  const query = Object.entries(route.parameters === "unread" ? {} : route.parameters).map(([name, { schema }]) => {
    // Without an example: the documentation page would send it along as a filter.
    const { description, ...rest } = schema;
    return { name, in: "query", required: false, description, schema: rest };
  });
  return [...path, ...query];
}

function success(route: Route): Json {
  const { mediaType, schema, description, examples } = route.answer;
  const shown = Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
  return {
    description,
    headers: {
      "X-Request-Id": { $ref: "#/components/headers/RequestId" },
      ...(isCacheable(route) ? { ETag: { $ref: "#/components/headers/ETag" } } : {}),
    },
    content: { [mediaType]: { schema, examples: shown } },
  };
}

function refusals(route: Route): Json {
  const codes = [
    ...OF_EVERY_ROUTE,
    ...(route.reach === "open" ? [] : OF_EVERY_KEY),
    ...(isCacheable(route) ? OF_PARAMETERS : []),
    ...route.refusals,
  ];
  const statuses = [...new Set(codes.map((code) => STATUS[code]))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => STATUS[code] === status);
      const description = `${STATUS_CODES[status]}: ${ofStatus.map((code) => `\`${code}\``).join(", ")}`;
      const examples = Object.fromEntries(ofStatus.map((code) => [code, { value: exampleOf(code) }]));
      return [
        status,
        {
          description,
          headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" } },
          content: { [PROBLEM_MEDIA_TYPE]: { schema: ref("Problem"), examples } },
        },
      ];
    }),
  );
}

function exampleOf(code: ErrorCode): Json {
  return {
    type: `urn:tank-monitor:problem:${code}`,
    title: CATALOGUE[code],
    status: STATUS[code],
    detail: `${CATALOGUE[code]}: what is wrong with this request, and what to do.`,
    code,
    request_id: "kQ3vY2m8Zt0x-00001hs",
  };
}
