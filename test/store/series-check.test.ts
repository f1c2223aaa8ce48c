// The check of milestones and readings by itself: what the rules make has no fault, and any one number changed has.

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { type Columns, pack } from "../../src/store/series/block.ts";
import { faultsInLevels, type StoredGroup } from "../../src/store/series/check-levels.ts";
import { lookAtReadings, type Stretch } from "../../src/store/series/check-readings.ts";
import type { Head } from "../../src/store/series/intake.ts";
import { EARLIEST, type Gap, GROUP_MOST } from "../../src/store/series/levels.ts";
import { untangled } from "../../src/store/series/untangle.ts";
import { Ways } from "../../src/store/series/ways.ts";
import { cutHead } from "../../src/store/series/weave.ts";

const ORIGIN = [EARLIEST];

const gapsOf = (counts: readonly number[]): Gap[] => counts.map((count, i) => ({ at: i === 0 ? ORIGIN : [i * 1000], count }));
const groupsOf = (gaps: readonly Gap[]): StoredGroup[] =>
  Ways.groupsOf(gaps)
    .map((group) => ({ ...group, key: group.at[0] ?? ORIGIN }))
    .sort((a, b) => a.level - b.level || Number(a.key[0]) - Number(b.key[0]));

const counts = fc.oneof(
  fc.array(fc.integer({ min: 1, max: 256 }), { maxLength: 140 }),
  fc.array(fc.integer({ min: 1, max: 256 }), { minLength: 600, maxLength: 1200, size: "max" }),
);

/** The group with its node at `place` made another. */
const HARMS: Record<string, (group: StoredGroup, place: number) => StoredGroup[]> = {
  "is gone": () => [],
  "is of another level": (group) => [{ ...group, level: group.level + 1 }],
  "is below all levels": (group) => [{ ...group, level: -1 }],
  "is kept under another key": (group) => [{ ...group, key: [Number(group.key[0]) + 1] }],
  "stands twice": (group) => [group, { ...group, key: [Number(group.key[0]) + 1] }],
  "misses a milestone": (group, place) => [
    { ...group, at: group.at.toSpliced(place, 1), ahead: group.ahead.toSpliced(place, 1) },
  ],
  "has a milestone elsewhere": (group, place) => [{ ...group, at: group.at.with(place, [Number(group.at[place]?.[0]) + 1]) }],
  "counts wrong": (group, place) => [{ ...group, ahead: group.ahead.with(place, (group.ahead[place] ?? 0) + 1) }],
  "cannot be read": (group) => [{ ...group, at: [], ahead: [] }],
};

for (const [name, harm] of Object.entries(HARMS)) {
  test(`a group of milestones that ${name} is a fault`, () => {
    fc.assert(
      fc.property(counts, fc.nat(), (list, seed) => {
        const gaps = gapsOf(list);
        const sound = groupsOf(gaps);
        fc.pre(sound.length > 0);
        const chosen = sound[seed % sound.length] as StoredGroup;
        const broken = sound.flatMap((group) => (group === chosen ? harm(group, seed % group.at.length) : [group]));
        assert.notDeepEqual(faultsInLevels(broken, gaps, ORIGIN), []);
      }),
      { numRuns: 50 },
    );
  });
}

test("a gap with another number of entries is seen in the milestones after it", () => {
  const gaps = gapsOf(Array.from({ length: 700 }, () => 128));
  const groups = groupsOf(gaps);
  for (const place of [0, 1, 63, 333, 698]) {
    const grown = gaps.with(place, { at: gaps[place]?.at ?? ORIGIN, count: 129 });
    assert.match(faultsInLevels(groups, grown, ORIGIN)[0]?.what ?? "", /ahead, it says \d+/);
  }
});

test("a group that is too large is a fault", () => {
  const gaps = gapsOf(Array.from({ length: GROUP_MOST + 1 }, () => 1));
  const group = { level: 0, key: ORIGIN, at: gaps.map(({ at }) => at), ahead: gaps.map((_, i) => i) };
  assert.match(faultsInLevels([group], gaps, ORIGIN)[0]?.what ?? "", /group of level 0 at the beginning has more than 128/);
  const smaller = { ...group, at: group.at.slice(0, -1), ahead: group.ahead.slice(0, -1) };
  assert.deepEqual(faultsInLevels([smaller], gaps.slice(0, -1), ORIGIN), []);
});

test("a milestone too many is told, also where there is nothing to count", () => {
  const gaps = gapsOf([128, 128, 128]);
  const more = groupsOf(gaps).map((group) => ({ ...group, at: [...group.at, [9000]], ahead: [...group.ahead, 384] }));
  assert.match(faultsInLevels(more, gaps, ORIGIN)[0]?.what ?? "", /should be 3 .* there are 4$/);
  assert.match(faultsInLevels(groupsOf(gaps), [], ORIGIN)[0]?.what ?? "", /there should be no milestones of level 0/);
});

test("a whole level that is missing or too many is a fault", () => {
  const gaps = gapsOf(Array.from({ length: 8500 }, () => 128));
  const groups = groupsOf(gaps);
  const top = Math.max(...groups.map(({ level }) => level));
  assert.equal(top, 2);
  for (let level = 0; level <= top; level++) {
    const without = groups.filter((one) => one.level !== level);
    assert.match(faultsInLevels(without, gaps, ORIGIN)[0]?.what ?? "", new RegExp(`of level ${level}, there are 0`));
  }
  const more = [...groups, { level: top + 1, key: ORIGIN, at: [ORIGIN], ahead: [0] }];
  assert.match(faultsInLevels(more, gaps, ORIGIN)[0]?.what ?? "", /there should be no milestones of level 3/);
});

test("milestones out of order are a fault, though their counts fit", () => {
  const gaps = gapsOf([128, 128, 128, 128]);
  const [first, second, third, ...rest] = gaps as [Gap, Gap, Gap, ...Gap[]];
  const found = [first, third, { ...second, count: 256 }, ...rest];
  assert.match(faultsInLevels(groupsOf(found), found, ORIGIN)[0]?.what ?? "", /level 0 should be in order, the one at .* is not/);
});

test("a first milestone that is not at the beginning is told", () => {
  const gaps = gapsOf([128, 128]).slice(1);
  assert.match(faultsInLevels(groupsOf(gaps), gaps, ORIGIN)[0]?.what ?? "", /should be at the beginning, it is at 1970/);
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
  assert.match(lookAtReadings(few, blocks).faults[0]?.what ?? "", /should hold 32 to 192 readings, it holds 1$/);
  const many = { start: EARLIEST, total: 193, data: pack(readings(193)) };
  assert.match(lookAtReadings(many, []).faults[0]?.what ?? "", /should hold 0 to 192 readings, it holds 193$/);
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
