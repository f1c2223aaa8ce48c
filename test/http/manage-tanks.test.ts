// /manage/v1/tanks and /manage/v1/devices.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { expectStatus } from "./client.ts";
import { CUSTOMER, fieldErrors, idsIn, startManaged } from "./services.ts";

const { manage, forward, now, create } = await startManaged({ after });
const PATH = "/manage/v1/tanks";
const DEVICES = "/manage/v1/devices";
const SHAPE = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };

async function sendReading(device_id: string, fill_percentage: number, created_at?: string): Promise<void> {
  const at = created_at === undefined ? {} : { created_at };
  expectStatus(await manage("POST", "/ingest/v1/readings", { device_id, fill_percentage, ...at }), 200);
}

async function fills(tank: string): Promise<number[]> {
  const { body } = await manage("GET", `/v1/tanks/${tank}/telemetry`);
  return (body["data"] as { fill_percentage: number }[]).map(({ fill_percentage }) => fill_percentage);
}

const getTank = async (id: string) => expectStatus(await manage("GET", `${PATH}/${id}`), 200);
const getDevice = async (id: string) => expectStatus(await manage("GET", `${DEVICES}/${id}`), 200);

describe("a tank", () => {
  it("is created, readers see it, and tank_count follows", async () => {
    const { customer, fields } = await create();
    const given = { ...fields, assigned_device_id: `${customer}-new`, location: { city: "Bonn" }, shape: SHAPE };
    const created = expectStatus(await manage("POST", PATH, given), 201);
    const { shape, deleted, taken_in, ...shown } = created;
    assert.match(String(shown["id"]), /^tank_/);
    assert.deepEqual([(shown["location"] as { city: string }).city, shape, deleted, taken_in], ["Bonn", SHAPE, false, null]);
    assert.deepEqual(expectStatus(await manage("GET", `/v1/tanks/${shown["id"]}`), 200), shown);
    assert.equal(expectStatus(await manage("GET", `/v1/customers/${customer}`), 200)["tank_count"], 2);
  });

  it("with invalid fields gets all errors at once, also those that need the database", async () => {
    const { fields } = await create();
    const wrong = { capacity: 0, use_case: "military", location: { latitude: 91, town: "x" }, shape: { kind: "cube" } };
    const response = await manage("POST", PATH, { ...fields, ...wrong, assigned_device_id: "any", owner_id: "nobody" });
    expectStatus(response, 400, "body_invalid");
    assert.deepEqual(fieldErrors(response), [
      "capacity must be above 0",
      "location.town is not a known field.",
      "location.latitude must be from -90 to 90",
      "use_case must be one of residential, commercial, industrial",
      "shape.kind must be one of upright, rectangular, horizontal_cylinder, strapping_table",
      "owner_id no such customer",
    ]);
  });

  it("keeps the parts of its location and shape that a patch does not name, unless the kind changes", async () => {
    const { tank } = await create();
    const patch = async (fields: object) => expectStatus(await manage("PATCH", `${PATH}/${tank}`, fields), 200);
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
    expectStatus(await manage("PATCH", `${PATH}/${tank}`, { shape: { sensor_height: 2 } }), 400, "body_invalid");
  });

  it("gets the device of another only by a swap; readings follow the device from then on", async () => {
    const { tank, device, fields } = await create();
    const [tank2, device2] = [`${tank}-2`, `${device}-2`];
    expectStatus(await manage("POST", PATH, { ...fields, id: tank2, assigned_device_id: device2 }), 201);
    await sendReading(device, 11);
    await sendReading(device2, 22);
    const early = new Date(Date.parse(now()) - 60_000).toISOString();
    forward(60_000);
    const inUse = expectStatus(await manage("PATCH", `${PATH}/${tank}`, { assigned_device_id: device2 }), 409, "device_in_use");
    assert.match(String(inUse["detail"]), new RegExp(`is assigned to tank ${tank2}.*swap=true`));
    const swappedAt = now();
    expectStatus(await manage("PATCH", `${PATH}/${tank}?swap=true`, { assigned_device_id: device2 }), 200);
    const other = await getTank(tank2);
    assert.deepEqual([other["assigned_device_id"], other["updated_at"]], [device, swappedAt]);
    forward(60_000);
    await sendReading(device, 12);
    await sendReading(device, 10, early);
    assert.deepEqual(
      [await fills(tank), await fills(tank2)],
      [
        [11, 10],
        [12, 22],
      ],
    );
    const { tank_id, since } = await getDevice(device);
    assert.deepEqual([tank_id, since], [tank2, swappedAt]);
    // A new tank has no device to swap.
    const created = await manage("POST", PATH, { ...fields, id: `${tank}-3`, assigned_device_id: device });
    const advice = `Device ${device} is assigned to tank ${tank2}. Assign another device to that tank first.`;
    assert.equal(expectStatus(created, 409, "device_in_use")["detail"], advice);
  });

  it("that is deleted frees its device; restored, it has its readings and those that were pending", async () => {
    const { tank, device } = await create();
    await sendReading(device, 50);
    forward(1000);
    expectStatus(await manage("DELETE", `${PATH}/${tank}`), 200);
    expectStatus(await manage("GET", `/v1/tanks/${tank}/telemetry`), 404, "tank_deleted");
    forward(1000);
    await sendReading(device, 49);
    assert.equal((await getDevice(device))["waiting"], 1);
    expectStatus(await manage("PATCH", `${PATH}/${tank}`, { name: "x" }), 409, "state_conflict");
    expectStatus(await manage("POST", `${PATH}/${tank}/restore`), 200);
    assert.deepEqual(await fills(tank), [49, 50]);
  });

  it("whose device was assigned elsewhere is restored with another", async () => {
    const { tank, device, fields } = await create();
    expectStatus(await manage("DELETE", `${PATH}/${tank}`), 200);
    expectStatus(await manage("POST", PATH, { ...fields, id: `${tank}-2`, assigned_device_id: device }), 201);
    expectStatus(await manage("POST", `${PATH}/${tank}/restore`), 409, "device_in_use");
    expectStatus(await manage("POST", `${PATH}/${tank}/restore`, { assigned_device_id: `${device}-2` }), 200);
    assert.equal((await getDevice(`${device}-2`))["tank_id"], tank);
  });

  it("of a restored customer is restored by itself if its device was assigned elsewhere", async () => {
    const { customer, tank, device, fields } = await create();
    const [tank2, device2] = [`${tank}-2`, `${device}-2`];
    const customerPath = `/manage/v1/customers/${customer}`;
    expectStatus(await manage("POST", PATH, { ...fields, id: tank2, assigned_device_id: device2 }), 201);
    expectStatus(await manage("DELETE", `${customerPath}?tanks=true`), 200);
    expectStatus(await manage("POST", "/manage/v1/customers", { ...CUSTOMER, id: `${customer}-2` }), 201);
    const taking = { ...fields, id: `${tank}-3`, owner_id: `${customer}-2`, assigned_device_id: device };
    expectStatus(await manage("POST", PATH, taking), 201);
    const { detail } = expectStatus(await manage("POST", `${customerPath}/restore`), 409, "device_in_use");
    assert.match(String(detail), new RegExp(`${device} of tank ${tank}.*tanks=false.*each tank.*assigned_device_id`));
    expectStatus(await manage("POST", `${customerPath}/restore?tanks=false`), 200);
    expectStatus(await manage("POST", `${PATH}/${tank}/restore`, {}), 409, "device_in_use");
    expectStatus(await manage("POST", `${PATH}/${tank}/restore`, { assigned_device_id: `${device}-9` }), 200);
    expectStatus(await manage("POST", `${PATH}/${tank2}/restore`, {}), 200);
    assert.equal(expectStatus(await manage("GET", `/v1/customers/${customer}`), 200)["tank_count"], 2);
  });

  it("is found by name, city, custom_id, owner and device", async () => {
    const { customer, tank, fields } = await create();
    const id = `${tank}-2`;
    const yard = { name: "Yard", custom_id: "Y-1", assigned_device_id: "A84041C2F1827D3E", location: { city: "Köln" } };
    expectStatus(await manage("POST", PATH, { ...fields, ...yard, id }), 201);
    const queries = ["name=ya", "city=K%C3%B6", "custom_id=y-", "device_id=a84041c2f1827d3e", `owner_id=${customer}&name=y`];
    for (const query of queries) assert.deepEqual(idsIn(await manage("GET", `${PATH}?${query}`)), [id], query);
    assert.equal((await manage("GET", `${PATH}?owner_id=${customer}`)).body["total_items"], 2);
    assert.equal((await manage("GET", `${PATH}?owner_id=nobody`)).body["total_items"], 0);
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
    assert.equal((await getDevice(device))["tank_id"], null);
    const wrong = { tank_id: "nobody", profile: "elsis", shape: { kind: "upright", height: -1, unit: "m" } };
    const response = await manage("PUT", `${DEVICES}/unknown`, wrong);
    expectStatus(response, 400, "body_invalid");
    assert.equal(fieldErrors(response).length, 3, JSON.stringify(fieldErrors(response)));
    expectStatus(await manage("GET", `${DEVICES}/unknown`), 404, "device_unknown");
    const own = { value: "level.cm", measures: "level", unit: "cm" };
    const { profile } = expectStatus(await manage("PATCH", `${DEVICES}/${id}`, { profile: own }), 200);
    assert.deepEqual(Object.keys(profile as object).slice(0, 3), Object.keys(own));
    expectStatus(await manage("PUT", `${DEVICES}/${id}`, { tank_id: null }), 400, "body_invalid");
  });

  it("without a tank can be removed, with its pending readings", async () => {
    const { device } = await create();
    const id = `${device}-2`;
    await sendReading(id, 1);
    expectStatus(await manage("DELETE", `${DEVICES}/${device}`), 409, "device_in_use");
    const removed = expectStatus(await manage("DELETE", `${DEVICES}/${id}`), 200);
    assert.deepEqual(removed, { id, object: "device", deleted: true, removed: 1, served: null });
    expectStatus(await manage("GET", `${DEVICES}/${id}`), 404, "device_unknown");
    expectStatus(await manage("DELETE", `${DEVICES}/${id}`), 404, "device_unknown");
    const { body } = await manage("GET", `${DEVICES}?size=100`);
    assert.ok(!JSON.stringify(body["data"]).includes(`"${id}"`));
  });

  it("that is assigned reports the readings it brought and the device it replaced, which is known for its past", async () => {
    const { tank, device } = await create();
    const id = `${device}-2`;
    await sendReading(id, 1, "2026-11-01T00:00:00Z");
    await sendReading(id, 2, "2026-11-02T00:00:00Z");
    const put = expectStatus(await manage("PUT", `${DEVICES}/${id}`, { tank_id: tank }), 200);
    const span = { from: "2026-11-01T00:00:00.000Z", to: "2026-11-02T00:00:00.000Z" };
    assert.deepEqual([put["taken_in"], put["replaced_device_id"]], [{ readings: 2, rejected: 0, ...span }, device]);
    const { served } = expectStatus(await manage("DELETE", `${DEVICES}/${device}`), 200);
    assert.equal((served as { tank_id: string }).tank_id, tank);
    await sendReading(device, 3, "2026-11-03T00:00:00Z");
    assert.deepEqual(await fills(tank), [3, 2, 1]);
  });

  it("shows its newest pending reading and what it is waiting for", async () => {
    const { tank, device } = await create();
    const id = `${device}-2`;
    const reading = { device_id: id, created_at: "2026-11-01T00:00:00Z", payload: { distance: 500 } };
    expectStatus(await manage("POST", "/ingest/v1/readings", reading), 200);
    const { waits_because, newest_waiting } = await getDevice(id);
    assert.equal(waits_because, "the device is not assigned to a tank");
    const pending = { created_at: "2026-11-01T00:00:00.000Z", fill_percentage: null, payload: '{"distance":500}' };
    assert.deepEqual(newest_waiting, pending);
    const { sensor_height: _, ...shape } = SHAPE;
    for (const [fields, reason] of [
      [{ tank_id: tank }, /^the device has no profile$/],
      [{ profile: "milesight-em500-udl" }, /^the tank has no shape$/],
      [{ shape }, /sensor_height/],
      [{ shape: SHAPE }, /^null$/],
    ] as const) {
      const put = expectStatus(await manage("PUT", `${DEVICES}/${id}`, fields), 200);
      assert.match(String(put["waits_because"]), reason);
    }
    assert.deepEqual(await fills(tank), [75]);
  });
});
