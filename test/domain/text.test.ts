import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { isCleanText, isPossibleId, newId } from "../../src/domain/id.ts";
import { parseDuration } from "../../src/domain/instant.ts";
import { closest, quoted, suggestion } from "../../src/domain/text.ts";

const PARAMETERS = ["created_at_gte", "created_at_lte", "page", "size", "email"];

test("a typing error finds the intended word", () => {
  const typos = { pgae: "page", Size: "size", sizes: "size", emial: "email", createdAtLte: "created_at_lte" };
  for (const [typo, intended] of Object.entries(typos)) assert.equal(closest(typo, PARAMETERS), intended, typo);
});

test("a word that resembles none has no suggestion", () => {
  for (const word of ["limit", "constructor", "x".repeat(65), "q", "offset"]) {
    assert.equal(closest(word, PARAMETERS.slice(0, 3)), undefined, word);
  }
  assert.equal(closest("created_at", ["verified_at", "is_verified"]), undefined);
  assert.equal(closest("role", ["rate", "name"]), undefined);
  assert.equal(closest("page", []), undefined);
});

test("a suggestion is a sentence, or empty", () => {
  assert.equal(suggestion("sise", PARAMETERS), ' Did you mean "size"?');
  assert.equal(suggestion("limit", ["page"]), "");
});

test("text from outside is quoted short, on one line, and without control characters", () => {
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

test("durations have one unit", () => {
  const seconds = { "45s": 45, "30m": 1800, "24h": 86_400, "90d": 90 * 86_400, "0s": 0, "999999d": 999_999 * 86_400 };
  for (const [text, expected] of Object.entries(seconds)) assert.equal(parseDuration(text), expected * 1000);
  const others = ["", "d", "90", "90 d", "-1d", "1.5h", "1h30m", "90D", "1w", "1y", "1000000d", "٣d", "90d\n", "constructor"];
  for (const text of others) assert.equal(parseDuration(text), undefined, JSON.stringify(text));
});

const NOW = Date.parse("2026-11-14T09:30:00Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");

test("a new id is valid: its prefix and 26 characters", () => {
  for (const prefix of ["cus", "tank", "key"] as const) {
    const id = newId(prefix, NOW);
    assert.match(id, new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`));
    assert.ok(isPossibleId(id));
  }
});

test("ids of one millisecond are all different", () => {
  const ids = new Set(Array.from({ length: 20_000 }, () => newId("cus", NOW)));
  assert.equal(ids.size, 20_000);
});

test("ids sort by creation time", () => {
  const pair = fc.tuple(fc.nat({ max: LAST }), fc.nat({ max: LAST })).filter(([a, b]) => a !== b);
  fc.assert(
    fc.property(pair, ([a, b]) => {
      const [older, newer] = a < b ? [a, b] : [b, a];
      assert.ok(Buffer.compare(Buffer.from(newId("tank", older)), Buffer.from(newId("tank", newer))) < 0);
    }),
  );
  assert.ok(newId("tank", NOW) < newId("tank", NOW + 1));
});

test("an id may be any text of up to 128 characters without control characters", () => {
  const possible = ["a", " ", "x".repeat(128), "ä/ö?#%", "'; DROP TABLE tank; --", "__proto__", "\u00a0", "😀".repeat(128), "."];
  const impossible = ["", "x".repeat(129), "a\u0000b", "a\nb", "\u007f", "\u009f", "\ud800", "x\udc00", "😀".repeat(129)];
  for (const id of possible) assert.ok(isPossibleId(id), JSON.stringify(id));
  for (const id of impossible) assert.ok(!isPossibleId(id), JSON.stringify(id));
});

test("clean text survives UTF-8 and has no control characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) }), (text) => {
      const survives = Buffer.from(text, "utf8").toString("utf8") === text;
      assert.equal(isCleanText(text), survives && !/\p{Cc}/u.test(text));
    }),
    { numRuns: 2000 },
  );
});
