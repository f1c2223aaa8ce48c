// Sessions: what each role may do, from where their requests may come, and when they end.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { newSecret } from "../../src/domain/key.ts";
import { SESSION_LIFETIME_MS, SESSION_ROLES, type SessionRole } from "../../src/domain/session.ts";
import { ManagementService } from "../../src/http/management.ts";
import { methodOf, type Route } from "../../src/http/route.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { openStore } from "../../src/store/open.ts";
import { Browser, createUser, linkFor, signedInAs, startSession } from "../support/browser.ts";
import { manualClock } from "../support/clock.ts";
import { customerRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { contract, expectError, expectStatus, jsonClient, type Response, request, send } from "./client.ts";
import { BRENNER, CUSTOMER, MOSER, startFleet } from "./services.ts";

const { clock, forward } = manualClock();
const fleet = await startFleet({ after }, { clock, environment: { RATE_LIMIT: "0" } });
/** With the real clock, for what happens within a second. */
const live = await startService({ after }, { environment: { RATE_LIMIT: "0" } });
const manage = jsonClient(fleet, await fleet.key({ role: "manage" }));

const COOKIE = "tank_monitor_session";
const OWN_PAGE = { "sec-fetch-site": "same-origin" };

async function cookieOf(role: SessionRole, name = "matrix"): Promise<string> {
  if (role === "customer") return `${COOKIE}=${(await startSession(fleet.store, clock, "office@brenner-gas.example")).secret}`;
  const browser = await signedInAs(fleet, role, { email: `${name}-${role}@operator.example`, clock });
  return `${COOKIE}=${browser.cookies.get(COOKIE)}`;
}

const call = (route: Route, headers: Record<string, string>, body?: string): Promise<Response> =>
  request(fleet, route.path.replace(":id", "nothing"), {
    method: methodOf(route),
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body }),
  });

/** What the roles may do, apart from the definition of the routes. */
function leastRole(method: string, path: string): SessionRole | undefined {
  if (path.startsWith("/insight/v1/") || path.startsWith("/auth/v1/")) return "customer";
  if (!path.startsWith("/manage/v1/")) return undefined;
  if (/^\/manage\/v1\/(customers|tanks|devices)/.test(path) && !/\/(link|sessions)$/.test(path)) {
    return method === "GET" ? "viewer" : "dispatcher";
  }
  return /^\/manage\/v1\/(alerts|provision)/.test(path) ? "dispatcher" : "admin";
}

describe("somebody who is signed in as", () => {
  for (const role of SESSION_ROLES) {
    it(`${role} may use the endpoints of the role, and no other`, async () => {
      const cookie = await cookieOf(role);
      for (const route of ROUTES.filter(({ requiredRole }) => requiredRole !== "none")) {
        const { path, operation } = route;
        // It would end the session.
        if (operation === "signOut") continue;
        const least = leastRole(methodOf(route), path);
        const response = await call(route, { cookie, ...OWN_PAGE }, route.body === undefined ? undefined : "{");
        if (least === undefined) expectError(response, 401, "key_missing");
        else if (SESSION_ROLES.indexOf(role) < SESSION_ROLES.indexOf(least)) expectError(response, 403, "role_insufficient");
        else assert.ok(![401, 403].includes(response.status), `${operation}: ${response.text}`);
      }
    });
  }

  it("a customer sees their own tanks, and nothing of others", async () => {
    const cookie = await cookieOf("customer");
    const { data } = JSON.parse((await send(fleet, "/insight/v1/fleet", { headers: { cookie } })).text);
    assert.deepEqual(data.map((one: { tank: { id: string } }) => one.tank.id).sort(), ["tank_hall", "tank_yard"]);
    const other = await send(fleet, "/insight/v1/tanks/tank_mill", { headers: { cookie } });
    expectError(other, 404, "tank_unknown");
  });

  it("a customer changes the settings of their mail, and of nobody else's", async () => {
    const headers = { cookie: await cookieOf("customer"), ...OWN_PAGE, "content-type": "application/json" };
    const change = (body: object) => request(fleet, "/insight/v1/me", { method: "PATCH", headers, body: JSON.stringify(body) });
    const me = JSON.parse((await change({ notifications: { language: "de" } })).text);
    assert.deepEqual([me.type, me.id, me.role, me.notifications.language], ["customer", BRENNER, "customer", "de"]);
    for (const body of [
      {},
      { name: "Other" },
      { notifications: { language: "xx" } },
      { notifications: {}, email: "a@b.example" },
    ]) {
      expectError(await change(body), 400, "body_invalid");
    }
    const { data } = expectStatus(await manage("GET", `/manage/v1/audit?type=customer&id=${BRENNER}&size=1`), 200);
    assert.equal((data as { by: string }[])[0]?.by, BRENNER);
    const staff = { cookie: await cookieOf("admin", "no-mail"), ...OWN_PAGE, "content-type": "application/json" };
    const refused = await request(fleet, "/insight/v1/me", { method: "PATCH", headers: staff, body: '{"notifications":{}}' });
    expectError(refused, 409, "state_conflict");
  });

  it("the audit log and alerts name the user", async () => {
    const browser = await signedInAs(fleet, "dispatcher", { email: "named@operator.example", clock });
    const changed = await browser.send("PATCH", "/manage/v1/tanks/tank_hall", { min_fill_alert_percentage: 21 });
    expectStatus(changed, 200);
    const { data } = expectStatus(await manage("GET", `/manage/v1/audit?by=${browser.userId}`), 200);
    assert.deepEqual(
      (data as { id: string }[]).map(({ id }) => id),
      ["tank_hall"],
    );
  });
});

describe("a key beside a session", () => {
  it("wins, whatever the session may do", async () => {
    const cookie = await cookieOf("admin", "beside");
    const read = await send(fleet, "/manage/v1/keys", { key: fleet.brenner, headers: { cookie } });
    expectError(read, 403, "role_insufficient");
    const wrong = await send(fleet, "/insight/v1/fleet", { key: newSecret(), headers: { cookie } });
    expectError(wrong, 401, "key_invalid");
    const own = await send(fleet, "/v1/tanks", { key: fleet.moser, headers: { cookie } });
    assert.equal(JSON.parse(own.text).data[0].owner_id, MOSER);
  });

  it("is needed for /v1 and /ingest/v1, which no session opens", async () => {
    const headers = { cookie: await cookieOf("admin", "never"), ...OWN_PAGE };
    for (const path of ["/v1/customers", "/v1/tanks", "/v1/tanks/tank_hall/telemetry", "/metrics"]) {
      expectError(await send(fleet, path, { headers }), 401, "key_missing");
    }
    expectError(await send(fleet, "/ingest/v1/readings", { method: "POST", headers, body: "{}" }), 401, "key_missing");
  });
});

describe("a request that changes something", async () => {
  const cookie = await cookieOf("admin", "origins");
  const { host } = new URL(fleet.url);
  const accepted: Record<string, string>[] = [
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "same-origin", origin: "https://other.example" },
    { origin: `http://${host}` },
  ];
  const refused: Record<string, string>[] = [
    {},
    { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    { "sec-fetch-site": "same-site", origin: `http://${host}` },
    { "sec-fetch-site": "none" },
    { "sec-fetch-site": "same-origin, cross-site" },
    { origin: "null" },
    { origin: "https://evil.example" },
    { origin: `https://${host}` },
    { origin: `http://${host}.evil.example` },
    { origin: `http://${host}:1` },
    { origin: "http://127.0.0.1" },
    { referer: `${fleet.url}/tanks` },
  ];

  it("must come from a page of the service, by cookie; with a key it may come from anywhere", async () => {
    const key = await fleet.key({ role: "manage" });
    for (const route of ROUTES.filter((one) => one.sessionRole !== undefined && methodOf(one) !== "GET")) {
      for (const headers of refused) expectError(await call(route, { cookie, ...headers }), 403, "origin_not_allowed");
      if (route.requiredRole === "session") continue;
      const byKey = await call(route, { "x-api-key": key, origin: "https://evil.example" });
      assert.notEqual(byKey.status, 403, route.operation);
    }
    for (const headers of accepted) {
      const response = await send(fleet, "/manage/v1/tanks/tank_hall", {
        method: "PATCH",
        headers: { cookie, ...headers, "content-type": "application/json" },
        body: "{}",
      });
      assert.equal(response.status, 200, JSON.stringify(headers));
    }
  });

  it("to sign in must come from a page of the service: no other page signs anybody in", async () => {
    const id = await createUser(fleet, "viewer", "login-csrf@operator.example", clock);
    const token = await linkFor(fleet, id, clock);
    for (const headers of refused) {
      for (const [path, body] of [
        ["/auth/v1/session", { token }],
        ["/auth/v1/sign-in", { email: "a@b.example" }],
        ["/auth/v1/sign-in/inspect", { token }],
      ] as const) {
        const response = await request(fleet, path, {
          method: "POST",
          headers: { ...headers, "content-type": "application/json" },
          body: JSON.stringify(body),
        });
        expectError(response, 403, "origin_not_allowed");
        assert.equal(response.headers["set-cookie"], undefined);
      }
    }
    await new Browser(fleet).signInWith(token);
  });

  it("is never allowed with credentials by CORS, from whatever origin", async (t) => {
    for (const CORS_ORIGINS of ["*", "https://app.example.com"]) {
      const open = await startService(t, { environment: { CORS_ORIGINS } });
      const browser = await signedInAs(open, "admin");
      for (const origin of ["https://app.example.com", "https://evil.example", "null"]) {
        const preflight = { method: "OPTIONS", headers: { origin, "access-control-request-method": "DELETE" } };
        const other = { origin, "sec-fetch-site": "cross-site" };
        for (const response of [
          await send(open, "/auth/v1/session", preflight),
          await browser.send("GET", "/auth/v1/session", undefined, other),
          await browser.send("DELETE", "/auth/v1/session", undefined, other),
        ]) {
          assert.equal(response.headers["access-control-allow-credentials"], undefined);
        }
        expectStatus(await browser.send("DELETE", "/auth/v1/session", undefined, other), 403, "origin_not_allowed");
      }
    }
  });
});

it("a page for another account than the one that is signed in reads and changes nothing", async () => {
  const first = await signedInAs(live, "admin", { email: "first@operator.example" });
  const second = await signedInAs(live, "admin", { email: "second@operator.example" });
  const { id } = expectStatus(await first.send("GET", "/insight/v1/me"), 200);
  const page = { "x-account": String(id) };
  const customer = { ...CUSTOMER, id: "cus_of_first" };
  expectStatus(await second.send("POST", "/manage/v1/customers", customer, page), 403, "account_changed");
  expectStatus(await second.send("GET", "/insight/v1/fleet", undefined, page), 403, "account_changed");
  expectStatus(await first.send("POST", "/manage/v1/customers", customer, page), 201);
  expectStatus(await first.send("GET", "/insight/v1/fleet", undefined, page), 200);
});

describe("a session ends", () => {
  /** Uses the session first, so that it is cached. */
  async function expectEndedSoon(browser: Browser, end: () => Promise<unknown>): Promise<void> {
    for (let i = 0; i < 3; i++) expectStatus(await browser.send("GET", "/insight/v1/me"), 200);
    await end();
    const ended = performance.now();
    const response = await until("the session has ended", async () => {
      const seen = await browser.send("GET", "/insight/v1/me");
      return seen.status === 200 ? undefined : seen;
    });
    assert.ok(performance.now() - ended < 1500, `it took ${performance.now() - ended} ms`);
    expectStatus(response, 401, "session_ended");
  }

  const management = new ManagementService(live.store, Date.now);
  const execute = (command: Parameters<ManagementService["execute"]>[0]) => management.execute(command, "test");
  const user = (name: string) => signedInAs(live, "dispatcher", { email: `${name}@operator.example` });

  async function customer(id: string): Promise<Browser> {
    await live.store.importCustomers([customerRecord(id, { email: `${id}@customers.example` })]);
    const browser = new Browser(live);
    browser.cookies.set(COOKIE, (await startSession(live.store, Date.now, `${id}@customers.example`)).secret);
    return browser;
  }

  it("after 30 days, to the millisecond", async () => {
    const browser = await signedInAs(fleet, "viewer", { email: "thirty@operator.example", clock });
    forward(SESSION_LIFETIME_MS - 1);
    expectStatus(await browser.send("GET", "/auth/v1/session"), 200);
    forward(1);
    expectStatus(await browser.send("GET", "/auth/v1/session"), 401, "session_ended");
  });

  it("when the person signs out, here or elsewhere", async () => {
    const [one, other] = [await user("out"), new Browser(live)];
    await other.signInWith(await linkFor(live, one.userId));
    const { data } = expectStatus(await one.send("GET", "/auth/v1/sessions"), 200);
    const sessions = data as { id: string; current: boolean }[];
    assert.deepEqual(sessions.map(({ current }) => current).sort(), [false, true]);
    const elsewhere = sessions.find(({ current }) => !current)?.id ?? "";
    await expectEndedSoon(other, async () => {
      expectStatus(await one.send("DELETE", `/auth/v1/sessions/${elsewhere}`), 200);
    });
    expectStatus(await one.send("DELETE", `/auth/v1/sessions/${elsewhere}`), 404, "session_unknown");
    const cookie = `${COOKIE}=${one.cookies.get(COOKIE)}`;
    const response = await one.send("DELETE", "/auth/v1/session");
    assert.match(String(response.headers["set-cookie"]), /Max-Age=0/);
    await until("the session has ended", async () => {
      return (await send(live, "/auth/v1/session", { headers: { cookie } })).status === 401 || undefined;
    });
  });

  it("when the user is removed, or has another role or address", async () => {
    // The last admin could not have another role.
    await createUser(live, "admin", "stays@operator.example");
    const [removed, role, address] = [await user("removed"), await user("role"), await user("address")];
    await expectEndedSoon(removed, () => execute({ type: "remove_user", id: removed.userId }));
    await expectEndedSoon(role, () => execute({ type: "change_user", id: role.userId, fields: { role: "admin" } }));
    const fields = { email: "moved@operator.example" };
    await expectEndedSoon(address, () => execute({ type: "change_user", id: address.userId, fields }));
    // Neither comes back with what it depended on.
    await execute({ type: "change_user", id: role.userId, fields: { role: "dispatcher" } });
    await execute({ type: "change_user", id: address.userId, fields: { email: "address@operator.example" } });
    for (const browser of [role, address]) expectStatus(await browser.send("GET", "/auth/v1/session"), 401, "session_ended");
    const named = await user("named");
    await execute({ type: "change_user", id: named.userId, fields: { name: "Other" } });
    await until("the name is another", async () => {
      return expectStatus(await named.send("GET", "/auth/v1/session"), 200)["name"] === "Other" || undefined;
    });
  });

  it("when the customer is deleted, or has another address, also by an import", async () => {
    const [deleted, moved, imported] = [await customer("c-deleted"), await customer("c-moved"), await customer("c-imported")];
    await expectEndedSoon(deleted, () => execute({ type: "delete_customer", id: "c-deleted", tanks: false }));
    await execute({ type: "restore_customer", id: "c-deleted", tanks: false });
    expectStatus(await deleted.send("GET", "/insight/v1/me"), 401, "session_ended");
    await expectEndedSoon(moved, () => execute({ type: "change_customer", id: "c-moved", fields: { email: "x@y.example" } }));
    await expectEndedSoon(imported, () => live.store.importCustomers([customerRecord("c-imported", { email: "x@y.example" })]));
  });

  it("in every process when an admin ends it in another", async () => {
    const browser = await user("elsewhere");
    const [session] = await live.store.sessionsOf({ type: "user", id: browser.userId }, Date.now());
    const other = await openStore(`sqlite:${live.databaseFile}`, () => {});
    const end = new ManagementService(other, Date.now);
    await expectEndedSoon(browser, () => end.execute({ type: "end_session", id: session?.id ?? "" }, "test")).finally(
      other.close,
    );
  });
});

describe("users", () => {
  it("are managed by admins: created, listed, changed, removed; the last admin stays", async (t) => {
    const service = await startService(t);
    const admin = await signedInAs(service, "admin");
    const path = `/manage/v1/users/${admin.userId}`;
    for (const response of [await admin.send("DELETE", path), await admin.send("PATCH", path, { role: "viewer" })]) {
      expectStatus(response, 409, "state_conflict");
    }
    const fields = { email: "Dana@example.com", name: "Dana", role: "dispatcher" };
    const created = expectStatus(await admin.send("POST", "/manage/v1/users", fields), 201);
    const id = String(created["id"]);
    expectStatus(await admin.send("POST", "/manage/v1/users", { ...fields, email: "dana@EXAMPLE.com" }), 409, "state_conflict");
    for (const wrong of [{}, { ...fields, role: "root" }, { ...fields, email: "x" }, { ...fields, id: "usr_1" }, [], null]) {
      expectStatus(await admin.send("POST", "/manage/v1/users", wrong), 400, "body_invalid");
    }
    const found = expectStatus(await admin.send("GET", "/manage/v1/users?email=DANA@example.com"), 200);
    assert.deepEqual(
      (found["data"] as { id: string }[]).map((one) => one.id),
      [id],
    );
    expectStatus(await admin.send("PATCH", `/manage/v1/users/${id}`, { role: "admin" }), 200);
    expectStatus(await admin.send("PATCH", path, { role: "viewer" }), 200);
    await until("the session has ended", async () => (await admin.send("GET", "/manage/v1/users")).status === 401 || undefined);
    const { check } = await contract(service);
    const key = await service.key({ role: "manage" });
    const removed = await send(service, path, { method: "DELETE", key });
    check({ ...removed, path, method: "DELETE" });
    assert.equal(removed.status, 200);
    expectError(await send(service, path, { key }), 404, "user_unknown");
  });
});
