// The search of the fleet: its words, and what they find.

import assert from "node:assert/strict";
import test from "node:test";
import { phoneDigits, searchWords, spellings } from "../../src/domain/fleet.ts";

/** As a database does: only A to Z are lowercased. */
const isFound = (word: string, text: string): boolean => {
  const lower = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return spellings(word).some((spelling) => lower.includes(spelling));
};

test("a word is found in capitals or not, in any alphabet", () => {
  for (const word of ["ölmühle", "Ölmühle", "ÖLMÜHLE", "ölm"]) {
    for (const text of ["Ölmühle", "ölmühle", "ÖLMÜHLE"]) assert.ok(isFound(word, `Tank ${text} 2`), `${word} in ${text}`);
  }
  assert.ok(isFound("оДЕССА", "Одесса"));
  assert.ok(!isFound("ölmühle", "Olmuhle"));
  assert.deepEqual(spellings("Tank-7"), ["tank-7"]);
});

test("a search has up to eight words; those that look like a phone number have its digits", () => {
  assert.deepEqual(searchWords("  Hall \t 3\n"), ["Hall", "3"]);
  assert.deepEqual(searchWords(undefined), []);
  assert.equal(searchWords("a b c d e f g h i").length, 8);
  assert.deepEqual(["030/55", "+49", "(0)30", "12", "5550", "t-204"].map(phoneDigits), [
    "3055",
    "49",
    "30",
    undefined,
    "5550",
    undefined,
  ]);
});
