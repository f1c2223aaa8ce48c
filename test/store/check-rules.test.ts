// The rules of the check: a sound rank index and sound readings have no inconsistency, and any change of one number has.

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { EARLIEST } from "../../src/domain/instant.ts";
import { checkRankIndex, type StoredGroup } from "../../src/store/check/rank-index.ts";
import { checkReadings } from "../../src/store/check/readings.ts";
import { Block, type Columns, packBlock } from "../../src/store/packed/block.ts";
import { type BlockRow, blockChecksum, type HeadRow, headChecksum } from "../../src/store/packed/checksum.ts";
import { reorderReadings, splitHead } from "../../src/store/packed/merge.ts";
import { GROUP_MAX, RankIndex, type Segment } from "../../src/store/packed/rank-index.ts";

const ORIGIN = [EARLIEST];

const segmentsOf = (counts: readonly number[]): Segment[] =>
  counts.map((count, i) => ({ at: i === 0 ? ORIGIN : [i * 1000], count }));
const groupsOf = (segments: readonly Segment[]): StoredGroup[] =>
  RankIndex.build(segments)
    .map((group) => ({ ...group, key: group.at[0] ?? ORIGIN }))
    .sort((a, b) => a.level - b.level || Number(a.key[0]) - Number(b.key[0]));

const counts = fc.oneof(
  fc.array(fc.integer({ min: 1, max: 256 }), { maxLength: 140 }),
  fc.array(fc.integer({ min: 1, max: 256 }), { minLength: 600, maxLength: 1200, size: "max" }),
);

/** Changes the group at its node `place`. */
const CORRUPTIONS: Record<string, (group: StoredGroup, place: number) => StoredGroup[]> = {
  "is gone": () => [],
  "is of another level": (group) => [{ ...group, level: group.level + 1 }],
  "is below all levels": (group) => [{ ...group, level: -1 }],
  "is kept under another key": (group) => [{ ...group, key: [Number(group.key[0]) + 1] }],
  "is stored twice": (group) => [group, { ...group, key: [Number(group.key[0]) + 1] }],
  "misses a node": (group, place) => [{ ...group, at: group.at.toSpliced(place, 1), offsets: group.offsets.toSpliced(place, 1) }],
  "has a node elsewhere": (group, place) => [{ ...group, at: group.at.with(place, [Number(group.at[place]?.[0]) + 1]) }],
  "counts wrong": (group, place) => [{ ...group, offsets: group.offsets.with(place, (group.offsets[place] ?? 0) + 1) }],
  "cannot be read": (group) => [{ ...group, at: [], offsets: [] }],
};

for (const [name, corrupt] of Object.entries(CORRUPTIONS)) {
  test(`a group of a rank index that ${name} is reported`, () => {
    fc.assert(
      fc.property(counts, fc.nat(), (list, seed) => {
        const segments = segmentsOf(list);
        const sound = groupsOf(segments);
        fc.pre(sound.length > 0);
        const chosen = sound[seed % sound.length] as StoredGroup;
        const broken = sound.flatMap((group) => (group === chosen ? corrupt(group, seed % group.at.length) : [group]));
        assert.notDeepEqual(checkRankIndex(broken, segments, ORIGIN), []);
      }),
      { numRuns: 50 },
    );
  });
}

test("a segment with another number of entries shows in the nodes after it", () => {
  const segments = segmentsOf(Array.from({ length: 700 }, () => 128));
  const groups = groupsOf(segments);
  for (const place of [0, 1, 63, 333, 698]) {
    const grown = segments.with(place, { at: segments[place]?.at ?? ORIGIN, count: 129 });
    assert.match(checkRankIndex(groups, grown, ORIGIN)[0]?.message ?? "", /level [01] of its rank index is wrong/);
  }
});

test("a group that is too large is reported", () => {
  const segments = segmentsOf(Array.from({ length: GROUP_MAX + 1 }, () => 1));
  const group = { level: 0, key: ORIGIN, at: segments.map(({ at }) => at), offsets: segments.map((_, i) => i) };
  assert.match(checkRankIndex([group], segments, ORIGIN)[0]?.message ?? "", /level 0 of its rank index is wrong/);
  const smaller = { ...group, at: group.at.slice(0, -1), offsets: group.offsets.slice(0, -1) };
  assert.deepEqual(checkRankIndex([smaller], segments.slice(0, -1), ORIGIN), []);
});

test("an extra node is reported, also for an empty index", () => {
  const segments = segmentsOf([128, 128, 128]);
  const more = groupsOf(segments).map((group) => ({ ...group, at: [...group.at, [9000]], offsets: [...group.offsets, 384] }));
  assert.match(checkRankIndex(more, segments, ORIGIN)[0]?.message ?? "", /level 0 of its rank index is wrong/);
  assert.match(checkRankIndex(groupsOf(segments), [], ORIGIN)[0]?.message ?? "", /level 0 of its rank index is wrong/);
});

test("a missing or extra level is reported", () => {
  const segments = segmentsOf(Array.from({ length: 8500 }, () => 128));
  const groups = groupsOf(segments);
  const top = Math.max(...groups.map(({ level }) => level));
  assert.equal(top, 2);
  for (let level = 0; level <= top; level++) {
    const without = groups.filter((one) => one.level !== level);
    assert.match(
      checkRankIndex(without, segments, ORIGIN)[0]?.message ?? "",
      new RegExp(`level ${level} of its rank index is wrong`),
    );
  }
  const more = [...groups, { level: top + 1, key: ORIGIN, at: [ORIGIN], offsets: [0] }];
  assert.match(checkRankIndex(more, segments, ORIGIN)[0]?.message ?? "", /level 3 of its rank index is wrong/);
});

test("nodes out of order are reported, even if their offsets fit", () => {
  const segments = segmentsOf([128, 128, 128, 128]);
  const [first, second, third, ...rest] = segments as [Segment, Segment, Segment, ...Segment[]];
  const found = [first, third, { ...second, count: 256 }, ...rest];
  assert.match(checkRankIndex(groupsOf(found), found, ORIGIN)[0]?.message ?? "", /level 0 of its rank index is wrong/);
});

test("a first node that is not at the start is reported", () => {
  const segments = segmentsOf([128, 128]).slice(1);
  assert.match(checkRankIndex(groupsOf(segments), segments, ORIGIN)[0]?.message ?? "", /level 0 of its rank index is wrong/);
});

const readings = (length: number, step = 1000): Columns => ({
  instants: Float64Array.from({ length }, (_, i) => i * step),
  fills: Float64Array.from({ length }, (_, i) => i % 101),
});

const TANK = "t";
const headRow = (head: Omit<HeadRow, "checksum">): HeadRow => ({ ...head, checksum: headChecksum(TANK, head) });
const blockRow = (block: Omit<BlockRow, "checksum">): BlockRow => ({ ...block, checksum: blockChecksum(TANK, block) });
const bytesOf = ({ data }: { readonly data: Uint8Array }): Block => new Block(data);

function stored(columns: Columns): { head: HeadRow; blocks: BlockRow[] } {
  const { head, blocks } = splitHead(columns, EARLIEST);
  return { head: headRow({ ...head, total: columns.instants.length }), blocks: blocks.map(blockRow) };
}

test("the head and blocks of any number of readings have no inconsistency", () => {
  for (const length of [0, 1, 160, 161, 288, 289, 1000, 5000]) {
    const { head, blocks } = stored(readings(length));
    const result = checkReadings(TANK, head, blocks);
    assert.deepEqual(result.found, []);
    assert.deepEqual([result.total, result.isMisplaced, result.segments?.length], [length, false, blocks.length]);
  }
});

test("misplaced readings are reported, and reorderReadings restores their order", () => {
  const sound = readings(1000);
  const { head, blocks } = stored(sound);
  const [a, b, ...rest] = blocks as [BlockRow, BlockRow, ...BlockRow[]];
  const misplaced: Record<string, BlockRow[]> = {
    "two blocks changed places": [{ ...b, start: a.start }, { ...a, start: b.start }, ...rest],
    "a block begins too late": [{ ...a, start: 5 }, b, ...rest],
    "a block begins in another": [a, { ...b, start: b.start - 1000 }, ...rest],
    "a block is stored twice": [a, { ...a, start: 1 }, b, ...rest],
    "a block is empty": [blockRow({ ...a, data: new Uint8Array(0) }), { ...a, start: 0 }, b, ...rest],
  };
  for (const [name, blocks2] of Object.entries(misplaced)) {
    const result = checkReadings(TANK, head, blocks2);
    assert.ok(result.isMisplaced, name);
    assert.ok(result.found.length > 0 && result.found.every(({ isRepairable }) => isRepairable), name);
    const gathered = reorderReadings([...blocks2, head].map(bytesOf));
    assert.deepEqual(gathered, sound, name);
  }
});

test("a head that is too long, or too short after blocks, is reported", () => {
  const { head, blocks } = stored(readings(1000));
  const few = headRow({ ...head, data: packBlock({ instants: Float64Array.of(head.start), fills: Float64Array.of(1) }) });
  assert.match(
    checkReadings(TANK, few, blocks).found[0]?.message ?? "",
    /its readings are not in the order, or not in the blocks/,
  );
  const many = headRow({ start: EARLIEST, total: 193, data: packBlock(readings(193)) });
  assert.match(checkReadings(TANK, many, []).found[0]?.message ?? "", /its readings are not in the order, or not in the blocks/);
});

test("of two readings of one instant the later one is kept", () => {
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
  const blocks = pieces.map(
    (pairs) =>
      new Block(
        packBlock({ instants: Float64Array.from(pairs, ([at]) => at), fills: Float64Array.from(pairs, ([, fill]) => fill) }),
      ),
  );
  assert.deepEqual(reorderReadings(blocks), { instants: Float64Array.of(0, 1, 2, 3), fills: Float64Array.of(5, 10, 21, 30) });
});

test("unreadable blocks, impossible instants and fills out of range are reported, never repaired", () => {
  const whole = readings(10);
  const odd = (change: Partial<Columns>): Uint8Array => packBlock({ ...whole, ...change });
  const cases: [Uint8Array, RegExp][] = [
    [new Uint8Array(20).fill(7), /is damaged: restore a backup/],
    [odd({}).slice(0, -1), /is damaged: restore a backup/],
    [odd({ instants: whole.instants.map((at) => at + 3e14) }), /is damaged: restore a backup/],
    [odd({ instants: whole.instants.map((at) => at + 0.5) }), /is damaged: restore a backup/],
    [odd({ fills: whole.fills.map((fill) => fill + 95) }), /should be 0 to 100, it is 101: .*\(and 3 more like it\)/],
    [odd({ fills: whole.fills.with(3, Number.NaN) }), /it is NaN/],
    [odd({ fills: whole.fills.with(3, -0.1) }), /it is -0\.1/],
  ];
  for (const [data, message] of cases) {
    const { found } = checkReadings(TANK, headRow({ start: EARLIEST, data, total: 10 }), []);
    assert.deepEqual(
      found.map(({ isRepairable }) => isRepairable),
      [false],
    );
    assert.match(found[0]?.message ?? "", message);
  }
});
