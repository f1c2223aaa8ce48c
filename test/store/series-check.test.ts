// The check of milestones and readings by itself: what the rules make has no fault, and any one number changed has.

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { type Columns, pack } from "../../src/store/series/block.ts";
import { faultsInLevels, type Milestone } from "../../src/store/series/check-levels.ts";
import { type Head, lookAtReadings, type Stretch } from "../../src/store/series/check-readings.ts";
import { EARLIEST, type Gap, levelsOf, TOP } from "../../src/store/series/levels.ts";
import { untangled } from "../../src/store/series/untangle.ts";
import { cutHead } from "../../src/store/series/weave.ts";

type At = readonly [number];
const ORIGIN: At = [EARLIEST];

const gapsOf = (counts: readonly number[]): Gap<At>[] => counts.map((count, i) => ({ at: i === 0 ? ORIGIN : [i * 1000], count }));
const milestonesOf = (gaps: readonly Gap<At>[]): Milestone<At>[] =>
  levelsOf(gaps).flatMap((nodes, level) => nodes.map((node) => ({ ...node, level })));

const counts = fc.oneof(
  fc.array(fc.integer({ min: 0, max: 256 }), { maxLength: 40 }),
  fc.array(fc.integer({ min: 1, max: 256 }), { minLength: 600, maxLength: 1200, size: "max" }),
);

test("milestones made from any gaps have no fault", () => {
  fc.assert(
    fc.property(counts, (list) => {
      const gaps = gapsOf(list);
      assert.deepEqual(faultsInLevels(milestonesOf(gaps), gaps, ORIGIN), []);
    }),
  );
});

test("a milestone that is missing, moved, added, on another level or miscounted is a fault", () => {
  fc.assert(
    fc.property(counts, fc.nat(), fc.constantFrom("drop", "move", "raise", "lower", "miscount", "double"), (list, seed, harm) => {
      const gaps = gapsOf(list);
      const sound = milestonesOf(gaps);
      fc.pre(sound.length > 0);
      const place = seed % sound.length;
      const chosen = sound[place] as Milestone<At>;
      const broken: readonly Milestone<At>[] = {
        drop: [],
        move: [{ ...chosen, at: [chosen.at[0] + 1] as const }],
        raise: [{ ...chosen, level: chosen.level + 1 }],
        lower: [{ ...chosen, level: chosen.level - 1 }],
        miscount: [{ ...chosen, ahead: chosen.ahead + 1 }],
        double: [chosen, { ...chosen, at: [chosen.at[0] + 1] as const }],
      }[harm];
      const all = sound.toSpliced(place, 1, ...broken).toSorted((a, b) => a.level - b.level || a.at[0] - b.at[0]);
      assert.notDeepEqual(faultsInLevels(all, gaps, ORIGIN), []);
    }),
  );
});

test("a gap with another number of entries is seen in the milestones after it", () => {
  const gaps = gapsOf(Array.from({ length: 700 }, () => 128));
  const milestones = milestonesOf(gaps);
  for (const place of [0, 1, 31, 333, 698]) {
    const grown = gaps.with(place, { at: gaps[place]?.at ?? ORIGIN, count: 129 });
    assert.match(faultsInLevels(milestones, grown, ORIGIN)[0]?.what ?? "", /ahead, it says \d+/);
  }
});

test("a group that is too large is a fault", () => {
  const gaps = gapsOf(Array.from({ length: 64 }, () => 1));
  const grouped = (size: number): Milestone<At>[] => [
    ...gaps.map(({ at }, i) => ({ level: 0, at, ahead: i % size })),
    ...gaps.filter((_, i) => i % size === 0).map(({ at }, i) => ({ level: 1, at, ahead: i * size })),
  ];
  assert.deepEqual(faultsInLevels(grouped(32), gaps, ORIGIN), []);
  assert.match(faultsInLevels(grouped(33), gaps, ORIGIN)[0]?.what ?? "", /a group of level 0 has more than 32/);
});

test("a milestone too many is told, also where there is nothing to count", () => {
  const full = gapsOf([128, 128, 128]);
  const last = { level: 0, at: [9000] as const, ahead: 384 };
  assert.match(faultsInLevels([...milestonesOf(full), last], full, ORIGIN)[0]?.what ?? "", /should be 3 .* there are 4$/);
  const empty = gapsOf(Array.from({ length: 64 }, () => 0));
  const moved = milestonesOf(empty).map((one) =>
    one.level === 1 && one.at[0] > 0 ? { ...one, at: [one.at[0] + 1] as const } : one,
  );
  assert.match(
    faultsInLevels(moved, empty, ORIGIN).at(-1)?.what ?? "",
    /of level 1 at .* should be one of level 0 too, and is not/,
  );
});

test("a whole level that is missing or too many is a fault", () => {
  const gaps = gapsOf(Array.from({ length: 700 }, () => 128));
  const milestones = milestonesOf(gaps);
  const top = Math.max(...milestones.map(({ level }) => level));
  assert.ok(top >= 2);
  for (let level = 0; level <= top; level++) {
    const without = milestones.filter((one) => one.level !== level);
    assert.notDeepEqual(faultsInLevels(without, gaps, ORIGIN), [], `without level ${level}`);
  }
  const more = [...milestones, { level: top + 1, at: ORIGIN, ahead: 0 }];
  assert.match(faultsInLevels(more, gaps, ORIGIN)[0]?.what ?? "", /should be none of level/);
  const beyond = [...milestones, { level: TOP + 1, at: ORIGIN, ahead: 0 }];
  assert.match(faultsInLevels(beyond, gaps, ORIGIN)[0]?.what ?? "", /no milestones of level 6/);
});

const readings = (length: number, step = 1000): Columns => ({
  instants: Float64Array.from({ length }, (_, i) => i * step),
  fills: Float64Array.from({ length }, (_, i) => i % 101),
});

function stored(columns: Columns): { head: Head; blocks: Stretch[] } {
  const { head, blocks } = cutHead(columns, EARLIEST);
  return { head: { ...head, total: columns.instants.length }, blocks };
}

test("what is cut from any number of readings has no fault", () => {
  for (const length of [0, 1, 160, 161, 288, 289, 1000, 5000]) {
    const { head, blocks } = stored(readings(length));
    const look = lookAtReadings(head, blocks);
    assert.deepEqual(look.faults, []);
    assert.deepEqual([look.total, look.isTangled, look.gaps?.length], [length, false, blocks.length]);
  }
});

test("readings in each other's place are found, and untangled they are as they were", () => {
  const sound = readings(1000);
  const { head, blocks } = stored(sound);
  const [a, b, ...rest] = blocks as [Stretch, Stretch, ...Stretch[]];
  const tangles: Record<string, Stretch[]> = {
    "two blocks changed places": [{ ...a, data: b.data }, { ...b, data: a.data }, ...rest],
    "a block begins too late": [{ ...a, start: 5 }, b, ...rest],
    "a block begins in another": [a, { ...b, start: b.start - 1000 }, ...rest],
    "a block stands twice": [a, { start: 1, data: a.data }, b, ...rest],
    "a block is empty": [{ ...a, data: new Uint8Array(0) }, { start: 0, data: a.data }, b, ...rest],
  };
  for (const [name, tangled] of Object.entries(tangles)) {
    const look = lookAtReadings(head, tangled);
    assert.equal(look.isTangled || look.faults.length > 0, true, name);
    const gathered = untangled([...tangled.map(({ data }) => data), head.data]);
    assert.deepEqual(gathered, sound, name);
  }
});

test("a head too long, or too short behind blocks, is found", () => {
  const { head, blocks } = stored(readings(1000));
  const few = { ...head, data: pack({ instants: Float64Array.of(head.start), fills: Float64Array.of(1) }) };
  assert.match(lookAtReadings(few, blocks).faults[0]?.what ?? "", /should hold 32 to 160 readings, it holds 1$/);
  const many = { start: EARLIEST, total: 161, data: pack(readings(161)) };
  assert.match(lookAtReadings(many, []).faults[0]?.what ?? "", /should hold 0 to 160 readings, it holds 161$/);
});

test("of two readings of one instant the one that stood later stays", () => {
  const pieces: [number, number][][] = [
    [
      [1, 10],
      [2, 20],
    ],
    [
      [2, 21],
      [3, 30],
    ],
    [[0, 5]],
  ];
  const bytes = pieces.map((pairs) =>
    pack({ instants: Float64Array.from(pairs, ([at]) => at), fills: Float64Array.from(pairs, ([, fill]) => fill) }),
  );
  assert.deepEqual(untangled(bytes), { instants: Float64Array.of(0, 1, 2, 3), fills: Float64Array.of(5, 10, 21, 30) });
});

test("bytes that are no block, instants outside the calendar and fills outside the scale are told, never repaired", () => {
  const whole = readings(10);
  const odd = (change: Partial<Columns>): Uint8Array => pack({ ...whole, ...change });
  const cases: [Uint8Array, RegExp][] = [
    [new Uint8Array(20).fill(7), /cannot be read: restore a backup/],
    [odd({}).slice(0, -1), /cannot be read: restore a backup/],
    [odd({ instants: whole.instants.map((at) => at + 3e14) }), /cannot be read: restore a backup/],
    [odd({ instants: whole.instants.map((at) => at + 0.5) }), /cannot be read: restore a backup/],
    [odd({ fills: whole.fills.map((fill) => fill + 95) }), /should be 0 to 100, it is 101: .*\(and 3 more like it\)/],
    [odd({ fills: whole.fills.with(3, Number.NaN) }), /it is NaN/],
    [odd({ fills: whole.fills.with(3, -0.1) }), /it is -0\.1/],
  ];
  for (const [data, words] of cases) {
    const { faults } = lookAtReadings({ start: EARLIEST, data, total: 10 }, []);
    assert.deepEqual(
      faults.map(({ isDerived }) => isDerived),
      [false],
    );
    assert.match(faults[0]?.what ?? "", words);
  }
});
