// /manage/v1/tanks and /manage/v1/devices: what an operator sees.

import assert from "node:assert/strict";
import test from "node:test";
import { emptyWorld, expect, faults, idsIn, TANK, type World, world } from "./world.ts";

const PATH = "/manage/v1/tanks";
const SHAPE = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };

const reading = (here: World, device_id: string, fill_percentage: number, created_at?: string) =>
  here.ask("POST", "/ingest/v1/readings", { device_id, fill_percentage, ...(created_at === undefined ? {} : { created_at }) });

async function fills(here: World, tank: string): Promise<number[]> {
  const { body } = await here.ask("GET", `/v1/tanks/${tank}/telemetry`);
  return (body["data"] as { fill_percentage: number }[]).map(({ fill_percentage }) => fill_percentage);
}

test("a tank is made with what it needs, and tank_count follows", async (t) => {
  const here = await world(t);
  const made = expect(
    await here.ask("POST", PATH, { ...TANK, id: undefined, assigned_device_id: "d2", location: { city: "Bonn" }, shape: SHAPE }),
    201,
  );
  assert.match(String(made["id"]), /^tank_/);
  assert.deepEqual([(made["location"] as { city: string }).city, made["shape"], made["deleted"]], ["Bonn", SHAPE, false]);
  const { shape: _, deleted: __, taken_in, ...shown } = made;
  assert.equal(taken_in, null);
  assert.deepEqual(expect(await here.ask("GET", `/v1/tanks/${made["id"]}`), 200), shown);
  assert.equal(expect(await here.ask("GET", "/v1/customers/c1"), 200)["tank_count"], 2);
});

test("everything that is wrong is told at once, with what the database knows", async (t) => {
  const here = await emptyWorld(t);
  const answer = await here.ask("POST", PATH, {
    ...TANK,
    capacity: 0,
    use_case: "military",
    location: { latitude: 91, town: "x" },
    shape: { kind: "cube" },
  });
  expect(answer, 400, "body_invalid");
  assert.deepEqual(faults(answer), [
    "capacity must be above 0",
    "location.town is not a known field.",
    "location.latitude must be from -90 to 90",
    "use_case must be one of residential, commercial, industrial",
    "shape.kind must be one of upright, rectangular, horizontal_cylinder, strapping_table",
    "owner_id no such customer",
  ]);
});

test("a patch of the location keeps what it does not name", async (t) => {
  const here = await world(t);
  expect(await here.ask("PATCH", `${PATH}/t1`, { location: { city: "Bonn", street: "Weg" } }), 200);
  const after = expect(await here.ask("PATCH", `${PATH}/t1`, { location: { street: null } }), 200);
  const { city, street } = after["location"] as { city: unknown; street: unknown };
  assert.deepEqual([city, street], ["Bonn", null]);
});

test("a patch of the shape keeps what it does not name, unless it names another kind", async (t) => {
  const here = await world(t);
  const shape = async (given: object | null) =>
    expect(await here.ask("PATCH", "/manage/v1/tanks/t1", { shape: given }), 200)["shape"];
  const whole = { kind: "upright", height: 2, unit: "m", sensor_height: 2.1 };
  assert.deepEqual(await shape(whole), whole);
  assert.deepEqual(await shape({ sensor_height: 2.2 }), { ...whole, sensor_height: 2.2 });
  const { sensor_height: _, ...without } = whole;
  assert.deepEqual(await shape({ sensor_height: null }), without);
  assert.deepEqual(await shape({ kind: "rectangular", height: 1, unit: "m" }), { kind: "rectangular", height: 1, unit: "m" });
  assert.equal(await shape(null), null);
  expect(await here.ask("PATCH", "/manage/v1/tanks/t1", { shape: { sensor_height: 2 } }), 400, "body_invalid");
});

test("a device in use is refused, and swapped when that is asked for; readings follow it from then on, late ones too", async (t) => {
  const here = await world(t);
  expect(await here.ask("POST", PATH, { ...TANK, id: "t2", assigned_device_id: "d2" }), 201);
  expect(await reading(here, "d1", 11), 200);
  expect(await reading(here, "d2", 22), 200);
  here.forward(60_000);
  const refused = expect(await here.ask("PATCH", `${PATH}/t1`, { assigned_device_id: "d2" }), 409, "device_in_use");
  assert.match(String(refused["detail"]), /is assigned to tank t2.*swap=true/);
  expect(await here.ask("PATCH", `${PATH}/t1?swap=true`, { assigned_device_id: "d2" }), 200);
  const other = expect(await here.ask("GET", `${PATH}/t2`), 200);
  assert.deepEqual([other["assigned_device_id"], other["updated_at"]], ["d1", "2026-11-14T09:31:00.000Z"]);
  here.forward(60_000);
  expect(await reading(here, "d1", 12), 200);
  expect(await reading(here, "d1", 10, "2026-11-14T09:29:00Z"), 200);
  assert.deepEqual(await fills(here, "t1"), [11, 10]);
  assert.deepEqual(await fills(here, "t2"), [12, 22]);
  const device = expect(await here.ask("GET", "/manage/v1/devices/d1"), 200);
  assert.deepEqual([device["tank_id"], device["since"]], ["t2", "2026-11-14T09:31:00.000Z"]);
});

test("a deleted tank frees its device; restored, it has its readings and those that waited", async (t) => {
  const here = await world(t);
  expect(await reading(here, "d1", 50), 200);
  here.forward(1000);
  expect(await here.ask("DELETE", `${PATH}/t1`), 200);
  expect(await here.ask("GET", "/v1/tanks/t1/telemetry"), 404, "tank_deleted");
  here.forward(1000);
  expect(await reading(here, "d1", 49), 200);
  assert.equal(expect(await here.ask("GET", "/manage/v1/devices/d1"), 200)["waiting"], 1);
  expect(await here.ask("PATCH", `${PATH}/t1`, { name: "x" }), 409, "state_conflict");
  expect(await here.ask("POST", `${PATH}/t1/restore`), 200);
  assert.deepEqual(await fills(here, "t1"), [49, 50]);
});

test("a tank whose device has gone elsewhere is restored with another", async (t) => {
  const here = await world(t);
  expect(await here.ask("DELETE", `${PATH}/t1`), 200);
  expect(await here.ask("POST", PATH, { ...TANK, id: "t2" }), 201);
  expect(await here.ask("POST", `${PATH}/t1/restore`), 409, "device_in_use");
  expect(await here.ask("POST", `${PATH}/t1/restore`, { assigned_device_id: "d9" }), 200);
  assert.equal(expect(await here.ask("GET", "/manage/v1/devices/d9"), 200)["tank_id"], "t1");
});

test("tanks are found by name, city, custom_id, owner and device", async (t) => {
  const here = await world(t);
  const two = {
    ...TANK,
    id: "t2",
    name: "Yard",
    custom_id: "Y-1",
    assigned_device_id: "A84041C2F1827D3E",
    location: { city: "Köln" },
  };
  expect(await here.ask("POST", PATH, two), 201);
  for (const query of ["name=ya", "city=K%C3%B6", "custom_id=y-", "device_id=a84041c2f1827d3e", "owner_id=c1&name=y"]) {
    assert.deepEqual(idsIn(await here.ask("GET", `${PATH}?${query}`)), ["t2"], query);
  }
  assert.equal((await here.ask("GET", `${PATH}?owner_id=c1`)).body["total_items"], 2);
  assert.equal((await here.ask("GET", `${PATH}?owner_id=nobody`)).body["total_items"], 0);
});

test("a device is given a tank, a profile and a shape in one call; wrong ones are told", async (t) => {
  const here = await world(t);
  const put = expect(await here.ask("PUT", "/manage/v1/devices/d7", { tank_id: "t1", profile: "elsys", shape: SHAPE }), 200);
  assert.deepEqual([put["tank_id"], put["profile"]], ["t1", "elsys"]);
  const tank = expect(await here.ask("GET", `${PATH}/t1`), 200);
  assert.deepEqual([tank["assigned_device_id"], tank["shape"]], ["d7", SHAPE]);
  assert.equal(expect(await here.ask("GET", "/manage/v1/devices/d1"), 200)["tank_id"], null);
  const wrong = await here.ask("PUT", "/manage/v1/devices/d8", {
    tank_id: "nobody",
    profile: "elsis",
    shape: { kind: "upright", height: -1, unit: "m" },
  });
  expect(wrong, 400, "body_invalid");
  assert.equal(faults(wrong).length, 3, JSON.stringify(faults(wrong)));
  expect(await here.ask("GET", "/manage/v1/devices/d8"), 404, "device_unknown");
  const own = { value: "level.cm", measures: "level", unit: "cm" };
  assert.deepEqual(
    Object.keys(expect(await here.ask("PATCH", "/manage/v1/devices/d7", { profile: own }), 200)["profile"] as object).slice(0, 3),
    Object.keys(own),
  );
  expect(await here.ask("PUT", "/manage/v1/devices/d7", { tank_id: null }), 400, "body_invalid");
});

test("a device that serves no tank can be forgotten, with what waits", async (t) => {
  const here = await world(t);
  expect(await reading(here, "d5", 1), 200);
  expect(await here.ask("DELETE", "/manage/v1/devices/d1"), 409, "device_in_use");
  const forgotten = expect(await here.ask("DELETE", "/manage/v1/devices/d5"), 200);
  assert.deepEqual(forgotten, { id: "d5", object: "device", deleted: true, removed: 1, served: null });
  expect(await here.ask("GET", "/manage/v1/devices/d5"), 404, "device_unknown");
  expect(await here.ask("DELETE", "/manage/v1/devices/d5"), 404, "device_unknown");
  assert.deepEqual(idsIn(await here.ask("GET", "/manage/v1/devices")), ["d1"]);
});

test("what was taken in and which device was replaced is told; a device that served is known for it when it is forgotten", async (t) => {
  const here = await world(t);
  expect(await reading(here, "d5", 1, "2026-11-01T00:00:00Z"), 200);
  expect(await reading(here, "d5", 2, "2026-11-02T00:00:00Z"), 200);
  const { taken_in, replaced_device_id } = expect(await here.ask("PUT", "/manage/v1/devices/d5", { tank_id: "t1" }), 200);
  const span = { from: "2026-11-01T00:00:00.000Z", to: "2026-11-02T00:00:00.000Z" };
  assert.deepEqual([taken_in, replaced_device_id], [{ readings: 2, rejected: 0, ...span }, "d1"]);
  const { served } = expect(await here.ask("DELETE", "/manage/v1/devices/d1"), 200);
  assert.equal((served as { tank_id: string }).tank_id, "t1");
  expect(await reading(here, "d1", 3, "2026-11-03T00:00:00Z"), 200);
  assert.deepEqual(await fills(here, "t1"), [3, 2, 1]);
});

test("a new tank cannot swap, so this is not advised", async (t) => {
  const here = await world(t);
  const { detail } = expect(await here.ask("POST", PATH, { ...TANK, id: "t2" }), 409, "device_in_use");
  assert.equal(detail, "Device d1 is assigned to tank t1. Assign another device to that tank first.");
});

test("a customer whose devices serve others by now comes back without its tanks, and these one by one", async (t) => {
  const here = await world(t);
  expect(await here.ask("POST", PATH, { ...TANK, id: "t2", assigned_device_id: "d2" }), 201);
  expect(await here.ask("DELETE", "/manage/v1/customers/c1?tanks=true"), 200);
  expect(await here.ask("POST", "/manage/v1/customers", { id: "c2", name: "Other", email: "o@other.example" }), 201);
  expect(await here.ask("POST", PATH, { ...TANK, id: "t3", owner_id: "c2" }), 201);
  const { detail } = expect(await here.ask("POST", "/manage/v1/customers/c1/restore"), 409, "device_in_use");
  assert.match(String(detail), /d1 of tank t1.*tanks=false.*each tank.*assigned_device_id/);
  expect(await here.ask("POST", "/manage/v1/customers/c1/restore?tanks=false"), 200);
  expect(await here.ask("POST", `${PATH}/t1/restore`, {}), 409, "device_in_use");
  expect(await here.ask("POST", `${PATH}/t1/restore`, { assigned_device_id: "d9" }), 200);
  expect(await here.ask("POST", `${PATH}/t2/restore`, {}), 200);
  assert.equal(expect(await here.ask("GET", "/v1/customers/c1"), 200)["tank_count"], 2);
});

test("of a device it is told what its newest reading waits for, and that reading itself", async (t) => {
  const here = await world(t);
  const send = { device_id: "d5", created_at: "2026-11-01T00:00:00Z", payload: { distance: 500 } };
  expect(await here.ask("POST", "/ingest/v1/readings", send), 200);
  const told = async (fields: object) => expect(await here.ask("PUT", "/manage/v1/devices/d5", fields), 200)["waits_because"];
  const { waits_because, newest_waiting } = expect(await here.ask("GET", "/manage/v1/devices/d5"), 200);
  assert.equal(waits_because, "the device is not assigned to a tank");
  const waiting = { created_at: "2026-11-01T00:00:00.000Z", fill_percentage: null, payload: '{"distance":500}' };
  assert.deepEqual(newest_waiting, waiting);
  assert.equal(await told({ tank_id: "t1" }), "the device has no profile");
  assert.equal(await told({ profile: "milesight-em500-udl" }), "the tank has no shape");
  const { sensor_height: _, ...shape } = SHAPE;
  assert.match(String(await told({ shape })), /sensor_height/);
  assert.equal(await told({ shape: SHAPE }), null);
  assert.deepEqual(await fills(here, "t1"), [75]);
});
