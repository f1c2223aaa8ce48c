import assert from "node:assert/strict";
import test from "node:test";
import { clean, progressLine, Table, textWidth, truncate, wrapHelp } from "../../src/cli/output.ts";

test("text is as wide as a terminal shows it", () => {
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
  for (const [text, width] of widths) assert.equal(textWidth(text), width, text);
});

test("long text is truncated between characters, with an ellipsis", () => {
  assert.equal(truncate("Hall 3", 6), "Hall 3");
  assert.equal(truncate("Hall 3, north", 6), "Hall …");
  assert.equal(truncate("東京都", 6), "東京都");
  assert.equal(truncate("東京都庁", 6), "東京…");
  assert.equal(textWidth(truncate("東京都庁", 6)), 5);
  assert.equal(truncate("u\u0308u\u0308u\u0308", 2), "u\u0308…");
});

test("progress has a bar and one row on a terminal, and neither elsewhere", () => {
  assert.equal(progressLine("readings", 0.5, "1,000"), "readings  50% 1,000");
  const row = progressLine("readings", 0.5, "1,000 sent, 20 resent, 980 acknowledged, 980 stored", 60);
  assert.match(row, /^readings \[█{15}░{15}\] {2}50% 1,000 sent, …$/);
  assert.equal(textWidth(row), 60);
});

test("a help text is wrapped: paragraphs are filled, descriptions aligned, examples left in one line", () => {
  const help = `Usage: npx tank-monitor tank pause TANK --until DATE

Pause the alerts of
a tank until a date.

  --until DATE  such as 2026-12-01,
                without a time
  --json        print JSON

Example: npx tank-monitor tank pause tank_1 --until 2026-12-01`;
  assert.equal(
    wrapHelp(help, 40),
    `Usage: npx tank-monitor tank pause TANK
       --until DATE

Pause the alerts of a tank until a date.

  --until DATE  such as 2026-12-01,
                without a time
  --json        print JSON

Example: npx tank-monitor tank pause tank_1 --until 2026-12-01`,
  );
  assert.match(wrapHelp(help, 60), /^ {2}--until DATE {2}such as 2026-12-01, without a time$/m);
});

test("control characters are replaced", () => {
  assert.equal(clean("a\u001b[31mb\u009bc\u202ed\ne"), "a\ufffd[31mb\ufffdc\ufffdd\ufffde");
  assert.equal(clean("می‌خواهم 👩‍👧"), "می‌خواهم 👩‍👧");
});

test("a table prints titles once, a dash for empty cells, and widens columns with later pages", () => {
  const table = new Table<readonly [string, number | null]>([
    { title: "NAME", cell: ([name]) => name, maxWidth: 8 },
    { title: "N", cell: ([, count]) => count, alignRight: true },
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
