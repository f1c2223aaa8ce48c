// A server with routes of its own, for what the house does for writes whatever the routes are: a list of things to keep, and
// a door for readings. They tell what they were given, so that a test sees it.

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type ErrorCode, RequestError } from "../../src/domain/errors.ts";
import type { Event } from "../../src/domain/events.ts";
import type { Clock } from "../../src/domain/instant.ts";
import { array, integer, literal, nullableText, number, object, oneOf, text } from "../../src/domain/schema.ts";
import type { Store } from "../../src/domain/store.ts";
import { validated } from "../../src/domain/validate.ts";
import { LastSeen } from "../../src/http/last-seen.ts";
import { localLimits } from "../../src/http/limits.ts";
import { ManagementService } from "../../src/http/management.ts";
import { NO_PARAMETERS, type Parameter } from "../../src/http/parameters.ts";
import {
  type BodyRule,
  JSON_TYPE,
  PATCH_TYPES,
  type Route,
  type RouteRequest,
  RouteResponse,
  route,
} from "../../src/http/route.ts";
import { buildServer, type ServerOptions } from "../../src/http/server.ts";
import { createHttpIngest } from "../../src/ingest/http.ts";
import { createIngest } from "../../src/ingest/ingest.ts";
import { openMetrics } from "../../src/observe/metrics.ts";
import { openStore } from "../../src/store/open.ts";
import { type KeyWish, makeKey } from "../support/keys.ts";
import { type Lifetime, temporaryFolder } from "../support/service.ts";

export const MAX_BYTES = 65_536;
export const MAX_ITEMS = 100;
/** For bodies that take their time on the wire. */
export const LARGE_BYTES = 16 * 1024 * 1024;

export const Thing = object(
  {
    name: text({ minLength: 1, maxLength: 20 }),
    place: object({ latitude: number({ minimum: -90, maximum: 90 }), note: nullableText() }, {}, ["note"]),
    marks: array(integer({ minimum: 0 }), { maxItems: 3 }),
  },
  {},
  ["marks"],
);
const THING = { name: "valve", place: { latitude: 47.9 }, marks: [1, 2] };

/** What a route was given. */
const Echo = object({
  object: literal("echo"),
  id: text(),
  colour: text(),
  key_id: text(),
  role: oneOf(["read", "ingest", "manage"]),
  customer_id: nullableText(),
  idempotency_key: nullableText(),
  if_match: nullableText(),
  body: {},
  items: array({}),
});

export type Echoed = {
  readonly id: string;
  readonly colour: string;
  readonly key_id: string;
  readonly role: string;
  readonly customer_id: string | null;
  readonly idempotency_key: string | null;
  readonly if_match: string | null;
  readonly body: unknown;
  readonly items: readonly ({ readonly value: unknown } | { readonly unreadable: string })[];
};

function echo({ id, parameters, key, headers, body = null, items }: RouteRequest): object {
  const { colour = "" } = parameters as { colour?: string };
  const { idempotencyKey = null, ifMatch = null } = headers;
  const who = { key_id: key.id, role: key.role, customer_id: key.customer_id };
  return { object: "echo", id, colour, ...who, idempotency_key: idempotencyKey, if_match: ifMatch, body, items };
}

const ECHO = {
  object: "echo",
  id: "",
  colour: "",
  key_id: "key_1",
  role: "manage",
  customer_id: null,
  idempotency_key: null,
  if_match: null,
  body: null,
  items: [],
};
const response = { mediaType: JSON_TYPE, schema: Echo, description: "What was given", examples: { echo: ECHO } } as const;
const colour: Parameter<string> = {
  schema: text({ description: "Of no importance" }),
  fallback: "",
  read: (given) => (/^[a-z]+$/.test(given) ? { value: given } : { must: "a colour" }),
};

const shown = { schema: Thing, description: "A thing", examples: { valve: THING } } as const;
const jsonBody: BodyRule = { ...shown, kind: "json", maxBytes: MAX_BYTES, mediaTypes: [JSON_TYPE] };

const managed = { tag: "Management", requiredRole: "manage", description: "For tests.", errors: [] } as const;

/** Refuses with the code that the id names, where it names one. */
const REFUSALS: readonly ErrorCode[] = ["state_conflict", "precondition_failed", "idempotency_key_reused", "tank_unknown"];

function refuseNamed(id: string): void {
  const code = REFUSALS.find((known) => known === id);
  if (code !== undefined) throw new RequestError(code, "As request.");
}

export const WORKSHOP: readonly Route[] = [
  route({
    ...managed,
    path: "/manage/v1/things",
    operation: "listThings",
    summary: "List things",
    parameters: { colour },
    response,
    handle: async (request) => echo(request),
  }),
  route({
    ...managed,
    method: "POST",
    path: "/manage/v1/things",
    operation: "createThing",
    summary: "Make a thing",
    parameters: NO_PARAMETERS,
    headers: ["Idempotency-Key"],
    body: jsonBody,
    response: { ...response, statuses: [201], etag: true },
    async handle(request) {
      validated(Thing, request.body);
      return new RouteResponse(201, echo(request), { location: "/manage/v1/things/1", etag: '"1"' });
    },
  }),
  route({
    ...managed,
    path: "/manage/v1/things/:id",
    operation: "retrieveThing",
    summary: "Retrieve a thing",
    parameters: NO_PARAMETERS,
    response: { ...response, etag: true },
    handle: async (request) => new RouteResponse(200, echo(request), { etag: '"1"' }),
  }),
  route({
    ...managed,
    path: "/manage/v1/things/first",
    operation: "retrieveFirstThing",
    summary: "Retrieve the first thing",
    parameters: NO_PARAMETERS,
    response,
    handle: async (request) => JSON.stringify(echo({ ...request, id: "the first" })),
  }),
  route({
    ...managed,
    method: "PATCH",
    path: "/manage/v1/things/:id",
    operation: "changeThing",
    summary: "Change a thing",
    parameters: { colour },
    headers: ["If-Match"],
    body: { ...jsonBody, mediaTypes: PATCH_TYPES },
    response: { ...response, statuses: [200, 201] },
    errors: REFUSALS,
    async handle(request) {
      refuseNamed(request.id);
      return echo(request);
    },
  }),
  route({
    ...managed,
    method: "DELETE",
    path: "/manage/v1/things/:id",
    operation: "deleteThing",
    summary: "Delete a thing",
    parameters: { colour },
    response: { statuses: [204], description: "It is gone" },
    handle: async () => new RouteResponse(204),
  }),
  route({
    ...managed,
    method: "POST",
    path: "/manage/v1/things/:id/restore",
    operation: "restoreThing",
    summary: "Restore a thing",
    parameters: NO_PARAMETERS,
    response,
    handle: async (request) => echo(request),
  }),
  route({
    ...managed,
    method: "PUT",
    path: "/manage/v1/things/:id/note",
    operation: "noteThing",
    summary: "Note something, or nothing",
    parameters: NO_PARAMETERS,
    body: { ...jsonBody, optional: true },
    response,
    handle: async (request) => echo(request),
  }),
  route({
    ...managed,
    requiredRole: "ingest",
    tag: "Ingestion",
    method: "POST",
    path: "/ingest/v1/things",
    operation: "sendThings",
    summary: "Send things",
    parameters: NO_PARAMETERS,
    body: { ...shown, examples: { one: THING, two: [THING, THING] }, kind: "readings", maxBytes: MAX_BYTES, maxItems: MAX_ITEMS },
    response,
    handle: async (request) => echo(request),
  }),
  route({
    ...managed,
    requiredRole: "ingest",
    tag: "Ingestion",
    method: "POST",
    path: "/ingest/v1/loads",
    operation: "sendLoad",
    summary: "Send a load",
    parameters: NO_PARAMETERS,
    body: { ...jsonBody, maxBytes: LARGE_BYTES },
    response,
    async handle(request) {
      const load = typeof request.body === "string" ? request.body.length : 0;
      return echo({ ...request, body: load });
    },
  }),
];

export type Workshop = {
  readonly url: string;
  readonly events: readonly Event[];
  readonly parts: ServerOptions;
  readonly store: Store;
  /** Makes a key of the role `manage`, or as wished, and gives its secret. */
  readonly key: (wish?: Partial<KeyWish>) => Promise<string>;
};

type Options = {
  readonly corsOrigins?: readonly string[];
  readonly timeouts?: ServerOptions["timeouts"];
  readonly clock?: Clock;
};

export async function openWorkshop(life: Lifetime, options: Options = {}): Promise<Workshop> {
  const { corsOrigins = [], timeouts = { headersMs: 5000, requestMs: 10_000 }, clock = Date.now } = options;
  const events: Event[] = [];
  const observe = (event: Event) => events.push(event);
  const store = await openStore(`sqlite:${join(temporaryFolder(life), "workshop.db")}`, observe);
  const lastSeen = new LastSeen(store.updateLastSeen, clock, observe);
  const metrics = openMetrics();
  const parts = {
    ...{
      reads: store,
      lastSeen,
      clock,
      observe,
      metrics,
      limits: localLimits(clock),
      services: { ingest: createHttpIngest(createIngest(store, clock), clock), management: new ManagementService(store, clock) },
      routes: WORKSHOP,
    },
    ...{ version: "0.0.0", rateLimit: 100, corsOrigins, trustProxy: false, timeouts },
  };
  const server = await buildServer(parts);
  await server.listen({ host: "127.0.0.1", port: 0 });
  life.after(async () => {
    const closed = once(server.server, "close");
    server.server.closeAllConnections();
    await Promise.all([server.close(), closed]);
    await lastSeen.stop();
    await store.close();
    metrics.close();
  });
  const { port } = server.server.address() as AddressInfo;
  const usual = { name: "test", role: "manage", customerId: null, deviceId: null, rate: null, lifetime: null } as const;
  const key = async (wish: Partial<KeyWish> = {}) => (await makeKey(store, clock, { ...usual, ...wish })).secret;
  return { url: `http://127.0.0.1:${port}`, events, parts, store, key };
}
