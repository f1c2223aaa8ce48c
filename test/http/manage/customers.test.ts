// /manage/v1/customers: what an operator sees.

import assert from "node:assert/strict";
import test from "node:test";
import { asking } from "../asked.ts";
import { CUSTOMER, emptyWorld, expect, faults, idsIn, TANK, world } from "./world.ts";

const PATH = "/manage/v1/customers";

test("a customer is made, with where it is and its tag, and is there for readers at once", async (t) => {
  const here = await emptyWorld(t);
  const made = await here.ask("POST", PATH, { name: "Ann", email: "ann@x.example", is_verified: true });
  const body = expect(made, 201);
  assert.match(String(body["id"]), /^cus_/);
  assert.equal(made.headers.get("location"), `${PATH}/${body["id"]}`);
  assert.deepEqual(body, {
    id: body["id"],
    object: "customer",
    created_at: "2026-11-14T09:30:00.000Z",
    email: "ann@x.example",
    is_verified: true,
    last_seen_at: null,
    name: "Ann",
    phone: null,
    tank_count: 0,
    updated_at: "2026-11-14T09:30:00.000Z",
    verified_at: "2026-11-14T09:30:00.000Z",
    deleted: false,
  });
  const { deleted: _, ...shown } = body;
  assert.deepEqual(expect(await here.ask("GET", `/v1/customers/${body["id"]}`), 200), shown);
  const again = await here.ask("GET", `${PATH}/${body["id"]}`);
  assert.equal(again.headers.get("etag"), made.headers.get("etag"));
});

test("everything that is wrong is told at once, field by field", async (t) => {
  const here = await emptyWorld(t);
  const answer = await here.ask("POST", PATH, { email: "nobody", phone: 7, nmae: "x", verified_at: null, is_verified: true });
  expect(answer, 400, "body_invalid");
  assert.deepEqual(faults(answer), [
    'nmae is not a known field. Did you mean "name"?',
    "email must be an email address",
    "name is missing",
    "phone must be a string",
    "is_verified must be true exactly when verified_at is set",
  ]);
});

test("an id that was ever used is taken", async (t) => {
  const here = await world(t);
  expect(await here.ask("POST", PATH, CUSTOMER), 409, "id_taken");
  expect(await here.ask("DELETE", `${PATH}/c1?tanks=true`), 200);
  expect(await here.ask("POST", PATH, CUSTOMER), 409, "id_taken");
});

test("a creation that arrives twice is done once; another body under the same key is an error", async (t) => {
  const here = await emptyWorld(t);
  const once = { "idempotency-key": "order 17" };
  const body = { name: "Ann", email: "ann@x.example" };
  const [first, second] = [await here.ask("POST", PATH, body, once), await here.ask("POST", PATH, body, once)];
  assert.deepEqual([second.status, second.body], [201, first.body]);
  assert.equal(second.headers.get("location"), first.headers.get("location"));
  assert.deepEqual([first.headers.get("idempotency-replayed"), second.headers.get("idempotency-replayed")], [null, "true"]);
  expect(await here.ask("POST", PATH, { ...body, name: "Bob" }, once), 422, "idempotency_key_reused");
  expect(await here.ask("POST", PATH, body, { "idempotency-key": "" }), 400, "idempotency_key_invalid");
  const other = asking(here, await here.key({ role: "manage" }));
  assert.notEqual(
    expect(await other("POST", PATH, body, once), 201)["id"],
    first.body["id"],
    "another sender has keys of its own",
  );
  here.forward(24 * 3_600_000);
  assert.notEqual(expect(await here.ask("POST", PATH, body, once), 201)["id"], first.body["id"], "a day later it is new");
});

test("a merge patch changes what it names, and updated_at moves when, and only when, a field changes", async (t) => {
  const here = await world(t);
  here.forward(1000);
  const changed = expect(
    await here.ask("PATCH", `${PATH}/c1`, { phone: "+49 1" }, { "content-type": "application/merge-patch+json" }),
    200,
  );
  assert.deepEqual(
    [changed["phone"], changed["name"], changed["updated_at"]],
    ["+49 1", CUSTOMER.name, "2026-11-14T09:30:01.000Z"],
  );
  here.forward(1000);
  const same = expect(await here.ask("PATCH", `${PATH}/c1`, { phone: "+49 1" }), 200);
  assert.equal(same["updated_at"], "2026-11-14T09:30:01.000Z");
  const emptied = expect(await here.ask("PATCH", `${PATH}/c1`, { phone: null }), 200);
  assert.deepEqual([emptied["phone"], emptied["updated_at"]], [null, "2026-11-14T09:30:02.000Z"]);
  assert.deepEqual(faults(await here.ask("PATCH", `${PATH}/c1`, { name: null, email: "" })), [
    "email must be an email address",
    "name must not be null",
  ]);
  expect(await here.ask("PATCH", `${PATH}/nobody`, {}), 404, "customer_unknown");
});

test("who has not seen the last change does not overwrite it", async (t) => {
  const here = await world(t);
  const tag = (await here.ask("GET", `${PATH}/c1`)).headers.get("etag") ?? "";
  const first = await here.ask("PATCH", `${PATH}/c1`, { name: "First" }, { "if-match": tag });
  expect(first, 200);
  expect(await here.ask("PATCH", `${PATH}/c1`, { name: "Second" }, { "if-match": tag }), 412, "precondition_failed");
  expect(await here.ask("DELETE", `${PATH}/c1?tanks=true`, undefined, { "if-match": tag }), 412);
  expect(await here.ask("PATCH", `${PATH}/c1`, { name: "Third" }, { "if-match": `"x", ${first.headers.get("etag")}` }), 200);
  expect(await here.ask("PATCH", `${PATH}/c1`, { name: "Fourth" }, { "if-match": "*" }), 200);
});

test("a customer's activity is no change of it", async (t) => {
  const here = await world(t);
  const tag = (await here.ask("GET", `${PATH}/c1`)).headers.get("etag");
  await here.store.updateLastSeen(new Map([["c1", Date.parse("2026-11-14T10:00:00Z")]]));
  const after = await here.ask("GET", `${PATH}/c1`);
  assert.equal(after.body["last_seen_at"], "2026-11-14T10:00:00.000Z");
  assert.equal(after.headers.get("etag"), tag);
});

test("who still owns tanks is kept, unless they go along; restoring brings all back", async (t) => {
  const here = await world(t);
  const read = asking(here, await here.key({ role: "read", customerId: "c1" }));
  expect(await here.ask("POST", "/ingest/v1/readings", { tank_id: "t1", fill_percentage: 50 }), 200);
  expect(await here.ask("POST", "/manage/v1/tanks", { ...TANK, id: "t2", assigned_device_id: "d2" }), 201);
  expect(await here.ask("DELETE", "/manage/v1/tanks/t2"), 200);
  const refused = expect(await here.ask("DELETE", `${PATH}/c1`), 409, "customer_has_tanks");
  assert.match(String(refused["detail"]), /1 tank\b/);
  here.forward(1000);
  const deleted = expect(await here.ask("DELETE", `${PATH}/c1?tanks=true`), 200);
  assert.deepEqual([deleted["deleted"], deleted["tank_count"]], [true, 0]);
  assert.deepEqual(expect(await here.ask("GET", "/v1/tanks/t1"), 200), { id: "t1", object: "tank", deleted: true });
  assert.equal((await read("GET", "/v1/tanks")).status, 401);
  expect(await here.ask("PATCH", `${PATH}/c1`, { name: "x" }), 409, "state_conflict");
  here.forward(1000);
  const restored = expect(await here.ask("POST", `${PATH}/c1/restore`), 200);
  assert.deepEqual([restored["deleted"], restored["tank_count"], restored["updated_at"]], [false, 1, "2026-11-14T09:30:00.000Z"]);
  assert.equal(expect(await here.ask("GET", "/v1/tanks/t1/telemetry"), 200)["total_items"], 1);
  assert.equal((await read("GET", "/v1/tanks")).status, 200);
  assert.equal(expect(await here.ask("GET", "/manage/v1/tanks/t2"), 200)["deleted"], true, "it was deleted before, and stays so");
});

test("deleting and restoring again changes nothing", async (t) => {
  const here = await world(t);
  for (let i = 0; i < 2; i++) expect(await here.ask("DELETE", `${PATH}/c1?tanks=true`), 200);
  for (let i = 0; i < 2; i++) expect(await here.ask("POST", `${PATH}/c1/restore`), 200);
  const audit = await here.ask("GET", "/manage/v1/audit?type=customer");
  assert.deepEqual(
    (audit.body["data"] as { action: string }[]).map(({ action }) => action),
    ["restored", "deleted", "created"],
  );
});

test("customers are found by the beginning of name and e-mail; the deleted ones apart", async (t) => {
  const here = await emptyWorld(t);
  for (const [id, name] of [
    ["a", "Brenner Gas"],
    ["b", "brenner-haus"],
    ["c", "Moser"],
    ["d", "100 % Gas"],
    ["e", "100 Gas"],
  ]) {
    expect(await here.ask("POST", PATH, { id, name, email: `${id}@X.example` }), 201);
    here.forward(1);
  }
  expect(await here.ask("DELETE", `${PATH}/c`), 200);
  assert.deepEqual(idsIn(await here.ask("GET", `${PATH}?name=BREN`)), ["b", "a"]);
  assert.deepEqual(idsIn(await here.ask("GET", `${PATH}?name=100%20%25`)), ["d"]);
  assert.deepEqual(idsIn(await here.ask("GET", `${PATH}?email=a@x`)), ["a"]);
  assert.deepEqual(idsIn(await here.ask("GET", `${PATH}?deleted=true`)), ["c"]);
  const page = await here.ask("GET", `${PATH}?size=2&page=2`);
  assert.deepEqual([idsIn(page), page.body["total_items"], page.body["total_pages"]], [["b", "a"], 4, 2]);
  expect(await here.ask("GET", `${PATH}?nmae=x`), 400, "parameter_unknown");
  expect(await here.ask("GET", `${PATH}?deleted=maybe`), 400, "parameter_invalid");
});

test("only a manage key manages", async (t) => {
  const here = await world(t);
  for (const role of ["read", "ingest"] as const) {
    const ask = asking(here, await here.key({ role }));
    for (const [method, path] of [
      ["GET", PATH],
      ["POST", PATH],
      ["PATCH", `${PATH}/c1`],
      ["DELETE", `${PATH}/c1`],
    ] as const) {
      expect(await ask(method, path, method === "GET" || method === "DELETE" ? undefined : {}), 403, "role_insufficient");
    }
  }
  assert.equal((await here.ask("PUT", PATH, {})).headers.get("allow"), "GET, HEAD, POST");
});
