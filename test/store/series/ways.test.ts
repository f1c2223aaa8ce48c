// Milestones by themselves: made from gaps, and kept while gaps grow and open, against a plain list of the gaps.

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { faultsInLevels } from "../../../src/store/series/check-levels.ts";
import { comparePositions, EARLIEST, type Gap, GROUP, GROUP_MOST, type Group } from "../../../src/store/series/levels.ts";
import { Ways } from "../../../src/store/series/ways.ts";

const ORIGIN = [EARLIEST];
const gapsOf = (counts: readonly number[]): Gap[] => counts.map((count, i) => ({ at: i === 0 ? ORIGIN : [i * 1000], count }));

/** What an engine would store. */
class Stored {
  readonly groups = new Map<string, Group>();

  constructor(gaps: readonly Gap[]) {
    this.put(Ways.groupsOf(gaps));
  }

  put(groups: readonly Group[]): void {
    for (const group of groups) this.groups.set(`${group.level} ${group.at[0]?.[0]}`, structuredClone(group));
  }

  ways(): Ways {
    const root = this.all().reduce<Group | undefined>(
      (top, group) => (group.level >= (top?.level ?? 0) ? group : top),
      undefined,
    );
    return new Ways({
      root: () => root && structuredClone(root),
      group: (level, at) => structuredClone(this.groups.get(`${level} ${at[0]}`)),
    });
  }

  all(): Group[] {
    const groups = [...this.groups.values()];
    return groups.sort((a, b) => a.level - b.level || comparePositions(a.at[0] ?? ORIGIN, b.at[0] ?? ORIGIN));
  }

  get height(): number {
    return new Set(this.all().map(({ level }) => level)).size;
  }
}

function expectSound(stored: Stored, gaps: readonly Gap[]): void {
  const groups = stored.all().map((group) => ({ ...group, key: group.at[0] ?? ORIGIN }));
  assert.deepEqual(faultsInLevels(groups, gaps, ORIGIN), []);
}

const LENGTHS = [0, 1, 2, GROUP_MOST, GROUP_MOST + 1, 700, GROUP * (GROUP_MOST + 1) - 1, GROUP * (GROUP_MOST + 1)];
const lengths = fc.oneof(fc.nat(40), fc.nat(700), fc.constantFrom(...LENGTHS, 9000));
const counts = lengths.chain((length) => fc.array(fc.nat(256), { minLength: length, maxLength: length, size: "max" }));

test("the groups made from any gaps are those of the rules, of 64 to 127 nodes but for the highest", () => {
  fc.assert(
    fc.property(counts, (given) => {
      const gaps = gapsOf(given);
      const stored = new Stored(gaps);
      expectSound(stored, gaps);
      const top = stored.height - 1;
      for (const { level, at } of stored.all()) {
        assert.ok(at.length <= GROUP_MOST && (level === top || (at.length >= GROUP && at.length < 2 * GROUP)), `${at.length}`);
      }
    }),
    { numRuns: 60 },
  );
});

test("a level more is made above 128 gaps, 128 groups of gaps, and so on", () => {
  const heights = [0, 1, 128, 129, 8255, 8256].map((length) => new Stored(gapsOf(Array(length).fill(128))).height);
  assert.deepEqual(heights, [0, 1, 1, 2, 2, 3]);
});

test("a gap is found with its rank and its end, wherever a position lies", () => {
  fc.assert(
    fc.property(counts, fc.array(fc.nat(), { maxLength: 20 }), (given, picks) => {
      const gaps = gapsOf(given);
      fc.pre(gaps.length > 0);
      const ways = new Stored(gaps).ways();
      for (const i of [0, gaps.length - 1, ...picks.map((pick) => pick % gaps.length)]) {
        const { at } = gaps[i] as Gap;
        const expected = { at, end: gaps[i + 1]?.at, ahead: given.slice(0, i).reduce((sum, count) => sum + count, 0) };
        assert.deepEqual(ways.gapAt(at), expected);
        assert.deepEqual(ways.gapAt([Number(at[0]) + 999]), expected);
      }
    }),
    { numRuns: 60 },
  );
});

const change = fc.record({
  gap: fc.nat(),
  delta: fc.integer({ min: -3, max: 300 }),
  /** Into how many it is cut; many at once, as when a long series is loaded. */
  pieces: fc.oneof({ weight: 5, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(300) }),
});

test("gaps that grow, shrink and are cut, a few at a time, leave what the same gaps would make anew", () => {
  fc.assert(
    fc.property(counts, fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 8 }), (given, writes) => {
      const gaps = gapsOf(given.length === 0 ? [0] : given);
      const stored = new Stored(gaps);
      for (const write of writes) {
        const ways = stored.ways();
        for (const { gap, delta, pieces } of write) {
          const place = gap % gaps.length;
          const own = gaps[place] as Gap;
          const found = ways.gapAt(own.at);
          ways.grow(own.at, delta);
          const count = own.count + delta;
          const step = Math.floor(count / (pieces + 1));
          const cuts = Array.from({ length: step > 0 ? pieces : 0 }, (_, i) => i + 1);
          // Between two gaps there is room for 999 more, and as many behind the last.
          const from = Number(own.at[0] === EARLIEST ? -1000 : own.at[0]);
          const to = Number(gaps[place + 1]?.at[0] ?? from + 1000);
          const room = (to - from) / (cuts.length + 1);
          const made = cuts.map((i): Gap => ({ at: [from + i * room], count: step }));
          made.forEach(({ at }, i) => {
            ways.open(at, found.ahead + count - (cuts.length - i) * step);
          });
          gaps.splice(place, 1, { at: own.at, count: count - cuts.length * step }, ...made);
        }
        stored.put(ways.changes());
        expectSound(stored, gaps);
      }
    }),
    { numRuns: 60 },
  );
});

test("what is not changed is not written again", () => {
  const stored = new Stored(gapsOf(Array(9000).fill(128)));
  assert.deepEqual(stored.ways().changes(), []);
  const last = stored.ways();
  last.grow([9_000_000], 5);
  assert.deepEqual(last.changes(), [], "nothing follows the last gap");
  const late = stored.ways();
  late.grow([2_000_000], 1);
  assert.deepEqual(
    late.changes().map(({ level }) => level),
    [2, 1, 0],
    "one group a level",
  );
  const appended = stored.ways();
  appended.open([9_000_000], 9000 * 128);
  assert.deepEqual(
    appended.changes().map(({ level }) => level),
    [0],
    "the last group alone",
  );
});

test("a group that is missing is told, not passed over", () => {
  const stored = new Stored(gapsOf(Array(700).fill(128)));
  stored.groups.delete("0 64000");
  assert.throws(() => stored.ways().gapAt([70_000]), /group of milestones is missing \(level 0, at 64000\)/);
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
