import assert from "node:assert/strict";
import test from "node:test";
import { Table } from "../../src/cli/table.ts";
import { clean, cut, widthOf } from "../../src/cli/width.ts";

test("a sign is as wide as a terminal shows it", () => {
  const widths: readonly [string, number][] = [
    ["", 0],
    ["Hall 3", 6],
    ["Zürich", 6],
    ["Zu\u0308rich", 6],
    ["東京都", 6],
    ["ｶﾞｽ", 3],
    ["한국", 4],
    ["ＡＢ", 4],
    ["🛢️", 2],
    ["👩‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["ไม้", 2],
  ];
  for (const [text, width] of widths) assert.equal(widthOf(text), width, text);
});

test("what is too long is cut between signs, and marked", () => {
  assert.equal(cut("Hall 3", 6), "Hall 3");
  assert.equal(cut("Hall 3, north", 6), "Hall …");
  assert.equal(cut("東京都", 6), "東京都");
  assert.equal(cut("東京都庁", 6), "東京…");
  assert.equal(widthOf(cut("東京都庁", 6)), 5);
  assert.equal(cut("u\u0308u\u0308u\u0308", 2), "u\u0308…");
});

test("what would steer a terminal is shown as a mark", () => {
  assert.equal(clean("a\u001b[31mb\u009bc\u202ed\ne"), "a\ufffd[31mb\ufffdc\ufffdd\ufffde");
  assert.equal(clean("می‌خواهم 👩‍👧"), "می‌خواهم 👩‍👧");
});

test("columns grow with later pages and never shrink; titles are there once; nothing is a dash", () => {
  const table = new Table<readonly [string, number | null]>([
    { title: "NAME", cell: ([name]) => name, most: 8 },
    { title: "N", cell: ([, count]) => count, right: true },
  ]);
  assert.deepEqual(table.lines([["a", 1]]), ["NAME  N", "a     1"]);
  assert.deepEqual(
    table.lines([
      ["longer", 100],
      ["much too long", null],
    ]),
    ["longer    100", "much to…    -"],
  );
  assert.deepEqual(table.lines([["b", 2]]), ["b           2"]);
});
