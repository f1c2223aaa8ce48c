// What all our CSV files have in common: separators, numbers as spreadsheets of any language write them, and files that only
// look like CSV.

import { quoted } from "../domain/text.ts";

export type Separator = "," | ";" | "\t";
export type DecimalMark = "point" | "comma";
/** `decimal`: as the operator says; otherwise it follows from the separator, or each number shows it. */
export type CsvFormat = { readonly separator: Separator; readonly decimal: DecimalMark | undefined };

/** Ignores what is in quotes. */
export function separatorIn(header: string): Separator {
  const bare = header.replaceAll(/"[^"]*"/g, "");
  return ([";", "\t"] as const).find((separator) => bare.includes(separator)) ?? ",";
}

/** Digits in groups of three, all separated by the same character. */
function numberPattern(mark: string, group: string): RegExp {
  const grouped = `[1-9]\\d{0,2}([${group} \\u00a0\\u2009\\u202f'\\u2019])\\d{3}(?:\\1\\d{3})*`;
  return new RegExp(`^[+-]?(?=${mark}?\\d)(?:\\d+|${grouped})?(?:${mark}\\d*)?(?:[eE][+-]?\\d+)?$`);
}

const PATTERNS: Readonly<Record<DecimalMark, RegExp>> = { point: numberPattern("\\.", ","), comma: numberPattern(",", ".") };
const NOT_DIGITS: Readonly<Record<DecimalMark, RegExp>> = { point: /[^\d.eE+-]/g, comma: /[^\d,eE+-]/g };
/** A spreadsheet that separates cells by commas has decimal points; one with decimal commas separates by semicolons. */
const USUAL: Readonly<Record<Separator, DecimalMark | undefined>> = { ",": "point", ";": "comma", "\t": undefined };
const CHARACTER: Readonly<Record<DecimalMark, string>> = { point: ".", comma: "," };

/** Null: not a number with this decimal mark. */
function numberIn(text: string, mark: DecimalMark): number | null {
  if (!PATTERNS[mark].test(text)) return null;
  const value = Number(text.replaceAll(NOT_DIGITS[mark], "").replace(",", "."));
  return Number.isFinite(value) ? value : null;
}

const PLAIN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

/** Text that is not a number in any language is returned as it is. */
export function parseDecimal(cell: string, { separator, decimal }: CsvFormat): number | string | { readonly error: string } {
  const usual = decimal ?? USUAL[separator];
  const plain = usual === "point" && PLAIN.test(cell) ? Number(cell) : Number.NaN;
  if (Number.isFinite(plain)) return plain;
  const text = cell.trim().replace("\u2212", "-");
  const [point, comma] = [numberIn(text, "point"), numberIn(text, "comma")];
  if (point === comma) return point ?? cell;
  if (point !== null && comma !== null) {
    const isDecided = decimal !== undefined || (usual !== undefined && text.includes(CHARACTER[usual]));
    if (isDecided) return usual === "comma" ? comma : point;
    const [smaller, larger] = [point, comma].toSorted((a, b) => Math.abs(a) - Math.abs(b));
    return { error: `${text} may be ${larger} or ${smaller}; give --decimal-comma or --decimal-point` };
  }
  const [mark, value] = point === null ? (["comma", comma] as const) : (["point", point] as const);
  if (mark === usual || (decimal === undefined && (usual === undefined || !text.includes(",")))) return value ?? cell;
  return { error: `${quoted(text)} is not a number with a decimal ${usual}; --decimal-${mark} reads it as ${value}` };
}

const SAVE_AS_CSV = 'save the sheet as "CSV UTF-8" and use that file';
const SAVE_AS_UTF8 = 'save the file as UTF-8 (in Excel: "CSV UTF-8")';
const SIGNATURES: readonly (readonly [bytes: readonly number[], error: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], `this is an Excel file, or another ZIP archive: ${SAVE_AS_CSV}`],
  [[0xd0, 0xcf, 0x11, 0xe0], `this is an Excel file: ${SAVE_AS_CSV}`],
  [[0x1f, 0x8b], "this file is compressed: unpack it with gunzip first"],
  [[0xff, 0xfe], `this is UTF-16 text: ${SAVE_AS_UTF8}`],
  [[0xfe, 0xff], `this is UTF-16 text: ${SAVE_AS_UTF8}`],
];
export const NOT_UTF8 = `is not valid UTF-8: ${SAVE_AS_UTF8}`;

/** Why a file cannot be text in UTF-8, by its first bytes. */
export function errorInFormat(start: Buffer): string | undefined {
  const known = SIGNATURES.find(([bytes]) => bytes.every((byte, i) => start[i] === byte));
  // UTF-16 without a byte order mark has zeros between the letters.
  return known?.[1] ?? (start.subarray(0, 4).includes(0) ? `this is UTF-16, or not a text at all: ${SAVE_AS_UTF8}` : undefined);
}
