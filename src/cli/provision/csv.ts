// CSV as spreadsheets write it (RFC 4180): quoted cells with separators and line breaks in them, any line end, a byte order
// mark, and a semicolon as the separator where the header has one.

export type Row = {
  /** The line it begins on, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
};
export type Broken = { readonly line: number; readonly fault: string };

/** Rows in the order of the file, without those that are empty. After a quote that is never closed there are none. */
export function* rowsOf(file: string): Generator<Row | Broken> {
  const reader = new Reader(file.replace(/^\ufeff/, ""));
  while (!reader.isAtEnd) {
    const row = reader.row();
    if ("fault" in row || row.cells.some((cell) => cell !== "")) yield row;
  }
}

const QUOTED = /"[^"]*(?:""[^"]*)*"/y;
const LINE_END = /\r\n|\n|\r/y;
const LINE_ENDS = /\r\n|\n|\r/g;

class Reader {
  readonly #text: string;
  readonly #separator: string;
  /** Up to the next separator or the end of the line. */
  readonly #plain: RegExp;
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
    this.#separator = separatorOf(text);
    this.#plain = new RegExp(`[^${this.#separator}\\r\\n]*`, "y");
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  row(): Row | Broken {
    const line = this.#line;
    const cells: string[] = [];
    let fault: string | undefined;
    do {
      const cell = this.#text[this.#at] === '"' ? this.#quotedCell() : this.#plainCell();
      fault ??= cell.fault;
      cells.push(cell.value);
    } while (this.#take(this.#separator));
    this.#match(LINE_END);
    this.#line++;
    return fault === undefined ? { line, cells } : { line, fault };
  }

  #plainCell(): { readonly value: string; readonly fault?: string } {
    const value = this.#match(this.#plain) ?? "";
    return value.includes('"') ? { value, fault: "a quote stands in a cell that does not begin with one" } : { value };
  }

  #quotedCell(): { readonly value: string; readonly fault?: string } {
    const raw = this.#match(QUOTED);
    if (raw === undefined) {
      this.#at = this.#text.length;
      return { value: "", fault: "a quote is opened and never closed" };
    }
    this.#line += raw.match(LINE_ENDS)?.length ?? 0;
    const value = raw.slice(1, -1).replaceAll('""', '"');
    const rest = this.#match(this.#plain) ?? "";
    return rest === "" ? { value } : { value, fault: "something follows a closing quote" };
  }

  /** What the pattern finds here, which is then behind us. */
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }
}

/** Told by the first line, outside of quotes. */
function separatorOf(text: string): "," | ";" {
  const [header = ""] = text
    .slice(0, 65_536)
    .replaceAll(/"[^"]*"/g, "")
    .split(/[\r\n]/, 1);
  return header.includes(";") ? ";" : ",";
}
