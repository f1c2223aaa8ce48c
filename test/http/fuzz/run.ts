// A run of random requests against a service. Every response must be as documented, and the data consistent in the end.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { formatInstant } from "../../../src/domain/instant.ts";
import type { ManagementReads } from "../../../src/domain/management-reads.ts";
import { hasSessionRole, type SessionRole } from "../../../src/domain/session.ts";
import { type RequiredRole, SUFFICIENT_ROLES } from "../../../src/http/auth.ts";
import { SESSION_COOKIE } from "../../../src/http/cookies.ts";
import { checked } from "../../store/conformance/objects.ts";
import { startSession } from "../../support/browser.ts";
import { manualClock } from "../../support/clock.ts";
import { postgresDatabase, TEMPLATE_LOCALE } from "../../support/postgres/database.ts";
import { type Lifetime, startService } from "../../support/service.ts";
import { contract, type Document, type Item, operations, type RequestOptions, type Response, send } from "../client.ts";
import { KnownObjects, type SenderKey, startRound } from "./known.ts";
import { CURRENT_ETAG, encodeBody, type GeneratedRequest, requestShares, requestsFor } from "./requests.ts";
import { Offset, Reference } from "./values.ts";

const REQUESTS_PER_ROUND = 1000;
const HOUR = 3_600_000;
/** So early that a long run ends before today: `check` reports what is in the future. */
const START = Date.parse("2025-01-01T00:00:00.000Z");
/** A request that takes longer hangs. */
const MAX_MILLISECONDS = 30_000;
/** Something expected N times does not happen in e^-N of the runs: one of 80 operations, if N is 20, in 2 of 10 million. */
const MIN_EXPECTED = 20;
/** Every operation in a run of 18,000: an alert is changed least often, 14 times, hence never in one of a million runs. */
const MIN_EXPECTED_FOR_SUCCESS = 40;
/** An operation that succeeds less often is no longer tested; in a short run, chance decides. */
const MIN_SUCCESS_RATE = 0.02;
const MIN_EXPECTED_FOR_RATE = 1000;

/** Webhooks arrive, mail does not: nothing listens there. */
const SENDING = {
  WEBHOOK_ALLOW: "127.0.0.1",
  SMTP_URL: "smtp://127.0.0.1:1",
  MAIL_FROM: "tanks@brenner-gas.example",
  PUBLIC_URL: "https://tanks.brenner-gas.example",
};

type Options = { readonly requests: number; readonly seed: number; readonly environment: Record<string, string> };

/** Responses by operation and status. */
type Counts = Map<string, Map<number, number>>;

/** Fails with the smallest request whose response is not as documented. */
export async function sendRandomRequests(life: Lifetime, { requests, seed, environment }: Options): Promise<Counts> {
  const time = manualClock(START);
  const receiver = await webhookReceiver(life);
  const service = await startService(life, { clock: time.clock, environment: { ...SENDING, ...environment } });
  const { document, check, validator } = await contract(service);
  const [known, counts]: [KnownObjects, Counts] = [new KnownObjects(), new Map()];
  known.learn("", undefined, { object: "receiver", id: receiver });
  let senders: readonly SenderKey[] = [];
  let sent = 0;

  function resolved(value: unknown): unknown {
    if (value instanceof Reference) return known.id(value);
    if (value instanceof Offset) return formatInstant(time.clock() + value.milliseconds);
    if (typeof value !== "object" || value === null || JSON.isRawJSON(value)) return value;
    if (Array.isArray(value)) return value.map(resolved);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolved(inner)]));
  }

  async function sendGenerated(generated: GeneratedRequest): Promise<void> {
    if (sent++ % REQUESTS_PER_ROUND === 0) {
      time.forward(HOUR);
      service.events.length = 0;
      senders = await startRound(service, time, rolesIn(document), known);
    }
    time.forward(generated.pause);
    const sender = senderOf(generated, senders, known.keys);
    const path = pathOf(generated, resolved);
    const options = optionsOf(generated, sender, path, resolved, known);
    const sendOnce = () => exchange(generated, path, options, sender);
    try {
      if (generated.repeat === "at once") await Promise.all([sendOnce(), sendOnce()]);
      else await sendOnce();
      if (generated.repeat === "after") await sendOnce();
    } catch (cause) {
      throw new Error(`${(cause as Error).message}\n${describeRequest(path, options)}`);
    }
  }

  async function exchange(generated: GeneratedRequest, path: string, options: RequestOptions, sender: SenderKey) {
    const { operation, method } = generated;
    const response = await withinTime(send(service, path, options));
    const { status, headers, text } = response;
    count(counts, operation.operationId, status);
    assert.ok(status < 500, `${status} ${text}`);
    check({ ...response, path, method });
    const isJson = status < 300 && headers["content-type"]?.startsWith("application/json") === true && text !== "";
    const body: Item = isJson ? JSON.parse(text) : {};
    if (isJson) expectValidBody(generated);
    known.learn(path, headers.etag, body);
    if (operation.operationId === "signOut" && status === 200) await signInAgain(sender);
    if (sender.customerId === null) return;
    // In an object, any text may be the id of a customer.
    const request = `${path} ${options.body}`;
    const ids = isJson ? [] : [...text.matchAll(/cus_[0-9a-z]{26}/g)].flat().filter((id) => !request.includes(id));
    const telemetryOf = status === 200 ? /^\/v1\/tanks\/([^/?]+)\/telemetry/.exec(path)?.[1] : undefined;
    const tank = telemetryOf === undefined ? {} : { object: "tank", id: decodeURIComponent(telemetryOf) };
    for (const id of [...ids, ...(await ownersIn([body, tank], service.store))]) {
      assert.equal(id, sender.customerId, "an object of another customer");
    }
  }

  /** The senders of a round stay signed in. */
  async function signInAgain(sender: SenderKey): Promise<void> {
    if (sender.email === undefined) return;
    const { secret } = await startSession(service.store, time.clock, sender.email);
    senders = senders.map((one) => (one.email === sender.email ? { ...one, secret } : one));
  }

  /** What a management operation accepts is what it documents. Readings are validated one by one. */
  function expectValidBody({ operation, template, body, contentType }: GeneratedRequest): void {
    const schema = operation.requestBody?.content[contentType]?.schema;
    if (schema === undefined || body?.kind !== "json" || !template.startsWith("/manage/")) return;
    const validate = validator(schema);
    validate(JSON.parse(JSON.stringify(resolved(body.value))));
    // More formats of datetimes are accepted than returned.
    const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== "format");
    assert.deepEqual(errors, [], "a body that its schema does not allow was accepted");
  }

  const result = await fc.check(fc.asyncProperty(requestsFor(document), sendGenerated), { numRuns: requests, seed });
  if (result.failed) {
    const { message } = result.errorInstance as Error;
    throw new Error(`request ${result.numRuns}, made smaller: ${message}\nTEST_SEED=${seed} repeats it`);
  }
  assert.deepEqual((await checked(service.store)).findings, []);
  expectSuccesses(document, requests, counts);
  return counts;
}

/** The URL of a server that accepts everything. */
async function webhookReceiver(life: Lifetime): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.end();
  });
  life.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
}

function rolesIn({ components }: Document): readonly string[] {
  const { role } = (components.schemas["NewKey"] as { properties: { role: { enum: string[] } } }).properties;
  return role.enum;
}

function senderOf(
  { operation, sender }: GeneratedRequest,
  senders: readonly SenderKey[],
  created: readonly SenderKey[],
): SenderKey {
  const sufficient: readonly string[] = SUFFICIENT_ROLES[(operation["x-required-role"] ?? "none") as RequiredRole];
  const signedIn = operation["x-session-role"] as SessionRole | undefined;
  const suffices = ({ role, session }: SenderKey) =>
    session === undefined ? sufficient.includes(role) : signedIn !== undefined && hasSessionRole(session, signedIn);
  const all = sender.isSufficient ? senders.filter(suffices) : [...senders, ...created];
  return all[sender.index % all.length] ?? { secret: "", role: "none", customerId: null };
}

type Resolve = (value: unknown) => unknown;

const percentEncoded = (text: unknown): string => encodeURIComponent(String(text).toWellFormed());
const encodedPairs = ({ parameters }: GeneratedRequest, resolved: Resolve): string =>
  parameters.map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(resolved(value))}`).join("&");

function pathOf(generated: GeneratedRequest, resolved: Resolve): string {
  const { id, template, isForm, rawQuery } = generated;
  const path = template.replace("{id}", () => (typeof id === "object" && "raw" in id ? id.raw : percentEncoded(resolved(id))));
  const query = [isForm ? "" : encodedPairs(generated, resolved), rawQuery].filter((part) => part !== "").join("&");
  return query === "" ? path : `${path}?${query}`;
}

function optionsOf(
  generated: GeneratedRequest,
  { secret, session }: SenderKey,
  path: string,
  resolved: Resolve,
  known: KnownObjects,
): RequestOptions {
  const { method, sender, body, isForm, isCompressed, contentType } = generated;
  const etag = known.etagOf(path);
  const given = Object.entries(generated.headers).map(([name, value]) => [name, value === CURRENT_ETAG ? etag : value]);
  const key =
    session !== undefined
      ? { cookie: `${SESSION_COOKIE}=${secret}` }
      : sender.asBearer
        ? { authorization: `Bearer ${secret}` }
        : secret === ""
          ? {}
          : { "x-api-key": secret };
  const type = body === undefined ? {} : { "content-type": contentType, ...(isCompressed ? { "content-encoding": "gzip" } : {}) };
  const page = session !== undefined || path.startsWith("/auth/") ? { "sec-fetch-site": "same-origin" } : {};
  const headers = { ...key, ...page, ...type, ...Object.fromEntries(given) };
  if (body !== undefined) return { method, headers, body: encodeBody(body, isCompressed, resolved) };
  return isForm && generated.parameters.length > 0
    ? { method, headers, body: encodedPairs(generated, resolved) }
    : { method, headers };
}

async function withinTime(response: Promise<Response>): Promise<Response> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("there was no response")), MAX_MILLISECONDS);
  return Promise.race([response, late]).finally(() => clearTimeout(timer));
}

function count(counts: Counts, operation: string, status: number): void {
  const statuses = counts.get(operation) ?? new Map<number, number>();
  counts.set(operation, statuses);
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
}

type Lookup = Pick<ManagementReads, "managedTank">;

/** The customers to whom the objects in a response belong. */
async function ownersIn(value: unknown, store: Lookup): Promise<unknown[]> {
  if (typeof value !== "object" || value === null) return [];
  const { object, id, owner_id, tank_id } = value as Item;
  const owners = await Promise.all(Object.values(value).map((inner) => ownersIn(inner, store)));
  if (object === "customer") return [id];
  if (object === "alert") return [owner_id];
  if (object === "series") return [(await store.managedTank(`${tank_id}`))?.tank.owner_id];
  // A deleted tank has no owner_id.
  return object === "tank" ? [owner_id ?? (await store.managedTank(`${id}`))?.tank.owner_id] : owners.flat();
}

function describeRequest(path: string, { method, headers = {}, body = "" }: RequestOptions): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path.slice(0, 2000)}`, ...lines, "", body.toString().slice(0, 2000)].join("\n");
}

function expectSuccesses(document: Document, requests: number, counts: Counts): void {
  const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, n) => total + n, 0);
  const shares = requestShares(document);
  for (const { operationId, responses } of operations(document)) {
    const expected = requests * (shares.get(operationId) ?? assert.fail(`no requests are generated for ${operationId}`));
    const statuses = counts.get(operationId) ?? new Map<number, number>();
    const all = sum(statuses.values());
    const successful = Object.keys(responses).filter((status) => status < "300");
    const successes = sum(successful.map((status) => statuses.get(Number(status)) ?? 0));
    const found = `${operationId}: ${JSON.stringify([...statuses])}`;
    assert.ok(all > 0 || expected < MIN_EXPECTED, `never requested: ${found}`);
    assert.ok(successes > 0 || expected < MIN_EXPECTED_FOR_SUCCESS, `never successful: ${found}`);
    assert.ok(successes >= all * MIN_SUCCESS_RATE || expected < MIN_EXPECTED_FOR_RATE, `succeeds too rarely: ${found}`);
  }
}

/** `isVerbose`: prints the number of responses of each operation by status. */
export function fuzzTest(engine: "sqlite" | "postgres", requests: number, isVerbose = false): void {
  const seed = Number(process.env["TEST_SEED"] ?? Date.now() % 1_000_000);
  test(`${engine}: ${requests} random requests get the documented responses (seed ${seed})`, async (t) => {
    const environment: Record<string, string> = {};
    if (engine === "postgres") {
      environment["DATABASE_URL"] = (await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true })).url;
    }
    const counts = await sendRandomRequests(t, { requests, seed, environment });
    for (const [operation, statuses] of isVerbose ? counts : []) t.diagnostic(`${operation} ${JSON.stringify([...statuses])}`);
  });
}
