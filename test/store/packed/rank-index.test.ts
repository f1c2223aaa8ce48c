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
  lastIndexWhere,
  type Position,
  RankIndex,
  type Segment,
} from "../../../src/store/packed/rank-index.ts";

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
  /** Into how many it is cut; many at once, as when a long index is loaded. */
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

/** As engines load it: the groups on the paths to these positions only. */
function loadPaths(stored: Stored, positions: readonly Position[]): RankIndex {
  const levels = Map.groupBy(stored.all(), ({ level }) => level);
  const paths = new Set<Group>();
  for (const groups of levels.values()) {
    for (const position of positions) {
      const last = lastIndexWhere(groups.length, (i) => comparePositions(groups[i]?.at[0] ?? ORIGIN, position) <= 0);
      paths.add(groups[last] as Group);
    }
  }
  return new RankIndex(structuredClone([...paths]));
}

test("segments that become empty are removed; what remains is an index over the others", () => {
  fc.assert(
    fc.property(counts, fc.array(fc.array(fc.nat(), { maxLength: 200 }), { maxLength: 12 }), (given, writes) => {
      const segments = segmentsOf(given.length === 0 ? [0] : given);
      const stored = new Stored(segments);
      for (const write of writes) {
        const emptied = write.map((pick) => segments[pick % segments.length] as Segment);
        const index = loadPaths(
          stored,
          emptied.map(({ at }) => at),
        );
        for (const pick of write) {
          const { at, count } = segments[pick % segments.length] as Segment;
          index.grow(at, -count);
          segments[pick % segments.length] = { at, count: 0 };
        }
        index.removeEmpty(emptied.map(({ at }) => at));
        for (const { level, at } of index.removals()) stored.groups.delete(`${level} ${at[0]?.[0]}`);
        stored.put(index.changes());
        const starts = stored.all().flatMap((group) => (group.level === 0 ? group.at : []));
        const remaining = starts.map((at) => ({ at, count: 0 }));
        for (const { at, count } of segments) {
          const last = lastIndexWhere(starts.length, (i) => comparePositions(starts[i] ?? ORIGIN, at) <= 0);
          (remaining[last] as { count: number }).count += count;
        }
        expectSound(stored, remaining);
      }
    }),
    { numRuns: 60 },
  );
});

test("an order whose entries all move to its end keeps few nodes", () => {
  const stored = new Stored(segmentsOf(Array(9000).fill(128)));
  for (let from = 0; from < 8900; from += 50) {
    const positions = Array.from({ length: 50 }, (_, i) => (from + i === 0 ? ORIGIN : [(from + i) * 1000]));
    const index = loadPaths(stored, positions);
    for (const at of positions) index.grow(at, -128);
    index.removeEmpty(positions);
    for (const { level, at } of index.removals()) stored.groups.delete(`${level} ${at[0]?.[0]}`);
    stored.put(index.changes());
  }
  const nodes = stored.all().reduce((sum, { at }) => sum + at.length, 0);
  assert.ok(nodes < 300, `${nodes} nodes`);
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
