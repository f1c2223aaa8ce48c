// How devices follow the tanks that name them, through any change of several tanks at once.

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { affectedDevices, type Change, deviceMoves, type TankState } from "../../src/domain/changes.ts";
import { type Device, EARLIEST } from "../../src/domain/device.ts";
import { deviceKey } from "../../src/domain/id.ts";
import { tank } from "../store/conformance/objects.ts";

const EUI = "A84041C2F1827D3E";
const DEVICES = ["d1", "d2", EUI, "D1"];
const TANKS = ["t1", "t2", "t3", "t4"];

const state = (id: string, device: string, deleted = false): TankState => ({
  tank: tank(id, "owner", { assigned_device_id: device }),
  deleted,
});

/** Each tank with a device of its own, or deleted, when it may have any; in either case of letters. */
const fleet = fc
  .tuple(
    fc.shuffledSubarray(DEVICES, { minLength: DEVICES.length }),
    fc.array(fc.record({ deleted: fc.boolean(), old: fc.constantFrom(...DEVICES), lower: fc.boolean() }), {
      minLength: TANKS.length,
      maxLength: TANKS.length,
    }),
  )
  .map(([devices, kinds]) =>
    TANKS.map((id, i) => {
      const { deleted = false, old = "d1", lower = false } = kinds[i] ?? {};
      const device = deleted ? old : (devices[i] ?? "d1");
      return state(id, lower && device === EUI ? EUI.toLowerCase() : device, deleted);
    }),
  );

function movesOf(changes: readonly Change<TankState>[], devices: ReadonlyMap<string, Device>, at: number) {
  const managed = Array.from(devices, ([key, device]) => [key, { device, waiting: 0, dropped: 0 }] as const);
  return deviceMoves(changes, new Map(managed), at);
}

/** Which device serves which tank, seen from the tanks. */
function served(tanks: readonly TankState[]): Map<string, string> {
  const live = tanks.filter(({ deleted }) => !deleted);
  return new Map(live.map(({ tank: { assigned_device_id, id } }) => [deviceKey(assigned_device_id), id]));
}

const deviceOf = (id: string, tank_id: string | null): Device => ({ id, tank_id, since: EARLIEST, profile: null });

test("whatever changes at once, every device serves the tank that names it in the end, and no other is touched", () => {
  fc.assert(
    fc.property(fleet, fleet, fc.subarray(TANKS), fc.boolean(), (before, after, made, isStrange) => {
      // Some of the tanks are made just now: their devices may be ones that nobody has heard of.
      const old = before.filter(({ tank: { id } }) => !made.includes(id));
      const was = served(old);
      const keys = [...new Set(DEVICES.map(deviceKey))];
      const heardOf = keys.filter((key) => was.has(key) || !isStrange);
      const known = new Map(heardOf.map((key) => [key, deviceOf(key, was.get(key) ?? null)]));
      const changes = after.map(
        (now): Change<TankState> => ({ id: now.tank.id, before: old.find(({ tank: { id } }) => id === now.tank.id), after: now }),
      );
      const moves = movesOf(changes, known, 10);
      const now = new Map(Array.from(known, ([key, { tank_id }]) => [key, tank_id]));
      for (const { device } of moves) now.set(device.id, device.tank_id);
      const will = served(after);
      for (const key of keys) assert.equal(now.get(key) ?? null, will.get(key) ?? null, key);
      for (const { device, ended } of moves) {
        assert.ok(affectedDevices(changes).includes(device.id), "those alone that are concerned");
        const from = was.get(device.id);
        assert.deepEqual(ended, from === undefined ? undefined : { device: device.id, until: 10, tankId: from });
        assert.ok(from !== (will.get(device.id) ?? null) || !known.has(device.id), "what stays does not move");
      }
    }),
    { numRuns: 1000 },
  );
});

test("two tanks that swap their devices let both go before either takes one", () => {
  const changes = [
    { id: "t1", before: state("t1", "d1"), after: state("t1", "d2") },
    { id: "t2", before: state("t2", "d2"), after: state("t2", "d1") },
  ];
  const known = new Map([
    ["d1", deviceOf("d1", "t1")],
    ["d2", deviceOf("d2", "t2")],
  ]);
  assert.deepEqual(movesOf(changes, known, 5), [
    { device: { ...deviceOf("d1", "t2"), since: 5 }, ended: { device: "d1", until: 5, tankId: "t1" } },
    { device: { ...deviceOf("d2", "t1"), since: 5 }, ended: { device: "d2", until: 5, tankId: "t2" } },
  ]);
});

test("another way of writing the same EUI-64 moves nothing", () => {
  const key = EUI.toLowerCase();
  const changes = [{ id: "t1", before: state("t1", EUI), after: state("t1", key) }];
  assert.deepEqual(affectedDevices(changes), [key]);
  assert.deepEqual(movesOf(changes, new Map([[key, deviceOf(key, "t1")]]), 5), []);
});

test("a device that nobody has heard of becomes known with the tank that names it", () => {
  const changes = [{ id: "t1", before: undefined, after: state("t1", "d1") }];
  assert.deepEqual(movesOf(changes, new Map(), 5), [{ device: deviceOf("d1", "t1"), ended: undefined }]);
});

test("a tank that is made deleted has no device", () => {
  assert.deepEqual(movesOf([{ id: "t1", before: undefined, after: state("t1", "d1", true) }], new Map(), 5), []);
});

test("a tank that gives up a device which serves another tank leaves it there", () => {
  const known = new Map([["d1", deviceOf("d1", "t1")]]);
  const changes = [{ id: "t2", before: state("t2", "d1"), after: state("t2", "d2") }];
  assert.deepEqual(movesOf(changes, known, 5), [{ device: deviceOf("d2", "t2"), ended: undefined }]);
  assert.deepEqual(movesOf([{ id: "t2", before: state("t2", "d1"), after: state("t2", "d1", true) }], known, 5), []);
});
