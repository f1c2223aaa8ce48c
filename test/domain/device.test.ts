import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { type Device, type DeviceAssignment, EARLIEST, moveDevice, tankAt, unknownDevice } from "../../src/domain/device.ts";
import { deviceKey } from "../../src/domain/id.ts";

test("an EUI-64 is the same device in either case; any other id is as it is written", () => {
  assert.equal(deviceKey("A84041C2F1827D3E"), "a84041c2f1827d3e");
  assert.equal(deviceKey("a84041C2F1827d3E"), "a84041c2f1827d3e");
  assert.equal(deviceKey("0000000000000000"), "0000000000000000");
  const others = [
    "A84041C2F1827D3",
    "A84041C2F1827D3E0",
    "A8-40-41-C2-F1-82-7D-3E",
    "A84041C2F1827D3G",
    "Device",
    " A84041C2F1827D3E",
    "",
  ];
  for (const id of others) assert.equal(deviceKey(id), id);
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

test("the first assignment covers all earlier instants", () => {
  const { device, past } = afterMoves([{ at: 5, tank: "A" }]);
  assert.deepEqual([device, past], [{ id: "d", tank_id: "A", since: EARLIEST, profile: null }, []]);
});

test("the instant of a move belongs to the new tank", () => {
  const { device, past } = afterMoves([
    { at: 5, tank: "A" },
    { at: 9, tank: "B" },
  ]);
  assert.deepEqual(
    [8, 9].map((at) => tankAt(device, past, at)),
    ["A", "B"],
  );
});

test("a move keeps the profile", () => {
  const device: Device = { id: "d", tank_id: "A", since: EARLIEST, profile: "elsys" };
  for (const to of ["A", "B", null]) assert.equal(moveDevice(device, to, 5).device.profile, "elsys");
});
