import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { cutGroup, type Gap, GROUP_MOST, levelsOf, type Node } from "../../../src/store/series/levels.ts";

const GROUP = 16;
const gapsOf = (counts: readonly number[]): Gap<number>[] => counts.map((count, i) => ({ at: i * 10, count }));
const counts = fc
  .oneof(fc.nat(40), fc.nat(700), fc.constantFrom(0, 1, 32, 33, 512, 513, 9000))
  .chain((length) => fc.array(fc.nat(256), { minLength: length, maxLength: length }));

test("the rank of a gap is the sum of one number a level", () => {
  fc.assert(
    fc.property(counts, fc.array(fc.nat(), { maxLength: 20 }), (given, picks) => {
      const levels = levelsOf(gapsOf(given));
      for (const i of [0, given.length - 1, ...picks.map((pick) => pick % Math.max(1, given.length))]) {
        if (given[i] === undefined) continue;
        const rank = levels.reduce((sum, nodes) => sum + (nodes.findLast(({ at }) => at <= i * 10)?.ahead ?? 0), 0);
        const expected = given.slice(0, i).reduce((sum, count) => sum + count, 0);
        assert.equal(rank, expected, `gap ${i} of ${given.length}`);
      }
    }),
    { numRuns: 60 },
  );
});

test("level 0 is all gaps; each level above begins with the first of them and groups 16 to 31 nodes of the one below", () => {
  fc.assert(
    fc.property(counts, (given) => {
      const levels = levelsOf(gapsOf(given));
      assert.deepEqual(
        (levels[0] ?? []).map(({ at }) => at),
        gapsOf(given).map(({ at }) => at),
      );
      levels.slice(1).forEach((above, i) => {
        const below = (levels[i] as Node<number>[]).map(({ at }) => at);
        assert.ok(below.length > GROUP_MOST, `level ${i + 1} stands on ${below.length} nodes`);
        assert.equal(above[0]?.at, 0);
        above.forEach(({ at }, place) => {
          const members = below.filter((one) => one >= at && one < (above[place + 1]?.at ?? Number.POSITIVE_INFINITY));
          assert.ok(
            members.includes(at) && members.length >= GROUP && members.length < 2 * GROUP,
            `${members.length} in a group`,
          );
        });
      });
      assert.ok((levels.at(-1)?.length ?? 0) <= GROUP_MOST);
    }),
    { numRuns: 60 },
  );
});

test("levels appear above 32 gaps, 32 groups of gaps, and so on", () => {
  const heights = [0, 1, 32, 33, 527, 528, 8447, 8448].map((length) => levelsOf(gapsOf(Array(length).fill(128))).length);
  assert.deepEqual(heights, [0, 1, 1, 2, 2, 3, 3, 4]);
});

test("a group is cut into groups of 16 to 31, in order, and a small one not at all", () => {
  fc.assert(
    fc.property(fc.nat(2000), (length) => {
      const nodes = Array.from({ length }, (_, i) => i);
      const groups = cutGroup(nodes);
      assert.deepEqual(groups.flat(), nodes);
      if (length < 2 * GROUP) assert.equal(groups.length, 1);
      else assert.ok(groups.every((group) => group.length >= GROUP && group.length < 2 * GROUP));
    }),
  );
});
