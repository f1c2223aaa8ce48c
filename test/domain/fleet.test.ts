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

test("a search has words, without the commas between them; those that look like a phone number have its digits", () => {
  assert.deepEqual(searchWords("  Hall \t 3\n"), ["Hall", "3"]);
  assert.deepEqual(searchWords("Am See 17, 79189 Bonn,"), ["Am", "See", "17", "79189", "Bonn"]);
  assert.deepEqual([searchWords(undefined), searchWords(" , "), searchWords("1,5 t")], [[], [], ["1,5", "t"]]);
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
