import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { describeJsonError } from "../../src/http/json-error.ts";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The place that the words name, in the text. */
function placeIn(text: string): number {
  const [, line, column] = /^line (\d+), column (\d+): /.exec(describeJsonError(text)) ?? [];
  const before = text.split("\n").slice(0, Number(line) - 1);
  return before.reduce((sum, one) => sum + one.length + 1, 0) + Number(column) - 1;
}

const json = fc.json({ maxDepth: 4 });
const spaced = fc.tuple(fc.jsonValue(), fc.nat(4)).map(([value, indent]) => JSON.stringify(value, null, indent));

test("what is JSON ends where it ends, and nothing before is a fault", () => {
  fc.assert(
    fc.property(fc.oneof(json, spaced), (text) => {
      assert.equal(placeIn(text), text.length);
      assert.match(describeJsonError(text), /expected the end of the text, found the end of the text$/);
    }),
  );
});

/** One character put in, taken out, or changed. */
const spoilt = fc
  .tuple(fc.oneof(json, spaced), fc.nat(), fc.nat(1), fc.constantFrom("", ...'{}[]:,"\\ \n\t0-.eEtfnux\u0000\u001f'))
  .map(([text, at, gone, put]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + put + text.slice(place + gone);
  })
  .filter((text) => !isJson(text));

test("the fault of a spoilt text is the first place from which no JSON can follow", () => {
  fc.assert(
    fc.property(spoilt, (text) => {
      const place = placeIn(text);
      assert.ok(place >= 0 && place <= text.length, describeJsonError(text));
      assert.doesNotMatch(
        describeJsonError(text),
        /expected the end of the text, found the end of the text$/,
        JSON.stringify(text),
      );
      // Whatever stands before the place could still become JSON: it is told to go on.
      assert.match(
        describeJsonError(text.slice(0, place)),
        /found the end of the text$|an escape/,
        JSON.stringify(text.slice(0, place)),
      );
    }),
    { numRuns: 2000 },
  );
});

test("any text is told something, in few words", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      const words = describeJsonError(text);
      assert.ok(words.length < 200, words);
      assert.ok(![...words].some((character) => character < " "), words);
    }),
  );
});

test("depth and length are no trouble", () => {
  for (const text of ["[".repeat(1_000_000), '{"a":'.repeat(500_000), `"${"x".repeat(5_000_000)}`, "9".repeat(5_000_000)]) {
    assert.equal(placeIn(text), text.length);
  }
});

test("a part of more is told its line in the whole", () => {
  assert.match(describeJsonError("{", 7), /^line 7, column 2: /);
});
