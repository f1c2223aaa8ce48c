// What a caller without a valid key, or with one that is bound to a customer or a device, learns from each route, and what a
// customer who is signed in does. Which role may use which route is in keys.test.ts and sessions.test.ts.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { newSecret } from "../../src/domain/key.ts";
import { SUFFICIENT_ROLES } from "../../src/http/auth.ts";
import { methodOf, queryParametersOf, type Route } from "../../src/http/route.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { startSession } from "../support/browser.ts";
import { manualClock } from "../support/clock.ts";
import { revokeKey } from "../support/keys.ts";
import { putReadings, tankRecord } from "../support/records.ts";
import { exchange, expectError, type RequestOptions, type Response, request, withoutRequestId } from "./client.ts";
import { BRENNER, GONE, MOSER, startFleet } from "./services.ts";

const { clock, forward } = manualClock();
const fleet = await startFleet({ after }, { clock, environment: { RATE_LIMIT: "0" } });

const call = (route: Route, id: string, options: RequestOptions, query = ""): Promise<Response> =>
  request(fleet, route.path.replace(":id", encodeURIComponent(id)) + query, { method: methodOf(route), ...options });

it("without a valid key, every route that needs one gives the same error, whatever else is sent", async () => {
  const revoked = await fleet.key({ role: "manage", name: "revoked" });
  const [{ id: revokedId = "" } = {}] = (await fleet.store.keyList()).filter(({ name }) => name === "revoked");
  await revokeKey(fleet.store, clock, revokedId);
  const expired = await fleet.key({ role: "manage", lifetime: 1 });
  forward(1);
  const keys = [
    [undefined, "key_missing"],
    ["wrong", "key_invalid"],
    [newSecret(), "key_invalid"],
    [revoked, "key_revoked"],
    [expired, "key_expired"],
  ] as const;
  for (const [key, code] of keys) {
    const responses = new Set<string>();
    const isFor = ({ requiredRole }: Route) => requiredRole !== "none" && (key !== undefined || requiredRole !== "session");
    for (const route of ROUTES.filter(isFor)) {
      for (const [id, query, body] of [
        ["tank_hall", "", undefined],
        ["nothing", "?colour=red", "{"],
      ] as const) {
        const options = { ...(key === undefined ? {} : { key }), ...(body === undefined ? {} : { body }) };
        const response = await call(route, id, options, query);
        expectError(response, 401, code);
        responses.add(JSON.stringify(withoutRequestId(response)));
      }
    }
    assert.equal(responses.size, 1, code);
  }
});

it("without a session, every route that needs one gives the same error, whatever else is sent", async () => {
  const ended = { cookie: `tank_monitor_session=${newSecret()}`, "sec-fetch-site": "same-origin" };
  for (const [headers, code] of [
    [{}, "session_missing"],
    [{ cookie: "other=1" }, "session_missing"],
    [ended, "session_ended"],
    [{ ...ended, cookie: "tank_monitor_session=wrong" }, "session_ended"],
  ] as const) {
    for (const route of ROUTES.filter(({ requiredRole }) => requiredRole === "session")) {
      for (const body of [undefined, "{"]) {
        expectError(await call(route, "nothing", { headers, ...(body === undefined ? {} : { body }) }), 401, code);
      }
    }
  }
});

it("no spelling of a path evades the key", async () => {
  const spellings = [
    ...[
      "//v1/customers",
      "/v1//customers",
      "/./v1/customers",
      "/v1/customers/",
      "/v1/customers//",
      "/v1/customers/.",
      "/V1/CUSTOMERS",
    ],
    ...["/v1%2fcustomers", "/%76%31/customers", "/v1/customers%00", "/v1/customers%20", "/v1/customers;x=1", "/v1\\customers"],
    ...["/docs/../v1/customers", "/docs/%2e%2e/v1/customers", "/docs/static/../../v1/customers", "/openapi.json/../v1/customers"],
    ...["/healthz/../v1/customers", "/healthz/..;/v1/customers", "/healthz%2f..%2fv1%2fcustomers", "//metrics", "/metrics%2f"],
    ...["http://here/v1/customers", "http://here//v1/customers", "*", "/manage/v1/keys?x=/healthz", "/manage/v1/keys#/healthz"],
  ];
  for (const path of spellings) {
    for (const method of ["GET", "get", "OPTIONS"]) {
      const responses = await exchange(fleet, `${method} ${path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`);
      assert.ok(
        responses.every(({ status }) => [400, 401, 404, 405].includes(status)),
        `${method} ${path}`,
      );
    }
  }
});

/** What identifies objects of Brenner, and of others. All are tried wherever a route takes an id. */
const OWN_DEVICE = "a84041c2f1827d3e";
const OTHER_DEVICE = "a84041c2f1827d40";
const OWN = [BRENNER, "tank_hall", OWN_DEVICE, "office@brenner-gas.example"];
const OTHERS = [MOSER, GONE, "tank_mill", "tank_sold", OTHER_DEVICE, "cus_moser@customers.example"];
await fleet.store.importTanks([tankRecord("tank_barn", MOSER, { assigned_device_id: OTHER_DEVICE })]);
for (const [tank, ids] of [
  ["tank_yard", OWN],
  ["tank_barn", OTHERS],
] as const) {
  await putReadings(fleet.store, tank, [[clock(), 5]]);
  ids.push(...(await fleet.store.alertsNotClosed([tank])).map(({ id }) => id));
}

/** In the examples of bodies. */
const EXAMPLE_IDS = new RegExp(`${OWN_DEVICE}|tank_7c1e`, "i");

/** A key, or the headers of somebody who is signed in. */
type Credentials = Pick<RequestOptions, "key" | "headers">;
type Send = (id: string, by: Credentials) => Promise<Response>;

/** The requests of a route that take an id: in the path, in a parameter, in the body. */
function requestsWithId(route: Route): Send[] {
  const json = { "content-type": "application/json" };
  const texts = Object.entries(queryParametersOf(route) ?? {}).filter(
    ([, { schema }]) => schema.type === "string" && schema.format === undefined,
  );
  const bodies = Object.values(route.body?.examples ?? {}).map((example) => JSON.stringify(example));
  if (route.body?.kind === "readings") bodies.push(JSON.stringify({ tank_id: OWN_DEVICE, fill_percentage: 1 }));
  return [
    ...(route.path.includes(":id") ? [(id: string, by: Credentials) => call(route, id, by)] : []),
    ...texts.map(
      ([name]): Send =>
        (id, by) =>
          call(route, "", by, `?${name}=${id}`),
    ),
    ...bodies.map(
      (body): Send =>
        (id, by) => {
          return call(route, "", { ...by, headers: { ...json, ...by.headers }, body: body.replace(EXAMPLE_IDS, id) });
        },
    ),
  ];
}

const comparable = (response: Response, id: string): object =>
  withoutRequestId({ ...response, text: response.text.replaceAll(id, "…") });

/** Sends the requests of a route that take an id with ids of others, and with ids that nothing has. */
async function expectIndistinguishable(route: Route, by: Credentials, others = OTHERS): Promise<void> {
  const seen: object[] = [];
  for (const send of requestsWithId(route)) {
    for (const id of others) {
      const unknown = "f".repeat(id.length);
      assert.deepEqual(comparable(await send(id, by), id), comparable(await send(unknown, by), unknown), id);
    }
    for (const id of OWN) seen.push(comparable(await send(id, by), id));
  }
  assert.ok(new Set(seen.map((one) => JSON.stringify(one))).size > 1, "but it sees its own");
}

describe("a bound key cannot tell objects of others from those that do not exist", () => {
  const bindings = [
    { role: "read", customerId: BRENNER },
    { role: "ingest", customerId: BRENNER },
    { role: "ingest", deviceId: OWN_DEVICE },
  ] as const;
  for (const binding of bindings) {
    const routes = ROUTES.filter(({ requiredRole }) => SUFFICIENT_ROLES[requiredRole].includes(binding.role));
    for (const route of routes.filter((one) => requestsWithId(one).length > 0)) {
      it(`${route.operation} with ${Object.values(binding).join(" and ")}`, async () => {
        await expectIndistinguishable(route, { key: await fleet.key(binding) });
      });
    }
  }
});

describe("a customer who is signed in cannot tell objects of others from those that do not exist", async () => {
  const [own, other] = [await sessionOf(BRENNER), await sessionOf(MOSER)];
  OWN.push(own.id);
  const routes = ROUTES.filter(({ sessionRole }) => sessionRole === "customer");
  for (const route of routes.filter((one) => requestsWithId(one).length > 0)) {
    // Of these, one shows nothing of others because it takes no id of theirs, and one ends the session that the others use.
    if (route.operation === "changeMe") continue;
    it(route.operation, async () => {
      const { headers } = route.operation === "endSession" ? await sessionOf(BRENNER) : own;
      if (route.operation === "endSession") OWN.push((await sessionOf(BRENNER)).id);
      await expectIndistinguishable(route, { headers }, [...OTHERS, other.id]);
    });
  }
});

/** Of a customer, who has requested a link. */
async function sessionOf(customerId: string): Promise<{ readonly id: string; readonly headers: Record<string, string> }> {
  const { email } = (await fleet.store.managedCustomer(customerId))?.customer ?? { email: "" };
  const { id, secret } = await startSession(fleet.store, clock, email);
  return { id, headers: { cookie: `tank_monitor_session=${secret}`, "sec-fetch-site": "same-origin" } };
}
