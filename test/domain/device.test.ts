import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { affectedDevices, type Change, deviceMoves, type TankState } from "../../src/domain/changes.ts";
import { type Device, type DeviceAssignment, moveDevice, tankAt, unknownDevice } from "../../src/domain/device.ts";
import { deviceKey } from "../../src/domain/id.ts";
import { EARLIEST } from "../../src/domain/instant.ts";
import { device, storedTank } from "./lookups.ts";

test("an EUI-64 is the same device in either case; any other id is as it is written", () => {
  assert.equal(deviceKey("A84041C2F1827D3E"), "a84041c2f1827d3e");
  assert.equal(deviceKey("a84041C2F1827d3E"), "a84041c2f1827d3e");
  assert.equal(deviceKey("0000000000000000"), "0000000000000000");
  const almost = ["A84041C2F1827D3", "A84041C2F1827D3E0", "A8-40-41-C2-F1-82-7D-3E", "A84041C2F1827D3G", " A84041C2F1827D3E"];
  for (const id of [...almost, "Device", ""]) assert.equal(deviceKey(id), id);
});

/** At `at` the device was assigned to this tank, or to none. */
type Move = { readonly at: number; readonly tank: string | null };

/** By the last move before the instant; where that was to none, or there was none before, by the next move to a tank. */
function tankByMoves(moves: readonly Move[], at: number): string | null {
  const last = moves.findLastIndex((move) => move.at <= at);
  return moves[last]?.tank ?? moves.slice(last + 1).find(({ tank }) => tank !== null)?.tank ?? null;
}

/** The device and its former tanks after these moves. */
function afterMoves(moves: readonly Move[]): { readonly device: Device; readonly past: readonly DeviceAssignment[] } {
  let device = unknownDevice("d");
  const past: DeviceAssignment[] = [];
  for (const { at, tank } of moves) {
    const move = moveDevice(device, tank, at);
    device = move.device;
    if (move.ended !== undefined) past.push(move.ended);
  }
  return { device, past };
}

const tank = fc.constantFrom("A", "B", "C", null);
const START = 100;
/** The clock advances or stands still. */
const monotonicMoves = fc.array(fc.record({ after: fc.integer({ min: 0, max: 4 }), tank }), { maxLength: 12 }).map((steps) => {
  let at = START;
  return steps.map(({ after, tank: named }): Move => {
    at += after;
    return { at, tank: named };
  });
});

test("tankAt gives the tank of a device at any instant", () => {
  fc.assert(
    fc.property(monotonicMoves, (moves) => {
      const { device, past } = afterMoves(moves);
      for (let at = START - 1; at <= START + 50; at++) assert.equal(tankAt(device, past, at), tankByMoves(moves, at), `at ${at}`);
      for (const at of [EARLIEST, 0, Number.MAX_SAFE_INTEGER]) assert.equal(tankAt(device, past, at), tankByMoves(moves, at));
    }),
    { numRuns: 2000 },
  );
});

test("with a clock that goes back no assignment is lost, and the last move holds", () => {
  const anyMoves = fc.array(fc.record({ at: fc.integer({ min: 0, max: 20 }), tank }), { maxLength: 12 });
  fc.assert(
    fc.property(anyMoves, (moves) => {
      const { device, past } = afterMoves(moves);
      const untils = past.map(({ until }) => until);
      assert.deepEqual(
        untils,
        [...new Set(untils)].toSorted((a, b) => a - b),
        "each assignment ends after the one before it",
      );
      assert.ok((untils.at(-1) ?? EARLIEST) <= device.since);
      assert.equal(device.tank_id, moves.at(-1)?.tank ?? null);
      assert.equal(tankAt(device, past, 20), moves.at(-1)?.tank ?? null);
    }),
    { numRuns: 1000 },
  );
});

test("a move keeps the profile", () => {
  const device: Device = { id: "d", tank_id: "A", since: EARLIEST, profile: "elsys" };
  for (const to of ["A", "B", null]) assert.equal(moveDevice(device, to, 5).device.profile, "elsys");
});

// Devices follow the tanks that name them

const EUI = "A84041C2F1827D3E";
const DEVICES = ["d1", "d2", EUI, "D1"];
const TANKS = ["t1", "t2", "t3", "t4"];

const state = (id: string, assigned_device_id: string, deleted = false): TankState =>
  storedTank(id, "owner", { assigned_device_id }, deleted);

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

function movesOf(changes: readonly Change<TankState>[], devices: readonly Device[], at: number) {
  return deviceMoves(changes, new Map(devices.map((known) => [known.id, { device: known }])), at);
}

/** The tank of each device, by the tanks. */
function assigned(tanks: readonly TankState[]): Map<string, string> {
  const live = tanks.filter(({ deleted }) => !deleted);
  return new Map(live.map(({ tank: { assigned_device_id, id } }) => [deviceKey(assigned_device_id), id]));
}

test("after any change of several tanks, every device is assigned to the tank that names it, and no other device moves", () => {
  fc.assert(
    fc.property(fleet, fleet, fc.subarray(TANKS), fc.boolean(), (before, after, created, hasUnknown) => {
      // The devices of tanks that are created may be unknown.
      const old = before.filter(({ tank: { id } }) => !created.includes(id));
      const [was, will] = [assigned(old), assigned(after)];
      const keys = [...new Set(DEVICES.map(deviceKey))];
      const known = keys.filter((key) => was.has(key) || !hasUnknown).map((key) => device(key, was.get(key) ?? null));
      const changes = after.map(
        (now): Change<TankState> => ({
          id: now.tank.id,
          before: old.find(({ tank: { id } }) => id === now.tank.id),
          after: now,
        }),
      );
      const moves = movesOf(changes, known, 10);
      const now = new Map([...known, ...moves.map((move) => move.device)].map(({ id, tank_id }) => [id, tank_id]));
      for (const key of keys) assert.equal(now.get(key) ?? null, will.get(key) ?? null, key);
      for (const {
        device: { id, since },
        ended,
      } of moves) {
        assert.ok(affectedDevices(changes).includes(id), "only affected devices move");
        const from = was.get(id);
        assert.deepEqual(ended, from === undefined ? undefined : { device: id, until: 10, tankId: from });
        assert.equal(since, from === undefined ? EARLIEST : 10);
        assert.ok(from !== (will.get(id) ?? null) || !known.some((one) => one.id === id), "a device that stays does not move");
      }
    }),
    { numRuns: 1000 },
  );
});

test("another spelling of the same EUI-64 moves nothing", () => {
  const key = EUI.toLowerCase();
  const changes = [{ id: "t1", before: state("t1", EUI), after: state("t1", key) }];
  assert.deepEqual(affectedDevices(changes), [key]);
  assert.deepEqual(movesOf(changes, [device(key, "t1")], 5), []);
});

test("a tank that gives up a device which is assigned to another tank leaves it there", () => {
  const known = [device("d1", "t1")];
  const changes = [{ id: "t2", before: state("t2", "d1"), after: state("t2", "d2") }];
  assert.deepEqual(movesOf(changes, known, 5), [{ device: device("d2", "t2"), ended: undefined }]);
  assert.deepEqual(movesOf([{ id: "t2", before: state("t2", "d1"), after: state("t2", "d1", true) }], known, 5), []);
});
