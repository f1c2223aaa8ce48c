// The rank index: built from segments, and updated while they grow and are split, against a plain list of segments.

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { EARLIEST } from "../../../src/domain/instant.ts";
import { checkRankIndex } from "../../../src/store/check/rank-index.ts";
import {
  comparePositions,
  GROUP_MAX,
  GROUP_SIZE,
  type Group,
  RankIndex,
  type Segment,
} from "../../../src/store/series/rank-index.ts";

const ORIGIN = [EARLIEST];
const segmentsOf = (counts: readonly number[]): Segment[] =>
  counts.map((count, i) => ({ at: i === 0 ? ORIGIN : [i * 1000], count }));

/** What an engine would store. */
class Stored {
  readonly groups = new Map<string, Group>();

  constructor(segments: readonly Segment[]) {
    this.put(RankIndex.build(segments));
  }

  put(groups: readonly Group[]): void {
    for (const group of groups) this.groups.set(`${group.level} ${group.at[0]?.[0]}`, structuredClone(group));
  }

  load(): RankIndex {
    return new RankIndex(structuredClone(this.all()));
  }

  all(): Group[] {
    const groups = [...this.groups.values()];
    return groups.sort((a, b) => a.level - b.level || comparePositions(a.at[0] ?? ORIGIN, b.at[0] ?? ORIGIN));
  }

  get height(): number {
    return new Set(this.all().map(({ level }) => level)).size;
  }
}

function expectSound(stored: Stored, segments: readonly Segment[]): void {
  const groups = stored.all().map((group) => ({ ...group, key: group.at[0] ?? ORIGIN }));
  assert.deepEqual(checkRankIndex(groups, segments, ORIGIN), []);
}

const LENGTHS = [0, 1, 2, GROUP_MAX, GROUP_MAX + 1, 700, GROUP_SIZE * (GROUP_MAX + 1) - 1, GROUP_SIZE * (GROUP_MAX + 1)];
const lengths = fc.oneof(fc.nat(40), fc.nat(700), fc.constantFrom(...LENGTHS, 9000));
const counts = lengths.chain((length) => fc.array(fc.nat(256), { minLength: length, maxLength: length, size: "max" }));

test("groups built from any segments have 64 to 127 nodes, except for the highest", () => {
  fc.assert(
    fc.property(counts, (given) => {
      const segments = segmentsOf(given);
      const stored = new Stored(segments);
      expectSound(stored, segments);
      const top = stored.height - 1;
      for (const { level, at } of stored.all()) {
        assert.ok(
          at.length <= GROUP_MAX && (level === top || (at.length >= GROUP_SIZE && at.length < 2 * GROUP_SIZE)),
          `${at.length}`,
        );
      }
    }),
    { numRuns: 60 },
  );
});

test("a level is added above 128 segments, 128 groups of segments, and so on", () => {
  const heights = [0, 1, 128, 129, 8255, 8256].map((length) => new Stored(segmentsOf(Array(length).fill(128))).height);
  assert.deepEqual(heights, [0, 1, 1, 2, 2, 3]);
});

test("a segment is found with its rank and its end, for any position", () => {
  fc.assert(
    fc.property(counts, fc.array(fc.nat(), { maxLength: 20 }), (given, picks) => {
      const segments = segmentsOf(given);
      fc.pre(segments.length > 0);
      const index = new Stored(segments).load();
      for (const i of [0, segments.length - 1, ...picks.map((pick) => pick % segments.length)]) {
        const { at } = segments[i] as Segment;
        const expected = { at, end: segments[i + 1]?.at, rank: given.slice(0, i).reduce((sum, count) => sum + count, 0) };
        assert.deepEqual(index.segmentAt(at), expected);
        assert.deepEqual(index.segmentAt([Number(at[0]) + 999]), expected);
      }
    }),
    { numRuns: 60 },
  );
});

const change = fc.record({
  segment: fc.nat(),
  delta: fc.integer({ min: -3, max: 300 }),
  /** Into how many it is cut; many at once, as when a long series is loaded. */
  pieces: fc.oneof({ weight: 5, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(300) }),
});

test("segments that grow, shrink and are split leave the index that the same segments would build", () => {
  fc.assert(
    fc.property(counts, fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 8 }), (given, writes) => {
      const segments = segmentsOf(given.length === 0 ? [0] : given);
      const stored = new Stored(segments);
      for (const write of writes) {
        const index = stored.load();
        for (const { segment, delta, pieces } of write) {
          const place = segment % segments.length;
          const own = segments[place] as Segment;
          const found = index.segmentAt(own.at);
          index.grow(own.at, delta);
          const count = own.count + delta;
          const step = Math.floor(count / (pieces + 1));
          const cuts = Array.from({ length: step > 0 ? pieces : 0 }, (_, i) => i + 1);
          // Between two segments there is room for 999 more, and as many behind the last.
          const from = Number(own.at[0] === EARLIEST ? -1000 : own.at[0]);
          const to = Number(segments[place + 1]?.at[0] ?? from + 1000);
          const room = (to - from) / (cuts.length + 1);
          const made = cuts.map((i): Segment => ({ at: [from + i * room], count: step }));
          made.forEach(({ at }, i) => {
            index.insert(at, found.rank + count - (cuts.length - i) * step);
          });
          segments.splice(place, 1, { at: own.at, count: count - cuts.length * step }, ...made);
        }
        stored.put(index.changes());
        expectSound(stored, segments);
      }
    }),
    { numRuns: 60 },
  );
});

test("unchanged groups are not written", () => {
  const stored = new Stored(segmentsOf(Array(9000).fill(128)));
  assert.deepEqual(stored.load().changes(), []);
  const last = stored.load();
  last.grow([9_000_000], 5);
  assert.deepEqual(last.changes(), [], "nothing follows the last segment");
  const late = stored.load();
  late.grow([2_000_000], 1);
  assert.deepEqual(
    late.changes().map(({ level }) => level),
    [2, 1, 0],
    "one group a level",
  );
  const appended = stored.load();
  appended.insert([9_000_000], 9000 * 128);
  assert.deepEqual(
    appended.changes().map(({ level }) => level),
    [0],
    "the last group alone",
  );
});

test("a missing group is reported", () => {
  const stored = new Stored(segmentsOf(Array(700).fill(128)));
  stored.groups.delete("0 64000");
  assert.throws(() => stored.load().segmentAt([70_000]), /the rank index is damaged \(level 0, at 64000\)/);
});

test("positions are ordered by instant, then by the bytes of the id", () => {
  const inOrder = [
    [-5, "z"],
    [3, ""],
    [3, "A"],
    [3, "a"],
    [3, "aa"],
    [3, "é"],
    [3, "\uffee"],
    [3, "😀"],
    [4, ""],
  ] as const;
  for (const [i, one] of inOrder.entries()) {
    for (const [j, other] of inOrder.entries()) {
      assert.equal(Math.sign(comparePositions(one, other)), Math.sign(i - j), `${one} and ${other}`);
    }
  }
});
