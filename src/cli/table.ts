// Tables for people: columns side by side, long cells cut. Rows may come a page at a time: a column grows where a later page
// needs it, and never shrinks.

import { clean, cut, widthOf } from "./width.ts";

export type Column<T> = {
  readonly title: string;
  /** Null is shown as a dash. */
  readonly cell: (item: T) => string | number | null;
  /** Where a longer cell is cut. An id is whole, since it is there to be copied. */
  readonly most?: number;
  /** Numbers, one below the other. */
  readonly right?: true;
};

export class Table<T> {
  readonly #columns: readonly Column<T>[];
  readonly #widths: number[];
  #isBegun = false;

  constructor(columns: readonly Column<T>[]) {
    this.#columns = columns;
    this.#widths = columns.map(({ title }) => widthOf(title));
  }

  /** The lines of these rows; the titles go before the first of all. */
  lines(items: readonly T[]): string[] {
    const rows = items.map((item) => this.#columns.map((column) => cellOf(column, item)));
    for (const row of rows) {
      row.forEach((cell, i) => {
        this.#widths[i] = Math.max(this.#widths[i] ?? 0, widthOf(cell));
      });
    }
    const titles = this.#isBegun ? [] : [this.#columns.map(({ title }) => title)];
    this.#isBegun = true;
    return [...titles, ...rows].map((row) => this.#line(row));
  }

  #line(row: readonly string[]): string {
    const cells = row.map((cell, i) => {
      const gap = " ".repeat((this.#widths[i] ?? 0) - widthOf(cell));
      return this.#columns[i]?.right === true ? gap + cell : cell + gap;
    });
    return cells.join("  ").trimEnd();
  }
}

function cellOf<T>({ cell, most = Number.POSITIVE_INFINITY }: Column<T>, item: T): string {
  const value = cell(item);
  return value === null || value === "" ? "-" : cut(clean(String(value)), most);
}
