import assert from "node:assert/strict";
import test from "node:test";
import { caller } from "../../src/simulate/call.ts";
import { seededFleet } from "../../src/simulate/fleet.ts";
import { MAKERS, sensorOf } from "../../src/simulate/makers.ts";
import { mayManage, mayRead, provision } from "../../src/simulate/provision.ts";
import { startService } from "../support/service.ts";

test("registers customers, tanks, and how each device is read; once more changes nothing", async (t) => {
  const service = await startService(t);
  const call = caller(service.url, await service.key({ role: "manage" }));
  const fleet = seededFleet("provision", 12, MAKERS);
  const told: number[] = [];
  await provision(fleet, call, (done) => told.push(done));
  assert.deepEqual(told, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  const look = async (path: string) => (await call({ path: `${path}?size=100` })).body["data"] as Record<string, unknown>[];
  const [customers, tanks] = [await look("/manage/v1/customers"), await look("/manage/v1/tanks")];
  assert.deepEqual([customers.length, tanks.length], [3, 12]);
  for (let i = 0; i < fleet.size; i++) {
    const { id, tankId, maker, shape } = fleet.device(i);
    const tank = tanks.find((known) => known["id"] === tankId);
    assert.deepEqual([tank?.["assigned_device_id"], tank?.["owner_id"], tank?.["shape"]], [id, fleet.owner(i), shape]);
    const device = (await call({ path: `/manage/v1/devices/${id}` })).body;
    assert.deepEqual([device["tank_id"], device["profile"]], [tankId, sensorOf(maker)?.profile ?? null]);
  }
  await provision(fleet, call, () => {});
  assert.deepEqual([await look("/manage/v1/customers"), await look("/manage/v1/tanks")], [customers, tanks]);
});

test("what a key may do is asked, not guessed", async (t) => {
  const service = await startService(t);
  const may = async (role: "read" | "ingest" | "manage") => {
    const call = caller(service.url, await service.key({ role }));
    return [await mayRead(call), await mayManage(call)];
  };
  assert.deepEqual(await may("read"), [true, false]);
  assert.deepEqual(await may("ingest"), [false, false]);
  assert.deepEqual(await may("manage"), [true, true]);
  await assert.rejects(mayRead(caller(service.url, "nonsense")), { message: /401/ });
});
