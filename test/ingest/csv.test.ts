import assert from "node:assert/strict";
import test, { suite } from "node:test";
import fc from "fast-check";
import { type DecimalMark, errorInFormat, parseDecimal, type Separator, separatorIn } from "../../src/ingest/csv.ts";
import { csvCell, unescapeFormula } from "../../src/ingest/formula.ts";

test("the separator is what the header has outside of quotes", () => {
  assert.equal(separatorIn("id,name"), ",");
  assert.equal(separatorIn("id;name"), ";");
  assert.equal(separatorIn("id\tname"), "\t");
  assert.equal(separatorIn('id,"a;b\tc"'), ",");
  assert.equal(separatorIn("id"), ",");
});

suite("numbers", () => {
  const NBSP = "\u00a0";
  const ambiguous = (text: string, large: number, small: number) => ({
    error: `${text} may be ${large} or ${small}; give --decimal-comma or --decimal-point`,
  });
  const other = (text: string, usual: DecimalMark, mark: DecimalMark, value: number) => ({
    error: `"${text}" is not a number with a decimal ${usual}; --decimal-${mark} reads it as ${value}`,
  });
  type Expected = number | string | { readonly error: string };

  const CASES: readonly (readonly [separator: Separator, decimal: DecimalMark | undefined, numbers: Record<string, Expected>])[] =
    [
      [
        ",",
        undefined,
        {
          "2700": 2700,
          "-5": -5,
          "+5": 5,
          "\u22125": -5,
          "1.5": 1.5,
          "1.200": 1.2,
          "63.400000000000006": 63.400000000000006,
          "1e3": 1000,
          ".5": 0.5,
          "5.": 5,
          " 7 ": 7,
          "1,200": ambiguous("1,200", 1200, 1.2),
          "-1,200": ambiguous("-1,200", -1200, -1.2),
          "1,200.5": 1200.5,
          "1,200,000": 1_200_000,
          "47,99": other("47,99", "point", "comma", 47.99),
          "1.200,5": other("1.200,5", "point", "comma", 1200.5),
          "0,125": other("0,125", "point", "comma", 0.125),
          "1 200": 1200,
          [`1${NBSP}200.5`]: 1200.5,
          "1'200": 1200,
        },
      ],
      [
        ";",
        undefined,
        {
          "2700": 2700,
          "1,5": 1.5,
          "-1,5": -1.5,
          "+1,5": 1.5,
          ",5": 0.5,
          "1,200": 1.2,
          "47,993": 47.993,
          "1.5": 1.5,
          "47.9931": 47.9931,
          "0.125": 0.125,
          "1.200": ambiguous("1.200", 1200, 1.2),
          "-12.345": ambiguous("-12.345", -12_345, -12.345),
          "1.200,5": 1200.5,
          "1.200.000": 1_200_000,
          "1.200.000,25": 1_200_000.25,
          "1,200.5": other("1,200.5", "comma", "point", 1200.5),
          [`1${NBSP}200,5`]: 1200.5,
          "1\u202f200": 1200,
          "1 200 000": 1_200_000,
          "1,5e3": 1500,
        },
      ],
      [
        "\t",
        undefined,
        {
          "1,5": 1.5,
          "1.5": 1.5,
          "1.200": ambiguous("1.200", 1200, 1.2),
          "1,200": ambiguous("1,200", 1200, 1.2),
          "1.200,5": 1200.5,
          "1,200.5": 1200.5,
          "0,125": 0.125,
          "0.125": 0.125,
        },
      ],
      [
        ";",
        "comma",
        {
          "1.200": 1200,
          "1,200": 1.2,
          "1.200,5": 1200.5,
          "1 200,5": 1200.5,
          "1.5": other("1.5", "comma", "point", 1.5),
          "12": 12,
        },
      ],
      [",", "comma", { "1.200": 1200, "1,200": 1.2, "47,99": 47.99, "2.700,5": 2700.5 }],
      ["\t", "comma", { "1.200": 1200, "1,200": 1.2 }],
      [
        ";",
        "point",
        { "1.200": 1.2, "1,200": 1200, "1,200.5": 1200.5, "1 200.5": 1200.5, "1,5": other("1,5", "point", "comma", 1.5) },
      ],
      ["\t", "point", { "1.200": 1.2, "1,200": 1200 }],
    ];
  const NAMES: Record<Separator, string> = { ",": "commas", ";": "semicolons", "\t": "tabs" };
  for (const [separator, decimal, numbers] of CASES) {
    test(`in a sheet with ${NAMES[separator]}${decimal === undefined ? "" : ` and --decimal-${decimal}`}`, () => {
      for (const [cell, expected] of Object.entries(numbers)) {
        assert.deepEqual(parseDecimal(cell, { separator, decimal }), expected, cell);
      }
    });
  }

  test("what is not a number in any language stays text", () => {
    const cells = [
      "",
      " ",
      "full",
      "1..2",
      "1,2,3",
      "1.20.300",
      "12 34",
      "1'200 300",
      "0x10",
      "1e400",
      "--1",
      "1-",
      "1,200,50",
      ".",
      ",",
      "٣",
    ];
    for (const separator of [",", ";", "\t"] as const) {
      for (const decimal of [undefined, "comma", "point"] as const) {
        for (const cell of cells)
          assert.equal(parseDecimal(cell, { separator, decimal }), cell, `${separator} ${decimal} ${cell}`);
      }
    }
  });

  test("a number is read as it was written, in both styles", () => {
    const number = fc.integer({ min: -1e9, max: 1e9 }).map((value) => value / 1000);
    fc.assert(
      fc.property(number, fc.constantFrom("en-US", "de-DE", "fr-FR", "de-CH"), (value, locale) => {
        const text = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 }).format(value);
        const decimal = locale === "en-US" || locale === "de-CH" ? "point" : "comma";
        assert.equal(Number(parseDecimal(text, { separator: ";", decimal })), value, text);
      }),
    );
  });
});

test("other formats than text in UTF-8 are recognised by their first bytes", () => {
  const error = (...bytes: number[]) => errorInFormat(Buffer.from(bytes)) ?? "";
  assert.match(error(0x50, 0x4b, 0x03, 0x04, 0x14), /^this is an Excel file, .*save the sheet as "CSV UTF-8"/);
  assert.match(error(0xd0, 0xcf, 0x11, 0xe0, 0xa1), /^this is an Excel file: save the sheet as "CSV UTF-8"/);
  assert.match(error(0xff, 0xfe, 0x69, 0x00), /^this is UTF-16 text: save the file as UTF-8/);
  assert.match(error(0xfe, 0xff, 0x00, 0x69), /^this is UTF-16 text/);
  assert.match(error(0x69, 0x00, 0x64, 0x00), /^this is UTF-16/);
  assert.match(error(0x1f, 0x8b, 0x08), /gunzip/);
  for (const text of ["", "i", "\ufeffid,name", "PK,name", "id"]) assert.equal(errorInFormat(Buffer.from(text)), undefined);
});

suite("cells", () => {
  test("no cell is a formula in a spreadsheet, and numbers stay as they are", () => {
    const cells = {
      "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
      "=1,2": `"'=1,2"`,
      "@SUM(A1)": "'@SUM(A1)",
      "+49 30 5550": "+49 30 5550",
      "+49 (0)30/55.50-12": "+49 (0)30/55.50-12",
      "-1-2": "-1-2",
      "+49 30 A1": "'+49 30 A1",
      "+1+1": "'+1+1",
      "+1*2": "'+1*2",
      "+１": "'+１",
      "+1,2": `"'+1,2"`,
      "+1\t2": `"'+1\t2"`,
      "'+49 30": "''+49 30",
      "-x": "'-x",
      "＝1": "'＝1",
      "'=1": "''=1",
      "-5": "-5",
      "+5.25": "+5.25",
      "a;=1": '"a;=1"',
      "tank'1": "tank'1",
      "'tank": "'tank",
    };
    for (const [text, cell] of Object.entries(cells)) assert.equal(csvCell(text), cell, text);
  });

  test("any text is read back as it was written", () => {
    const text = fc.string({ unit: fc.constantFrom("'", "=", "+", "-", "@", "1", "a", "＝"), maxLength: 6 });
    fc.assert(fc.property(text, (value) => assert.equal(unescapeFormula(csvCell(value)), value)));
  });
});
