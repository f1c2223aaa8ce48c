// /manage/v1/customers and /manage/v1/keys.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { expectStatus, jsonClient } from "./client.ts";
import { CUSTOMER, fieldErrors, idsIn, startManaged } from "./services.ts";

const service = await startManaged({ after });
const { manage, forward, now, create } = service;
const PATH = "/manage/v1/customers";
const KEYS = "/manage/v1/keys";
const HOUR = 3_600_000;

describe("a customer", () => {
  it("is created with Location and ETag, and readers see it at once", async () => {
    const created = await manage("POST", PATH, { name: "Ann", email: "ann@x.example", is_verified: true });
    const body = expectStatus(created, 201);
    const { deleted, ...shown } = body;
    assert.match(String(shown["id"]), /^cus_/);
    assert.equal(created.headers.location, `${PATH}/${shown["id"]}`);
    assert.equal(deleted, false);
    assert.deepEqual(shown, {
      id: shown["id"],
      object: "customer",
      created_at: now(),
      email: "ann@x.example",
      is_verified: true,
      last_seen_at: null,
      name: "Ann",
      phone: null,
      tank_count: 0,
      updated_at: now(),
      verified_at: now(),
    });
    assert.deepEqual(expectStatus(await manage("GET", `/v1/customers/${shown["id"]}`), 200), shown);
    const managed = await manage("GET", `${PATH}/${shown["id"]}`);
    assert.deepEqual([managed.body, managed.headers.etag], [body, created.headers.etag]);
  });

  it("with invalid fields gets all errors at once", async () => {
    const response = await manage("POST", PATH, { email: "nobody", phone: 7, nmae: "x", verified_at: null, is_verified: true });
    expectStatus(response, 400, "body_invalid");
    assert.deepEqual(fieldErrors(response), [
      'nmae is not a known field. Did you mean "name"?',
      "email must be an email address",
      "name is missing",
      "phone must be a string",
      "is_verified must be true exactly when verified_at is set",
    ]);
  });

  it("cannot have an id that was ever used", async () => {
    const { customer } = await create();
    expectStatus(await manage("POST", PATH, { ...CUSTOMER, id: customer }), 409, "id_taken");
    expectStatus(await manage("DELETE", `${PATH}/${customer}?tanks=true`), 200);
    expectStatus(await manage("POST", PATH, { ...CUSTOMER, id: customer }), 409, "id_taken");
  });

  it("is created once per Idempotency-Key, caller and day", async () => {
    const once = { "idempotency-key": "order 17" };
    const body = { name: "Ann", email: "ann@x.example" };
    const [first, second] = [await manage("POST", PATH, body, once), await manage("POST", PATH, body, once)];
    assert.deepEqual([second.status, second.body, second.headers.location], [201, first.body, first.headers.location]);
    const replayed = [first, second].map(({ headers }) => headers["idempotency-replayed"]);
    assert.deepEqual(replayed, [undefined, "true"]);
    expectStatus(await manage("POST", PATH, { ...body, name: "Bob" }, once), 422, "idempotency_key_reused");
    expectStatus(await manage("POST", PATH, body, { "idempotency-key": "" }), 400, "idempotency_key_invalid");
    const other = jsonClient(service, await service.key({ role: "manage" }));
    assert.notEqual(expectStatus(await other("POST", PATH, body, once), 201)["id"], first.body["id"]);
    forward(24 * HOUR);
    assert.notEqual(expectStatus(await manage("POST", PATH, body, once), 201)["id"], first.body["id"]);
  });

  it("is changed by a merge patch; updated_at moves if and only if a field changes", async () => {
    const { customer } = await create();
    const patch = (fields: object, headers = {}) => manage("PATCH", `${PATH}/${customer}`, fields, headers);
    forward(1000);
    const changedAt = now();
    const changed = expectStatus(await patch({ phone: "+49 1" }, { "content-type": "application/merge-patch+json" }), 200);
    assert.deepEqual([changed["phone"], changed["name"], changed["updated_at"]], ["+49 1", CUSTOMER.name, changedAt]);
    forward(1000);
    assert.equal(expectStatus(await patch({ phone: "+49 1" }), 200)["updated_at"], changedAt);
    const cleared = expectStatus(await patch({ phone: null }), 200);
    assert.deepEqual([cleared["phone"], cleared["updated_at"]], [null, now()]);
    const invalid = await patch({ name: null, email: "" });
    assert.deepEqual(fieldErrors(invalid), ["email must be an email address", "name must not be null"]);
    expectStatus(await manage("PATCH", `${PATH}/nobody`, {}), 404, "customer_unknown");
  });

  it("is not overwritten by a client that has not seen the last change; activity is not a change", async () => {
    const { customer } = await create();
    const path = `${PATH}/${customer}`;
    const tag = String((await manage("GET", path)).headers.etag);
    await service.store.updateLastSeen(new Map([[customer, Date.parse("2026-11-14T10:00:00Z")]]));
    const seen = await manage("GET", path);
    assert.deepEqual([seen.body["last_seen_at"], seen.headers.etag], ["2026-11-14T10:00:00.000Z", tag]);
    const first = await manage("PATCH", path, { name: "First" }, { "if-match": tag });
    expectStatus(first, 200);
    expectStatus(await manage("PATCH", path, { name: "Second" }, { "if-match": tag }), 412, "precondition_failed");
    expectStatus(await manage("DELETE", `${path}?tanks=true`, undefined, { "if-match": tag }), 412);
    expectStatus(await manage("PATCH", path, { name: "Third" }, { "if-match": `"x", ${first.headers.etag}` }), 200);
    expectStatus(await manage("PATCH", path, { name: "Fourth" }, { "if-match": "*" }), 200);
  });

  it("with tanks is deleted only together with them; restoring brings back what was deleted with it", async () => {
    const { customer, tank, fields } = await create();
    const [path, earlier] = [`${PATH}/${customer}`, `${tank}-earlier`];
    const updated = now();
    const reader = jsonClient(service, await service.key({ role: "read", customerId: customer }));
    expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: tank, fill_percentage: 50 }), 200);
    expectStatus(await manage("POST", "/manage/v1/tanks", { ...fields, id: earlier, assigned_device_id: earlier }), 201);
    expectStatus(await manage("DELETE", `/manage/v1/tanks/${earlier}`), 200);
    assert.match(String(expectStatus(await manage("DELETE", path), 409, "customer_has_tanks")["detail"]), /1 tank\b/);
    forward(1000);
    const deleted = expectStatus(await manage("DELETE", `${path}?tanks=true`), 200);
    assert.deepEqual([deleted["deleted"], deleted["tank_count"]], [true, 0]);
    const shown = expectStatus(await manage("GET", `/v1/tanks/${tank}`), 200);
    assert.deepEqual(shown, { id: tank, object: "tank", deleted: true });
    expectStatus(await reader("GET", "/v1/tanks"), 401, "key_revoked");
    expectStatus(await manage("PATCH", path, { name: "x" }), 409, "state_conflict");
    forward(1000);
    const restored = expectStatus(await manage("POST", `${path}/restore`), 200);
    assert.deepEqual([restored["deleted"], restored["tank_count"], restored["updated_at"]], [false, 1, updated]);
    assert.equal(expectStatus(await manage("GET", `/v1/tanks/${tank}/telemetry`), 200)["total_items"], 1);
    expectStatus(await reader("GET", "/v1/tanks"), 200);
    assert.equal(expectStatus(await manage("GET", `/manage/v1/tanks/${earlier}`), 200)["deleted"], true);
  });

  it("may be deleted and restored repeatedly, which is audited once", async () => {
    const { customer } = await create();
    for (let i = 0; i < 2; i++) expectStatus(await manage("DELETE", `${PATH}/${customer}?tanks=true`), 200);
    for (let i = 0; i < 2; i++) expectStatus(await manage("POST", `${PATH}/${customer}/restore`), 200);
    const { body } = await manage("GET", `/manage/v1/audit?type=customer&id=${customer}`);
    const actions = (body["data"] as { action: string }[]).map(({ action }) => action);
    assert.deepEqual(actions, ["restored", "deleted", "created"]);
  });

  it("is found by the beginning of name and email; deleted ones are listed separately", async () => {
    for (const [id, name] of [
      ["list-a", "Zander Gas"],
      ["list-b", "zander-haus"],
      ["list-c", "Zander Moser"],
      ["list-d", "100 % Gas"],
      ["list-e", "100 Gas"],
    ]) {
      expectStatus(await manage("POST", PATH, { id, name, email: `${id}@X.example` }), 201);
      forward(1);
    }
    expectStatus(await manage("DELETE", `${PATH}/list-c`), 200);
    for (const [query, found] of [
      ["name=ZAND", ["list-b", "list-a"]],
      ["name=100%20%25", ["list-d"]],
      ["email=list-a@x", ["list-a"]],
      ["deleted=true&name=zander", ["list-c"]],
    ] as const) {
      assert.deepEqual(idsIn(await manage("GET", `${PATH}?${query}`)), found, query);
    }
    const page = await manage("GET", `${PATH}?email=list-&size=2&page=2`);
    assert.deepEqual([idsIn(page), page.body["total_items"], page.body["total_pages"]], [["list-b", "list-a"], 4, 2]);
    expectStatus(await manage("GET", `${PATH}?nmae=x`), 400, "parameter_unknown");
    expectStatus(await manage("GET", `${PATH}?deleted=maybe`), 400, "parameter_invalid");
  });

  it("is managed only with a manage key", async () => {
    for (const role of ["read", "ingest"] as const) {
      const client = jsonClient(service, await service.key({ role }));
      for (const [method, path, body] of [
        ["GET", PATH, undefined],
        ["POST", PATH, {}],
        ["PATCH", `${PATH}/c1`, {}],
        ["DELETE", `${PATH}/c1`, undefined],
      ] as const) {
        expectStatus(await client(method, path, body), 403, "role_insufficient");
      }
    }
    assert.equal((await manage("PUT", PATH, {})).headers.allow, "GET, HEAD, POST");
  });
});

describe("a key", () => {
  const createKey = async (fields: object, headers = {}) => {
    const created = expectStatus(await manage("POST", KEYS, { name: "test", ...fields }, headers), 201);
    return created as { id: string; secret: string; expires_at: string | null };
  };
  const stateOf = async (id: string) => expectStatus(await manage("GET", `${KEYS}/${id}`), 200)["state"];

  it("is created, changed, rotated and revoked; its secret is shown once", async () => {
    const { device } = await create();
    const once = { "idempotency-key": "k" };
    const fields = { name: "gateway", role: "ingest", device_id: device };
    const { id, secret } = await createKey(fields, once);
    assert.match(secret, /^tm_/);
    const gateway = jsonClient(service, secret);
    expectStatus(await gateway("POST", "/ingest/v1/readings", { device_id: device, fill_percentage: 1 }), 200);
    assert.equal((await createKey(fields, once)).secret, null);
    assert.equal(expectStatus(await manage("PATCH", `${KEYS}/${id}`, { rate: 5 }), 200)["rate"], 5);
    const ends = new Date(Date.parse(now()) + HOUR).toISOString();
    const next = expectStatus(await manage("POST", `${KEYS}/${id}/rotate?overlap=1h`), 201);
    assert.deepEqual([next["device_id"], next["rate"], next["role"]], [device, 5, "ingest"]);
    expectStatus(await manage("POST", `${KEYS}/${id}/rotate`), 409, "state_conflict");
    const old = expectStatus(await manage("GET", `${KEYS}/${id}`), 200);
    assert.deepEqual([old["replaced_by"], old["expires_at"]], [next["id"], ends]);
    expectStatus(await manage("DELETE", `${KEYS}/${id}`, undefined, { "if-match": '"x,*,y"' }), 412, "precondition_failed");
    const revoked = expectStatus(await manage("DELETE", `${KEYS}/${id}`, undefined, { "if-match": "*" }), 200);
    assert.deepEqual([revoked["state"], revoked["revoked_at"]], ["revoked", now()]);
    forward(1000);
    assert.equal(expectStatus(await manage("DELETE", `${KEYS}/${id}`), 200)["revoked_at"], revoked["revoked_at"]);
    expectStatus(await gateway("POST", "/ingest/v1/readings", []), 401, "key_revoked");
    expectStatus(await manage("PATCH", `${KEYS}/${id}`, { name: "x" }), 409, "state_conflict");
    const shown = JSON.stringify([await manage("GET", `${KEYS}?size=100`), await manage("GET", "/manage/v1/audit?size=100")]);
    assert.ok(!shown.includes(secret.slice(3)) && !shown.includes(String(next["secret"]).slice(3)));
  });

  it("may be restricted as its role allows", async () => {
    const { customer, device } = await create();
    const { customer: other } = await create();
    for (const fields of [
      { role: "read" },
      { role: "read", customer_id: customer },
      { role: "ingest" },
      { role: "ingest", customer_id: customer },
      { role: "ingest", device_id: device },
      { role: "manage" },
    ]) {
      await createKey(fields);
    }
    expectStatus(await manage("DELETE", `${PATH}/${customer}?tanks=true`), 200);
    for (const [fields, expected] of [
      [{ role: "manage", customer_id: other }, ["customer_id"]],
      [{ role: "manage", device_id: "d" }, ["device_id"]],
      [{ role: "read", device_id: "d" }, ["device_id"]],
      [{ role: "ingest", device_id: "d", customer_id: other }, ["device_id"]],
      [{ customer_id: "nobody" }, ["customer_id"]],
      [{ customer_id: customer }, ["customer_id"]],
      [{ name: "" }, ["name"]],
      [{ name: "x".repeat(513) }, ["name"]],
      [{ name: "a\nb" }, ["name"]],
      [{ name: "\ud800" }, ["name"]],
      [{ expires_at: "2020-01-01" }, ["expires_at"]],
      [
        { name: undefined, role: "manage", customer_id: "nobody", device_id: "d", rate: 0, expires_at: "2020-01-01" },
        ["name", "rate", "customer_id", "device_id", "expires_at", "customer_id"],
      ],
    ] as const) {
      const response = await manage("POST", KEYS, { name: "test", ...fields });
      expectStatus(response, 400, "body_invalid");
      const found = fieldErrors(response).map((error) => error.split(" ", 1)[0]);
      assert.deepEqual([...new Set(found)], [...new Set(expected)], JSON.stringify(fields));
    }
  });

  it("that is rotated has a successor with the same lifetime; the overlap does not extend its own", async () => {
    const expires_at = new Date(Date.parse(now()) + HOUR).toISOString();
    const short = await createKey({ expires_at });
    forward(HOUR / 2);
    const next = expectStatus(await manage("POST", `${KEYS}/${short.id}/rotate?overlap=1d`), 201);
    assert.equal(next["expires_at"], new Date(Date.parse(now()) + HOUR).toISOString());
    assert.equal(expectStatus(await manage("GET", `${KEYS}/${short.id}`), 200)["expires_at"], expires_at);
    const unlimited = await createKey({});
    assert.equal(expectStatus(await manage("POST", `${KEYS}/${unlimited.id}/rotate`), 201)["expires_at"], null);
  });

  it("that does not work cannot be rotated", async () => {
    const { customer } = await create();
    const expired = await createKey({ expires_at: new Date(Date.parse(now()) + 1000).toISOString() });
    const orphan = await createKey({ customer_id: customer });
    expectStatus(await manage("DELETE", `${PATH}/${customer}?tanks=true`), 200);
    forward(2000);
    assert.equal(await stateOf(expired.id), "expired");
    for (const { id } of [expired, orphan]) {
      expectStatus(await manage("POST", `${KEYS}/${id}/rotate`), 409, "state_conflict");
    }
    for (const [method, path] of [
      ["GET", `${KEYS}/key_x`],
      ["DELETE", `${KEYS}/key_x`],
      ["POST", `${KEYS}/key_x/rotate`],
    ] as const) {
      expectStatus(await manage(method, path), 404, "key_unknown");
    }
  });

  it("is created once per Idempotency-Key, even after it has expired", async () => {
    const once = { "idempotency-key": "short" };
    const body = { name: "short", expires_at: new Date(Date.parse(now()) + 6000).toISOString() };
    const { id } = await createKey(body, once);
    forward(8000);
    const again = await createKey(body, once);
    assert.deepEqual([again.id, again.secret], [id, null]);
  });
});
