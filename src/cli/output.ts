// Output for people: text that is safe on a terminal, tables and progress bars. Data goes to stdout, messages to stderr.

import { maskLongSecrets } from "../domain/key.ts";
import { csvCell } from "../ingest/formula.ts";

/** To stderr: messages for the person who runs the command. They may repeat what was typed, but never a secret. */
export function printMessage(message: string): void {
  process.stderr.write(`${maskLongSecrets(message)}\n`);
}

/** To stdout: the result of the command, which scripts read. */
export function print(data: string): void {
  process.stdout.write(`${data}\n`);
}

const STANDARD_COLUMNS = 80;
/** The least width of a description, however narrow the terminal is. */
const MIN_DESCRIPTION = 20;

/** Prints a help text in lines that fit the terminal. */
export function printHelp(text: string): void {
  // Some terminals have no width, or 0.
  print(wrapHelp(text, process.stdout.columns || STANDARD_COLUMNS));
}

/** Fills paragraphs, and aligns the descriptions in lists of flags. Examples stay in one line, to be copied. */
export function wrapHelp(text: string, columns: number): string {
  const blocks: string[] = [];
  for (const line of text.split("\n")) {
    const previous = blocks.at(-1) ?? "";
    const isContinued = PARAGRAPH.test(line) ? PARAGRAPH.test(previous) : DESCRIBED.test(previous) && /^ {6,}\S/.test(line);
    if (isContinued) blocks[blocks.length - 1] = `${previous} ${line.trim()}`;
    else blocks.push(line);
  }
  return blocks.map((block) => (block.startsWith("Example: ") ? block : wrapBlock(block, columns))).join("\n");
}

const PARAGRAPH = /^(?!Usage: |Example: )\S/;
/** A flag or a command, and two spaces before its description. */
const DESCRIBED = /^(?:Usage: | +\S.*? {2,})(?=\S)/;

function wrapBlock(block: string, columns: number): string {
  const [start = ""] = DESCRIBED.exec(block) ?? [];
  const width = Math.max(columns - start.length, MIN_DESCRIPTION);
  const lines: string[] = [];
  for (const word of block.slice(start.length).trimEnd().split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return start + lines.join(`\n${" ".repeat(start.length)}`);
}

/** `1 tank`, `2,000 tanks` */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** With one digit after the point; null for what is not a number. */
export const decimal = (value: unknown): string | null => (typeof value === "number" ? value.toFixed(1) : null);

export const percent = (value: unknown): string | null => (typeof value === "number" ? `${decimal(value)} %` : null);

/** Replaces control characters, which could steer the terminal, and characters that change the text direction. */
export function clean(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}

const GRAPHEMES = new Intl.Segmenter("en");
/** Half-width forms; their combining marks take a column each. */
const HALF_WIDTH = /^[\uff61-\uffdc\uffe8-\uffee]/u;
const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Emoji_Presentation}\p{Regional_Indicator}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
const EMOJI_VARIATION = /\ufe0f/u;
const ASCII = /^[\x20-\x7e]*$/;

function graphemeWidth(grapheme: string): number {
  if (/^[\p{M}\p{Cf}]/u.test(grapheme)) return 0;
  if (HALF_WIDTH.test(grapheme)) return [...grapheme].length;
  return WIDE.test(grapheme) || EMOJI_VARIATION.test(grapheme) ? 2 : 1;
}

/** Columns that the text takes on a terminal. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += graphemeWidth(segment);
  return width;
}

export function truncate(text: string, maxWidth: number): string {
  if (textWidth(text) <= maxWidth) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += graphemeWidth(segment);
    if (width > maxWidth - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

export type Column<T> = {
  readonly title: string;
  /** Null is shown as a dash. */
  readonly cell: (item: T) => string | number | null;
  /** Longer cells are truncated. Ids have no limit: they are there to be copied. */
  readonly maxWidth?: number;
  readonly alignRight?: true;
};

/** Rows may come a page at a time: a column grows where a later page needs it, and never shrinks. */
export class Table<T> {
  readonly #columns: readonly Column<T>[];
  readonly #widths: number[];
  #hasTitles = false;

  constructor(columns: readonly Column<T>[]) {
    this.#columns = columns;
    this.#widths = columns.map(({ title }) => textWidth(title));
  }

  /** The lines for these rows, after the titles in the first call. */
  lines(items: readonly T[]): string[] {
    const rows = items.map((item) => this.#columns.map((column) => cellText(column, item)));
    for (const row of rows) {
      row.forEach((cell, i) => {
        this.#widths[i] = Math.max(this.#widths[i] ?? 0, textWidth(cell));
      });
    }
    const titles = this.#hasTitles ? [] : [this.#columns.map(({ title }) => title)];
    this.#hasTitles = true;
    return [...titles, ...rows].map((row) => this.#line(row));
  }

  #line(row: readonly string[]): string {
    const cells = row.map((cell, i) => {
      const padding = " ".repeat((this.#widths[i] ?? 0) - textWidth(cell));
      return this.#columns[i]?.alignRight === true ? padding + cell : cell + padding;
    });
    return cells.join("  ").trimEnd();
  }
}

function cellText<T>({ cell, maxWidth = Number.POSITIVE_INFINITY }: Column<T>, item: T): string {
  const value = cell(item);
  return value === null || value === "" ? "-" : truncate(clean(String(value)), maxWidth);
}

const BAR_WIDTH = 30;
const TERMINAL_INTERVAL_MS = 100;
const LOG_INTERVAL_MS = 5000;
const INITIAL_SILENCE_MS = 1000;

/**
 * Progress on stderr: a bar on a terminal, a line every few seconds elsewhere, nothing within the first second. `using` clears
 * it at the end of the block.
 */
export class ProgressBar {
  readonly #title: string;
  readonly #stream = process.stderr;
  readonly #startedAt = performance.now();
  #shownAt = performance.now();
  #isDrawn = false;

  constructor(title: string) {
    this.#title = title;
  }

  /** A `total` of 0 is unknown. */
  show(done: number, total: number, detail = ""): void {
    const now = performance.now();
    const interval = this.#stream.isTTY ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
    if (now - this.#startedAt < INITIAL_SILENCE_MS || now - this.#shownAt < interval) return;
    this.#shownAt = now;
    const share = total === 0 ? undefined : Math.min(1, done / total);
    // Some terminals have no width, or 0.
    const columns = this.#stream.isTTY ? this.#stream.columns || STANDARD_COLUMNS : undefined;
    const line = progressLine(this.#title, share, detail, columns);
    this.#stream.write(columns === undefined ? `${line}\n` : `\r\x1b[2K${line}`);
    this.#isDrawn = true;
  }

  /** Clears the terminal's line for what is printed next. */
  end(): void {
    if (this.#isDrawn && this.#stream.isTTY) this.#stream.write("\r\x1b[2K");
    this.#isDrawn = false;
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

/** On a terminal with a bar and in one row: only that is cleared. */
export function progressLine(title: string, share: number | undefined, detail: string, columns?: number): string {
  const percent = share === undefined ? "" : `${String(Math.floor(share * 100)).padStart(3)}% `;
  if (columns === undefined) return `${title} ${percent}${detail}`;
  return truncate(`${title} ${bar(share)}${percent}${detail}`, columns);
}

function bar(share: number | undefined): string {
  if (share === undefined) return "";
  const full = Math.round(share * BAR_WIDTH);
  return `[${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)}] `;
}

/** Rows as CSV, after the names of the columns in the first call. */
export class CsvTable<T> {
  readonly #row: (item: T) => Readonly<Record<string, unknown>>;
  #hasTitles = false;

  constructor(row: (item: T) => Readonly<Record<string, unknown>>) {
    this.#row = row;
  }

  lines(items: readonly T[]): string[] {
    const rows = items.map((item) => this.#row(item));
    const [first] = rows;
    const titles = this.#hasTitles || first === undefined ? [] : [Object.keys(first).join(",")];
    this.#hasTitles ||= first !== undefined;
    return [...titles, ...rows.map((row) => Object.values(row).map(csvText).join(","))];
  }
}

const csvText = (value: unknown): string => (value === null || value === undefined ? "" : csvCell(clean(String(value))));
