import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { rowsOf } from "../../src/cli/provision/csv.ts";

const cellsIn = (text: string): unknown[] => Array.from(rowsOf(text), (row) => ("cells" in row ? row.cells : row.fault));

const cell = fc.string({ unit: fc.constantFrom("a", "é", ",", ";", '"', "\n", "\r\n", " ", "🛢"), maxLength: 8 });
const header = ["id", "name", "city"];
const quote = (text: string): string => (/[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

test("whatever a spreadsheet writes is read as it was", () => {
  const row = fc.tuple(cell, cell, cell).filter((cells) => cells.some((text) => text !== ""));
  const sheet = fc.record({
    rows: fc.array(row, { maxLength: 6 }),
    separator: fc.constantFrom(",", ";"),
    end: fc.constantFrom("\n", "\r\n", "\r"),
    mark: fc.boolean(),
    last: fc.boolean(),
  });
  fc.assert(
    fc.property(sheet, ({ rows, separator, end, mark, last }) => {
      const lines = [header, ...rows].map((cells) => cells.map(quote).join(separator));
      const text = `${mark ? "\ufeff" : ""}${lines.join(end)}${last ? end : ""}`;
      assert.deepEqual(cellsIn(text), [header, ...rows]);
    }),
  );
});

test("a row knows the line it begins on, past line breaks in cells and empty lines", () => {
  const rows = [...rowsOf('id,name\r\n1,"a\r\nb\r\nc"\r\n\r\n,\r\n2,d\r\n')];
  assert.deepEqual(
    rows.map(({ line }) => line),
    [1, 2, 7],
  );
});

test("broken quotes are told, and stop only what they must", () => {
  assert.deepEqual(cellsIn('id,name\n1,a"b\n2,"c"d\n3,e\n4,"f\n5,g\n'), [
    ["id", "name"],
    "a quote stands in a cell that does not begin with one",
    "something follows a closing quote",
    ["3", "e"],
    "a quote is opened and never closed",
  ]);
});

test("a semicolon inside of a quoted title separates nothing", () => {
  assert.deepEqual(cellsIn('id,"a;b"\n1,2;3\n'), [
    ["id", "a;b"],
    ["1", "2;3"],
  ]);
});
