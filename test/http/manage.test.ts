// /manage/v1/customers, keys, tanks and devices: each route by an example. The rules of commands are tested in
// test/domain/commands, what they do to stored data in test/store/conformance.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { expectStatus, type JsonResponse, jsonClient } from "./client.ts";
import { CUSTOMER, fieldErrors, idsIn, startManaged } from "./services.ts";

const service = await startManaged({ after });
const { manage, forward, now, create } = service;
const CUSTOMERS = "/manage/v1/customers";
const KEYS = "/manage/v1/keys";
const TANKS = "/manage/v1/tanks";
const DEVICES = "/manage/v1/devices";
const HOUR = 3_600_000;
const SHAPE = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };

async function sendReading(device_id: string, fill_percentage: number, created_at?: string): Promise<void> {
  const at = created_at === undefined ? {} : { created_at };
  expectStatus(await manage("POST", "/ingest/v1/readings", { device_id, fill_percentage, ...at }), 200);
}

async function fills(tank: string): Promise<number[]> {
  const { body } = await manage("GET", `/v1/tanks/${tank}/telemetry`);
  return (body["data"] as { fill_percentage: number }[]).map(({ fill_percentage }) => fill_percentage);
}

const getTank = async (id: string) => expectStatus(await manage("GET", `${TANKS}/${id}`), 200);
const getDevice = async (id: string) => expectStatus(await manage("GET", `${DEVICES}/${id}`), 200);

describe("a customer", () => {
  it("is created with Location and ETag, and readers see it at once", async () => {
    const created = await manage("POST", CUSTOMERS, { name: "Ann", email: "ann@x.example", is_verified: true });
    const body = expectStatus(created, 201);
    const { deleted, notifications: _, ...shown } = body;
    assert.match(String(shown["id"]), /^cus_/);
    assert.equal(created.headers.location, `${CUSTOMERS}/${shown["id"]}`);
    assert.deepEqual([deleted, shown["created_at"], shown["verified_at"]], [false, now(), now()]);
    assert.deepEqual(expectStatus(await manage("GET", `/v1/customers/${shown["id"]}`), 200), shown);
    const managed = await manage("GET", `${CUSTOMERS}/${shown["id"]}`);
    assert.deepEqual([managed.body, managed.headers.etag], [body, created.headers.etag]);
    expectStatus(await manage("POST", CUSTOMERS, { ...CUSTOMER, id: shown["id"] }), 409, "id_taken");
  });

  it("with invalid fields gets all errors at once", async () => {
    const response = await manage("POST", CUSTOMERS, { email: "nobody", phone: 7, nmae: "x" });
    expectStatus(response, 400, "body_invalid");
    assert.deepEqual(fieldErrors(response), [
      'nmae is not a known field. Did you mean "name"?',
      "email must be one email address such as dispatch@example.com",
      "name is missing",
      "phone must be a string",
    ]);
  });

  it("with the id of a user, key or channel, or a name of the audit log, is not created", async () => {
    for (const [id, message] of [
      ["usr_01kxa8w5s0v3m4q9t7r2n6c8d1", 'must not begin with "usr_", which is for ids of users'],
      ["key_", 'must not begin with "key_", which is for ids of keys'],
      ["chn_1", 'must not begin with "chn_", which is for ids of channels'],
      ["command line", 'must not be "command line", which is a name in the audit log'],
      ["sign-in link", 'must not be "sign-in link", which is a name in the audit log'],
    ] as const) {
      const created = await manage("POST", CUSTOMERS, { ...CUSTOMER, id });
      expectStatus(created, 400, "body_invalid");
      assert.deepEqual(fieldErrors(created), [`id ${message}`]);
      const provisioned = await manage("POST", "/manage/v1/provision", { customers: [{ ...CUSTOMER, id }] });
      expectStatus(provisioned, 400, "body_invalid");
      assert.deepEqual(fieldErrors(provisioned), [`customers[0].id ${message}`]);
    }
  });

  it("is created once per Idempotency-Key, caller and day", async () => {
    const once = { "idempotency-key": "order 17" };
    const body = { name: "Ann", email: "ann@x.example" };
    const [first, second] = [await manage("POST", CUSTOMERS, body, once), await manage("POST", CUSTOMERS, body, once)];
    assert.deepEqual([second.status, second.body, second.headers.location], [201, first.body, first.headers.location]);
    const replayed = [first, second].map(({ headers }) => headers["idempotency-replayed"]);
    assert.deepEqual(replayed, [undefined, "true"]);
    expectStatus(await manage("POST", CUSTOMERS, { ...body, name: "Bob" }, once), 422, "idempotency_key_reused");
    const other = jsonClient(service, await service.key({ role: "manage" }));
    assert.notEqual(expectStatus(await other("POST", CUSTOMERS, body, once), 201)["id"], first.body["id"]);
    forward(24 * HOUR);
    assert.notEqual(expectStatus(await manage("POST", CUSTOMERS, body, once), 201)["id"], first.body["id"]);
  });

  it("is changed by a merge patch, but not by a client that has not seen the last change", async () => {
    const { customer } = await create();
    const path = `${CUSTOMERS}/${customer}`;
    const patch = (fields: object, headers = {}) => manage("PATCH", path, fields, headers);
    const tag = String((await manage("GET", path)).headers.etag);
    const changed = await patch({ phone: "+49 1" }, { "content-type": "application/merge-patch+json", "if-match": tag });
    assert.deepEqual([expectStatus(changed, 200)["phone"], changed.body["name"]], ["+49 1", CUSTOMER.name]);
    expectStatus(await patch({ name: "Second" }, { "if-match": tag }), 412, "precondition_failed");
    expectStatus(await manage("DELETE", `${path}?tanks=true`, undefined, { "if-match": tag }), 412);
    expectStatus(await patch({ name: "Third" }, { "if-match": `"x", ${changed.headers.etag}` }), 200);
    expectStatus(await patch({ phone: null }, { "if-match": "*" }), 200);
    expectStatus(await manage("PATCH", `${CUSTOMERS}/nobody`, {}), 404, "customer_unknown");
    for (const id of ["nobody", "%00"]) {
      expectStatus(await manage("GET", `${CUSTOMERS}/${id}/sessions`), 404, "customer_unknown");
    }
  });

  it("with tanks is deleted only together with them, and restored with or without them", async () => {
    const { customer, tank, device, fields } = await create();
    const path = `${CUSTOMERS}/${customer}`;
    const reader = jsonClient(service, await service.key({ role: "read", customerId: customer }));
    assert.match(String(expectStatus(await manage("DELETE", path), 409, "customer_has_tanks")["detail"]), /1 tank\b/);
    const deleted = expectStatus(await manage("DELETE", `${path}?tanks=true`), 200);
    assert.deepEqual([deleted["deleted"], deleted["tank_count"]], [true, 0]);
    forward(1000);
    const refused = expectStatus(await reader("GET", "/v1/tanks"), 401, "key_revoked");
    assert.equal(refused["detail"], "The customer of this key is deleted.");
    expectStatus(await manage("PATCH", path, { name: "x" }), 409, "state_conflict");
    const { customer: other } = await create();
    const taking = { ...fields, id: `${tank}-2`, owner_id: other, assigned_device_id: device };
    expectStatus(await manage("POST", TANKS, taking), 201);
    const { detail } = expectStatus(await manage("POST", `${path}/restore`), 409, "device_in_use");
    assert.match(String(detail), new RegExp(`${device} of tank ${tank}.*tanks=false.*each tank.*assigned_device_id`));
    expectStatus(await manage("POST", `${path}/restore?tanks=false`), 200);
    expectStatus(await manage("DELETE", path), 200);
    expectStatus(await manage("DELETE", `${TANKS}/${tank}-2`), 200);
    assert.equal(expectStatus(await manage("POST", `${path}/restore`), 200)["deleted"], false);
    expectStatus(await reader("GET", "/v1/tanks"), 200);
  });

  it("is found by the beginning of name and email; deleted ones are listed separately", async () => {
    for (const [id, name] of [
      ["list-a", "Zander Gas"],
      ["list-b", "zander-haus"],
      ["list-c", "Zander Moser"],
    ]) {
      expectStatus(await manage("POST", CUSTOMERS, { id, name, email: `${id}@X.example` }), 201);
      forward(1);
    }
    expectStatus(await manage("DELETE", `${CUSTOMERS}/list-c`), 200);
    for (const [query, found] of [
      ["name=ZAND", ["list-b", "list-a"]],
      ["email=list-a@x", ["list-a"]],
      ["deleted=true&name=zander", ["list-c"]],
      ["email=list-&size=1&page=2", ["list-a"]],
    ] as const) {
      assert.deepEqual(idsIn(await manage("GET", `${CUSTOMERS}?${query}`)), found, query);
    }
    expectStatus(await manage("GET", `${CUSTOMERS}?deleted=maybe`), 400, "parameter_invalid");
  });

  it("is managed only with a manage key", async () => {
    for (const role of ["read", "ingest"] as const) {
      const client = jsonClient(service, await service.key({ role }));
      for (const [method, path] of [
        ["GET", CUSTOMERS],
        ["POST", CUSTOMERS],
        ["PATCH", `${CUSTOMERS}/c1`],
        ["DELETE", `${CUSTOMERS}/c1`],
      ] as const) {
        expectStatus(await client(method, path), 403, "role_insufficient");
      }
    }
  });
});

describe("a key", () => {
  const createKey = async (fields: object, headers = {}) => {
    const created = expectStatus(await manage("POST", KEYS, { name: "test", ...fields }, headers), 201);
    return created as { id: string; secret: string };
  };

  it("is created, changed, rotated and revoked; its secret is shown once", async () => {
    const { device } = await create();
    const once = { "idempotency-key": "k" };
    const ends = new Date(Date.parse(now()) + HOUR).toISOString();
    const fields = { name: "gateway", role: "ingest", device_id: device, expires_at: ends };
    const { id, secret } = await createKey(fields, once);
    assert.match(secret, /^tm_/);
    const gateway = jsonClient(service, secret);
    expectStatus(await gateway("POST", "/ingest/v1/readings", { device_id: device, fill_percentage: 1 }), 200);
    assert.equal(expectStatus(await manage("PATCH", `${KEYS}/${id}`, { rate: 5 }), 200)["rate"], 5);
    const next = expectStatus(await manage("POST", `${KEYS}/${id}/rotate?overlap=1m`), 201);
    assert.deepEqual([next["device_id"], next["rate"], next["role"], next["expires_at"]], [device, 5, "ingest", ends]);
    expectStatus(await manage("POST", `${KEYS}/${id}/rotate`), 409, "state_conflict");
    const old = expectStatus(await manage("GET", `${KEYS}/${id}`), 200);
    const minute = new Date(Date.parse(now()) + 60_000).toISOString();
    assert.deepEqual([old["replaced_by"], old["expires_at"], old["state"]], [next["id"], minute, "active"]);
    forward(2 * HOUR);
    assert.equal((await createKey(fields, once)).secret, null, "a replay, though the key has expired");
    expectStatus(await manage("DELETE", `${KEYS}/${id}`, undefined, { "if-match": '"x,*,y"' }), 412, "precondition_failed");
    const revoked = expectStatus(await manage("DELETE", `${KEYS}/${id}`, undefined, { "if-match": "*" }), 200);
    assert.deepEqual([revoked["state"], revoked["revoked_at"]], ["revoked", now()]);
    expectStatus(await gateway("POST", "/ingest/v1/readings", []), 401, "key_revoked");
    const shown = JSON.stringify([await manage("GET", `${KEYS}?size=100`), await manage("GET", "/manage/v1/audit?size=100")]);
    assert.ok(!shown.includes(secret.slice(3)) && !shown.includes(String(next["secret"]).slice(3)));
    expectStatus(await manage("GET", `${KEYS}/key_x`), 404, "key_unknown");
  });

  it("with invalid fields gets all errors at once", async () => {
    const wrong = { role: "manage", customer_id: "nobody", device_id: "d", rate: 4e-7, expires_at: "2020-01-01" };
    const response = await manage("POST", KEYS, wrong);
    expectStatus(response, 400, "body_invalid");
    const found = new Set(fieldErrors(response).map((error) => error.split(" ", 1)[0]));
    assert.deepEqual([...found].sort(), ["customer_id", "device_id", "expires_at", "name", "rate"]);
  });
});

describe("a tank", () => {
  it("is created, readers see it, and tank_count follows", async () => {
    const { customer, fields } = await create();
    const given = { ...fields, assigned_device_id: `${customer}-new`, location: { city: "Bonn" }, shape: SHAPE };
    const { shape, alerts, deleted, released, ...shown } = expectStatus(await manage("POST", TANKS, given), 201);
    assert.match(String(shown["id"]), /^tank_/);
    assert.deepEqual([(shown["location"] as { city: string }).city, shape, deleted, released], ["Bonn", SHAPE, false, null]);
    assert.deepEqual(alerts, { silent_after: null, paused_until: null, runs_low_soon: true, leak: true });
    assert.deepEqual(expectStatus(await manage("GET", `/v1/tanks/${shown["id"]}`), 200), shown);
    assert.equal(expectStatus(await manage("GET", `/v1/customers/${customer}`), 200)["tank_count"], 2);
    const wrong = await manage("POST", TANKS, { ...given, capacity: 0, shape: { kind: "cube" }, owner_id: "nobody" });
    assert.deepEqual(fieldErrors(wrong), [
      "capacity must be above 0",
      "shape.kind must be one of upright, rectangular, horizontal_cylinder, strapping_table",
      "owner_id no such customer",
    ]);
  });

  it("keeps the parts of its location and shape that a patch does not name, unless the kind changes", async () => {
    const { tank } = await create();
    const patch = async (fields: object) => expectStatus(await manage("PATCH", `${TANKS}/${tank}`, fields), 200);
    await patch({ location: { city: "Bonn", street: "Weg" } });
    const { city, street } = (await patch({ location: { street: null } }))["location"] as { city: unknown; street: unknown };
    assert.deepEqual([city, street], ["Bonn", null]);
    const { sensor_height: _, ...without } = SHAPE;
    const rectangular = { kind: "rectangular", height: 1, unit: "m" };
    for (const [given, expected] of [
      [SHAPE, SHAPE],
      [{ sensor_height: 2.2 }, { ...SHAPE, sensor_height: 2.2 }],
      [{ sensor_height: null }, without],
      [rectangular, rectangular],
      [null, null],
    ]) {
      assert.deepEqual((await patch({ shape: given }))["shape"], expected);
    }
    expectStatus(await manage("PATCH", `${TANKS}/${tank}`, { shape: { sensor_height: 2 } }), 400, "body_invalid");
  });

  it("has settings for its alerts, which readers do not see", async () => {
    const { tank } = await create();
    const patch = async (alerts: unknown) => await manage("PATCH", `${TANKS}/${tank}`, { alerts });
    const updatedAt = (await getTank(tank))["updated_at"];
    assert.deepEqual((await getTank(tank))["alerts"], {
      silent_after: null,
      paused_until: null,
      runs_low_soon: true,
      leak: true,
    });
    const given = { silent_after: "72h", paused_until: "2026-12-01T00:00:00.000Z", runs_low_soon: true, leak: false };
    assert.deepEqual(expectStatus(await patch(given), 200)["alerts"], given);
    assert.deepEqual(expectStatus(await patch({ paused_until: null }), 200)["alerts"], { ...given, paused_until: null });
    assert.equal((await getTank(tank))["updated_at"], updatedAt);
    assert.ok(!("alerts" in expectStatus(await manage("GET", `/v1/tanks/${tank}`), 200)));
    assert.deepEqual(fieldErrors(await patch({ silent_after: "5m", paused_until: "soon", other: 1 })), [
      "alerts.other is not a known field",
      'alerts.paused_until must be a datetime such as "2026-11-14T09:30:00Z"',
      "alerts.silent_after must be from 10m to 365d",
    ]);
    assert.deepEqual(fieldErrors(await patch(null)), ["alerts must be an object"]);
    assert.deepEqual((await getTank(tank))["alerts"], { ...given, paused_until: null });
  });

  it("gets the device of another only by a swap", async () => {
    const { tank, device, fields } = await create();
    const [tank2, device2] = [`${tank}-2`, `${device}-2`];
    expectStatus(await manage("POST", TANKS, { ...fields, id: tank2, assigned_device_id: device2 }), 201);
    const inUse = expectStatus(await manage("PATCH", `${TANKS}/${tank}`, { assigned_device_id: device2 }), 409, "device_in_use");
    assert.match(String(inUse["detail"]), new RegExp(`is assigned to tank ${tank2}.*swap=true`));
    expectStatus(await manage("PATCH", `${TANKS}/${tank}?swap=true`, { assigned_device_id: device2 }), 200);
    assert.equal((await getTank(tank2))["assigned_device_id"], device);
    // A new tank has no device to swap.
    const created = await manage("POST", TANKS, { ...fields, id: `${tank}-3`, assigned_device_id: device });
    const advice = `Device ${device} is assigned to tank ${tank2}. Assign another device to that tank first.`;
    assert.equal(expectStatus(created, 409, "device_in_use")["detail"], advice);
  });

  it("that is deleted frees its device; it is restored with its readings, and with another device if needed", async () => {
    const { tank, device, fields } = await create();
    await sendReading(device, 50);
    expectStatus(await manage("DELETE", `${TANKS}/${tank}`), 200);
    expectStatus(await manage("GET", `/v1/tanks/${tank}/telemetry`), 404, "tank_deleted");
    expectStatus(await manage("PATCH", `${TANKS}/${tank}`, { name: "x" }), 409, "state_conflict");
    expectStatus(await manage("POST", TANKS, { ...fields, id: `${tank}-2`, assigned_device_id: device }), 201);
    expectStatus(await manage("POST", `${TANKS}/${tank}/restore`), 409, "device_in_use");
    expectStatus(await manage("POST", `${TANKS}/${tank}/restore`, { assigned_device_id: `${device}-2` }), 200);
    expectStatus(await manage("POST", `${TANKS}/${tank}/restore`), 200);
    for (const body of [{ assigned_device_id: null }, null]) {
      expectStatus(await manage("POST", `${TANKS}/${tank}/restore`, body), 400, "body_invalid");
    }
    assert.equal((await getDevice(`${device}-2`))["tank_id"], tank);
    assert.deepEqual(await fills(tank), [50]);
  });

  it("is found by name, city, custom_id, owner and device", async () => {
    const { customer, tank, fields } = await create();
    const id = `${tank}-2`;
    const yard = { name: "Yard", custom_id: "Y-1", assigned_device_id: "A84041C2F1827D3E", location: { city: "Köln" } };
    expectStatus(await manage("POST", TANKS, { ...fields, ...yard, id }), 201);
    const queries = ["name=ya", "city=K%C3%B6", "custom_id=y-", "device_id=a84041c2f1827d3e", `owner_id=${customer}&name=y`];
    for (const query of queries) assert.deepEqual(idsIn(await manage("GET", `${TANKS}?${query}`)), [id], query);
  });
});

describe("a device", () => {
  it("gets a tank, a profile and a shape in one request, or all errors at once", async () => {
    const { tank, device } = await create();
    const id = `${device}-2`;
    const put = expectStatus(await manage("PUT", `${DEVICES}/${id}`, { tank_id: tank, profile: "elsys", shape: SHAPE }), 200);
    assert.deepEqual([put["tank_id"], put["profile"]], [tank, "elsys"]);
    const { assigned_device_id, shape } = await getTank(tank);
    assert.deepEqual([assigned_device_id, shape], [id, SHAPE]);
    const wrong = { tank_id: "nobody", profile: "elsis", shape: { kind: "upright", height: -1, unit: "m" } };
    assert.equal(fieldErrors(await manage("PUT", `${DEVICES}/unknown`, wrong)).length, 3);
    expectStatus(await manage("GET", `${DEVICES}/unknown`), 404, "device_unknown");
    const own = { value: "level.cm", measures: "level", unit: "cm" };
    const { profile } = expectStatus(await manage("PATCH", `${DEVICES}/${id}`, { profile: own }), 200);
    assert.deepEqual(Object.keys(profile as object).slice(0, 3), Object.keys(own));
  });

  it("reports the readings it brought and the device it replaced, which is removed with its pending readings", async () => {
    const { tank, device } = await create();
    const id = `${device}-2`;
    await sendReading(id, 1, "2026-11-01T00:00:00Z");
    await sendReading(id, 2, "2026-11-02T00:00:00Z");
    expectStatus(await manage("DELETE", `${DEVICES}/${device}`), 409, "device_in_use");
    const put = expectStatus(await manage("PUT", `${DEVICES}/${id}`, { tank_id: tank }), 200);
    const span = { from: "2026-11-01T00:00:00.000Z", to: "2026-11-02T00:00:00.000Z" };
    assert.deepEqual([put["released"], put["replaced_device_id"]], [{ readings: 2, rejected: 0, ...span }, device]);
    assert.deepEqual(await fills(tank), [2, 1]);
    forward(1000);
    await sendReading(device, 3);
    const { last_assignment, ...removed } = expectStatus(await manage("DELETE", `${DEVICES}/${device}`), 200);
    assert.deepEqual(removed, { id: device, object: "device", deleted: true, removed: 1 });
    assert.equal((last_assignment as { tank_id: string }).tank_id, tank);
    assert.ok(idsIn(await manage("GET", `${DEVICES}?size=100&pending=false`)).includes(id));
  });

  it('cannot be "." or "..", nor can a customer or tank: URLs with them lead elsewhere', async () => {
    const { tank, fields } = await create();
    for (const id of [".", ".."]) {
      const errors = (response: JsonResponse) =>
        assert.match(fieldErrors(response).join(), /^(id|assigned_device_id) must not be "." or "\.\."$/);
      errors(await manage("POST", CUSTOMERS, { ...CUSTOMER, id }));
      errors(await manage("POST", TANKS, { ...fields, id, assigned_device_id: "x" }));
      errors(await manage("POST", TANKS, { ...fields, assigned_device_id: id }));
      errors(await manage("PATCH", `${TANKS}/${tank}`, { assigned_device_id: id }));
      const encoded = id.replaceAll(".", "%2E");
      expectStatus(await manage("PUT", `${DEVICES}/${encoded}`, { profile: "elsys" }), 404, "device_unknown");
      const sent = expectStatus(await manage("POST", "/ingest/v1/readings", { device_id: id, fill_percentage: 1 }), 200);
      assert.match(JSON.stringify(sent), /device_id: must not be/);
    }
  });

  it("shows its newest pending reading and why it is pending", async () => {
    const { tank, device } = await create();
    const id = `${device}-2`;
    const reading = { device_id: id, created_at: "2026-11-01T00:00:00Z", payload: { distance: 500 } };
    expectStatus(await manage("POST", "/ingest/v1/readings", reading), 200);
    const { pending_reason, newest_pending } = await getDevice(id);
    assert.equal(pending_reason, "the device is not assigned to a tank");
    const pending = { created_at: "2026-11-01T00:00:00.000Z", fill_percentage: null, payload: '{"distance":500}' };
    assert.deepEqual(newest_pending, pending);
    for (const [fields, reason] of [
      [{ tank_id: tank }, /^the device has no profile$/],
      [{ profile: "milesight-em500-udl" }, /^the tank has no shape$/],
      [{ shape: SHAPE }, /^null$/],
    ] as const) {
      const put = expectStatus(await manage("PUT", `${DEVICES}/${id}`, fields), 200);
      assert.match(String(put["pending_reason"]), reason);
    }
    assert.deepEqual(await fills(tank), [75]);
  });
});

it("a device moved while the clock was ahead sends for its new tank as soon as the clock is right", async () => {
  const [former, next] = [await create(), await create()];
  const year = 365 * 24 * HOUR;
  forward(year);
  expectStatus(await manage("PUT", `/manage/v1/devices/${former.device}?swap=true`, { tank_id: next.tank }), 200);
  forward(-year);
  const send = jsonClient(service, await service.key({ role: "ingest" }));
  const body = { device_id: former.device, fill_percentage: 17 };
  expectStatus(await send("POST", "/ingest/v1/readings", body), 200);
  const totals = [former, next].map(async ({ tank }) => (await manage("GET", `/v1/tanks/${tank}/telemetry`)).body["total_items"]);
  assert.deepEqual(await Promise.all(totals), [0, 1]);
});
