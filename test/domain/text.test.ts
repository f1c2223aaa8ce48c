import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { closest, quoted, suggestion } from "../../src/domain/text.ts";

const PARAMETERS = ["created_at_gte", "created_at_lte", "page", "size", "email"];

test("a slip of the hand finds the word that was meant", () => {
  const slips = {
    pgae: "page",
    Size: "size",
    sizes: "size",
    emial: "email",
    created_at_gt: "created_at_gte",
    createdAtLte: "created_at_lte",
  };
  for (const [slip, meant] of Object.entries(slips)) assert.equal(closest(slip, PARAMETERS), meant, slip);
});

test("a word that is near to none finds none", () => {
  for (const word of ["limit", "constructor", "x".repeat(65), "q", "offset"]) {
    assert.equal(closest(word, PARAMETERS.slice(0, 3)), undefined, word);
  }
  assert.equal(closest("page", []), undefined);
});

test("a word that is known is nearest to itself", () => {
  for (const word of PARAMETERS) assert.equal(closest(word, PARAMETERS), word);
});

test("a guess is a question, or nothing", () => {
  assert.equal(suggestion("sise", PARAMETERS), ' Did you mean "size"?');
  assert.equal(suggestion("limit", ["page"]), "");
});

test("a foreign text is quoted short, on one line, and without control characters", () => {
  assert.equal(quoted("plain"), '"plain"');
  assert.equal(quoted('say "hi"\\'), '"say \\"hi\\"\\\\"');
  assert.equal(quoted("a\u001b[31mb\nc"), '"a\ufffd[31mb\ufffdc"');
  assert.equal(quoted("\u202eabc"), '"\ufffdabc"');
  assert.equal(quoted("x".repeat(81)), `"${"x".repeat(80)}…"`);
  fc.assert(
    fc.property(fc.string({ unit: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 200 }), (text) => {
      const shown = quoted(text);
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cf}]/u);
      assert.ok(shown.isWellFormed());
      assert.equal(typeof JSON.parse(shown), "string");
    }),
  );
});
