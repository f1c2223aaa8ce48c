// Keys: which are rejected, when they begin and cease to work, what each role and scope may see, and last_seen_at.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import { formatInstant } from "../../src/domain/instant.ts";
import { newSecret, ROLES, type Role } from "../../src/domain/key.ts";
import { openStore } from "../../src/store/open.ts";
import { manualClock } from "../support/clock.ts";
import { revokeKey, rotateKey } from "../support/keys.ts";
import { customerRecord } from "../support/records.ts";
import type { Service } from "../support/service.ts";
import { until } from "../support/until.ts";
import { contract, expectError, ids, list, object, request, withoutRequestId } from "./client.ts";
import { BRENNER, ENDPOINTS, GONE, HALL_READINGS, MOSER, startFleet } from "./services.ts";

const HOUR = 3_600_000;
const PATH = "/v1/tanks";
const held = manualClock();
const fleet = await startFleet({ after }, { clock: held.clock, environment: { RATE_LIMIT: "0" } });
/** With the real clock, for what happens within a second. */
const live = await startFleet({ after }, { environment: { RATE_LIMIT: "0" } });
const manage = await fleet.key({ role: "manage" });
const call = (path: string, key: string) => request(fleet, path, { key });

const lookups = (service: Service) =>
  service.events.filter((event) => event.kind === "query_completed" && event.query === "keyByHash").length;

async function idOf(service: Service, name: string): Promise<string> {
  const key = (await service.store.keyList()).find((known) => known.name === name);
  assert.ok(key !== undefined);
  return key.id;
}

describe("a request", () => {
  it("with a malformed key is rejected without a database lookup", async () => {
    const secret = newSecret();
    for (const malformed of [
      "sk_live_1234567890",
      secret.slice(0, -1),
      `${secret}a`,
      secret.slice(0, -1) + (secret.endsWith("a") ? "b" : "a"),
      secret.slice(0, 10) + (secret[10] === "x" ? "y" : "x") + secret.slice(11),
      secret.toUpperCase(),
      secret.slice(3),
      "tm_",
      `"${secret}"`,
      `Bearer ${secret}`,
      "' OR 1=1 --",
      "__proto__",
      "tm_".repeat(3000),
    ]) {
      const before = lookups(fleet);
      held.forward(2000);
      expectError(await call(PATH, malformed), 401, "key_invalid");
      assert.equal(lookups(fleet), before, malformed);
    }
  });

  it("with a well-formed key that does not exist is rejected after a lookup", async () => {
    const before = lookups(fleet);
    expectError(await call(PATH, newSecret()), 401, "key_invalid");
    assert.equal(lookups(fleet), before + 1);
  });

  it("without a key, or with one elsewhere than in X-API-Key, gets an error that says how to send it", async () => {
    for (const options of [{}, { key: "" }, { headers: { authorization: `Bearer ${fleet.operator}` } }]) {
      assert.ok(expectError(await request(fleet, PATH, options), 401, "key_missing").detail.includes("X-API-Key"));
    }
    expectError(await request(fleet, `${PATH}?key=${fleet.operator}`), 401, "key_missing");
  });
});

describe("a key", () => {
  it("works until the last millisecond before it expires", async () => {
    const key = await fleet.key({ lifetime: HOUR });
    assert.equal((await call(PATH, key)).status, 200);
    held.forward(HOUR - 1);
    assert.equal((await call(PATH, key)).status, 200);
    held.forward(1);
    expectError(await call(PATH, key), 401, "key_expired");
  });

  it("that is rotated works beside its successor during the overlap", async () => {
    const old = await fleet.key({ name: "to rotate", customerId: BRENNER });
    const secret = await rotateKey(fleet.store, held.clock, await idOf(fleet, "to rotate"), HOUR);
    held.forward(HOUR - 1);
    for (const key of [old, secret]) assert.equal(list(await call(PATH, key)).total_items, 2);
    held.forward(1);
    expectError(await call(PATH, old), 401, "key_expired");
    assert.equal(list(await call(PATH, secret)).total_items, 2);
  });

  /** Uses the key first, so that it is cached. */
  async function expectRevokedSoon(key: string, revoke: () => Promise<unknown>): Promise<void> {
    for (let i = 0; i < 5; i++) assert.equal((await request(live, PATH, { key })).status, 200);
    await revoke();
    const revoked = performance.now();
    const response = await until("the key is rejected", async () => {
      const seen = await request(live, PATH, { key });
      return seen.status === 200 ? undefined : seen;
    });
    assert.ok(performance.now() - revoked < 1000, `it took ${performance.now() - revoked} ms`);
    expectError(response, 401, "key_revoked");
  }

  it("that is revoked, here or by another process, is rejected within a second", async () => {
    const [here, elsewhere] = [await live.key({ name: "revoked here" }), await live.key({ name: "revoked elsewhere" })];
    const [id, otherId] = [await idOf(live, "revoked here"), await idOf(live, "revoked elsewhere")];
    await expectRevokedSoon(here, () => revokeKey(live.store, Date.now, id));
    const other = await openStore(`sqlite:${live.databaseFile}`, () => {});
    await expectRevokedSoon(elsewhere, () => revokeKey(other, Date.now, otherId)).finally(() => other.close());
  });

  it("whose customer is deleted is rejected within a second", async () => {
    await live.store.importCustomers([customerRecord("cus_leaving")]);
    const key = await live.key({ customerId: "cus_leaving" });
    await expectRevokedSoon(key, () => live.store.importCustomers([{ remove: "cus_leaving" }]));
  });
});

/** The roles that may use each group of endpoints. */
const GROUPS: readonly (readonly [path: RegExp, roles: readonly Role[]])[] = [
  [/^\/v1\//, ["read", "manage"]],
  [/^\/insight\/v1\//, ["read", "manage"]],
  [/^\/ingest\/v1\//, ["ingest", "manage"]],
  [/^\/manage\/v1\//, ["manage"]],
  [/^\/metrics$/, ["metrics", "manage"]],
  [/^\/(healthz|readyz)$/, ROLES],
  // For people who sign in.
  [/^\/auth\/v1\//, []],
];

const isForSessions = (operation: object): boolean =>
  (operation as { "x-required-role"?: string })["x-required-role"] === "session";

describe("a key with the role", () => {
  for (const role of ROLES) {
    it(`${role} may use the endpoints of its groups, and no other, with or without a customer`, async () => {
      const { document } = await contract(fleet);
      const customers = role === "manage" || role === "metrics" ? [null] : [null, BRENNER];
      const used = new Set<RegExp>();
      for (const customerId of customers) {
        const key = await fleet.key({ role, customerId });
        for (const [path, methods] of Object.entries(document.paths)) {
          const [group, roles] = GROUPS.find(([pattern]) => pattern.test(path)) ?? assert.fail(path);
          used.add(group);
          for (const [method, operation] of Object.entries(methods)) {
            const response = await request(fleet, path.replace("{id}", "nothing"), { method: method.toUpperCase(), key });
            if (operation.security?.length === 0 && roles.length === 0) expectError(response, 403, "origin_not_allowed");
            else if (roles.includes(role) && !isForSessions(operation))
              assert.ok(![401, 403].includes(response.status), `${method} ${path} → ${response.text}`);
            else expectError(response, 403, "role_insufficient");
          }
        }
      }
      assert.equal(used.size, GROUPS.length);
    });
  }

  it("read or manage and without a customer sees everything", async () => {
    for (const key of [fleet.operator, manage]) {
      for (const { path } of ENDPOINTS) assert.equal((await call(path, key)).status, 200);
      for (const id of [BRENNER, MOSER, GONE]) assert.equal((await call(`/v1/customers/${id}`, key)).status, 200);
      for (const id of ["tank_hall", "tank_mill", "tank_sold"]) assert.equal((await call(`/v1/tanks/${id}`, key)).status, 200);
      assert.equal(list(await call(PATH, key)).total_items, 3);
    }
  });
});

describe("a customer's key", () => {
  const key = fleet.brenner;

  it("cannot tell another customer's object from one that does not exist", async () => {
    for (const [path, unknown] of [
      [`/v1/customers/${MOSER}`, "/v1/customers/cus_nobody"],
      [`/v1/customers/${GONE}`, "/v1/customers/cus_nobody"],
      ["/v1/tanks/tank_mill", "/v1/tanks/tank_nothing"],
      ["/v1/tanks/tank_sold", "/v1/tanks/tank_nothing"],
      ["/v1/tanks/tank_mill/telemetry", "/v1/tanks/tank_nothing/telemetry"],
      ["/v1/tanks/tank_sold/telemetry", "/v1/tanks/tank_nothing/telemetry"],
      ["/v1/tanks/tank_mill/telemetry?page=2&size=1", "/v1/tanks/tank_nothing/telemetry?page=2&size=1"],
      ["/v1/tanks/tank_mill/telemetry?size=0", "/v1/tanks/tank_nothing/telemetry?size=0"],
      ["/v1/tanks/tank_mill?colour=red", "/v1/tanks/tank_nothing?colour=red"],
      [`/v1/customers/${MOSER}?colour=red`, "/v1/customers/cus_nobody?colour=red"],
    ] as const) {
      for (const headers of [{}, { "if-none-match": "*" }]) {
        const [one, other] = [await request(fleet, path, { key, headers }), await request(fleet, unknown, { key, headers })];
        assert.deepEqual(withoutRequestId(one), withoutRequestId(other), path);
        assert.ok(one.status >= 400, path);
      }
    }
  });

  it("sees its customer, and no other by list, email or time", async () => {
    assert.equal(object(await call(`/v1/customers/${BRENNER}`, key))["id"], BRENNER);
    for (const [query, found, total] of [
      ["", [BRENNER], 1],
      ["?page=2", [], 1],
      ["?email=office@brenner-gas.example", [BRENNER], 1],
      ["?email=cus_moser@customers.example", [], 0],
      ["?created_at_lte=2025-03-02T08:15:30.123Z", [BRENNER], 1],
      ["?created_at_lte=2025-03-02T08:15:30.122Z", [], 0],
    ] as const) {
      const response = await call(`/v1/customers${query}`, key);
      assert.deepEqual([ids(response), list(response).total_items], [found, total], query);
    }
  });

  it("sees its tanks, also deleted ones, their telemetry, and totals of its own", async () => {
    const page = await call("/v1/tanks?size=1", key);
    assert.deepEqual([ids(page), list(page).total_items, list(page).total_pages], [["tank_yard"], 2, 2]);
    assert.equal(list(await call("/v1/tanks?created_at_gte=2025-03-05", key)).total_items, 1);
    assert.equal(object(await call("/v1/tanks/tank_hall", key))["owner_id"], BRENNER);
    assert.equal(object(await call("/v1/tanks/tank_scrapped", key))["deleted"], true);
    assert.equal(list(await call("/v1/tanks/tank_hall/telemetry", key)).total_items, HALL_READINGS);
    expectError(await call("/v1/tanks/tank_scrapped/telemetry", key), 404, "tank_deleted");
  });
});

describe("last_seen_at", () => {
  const customer = async (id: string) => object(await call(`/v1/customers/${id}`, fleet.operator));
  const seenAt = (id: string, instant: number) =>
    until(
      `${id} was seen at ${formatInstant(instant)}`,
      async () => (await customer(id))["last_seen_at"] === formatInstant(instant),
    );
  /** Uses Moser's key until that is written: earlier uses of other keys are then written too. */
  async function settle(): Promise<void> {
    const at = held.forward(60_000);
    await call(PATH, fleet.moser);
    await seenAt(MOSER, at);
  }

  it("moves with the use of the customer's keys, also for rejected requests, and changes nothing else", async () => {
    await settle();
    const before = await customer(BRENNER);
    for (const path of ["/v1/tanks/tank_hall/telemetry", "/v1/tanks?size=0"]) {
      const at = held.forward(60_000);
      await call(path, fleet.brenner);
      await seenAt(BRENNER, at);
      assert.deepEqual(await customer(BRENNER), { ...before, last_seen_at: formatInstant(at) });
    }
  });

  it("is not moved by the operator's keys, and moves at most once a minute", async () => {
    const other = await fleet.key({ customerId: BRENNER });
    await settle();
    const first = held.forward(0);
    await call(PATH, fleet.brenner);
    await seenAt(BRENNER, first);
    held.forward(59_999);
    for (const key of [fleet.brenner, other]) await call(PATH, key);
    held.forward(1);
    await call(`/v1/customers/${BRENNER}`, fleet.operator);
    await call(PATH, fleet.moser);
    await seenAt(MOSER, first + 60_000);
    assert.equal((await customer(BRENNER))["last_seen_at"], formatInstant(first));
    await call(PATH, fleet.brenner);
    await seenAt(BRENNER, first + 60_000);
  });

  it("is written before the service stops", async () => {
    const at = held.forward(60_000);
    await call(PATH, fleet.brenner);
    await fleet.stop();
    const database = new DatabaseSync(fleet.databaseFile, { readOnly: true });
    const row = database.prepare("SELECT last_seen_at FROM customer WHERE id = ?").get(BRENNER);
    database.close();
    assert.equal(row?.["last_seen_at"], at);
  });
});
