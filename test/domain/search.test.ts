// The words of a search, and what they find.

import assert from "node:assert/strict";
import test from "node:test";
import { mayHaveUmlauts, phoneDigits, searchWords, spellings, withoutUmlauts } from "../../src/domain/search.ts";

/** As a database does: only A to Z are lowercased. */
const isFound = (word: string, text: string): boolean => {
  const lower = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const compared = mayHaveUmlauts(word) ? withoutUmlauts(lower) : lower;
  return spellings(withoutUmlauts(word)).some((spelling) => compared.includes(spelling));
};

test("a word is found in capitals or not, in any alphabet", () => {
  for (const word of ["ölmühle", "Ölmühle", "ÖLMÜHLE", "ölm"]) {
    for (const text of ["Ölmühle", "ölmühle", "ÖLMÜHLE"]) assert.ok(isFound(word, `Tank ${text} 2`), `${word} in ${text}`);
  }
  assert.ok(isFound("оДЕССА", "Одесса"));
  assert.ok(!isFound("ölmühle", "Olmuhle"));
  assert.deepEqual(spellings("Tank-7"), ["tank-7"]);
});

test("a word is found with umlauts, or written without them", () => {
  for (const word of ["Mueller", "müller", "MUELLER", "MÜLLER", "Muel"]) {
    for (const text of ["Müller", "MÜLLER", "Mueller", "MUELLER"]) assert.ok(isFound(word, text), `${word} in ${text}`);
  }
  assert.ok(isFound("königsstrasse", "Königsstraße 5") && isFound("Koenigsstraße", "KÖNIGSSTRASSE 5"));
  assert.ok(isFound("bauer", "Bauer") && !isFound("Muller", "Müller"));
});

test("a search has words, without the commas between them; those that look like a phone number have its digits", () => {
  assert.deepEqual(searchWords("  Hall \t 3\n"), ["Hall", "3"]);
  assert.deepEqual(searchWords("Am See 17, 79189 Bonn,"), ["Am", "See", "17", "79189", "Bonn"]);
  assert.deepEqual([searchWords(undefined), searchWords(" , "), searchWords("1,5 t")], [[], [], ["1,5", "t"]]);
  assert.deepEqual([searchWords(",,a,, ,b ,"), searchWords("a , ,,"), searchWords(",,,")], [[",,a", ",b"], ["a"], []]);
  assert.deepEqual(["030/55", "+49", "(0)30", "+49(0)30", "12", "5550", "t-204"].map(phoneDigits), [
    "3055",
    "49",
    "30",
    "4930",
    undefined,
    "5550",
    undefined,
  ]);
});

test("a search of many commas takes little time", () => {
  const started = performance.now();
  // The longest that a URL can have.
  const search = `${",".repeat(16_000)}x`;
  assert.deepEqual(searchWords(search), [search]);
  assert.ok(performance.now() - started < 300);
});
