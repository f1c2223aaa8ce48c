// /manage/v1/keys, fleet, audit, provision: what an operator sees.

import assert from "node:assert/strict";
import test from "node:test";
import { asking } from "../asked.ts";
import { CUSTOMER, emptyWorld, expect, faults, idsIn, TANK, world } from "./world.ts";

test("a key is made, works, is changed, rotated and revoked; its secret is told once", async (t) => {
  const here = await world(t);
  const once = { "idempotency-key": "k" };
  const made = await here.ask("POST", "/manage/v1/keys", { name: "gateway", role: "ingest", device_id: "d1" }, once);
  const { id, secret } = expect(made, 201) as { id: string; secret: string };
  assert.match(secret, /^tm_/);
  const send = asking(here, secret);
  expect(await send("POST", "/ingest/v1/readings", { device_id: "d1", fill_percentage: 1 }), 200);
  assert.equal(
    expect(await here.ask("POST", "/manage/v1/keys", { name: "gateway", role: "ingest", device_id: "d1" }, once), 201)["secret"],
    null,
  );
  assert.equal(expect(await here.ask("PATCH", `/manage/v1/keys/${id}`, { rate: 5 }), 200)["rate"], 5);
  const next = expect(await here.ask("POST", `/manage/v1/keys/${id}/rotate?overlap=1h`), 201);
  assert.deepEqual([next["device_id"], next["rate"], next["role"]], ["d1", 5, "ingest"]);
  expect(await here.ask("POST", `/manage/v1/keys/${id}/rotate`), 409, "state_conflict");
  const old = expect(await here.ask("GET", `/manage/v1/keys/${id}`), 200);
  assert.deepEqual([old["replaced_by"], old["expires_at"]], [next["id"], "2026-11-14T10:30:00.000Z"]);
  assert.equal(expect(await here.ask("DELETE", `/manage/v1/keys/${id}`), 200)["state"], "revoked");
  here.forward(1000);
  expect(await send("POST", "/ingest/v1/readings", []), 401, "key_revoked");
  expect(await here.ask("PATCH", `/manage/v1/keys/${id}`, { name: "x" }), 409, "state_conflict");
  expect(await here.ask("GET", "/manage/v1/keys/key_x"), 404, "key_unknown");
  const everything = JSON.stringify([
    await here.ask("GET", "/manage/v1/keys"),
    await here.ask("GET", "/manage/v1/audit?size=100"),
  ]);
  assert.ok(!everything.includes(secret.slice(3)) && !everything.includes(String(next["secret"]).slice(3)));
});

test("the making of a key that arrives again is answered as it was, also when the key has ended", async (t) => {
  const here = await world(t);
  const once = { "idempotency-key": "short" };
  const body = { name: "short", expires_at: "2026-11-14T09:30:06.000Z" };
  const { id } = expect(await here.ask("POST", "/manage/v1/keys", body, once), 201);
  here.forward(8000);
  const again = expect(await here.ask("POST", "/manage/v1/keys", body, once), 201);
  assert.deepEqual([again["id"], again["secret"]], [id, null]);
  assert.deepEqual(faults(await here.ask("POST", "/manage/v1/keys", { ...body, customer_id: "nobody" })), [
    "expires_at must be in the future",
    "customer_id no such customer",
  ]);
});

test("what is wrong with a key is told at once", async (t) => {
  const here = await emptyWorld(t);
  const wrong = await here.ask("POST", "/manage/v1/keys", {
    role: "manage",
    customer_id: "nobody",
    device_id: "d",
    rate: 0,
    expires_at: "2020-01-01",
  });
  expect(wrong, 400, "body_invalid");
  assert.deepEqual(
    faults(wrong).map((fault) => fault.split(" ", 1)[0]),
    ["name", "rate", "customer_id", "device_id", "expires_at", "customer_id"],
  );
});

test("the fleet is told by urgency, with margin and age; filters and totals are exact", async (t) => {
  const here = await emptyWorld(t);
  expect(await here.ask("POST", "/manage/v1/customers", CUSTOMER), 201);
  expect(await here.ask("POST", "/manage/v1/customers", { ...CUSTOMER, id: "c2" }), 201);
  const tanks: [string, number, number | null, string][] = [
    ["ok", 20, 70.25, "Bonn"],
    ["low", 20, 5.5, "Köln"],
    ["edge", 20, 20, "Bonn"],
    ["never", 20, null, "Bonn"],
    ["worst", 90, 40, "Bremen"],
  ];
  for (const [id, min_fill_alert_percentage, fill, city] of tanks) {
    const owner_id = id === "worst" ? "c2" : "c1";
    expect(
      await here.ask("POST", "/manage/v1/tanks", {
        ...TANK,
        id,
        owner_id,
        min_fill_alert_percentage,
        assigned_device_id: id,
        location: { city },
      }),
      201,
    );
    if (fill !== null) expect(await here.ask("POST", "/ingest/v1/readings", { tank_id: id, fill_percentage: fill }), 200);
  }
  here.forward(90_000);
  expect(await here.ask("POST", "/ingest/v1/readings", { tank_id: "ok", fill_percentage: 70 }), 200);
  const fleet = async (query = "") => {
    const { body } = await here.ask("GET", `/manage/v1/fleet${query}`);
    return (body["data"] as { tank: { id: string } }[]).map(({ tank }) => tank.id).concat(String(body["total_items"]));
  };
  assert.deepEqual(await fleet(), ["worst", "low", "edge", "ok", "never", "5"]);
  assert.deepEqual(await fleet("?state=low"), ["worst", "low", "edge", "3"]);
  assert.deepEqual(await fleet("?state=ok"), ["ok", "1"]);
  assert.deepEqual(await fleet("?state=unknown"), ["never", "1"]);
  assert.deepEqual(await fleet("?silent_for=60s"), ["worst", "low", "edge", "never", "4"]);
  assert.deepEqual(await fleet("?silent_for=90s"), ["never", "1"]);
  assert.deepEqual(await fleet("?city=b&owner_id=c1"), ["edge", "ok", "never", "3"]);
  assert.deepEqual(await fleet("?size=2&page=2"), ["edge", "ok", "5"]);
  const [first] = (await here.ask("GET", "/manage/v1/fleet?state=low")).body["data"] as Record<string, unknown>[];
  const { tank, ...rest } = first ?? {};
  assert.deepEqual(rest, {
    object: "fleet_tank",
    state: "low",
    margin: -50,
    age_seconds: 90,
    latest: { object: "telemetry", created_at: "2026-11-14T09:30:00.000Z", fill_percentage: 40 },
  });
  assert.equal((tank as { object: string }).object, "tank");
  expect(await here.ask("GET", "/manage/v1/fleet?state=full"), 400, "parameter_invalid");
  expect(await here.ask("GET", "/manage/v1/fleet?silent_for=long"), 400, "parameter_invalid");
});

test("the audit log tells who changed what, from what to what, and when", async (t) => {
  const here = await world(t);
  here.forward(1000);
  expect(await here.ask("PATCH", "/manage/v1/tanks/t1", { min_fill_alert_percentage: 25, location: { city: "Bonn" } }), 200);
  const { body } = await here.ask("GET", "/manage/v1/audit?type=tank&id=t1&size=1");
  assert.equal(body["total_items"], 2);
  assert.deepEqual((body["data"] as unknown[])[0], {
    number: 4,
    object: "audit_entry",
    created_at: "2026-11-14T09:30:01.000Z",
    by: here.keyId,
    action: "changed",
    type: "tank",
    id: "t1",
    changes: { min_fill_alert_percentage: { from: 20, to: 25 }, "location.city": { from: null, to: "Bonn" } },
  });
  assert.equal((await here.ask("GET", `/manage/v1/audit?by=${here.keyId}`)).body["total_items"], 3);
  assert.equal((await here.ask("GET", "/manage/v1/audit?created_at_gte=2026-11-14T09:30:01Z")).body["total_items"], 1);
});

test("many customers and tanks are judged before any is written, and written as one", async (t) => {
  const here = await world(t);
  const customers = [
    { id: "c1", name: "Renamed" },
    { id: "c2", name: "New", email: "n@x.example" },
  ];
  const tanks = [{ ...TANK, id: "t2", owner_id: "c2", assigned_device_id: "d2" }, { id: "t1" }];
  const bad = await here.ask("POST", "/manage/v1/provision", {
    customers,
    tanks: [...tanks, { ...TANK, id: "t3", owner_id: "c9", assigned_device_id: "D2" }, { ...TANK, id: "t4" }],
  });
  expect(bad, 400, "body_invalid");
  assert.deepEqual(faults(bad), [
    "tanks[2].owner_id no such customer",
    "tanks[3].assigned_device_id is already assigned to tank t1",
  ]);
  assert.equal((await here.ask("GET", "/v1/customers")).body["total_items"], 1);
  const dry = expect(await here.ask("POST", "/manage/v1/provision?dry_run=true", { customers, tanks }), 200);
  assert.deepEqual(dry, {
    object: "provisioning",
    dry_run: true,
    customers: { new: 1, changed: 1, unchanged: 0 },
    tanks: { new: 1, changed: 0, unchanged: 1 },
    changes: [{ row: "customers[0]", id: "c1", field: "name", from: "Brenner Gas GmbH", to: "Renamed" }],
    more_changes: 0,
  });
  assert.equal((await here.ask("GET", "/v1/customers")).body["total_items"], 1);
  assert.deepEqual(expect(await here.ask("POST", "/manage/v1/provision", { customers, tanks }), 200), { ...dry, dry_run: false });
  assert.deepEqual(idsIn(await here.ask("GET", "/manage/v1/tanks?owner_id=c2")), ["t2"]);
  const again = expect(await here.ask("POST", "/manage/v1/provision", { customers, tanks }), 200);
  assert.deepEqual(again["customers"], { new: 0, changed: 0, unchanged: 2 });
  expect(await here.ask("POST", "/manage/v1/provision", { tnaks: [] }), 400, "body_invalid");
  expect(await here.ask("POST", "/manage/v1/provision", []), 400, "body_invalid");
});

test("a provisioning that arrives twice is done once; a dry run is not remembered", async (t) => {
  const here = await emptyWorld(t);
  const path = "/manage/v1/provision";
  const once = { "idempotency-key": "sheet 1" };
  const body = { customers: [{ name: "Anna", email: "a@b.example" }] };
  expect(await here.ask("POST", `${path}?dry_run=true`, body, once), 200);
  const first = await here.ask("POST", path, body, once);
  const again = await here.ask("POST", path, body, once);
  assert.deepEqual(expect(again, 200), expect(first, 200));
  assert.deepEqual([first.headers.get("idempotency-replayed"), again.headers.get("idempotency-replayed")], [null, "true"]);
  assert.equal((await here.ask("GET", "/manage/v1/customers")).body["total_items"], 1);
  expect(await here.ask("POST", path, { customers: [] }, once), 422, "idempotency_key_reused");
});

test("of a row all that is wrong is told, and no tank is blamed for its customer's row", async (t) => {
  const here = await world(t);
  const { id: _id, ...row } = TANK;
  const customers = [{ id: "c9", name: "", email: "a@b.example" }];
  const tanks = [
    { ...row, owner_id: "nobody", assigned_device_id: "d1", capacity: -1 },
    { ...row, owner_id: "c9", assigned_device_id: "d9" },
  ];
  const wrong = faults(await here.ask("POST", "/manage/v1/provision", { customers, tanks }));
  assert.deepEqual(
    wrong.map((fault) => fault.split(" ", 1)[0]),
    ["customers[0].name", "tanks[0].capacity", "tanks[0].owner_id", "tanks[0].assigned_device_id"],
  );
});

test("a key is revoked by who has seen it as it is", async (t) => {
  const here = await world(t);
  const { id } = expect(await here.ask("POST", "/manage/v1/keys", { name: "one" }), 201);
  expect(await here.ask("DELETE", `/manage/v1/keys/${id}`, undefined, { "if-match": '"x,*,y"' }), 412, "precondition_failed");
  expect(await here.ask("DELETE", `/manage/v1/keys/${id}`, undefined, { "if-match": "*" }), 200);
});

test("tanks exchange their devices within one provisioning, and no device is given twice", async (t) => {
  const here = await world(t);
  expect(await here.ask("POST", "/manage/v1/tanks", { ...TANK, id: "t2", assigned_device_id: "d2" }), 201);
  const swapped = [
    { id: "t1", assigned_device_id: "d2" },
    { id: "t2", assigned_device_id: "d1" },
  ];
  const twice = await here.ask("POST", "/manage/v1/provision", {
    tanks: [...swapped, { ...TANK, id: "t3", assigned_device_id: "d2" }],
  });
  assert.deepEqual(faults(twice), ["tanks[2].assigned_device_id is already assigned to tank t1"]);
  expect(await here.ask("POST", "/manage/v1/provision", { tanks: swapped }), 200);
  assert.equal(expect(await here.ask("GET", "/manage/v1/devices/d2"), 200)["tank_id"], "t1");
  assert.equal(expect(await here.ask("GET", "/manage/v1/devices/d1"), 200)["tank_id"], "t2");
});

test("an id stands in one row of a provisioning alone, and of many changes the first are told", async (t) => {
  const here = await world(t);
  const twice = await here.ask("POST", "/manage/v1/provision", { tanks: [{ id: "t1" }, { id: "t1", name: "Other" }] });
  expect(twice, 400, "body_invalid");
  assert.deepEqual(faults(twice), ['tanks[1].id "t1" is already used in tanks[0]']);
  const customers = Array.from({ length: 60 }, (_, i) => ({ id: `n${i}`, name: "N", email: "n@x.example" }));
  expect(await here.ask("POST", "/manage/v1/provision", { customers }), 200);
  const changed = customers.map(({ id }) => ({ id, name: "M", email: "m@x.example" }));
  const shape = { kind: "upright", height: 2, unit: "m" };
  const body = { customers: changed, tanks: [{ id: "t1", shape }] };
  const { changes, more_changes } = expect(await here.ask("POST", "/manage/v1/provision?dry_run=true", body), 200);
  assert.deepEqual([(changes as unknown[]).length, more_changes], [100, 21]);
  const one = expect(await here.ask("POST", "/manage/v1/provision?dry_run=true", { tanks: body.tanks }), 200);
  assert.deepEqual(one["changes"], [{ row: "tanks[0]", id: "t1", field: "shape", from: null, to: shape }]);
});
