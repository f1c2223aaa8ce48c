// One route as the OpenAPI document describes it.

import { STATUS_CODES } from "node:http";
import { ERROR_TITLES, type ErrorCode } from "../domain/errors.ts";
import { anyOf, array, ref, type Schema, text } from "../domain/schema.ts";
import { PROBLEM_MEDIA_TYPE, STATUS } from "./problems.ts";
import { type BodyRule, isInterface, JSON_TYPE, LINES_TYPES, type Route } from "./route.ts";

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
const OF_BODIES: readonly ErrorCode[] = ["body_missing", "body_malformed", "body_invalid", "overloaded"];

const HEADERS = {
  "Idempotency-Key": {
    description: "A name of your own for this request. Sent again under the same name, it is done once and answered as before.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
    refusals: ["idempotency_key_invalid", "idempotency_key_reused"],
  },
  "If-Match": {
    description: "The ETag under which the object was last seen. If it has changed since, nothing is done.",
    schema: { type: "string" },
    refusals: ["precondition_failed"],
  },
} as const satisfies Record<string, { description: string; schema: Schema; refusals: readonly ErrorCode[] }>;

const REQUEST_ID = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } };
const ETAG = { ETag: { $ref: "#/components/headers/ETag" } };
const STATE = {
  ETag: { description: "Send it back as If-Match, to change only what you have seen", schema: { type: "string" } },
};
const LOCATION = { Location: { description: "The path of what was made", schema: { type: "string" } } };

const NOT_MODIFIED = {
  description: "Nothing has changed since the answer with this ETag",
  headers: { ...REQUEST_ID, ...ETAG },
};

export function operationOf(route: Route): Json {
  return {
    operationId: route.operation,
    summary: route.summary,
    description: route.description,
    tags: [route.tag],
    ...(route.reach === "open" ? { security: [] } : {}),
    parameters: parametersOf(route),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body) }),
    responses: { ...successes(route), ...(isInterface(route) ? { 304: NOT_MODIFIED } : {}), ...refusals(route) },
  };
}

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
  const headers = (route.takes ?? []).map((name) => {
    const { description, schema } = HEADERS[name];
    return { name, in: "header", required: false, description, schema };
  });
  return [...path, ...query, ...headers];
}

function requestBody(rule: BodyRule): Json {
  const required = !(rule.kind === "json" && rule.optional === true);
  return { required, description: rule.description, content: rule.kind === "json" ? jsonBody(rule) : readingsBody(rule) };
}

function jsonBody({ mediaTypes, schema, examples }: Extract<BodyRule, { kind: "json" }>): Json {
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema, examples: shown(examples) }]));
}

function readingsBody({ schema, maxItems, examples }: Extract<BodyRule, { kind: "readings" }>): Json {
  const lines = Object.values(examples)
    .flat()
    .map((one) => `${JSON.stringify(one)}\n`);
  const [linesType = ""] = LINES_TYPES;
  return {
    [JSON_TYPE]: { schema: anyOf(schema, array(schema, { maxItems })), examples: shown(examples) },
    [linesType]: {
      schema: text({ description: `One reading a line, up to ${maxItems}` }),
      examples: shown({ lines: lines.join("") }),
    },
  };
}

const shown = (examples: Json): Json => Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));

function successes(route: Route): Json {
  const { answer } = route;
  return Object.fromEntries((answer.statuses ?? [200]).map((status) => [status, success(route, status)]));
}

function success(route: Route, status: number): Json {
  const { answer } = route;
  const made = status === 201 ? LOCATION : {};
  if (!("mediaType" in answer)) return { description: answer.description, headers: { ...REQUEST_ID } };
  const tag = isInterface(route) ? ETAG : answer.etag === true ? STATE : {};
  return {
    description: answer.description,
    headers: { ...REQUEST_ID, ...tag, ...made },
    content: { [answer.mediaType]: { schema: answer.schema, examples: shown(answer.examples) } },
  };
}

function codesOf(route: Route): readonly ErrorCode[] {
  const codes = [
    ...OF_EVERY_ROUTE,
    ...(route.reach === "open" ? [] : OF_EVERY_KEY),
    ...(route.parameters === "unread" ? [] : OF_PARAMETERS),
    ...(route.body === undefined ? [] : OF_BODIES),
    ...(route.takes ?? []).flatMap((name): readonly ErrorCode[] => HEADERS[name].refusals),
    ...route.refusals,
  ];
  return [...new Set(codes)];
}

function refusals(route: Route): Json {
  const codes = codesOf(route);
  const statuses = [...new Set(codes.map((code) => STATUS[code]))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => STATUS[code] === status);
      const description = `${STATUS_CODES[status]}: ${ofStatus.map((code) => `\`${code}\``).join(", ")}`;
      const examples = Object.fromEntries(ofStatus.map((code) => [code, { value: exampleOf(code) }]));
      return [
        status,
        { description, headers: { ...REQUEST_ID }, content: { [PROBLEM_MEDIA_TYPE]: { schema: ref("Problem"), examples } } },
      ];
    }),
  );
}

function exampleOf(code: ErrorCode): Json {
  return {
    type: `urn:tank-monitor:problem:${code}`,
    title: ERROR_TITLES[code],
    status: STATUS[code],
    detail: `${ERROR_TITLES[code]}: what is wrong with this request, and what to do.`,
    code,
    ...(code === "body_invalid" ? { errors: [{ field: "location.latitude", message: "must be from -90 to 90" }] } : {}),
    request_id: "kQ3vY2m8Zt0x-00001hs",
  };
}
