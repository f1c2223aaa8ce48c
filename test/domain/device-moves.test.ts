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

/** Each tank has a device of its own, in either case of letters; a deleted one may have any. */
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

/** The tank of each device, by the tanks. */
function assigned(tanks: readonly TankState[]): Map<string, string> {
  const live = tanks.filter(({ deleted }) => !deleted);
  return new Map(live.map(({ tank: { assigned_device_id, id } }) => [deviceKey(assigned_device_id), id]));
}

const deviceOf = (id: string, tank_id: string | null): Device => ({ id, tank_id, since: EARLIEST, profile: null });

test("after any change of several tanks, every device serves the tank that names it, and no other device moves", () => {
  fc.assert(
    fc.property(fleet, fleet, fc.subarray(TANKS), fc.boolean(), (before, after, created, hasUnknown) => {
      // The devices of tanks that are created may be unknown.
      const old = before.filter(({ tank: { id } }) => !created.includes(id));
      const [was, will] = [assigned(old), assigned(after)];
      const keys = [...new Set(DEVICES.map(deviceKey))];
      const knownKeys = keys.filter((key) => was.has(key) || !hasUnknown);
      const known = new Map(knownKeys.map((key) => [key, deviceOf(key, was.get(key) ?? null)]));
      const changes = after.map(
        (now): Change<TankState> => ({ id: now.tank.id, before: old.find(({ tank: { id } }) => id === now.tank.id), after: now }),
      );
      const moves = movesOf(changes, known, 10);
      const now = new Map(Array.from(known, ([key, { tank_id }]) => [key, tank_id]));
      for (const { device } of moves) now.set(device.id, device.tank_id);
      for (const key of keys) assert.equal(now.get(key) ?? null, will.get(key) ?? null, key);
      for (const { device, ended } of moves) {
        assert.ok(affectedDevices(changes).includes(device.id), "only affected devices move");
        const from = was.get(device.id);
        assert.deepEqual(ended, from === undefined ? undefined : { device: device.id, until: 10, tankId: from });
        assert.equal(device.since, from === undefined ? EARLIEST : 10);
        assert.ok(from !== (will.get(device.id) ?? null) || !known.has(device.id), "a device that stays does not move");
      }
    }),
    { numRuns: 1000 },
  );
});

test("another spelling of the same EUI-64 moves nothing", () => {
  const key = EUI.toLowerCase();
  const changes = [{ id: "t1", before: state("t1", EUI), after: state("t1", key) }];
  assert.deepEqual(affectedDevices(changes), [key]);
  assert.deepEqual(movesOf(changes, new Map([[key, deviceOf(key, "t1")]]), 5), []);
});

test("a tank that gives up a device which serves another tank leaves it there", () => {
  const known = new Map([["d1", deviceOf("d1", "t1")]]);
  const changes = [{ id: "t2", before: state("t2", "d1"), after: state("t2", "d2") }];
  assert.deepEqual(movesOf(changes, known, 5), [{ device: deviceOf("d2", "t2"), ended: undefined }]);
  assert.deepEqual(movesOf([{ id: "t2", before: state("t2", "d1"), after: state("t2", "d1", true) }], known, 5), []);
});
