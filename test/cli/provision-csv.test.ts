import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { parseCsv, parseHeader, parseRow } from "../../src/cli/provision-csv.ts";

const cellsIn = (text: string): unknown[] => parseCsv(text).rows.map(({ cells }) => cells);

const cell = fc.string({ unit: fc.constantFrom("a", "é", ",", ";", '"', "\n", " ", "🛢"), maxLength: 8 });
const header = ["id", "name", "city"];
const quote = (text: string): string => (/[",;\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

test("cells are read as a spreadsheet wrote them, with any separator and line ending", () => {
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

test("a row has the line it starts on, after line breaks in cells and empty lines", () => {
  const { rows } = parseCsv('id,name\r\n1,"a\r\nb\r\nc"\r\n\r\n,\r\n2,d\r\n');
  assert.deepEqual(
    rows.map(({ line }) => line),
    [1, 2, 7],
  );
});

test("a quoting error is reported with the line its row starts on, after the rows before it", () => {
  const errors = {
    '3,a"b': "a quote inside an unquoted cell",
    '3,"c"d': "text after a closing quote",
    '3,"f\n4,g': "a quote is never closed",
  };
  for (const [row, message] of Object.entries(errors)) {
    const { rows, error } = parseCsv(`id,name\n1,"x\ny"\n${row}\n`);
    assert.equal(rows.length, 2);
    assert.deepEqual(error, { line: 4, message });
  }
});

test("a semicolon inside a quoted title is not the separator", () => {
  assert.deepEqual(cellsIn('id,"a;b"\n1,2;3\n'), [
    ["id", "a;b"],
    ["1", "2;3"],
  ]);
});

test("a file of readings is recognised by its header", () => {
  assert.deepEqual(parseHeader(["tank_id", "created_at", "Fill_percentage"]), {
    errors: ['this is a file of readings, not of customers or tanks: use "npx tank-monitor import"'],
  });
});

const FORMAT = { separator: ";", decimal: undefined } as const;

function errorsIn(cells: Readonly<Record<string, string>>): readonly string[] {
  const header = parseHeader(Object.keys(cells));
  assert.ok("columns" in header);
  return parseRow(Object.values(cells), header.columns, FORMAT).errors;
}

test("a long number that a spreadsheet has rounded is an error, wherever text is expected", () => {
  const rounded = (title: string, cell: string): string =>
    `${title}: a spreadsheet has rounded this number: format the column as text and enter it again (given: "${cell}")`;
  assert.deepEqual(errorsIn({ id: "t1", assigned_device_id: "7,0764E+15", postal_code: "01067" }), [
    rounded("assigned_device_id", "7,0764E+15"),
  ]);
  assert.deepEqual(errorsIn({ id: "2E+15", email: "a@b.example", phone: "4.91512e+11" }), [
    rounded("id", "2E+15"),
    rounded("phone", "4.91512e+11"),
  ]);
  assert.deepEqual(errorsIn({ id: "24e124713b493604", name: "E+15", owner_id: "2e15" }), []);
});

test("an id with a space around it is an error: a device sends its id without one", () => {
  const space = (title: string, cell: string): string => `${title}: begins or ends with a space (given: "${cell}")`;
  assert.deepEqual(errorsIn({ id: "t1 ", owner_id: " c1", assigned_device_id: "d1\u00a0", name: " Hall 3 " }), [
    space("id", "t1 "),
    space("owner_id", " c1"),
    space("assigned_device_id", "d1\u00a0"),
  ]);
  assert.deepEqual(errorsIn({ id: "t 1", owner_id: "c1", assigned_device_id: "d 1" }), []);
});
