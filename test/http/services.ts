// Services for HTTP tests: one with a small fleet, one to manage, and one with routes that return what they
// were given.

import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ErrorCode, RequestError } from "../../src/domain/errors.ts";
import { StepScheduler } from "../../src/domain/fair-queue.ts";
import { type Clock, formatInstant } from "../../src/domain/instant.ts";
import type { LogEvent } from "../../src/domain/log-events.ts";
import { array, integer, nullable, number, object, text } from "../../src/domain/schema.ts";
import type { Store } from "../../src/domain/store.ts";
import { errorsInObject, invalidBody } from "../../src/domain/validate.ts";
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
import { SignInService } from "../../src/http/sign-in.ts";
import { createHttpIngest } from "../../src/ingest/decode.ts";
import { createIngest } from "../../src/ingest/ingest.ts";
import { ingestInSlices } from "../../src/ingest/slices.ts";
import { openMetrics } from "../../src/observe/metrics.ts";
import { openStore } from "../../src/store/open.ts";
import { manualClock } from "../support/clock.ts";
import { createKey, type KeyOptions } from "../support/keys.ts";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { type Lifetime, type Service, startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { expectStatus, type JsonClient, type JsonResponse, jsonClient, type Response } from "./client.ts";

// Two customers and a deleted one, live and deleted tanks, readings.

export const BRENNER = "cus_brenner";
export const MOSER = "cus_moser";
export const GONE = "cus_gone";

export const HALL_READINGS = 25;
export const HALL_LOCATION = {
  city: "Freiburg",
  country: "Germany",
  district: "Wiehre",
  latitude: 47.9883,
  longitude: 7.8567,
  postal_code: "79100",
  region: "Baden-Württemberg",
  street: "Lindenweg",
  street_number: "12a",
};
const HOUR = 3_600_000;
/** The newest reading of tank_hall. */
export const NEWEST = Date.parse("2026-11-14T08:00:00.000Z");

export type Fleet = Service & {
  /** Secrets: the operator's key sees everything, the others one customer each. */
  readonly operator: string;
  readonly brenner: string;
  readonly moser: string;
};

export async function startFleet(life: Lifetime, options: Parameters<typeof startService>[1] = {}): Promise<Fleet> {
  const service = await startService(life, options);
  await service.store.importCustomers([
    customerRecord(BRENNER, {
      created_at: "2025-03-02T08:15:30.123Z",
      email: "office@brenner-gas.example",
      last_seen_at: "2026-11-14T09:30:00Z",
      name: "Brenner Gas GmbH",
      phone: "+49 30 5550 0142",
      updated_at: "2025-06-11T14:02:11.25Z",
      verified_at: "2025-03-02T08:40:02Z",
    }),
    customerRecord(MOSER, { created_at: "2025-05-01T00:00:00Z" }),
    customerRecord(GONE, { created_at: "2025-04-01T00:00:00Z", deleted: true }),
  ]);
  await service.store.importTanks([
    tankRecord("tank_hall", BRENNER, {
      assigned_device_id: "a84041c2f1827d3e",
      capacity: 2700.5,
      created_at: "2025-03-04T10:00:00Z",
      custom_id: "HALL-3",
      location: HALL_LOCATION,
      name: "Hall 3, north side",
      updated_at: "2026-02-19T07:45:00Z",
      use_case: "commercial",
    }),
    tankRecord("tank_yard", BRENNER, { created_at: "2025-03-05T10:00:00Z", capacity_unit: "gallons" }),
    tankRecord("tank_mill", MOSER, { created_at: "2025-05-02T00:00:00Z" }),
    tankRecord("tank_scrapped", BRENNER, { created_at: "2025-03-06T10:00:00Z", deleted: true }),
    tankRecord("tank_sold", MOSER, { created_at: "2025-05-03T00:00:00Z", deleted: true }),
  ]);
  const hourly = Array.from({ length: HALL_READINGS }, (_, i) => [NEWEST - i * HOUR, 60 + i / 10] as const);
  await putReadings(service.store, "tank_hall", hourly);
  await putReadings(service.store, "tank_mill", hourly.slice(0, 3));
  await putReadings(service.store, "tank_scrapped", hourly.slice(0, 2));
  const operator = await service.key();
  const brenner = await service.key({ customerId: BRENNER });
  return { ...service, operator, brenner, moser: await service.key({ customerId: MOSER }) };
}

export type Endpoint = {
  readonly operation: string;
  /** Returns 200. */
  readonly path: string;
  readonly isList: boolean;
  /** A path whose object does not exist, and the code of the error. */
  readonly unknown?: { readonly path: string; readonly code: "customer_unknown" | "tank_unknown" };
};

const NO_CUSTOMER = { path: "/v1/customers/cus_nobody", code: "customer_unknown" } as const;
const NO_TANK = { path: "/v1/tanks/tank_nothing", code: "tank_unknown" } as const;
const NO_TELEMETRY = { path: "/v1/tanks/tank_nothing/telemetry", code: "tank_unknown" } as const;

export const ENDPOINTS: readonly Endpoint[] = [
  { operation: "listCustomers", path: "/v1/customers", isList: true },
  { operation: "retrieveCustomer", path: `/v1/customers/${BRENNER}`, isList: false, unknown: NO_CUSTOMER },
  { operation: "listTanks", path: "/v1/tanks", isList: true },
  { operation: "retrieveTank", path: "/v1/tanks/tank_hall", isList: false, unknown: NO_TANK },
  { operation: "listTelemetry", path: "/v1/tanks/tank_hall/telemetry", isList: true, unknown: NO_TELEMETRY },
];

// A service to manage, with a clock that the test moves.

export type Managed = Service & {
  /** With a manage key. */
  readonly manage: JsonClient;
  readonly keyId: string;
  readonly forward: (milliseconds: number) => number;
  /** The time of the clock, as in responses. */
  readonly now: () => string;
  /** Creates a customer and their tank with its device, all with ids of their own. */
  readonly create: () => Promise<Created>;
};

export type Created = {
  readonly customer: string;
  readonly tank: string;
  readonly device: string;
  /** The fields of another tank of the customer. */
  readonly fields: typeof TANK & { readonly owner_id: string };
};

export const CUSTOMER = { name: "Brenner Gas GmbH", email: "office@brenner-gas.example" };
const TANK = { name: "Hall 3", capacity: 2700, capacity_unit: "liters", min_fill_alert_percentage: 20 };

export async function startManaged(life: Lifetime, environment: Record<string, string> = {}): Promise<Managed> {
  const { clock, forward } = manualClock();
  const service = await startService(life, { clock, environment });
  const manage = jsonClient(service, await service.key({ role: "manage", name: "office" }));
  const [key] = await service.store.keyList();
  let count = 0;
  async function create(): Promise<Created> {
    const [customer, tank, device] = [`c${++count}`, `t${count}`, `d${count}`];
    const fields = { ...TANK, owner_id: customer };
    expectStatus(await manage("POST", "/manage/v1/customers", { ...CUSTOMER, id: customer }), 201);
    expectStatus(await manage("POST", "/manage/v1/tanks", { ...fields, id: tank, assigned_device_id: device }), 201);
    return { customer, tank, device, fields };
  }
  return { ...service, manage, keyId: key?.id ?? "", forward, now: () => formatInstant(clock()), create };
}

/** `field message` of each field error. */
export function fieldErrors({ body }: JsonResponse): string[] {
  return (body["errors"] as { field: string; message: string }[]).map(({ field, message }) => `${field} ${message}`);
}

export const idsIn = ({ body }: JsonResponse): unknown[] => (body["data"] as { id: unknown }[]).map(({ id }) => id);

// A server whose routes return what they were given, for what holds for all writes.

export const MAX_BYTES = 65_536;
export const MAX_ITEMS = 100;
/** The limit of /ingest/v1/loads. */
export const LARGE_BYTES = 4 * 1024 * 1024;

const Thing = object(
  {
    name: text({ minLength: 1, maxLength: 20 }),
    place: object({ latitude: number({ minimum: -90, maximum: 90 }), note: nullable(text()) }, {}, ["note"]),
    marks: array(integer({ minimum: 0 }), { maxItems: 3 }),
  },
  {},
  ["marks"],
);
const THING = { name: "valve", place: { latitude: 47.9 }, marks: [1, 2] };

function echo({ id, parameters, key, headers, body = null, items }: RouteRequest) {
  const { colour = "" } = parameters as { colour?: string };
  const { idempotencyKey = null, ifMatch = null } = headers;
  const caller = { key_id: key.id, role: key.role, customer_id: key.customer_id };
  return { object: "echo", id, colour, ...caller, idempotency_key: idempotencyKey, if_match: ifMatch, body, items };
}

/** What a route of the echo service was given. */
export function echoed({ status, text: given }: Response): ReturnType<typeof echo> {
  assert.ok(status === 200 || status === 201, given);
  return JSON.parse(given) as ReturnType<typeof echo>;
}

const response = { mediaType: JSON_TYPE, schema: { type: "object" }, description: "What was given", examples: { echo: {} } };
const colour: Parameter<string> = {
  schema: text({ description: "A colour" }),
  fallback: "",
  read: (given) => (/^[a-z]+$/.test(given) ? { value: given } : { must: "a colour" }),
};
const thing = { schema: Thing, description: "A thing", examples: { valve: THING } } as const;
const body: BodyRule = { ...thing, kind: "json", maxBytes: MAX_BYTES, mediaTypes: [JSON_TYPE] };
const managed = { tag: "Management", requiredRole: "manage", description: "For tests.", errors: [] } as const;
const ingested = { ...managed, requiredRole: "ingest", tag: "Ingestion" } as const;
const parameters = NO_PARAMETERS;
const handle = async (request: RouteRequest) => echo(request);

/** A PATCH of a thing with one of these ids fails with the code. */
const ERROR_IDS: readonly ErrorCode[] = ["state_conflict", "precondition_failed", "idempotency_key_reused", "tank_unknown"];

export const ECHO_ROUTES: readonly Route[] = [
  route({
    ...{ ...managed, path: "/manage/v1/things", operation: "listThings", summary: "List things" },
    ...{ parameters: { colour }, response, handle },
  }),
  route({
    ...{ ...managed, method: "POST", path: "/manage/v1/things", operation: "createThing", summary: "Create a thing" },
    ...{ parameters, headers: ["Idempotency-Key"], body, response: { ...response, status: 201, etag: true } },
    async handle(request) {
      const errors = errorsInObject(Thing, request.body);
      if (errors.length > 0) throw invalidBody(errors);
      return new RouteResponse(201, echo(request), { location: "/manage/v1/things/1", etag: '"1"' });
    },
  }),
  route({
    ...{ ...managed, path: "/manage/v1/things/:id", operation: "retrieveThing", summary: "Retrieve a thing" },
    ...{ parameters, response: { ...response, etag: true } },
    handle: async (request) => new RouteResponse(200, echo(request), { etag: '"1"' }),
  }),
  route({
    ...{ ...managed, path: "/manage/v1/things/first", operation: "retrieveFirstThing", summary: "Retrieve the first thing" },
    ...{ parameters, response },
    handle: async (request) => JSON.stringify(echo({ ...request, id: "the first" })),
  }),
  route({
    ...{ ...managed, method: "PATCH", path: "/manage/v1/things/:id", operation: "changeThing", summary: "Change a thing" },
    ...{ parameters: { colour }, headers: ["If-Match"], body: { ...body, mediaTypes: PATCH_TYPES } },
    ...{ response, errors: ERROR_IDS },
    async handle(request) {
      const code = ERROR_IDS.find((known) => known === request.id);
      if (code !== undefined) throw new RequestError(code, "As requested.");
      return echo(request);
    },
  }),
  route({
    ...{ ...managed, method: "DELETE", path: "/manage/v1/things/:id", operation: "deleteThing", summary: "Delete a thing" },
    ...{ parameters: { colour }, response, handle },
  }),
  route({
    ...{ ...managed, method: "POST", path: "/manage/v1/things/:id/restore", operation: "restoreThing" },
    ...{ summary: "Restore a thing", parameters, response, handle },
  }),
  route({
    ...{ ...managed, method: "PUT", path: "/manage/v1/things/:id/note", operation: "noteThing", summary: "Add a note" },
    ...{ parameters, body: { ...body, optional: true }, response, handle },
  }),
  route({
    ...{ ...ingested, method: "POST", path: "/ingest/v1/things", operation: "sendThings", summary: "Send things" },
    ...{ parameters, response, handle },
    body: { ...thing, examples: { one: THING, two: [THING, THING] }, kind: "readings", maxBytes: MAX_BYTES, maxItems: MAX_ITEMS },
  }),
  route({
    ...{ ...ingested, method: "POST", path: "/ingest/v1/loads", operation: "sendLoad", summary: "Send a large string" },
    ...{ parameters, body: { ...body, maxBytes: LARGE_BYTES }, response },
    handle: async (request) => echo({ ...request, body: typeof request.body === "string" ? request.body.length : 0 }),
  }),
];

export type EchoService = {
  readonly url: string;
  readonly events: readonly LogEvent[];
  readonly parts: ServerOptions;
  readonly store: Store;
  /** The number of open connections. */
  readonly connections: () => Promise<number>;
  /** Creates a key, by default with the role `manage`, and returns its secret. */
  readonly key: (options?: KeyOptions) => Promise<string>;
};

type EchoOptions = {
  readonly corsOrigins?: readonly string[];
  readonly timeouts?: ServerOptions["timeouts"];
  readonly connections?: ServerOptions["connections"];
  readonly trustProxy?: ServerOptions["trustProxy"];
  readonly clock?: Clock;
  readonly routes?: readonly Route[];
};

export async function startEcho(life: Lifetime, options: EchoOptions = {}): Promise<EchoService> {
  const { corsOrigins = [], connections = {}, timeouts = { headersMs: 5000, requestMs: 10_000 } } = options;
  const { clock = Date.now, routes = ECHO_ROUTES, trustProxy = false } = options;
  const events: LogEvent[] = [];
  const observe = (event: LogEvent) => events.push(event);
  const store = await openStore(`sqlite:${join(temporaryFolder(life), "echo.db")}`, observe);
  const lastSeen = new LastSeen(store.updateLastSeen, clock, observe);
  const metrics = openMetrics();
  const scheduler = new StepScheduler();
  const ingest = createHttpIngest(ingestInSlices(createIngest(store, clock), scheduler), clock);
  const [management, limits] = [new ManagementService(store, clock), localLimits(clock)];
  const sendMail = async () => ({ status: null, error: "there is no mail server" });
  const signIn = new SignInService({ management, limits, observe, sendMail, recordSeen: () => {} });
  const services = { ingest, management, signIn, warnings: async () => [], wholeMap: async () => "" };
  const parts: ServerOptions = {
    ...{ reads: store, services, lastSeen, clock, observe, metrics, limits, scheduler, routes },
    ...{ version: "0.0.0", rateLimit: 100, corsOrigins, trustProxy, timeouts, connections },
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
  const key = (given?: KeyOptions) => createKey(store, clock, { role: "manage", ...given });
  const openConnections = promisify(server.server.getConnections.bind(server.server));
  return { url: `http://127.0.0.1:${port}`, events, parts, store, connections: openConnections, key };
}
