// The files of one provisioning, put together into one request; and the way back from a fault in it to a line of a file.

import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { UserError } from "../../domain/errors.ts";
import { quoted } from "../../domain/text.ts";
import { withPoint } from "../fields.ts";
import { type Column, headerOf, type Kind, objectOf } from "./columns.ts";
import { rowsOf } from "./csv.ts";

type Origin = { readonly where: string; readonly columns: readonly Column[]; readonly cells: readonly string[] };
type Fault = { readonly field: string; readonly message: string };

const ROW = /\b(customers|tanks)\[(\d+)\]/;

export class Sheets {
  readonly customers: Readonly<Record<string, unknown>>[] = [];
  readonly tanks: Readonly<Record<string, unknown>>[] = [];
  /** What cannot be sent, each with the line it is on. */
  readonly faults: string[] = [];
  /** Of these rows not all could be read; of a file whose header is wrong, none. */
  readonly #broken = new Set<string>();
  #isUnread = false;
  readonly #origins: Readonly<Record<Kind, Origin[]>> = { customers: [], tanks: [] };

  get count(): number {
    return this.customers.length + this.tanks.length;
  }

  add(file: string): void {
    const name = file === "-" ? "stdin" : file;
    const rows = rowsOf(contentOf(file, name));
    const first = rows.next().value;
    if (first === undefined) {
      this.faults.push(`${name}: is empty; the first line names the columns`);
      this.#isUnread = true;
      return;
    }
    const header = "fault" in first ? { faults: [first.fault] } : headerOf(first.cells);
    if ("faults" in header) {
      this.faults.push(...header.faults.map((fault) => `${name}:${first.line}: ${fault}`));
      this.#isUnread = true;
      return;
    }
    for (const row of rows) {
      const where = `${name}:${row.line}`;
      const { object, faults } = "fault" in row ? { object: {}, faults: [row.fault] } : objectOf(row.cells, header.columns);
      this.faults.push(...faults.map((fault) => `${where}: ${fault}`));
      if (faults.length > 0) this.#broken.add(`${header.kind}[${this[header.kind].length}]`);
      this[header.kind].push(object);
      this.#origins[header.kind].push({ where, columns: header.columns, cells: "cells" in row ? row.cells : [] });
    }
  }

  /** Where all files could be read, the rest is judged as well, so that one fault does not hide the others. */
  get canBeJudged(): boolean {
    return !this.#isUnread;
  }

  /** A fault that may come from a row which could not be read as it is says nothing. */
  isSure({ field, message }: Fault): boolean {
    const row = ROW.exec(field)?.[0] ?? "";
    const isBroken = this.#broken.has(row) && /is missing$/.test(message);
    const mayFollow = this.#broken.size > 0 && /^(names no customer|serves tank )/.test(message);
    return !isBroken && !mayFollow;
  }

  /** The line that a row came from. */
  whereIs(row: string): string | undefined {
    const [, kind, place = ""] = ROW.exec(row) ?? [];
    return kind === "customers" || kind === "tanks" ? this.#origins[kind][Number(place)]?.where : undefined;
  }

  /** `tanks[17].owner_id` by the line and the column it came from. */
  told({ field, message: said }: Fault): string {
    const message = said.replace(ROW, (row) => this.whereIs(row) ?? row);
    const [, kind, place = "", path = ""] = /^(customers|tanks)\[(\d+)\]\.?(.*)$/.exec(field) ?? [];
    const origin = kind === "customers" || kind === "tanks" ? this.#origins[kind][Number(place)] : undefined;
    if (origin === undefined) return field === "" ? message : `${field}: ${message}`;
    const { where, columns, cells } = origin;
    const column = columns.find(
      (known) => path === known.path || path.startsWith(`${known.path}.`) || path.startsWith(`${known.path}[`),
    );
    const named = column === undefined ? path : `${column.title}${path.slice(column.path.length)}`;
    const cell = column === undefined || column.path !== path ? "" : (cells[columns.indexOf(column)] ?? "");
    const given = cell === "" || message.includes(quoted(cell)) ? "" : ` (given: ${quoted(cell)})`;
    return `${where}: ${named === "" ? "" : `${named}: `}${message}${withPoint(cell, message)}${given}`;
  }
}

/** Spreadsheets still write other encodings, in which every umlaut would be lost. */
function contentOf(file: string, name: string): string {
  const bytes = bytesOf(file, name);
  if (!isUtf8(bytes)) throw new UserError(`${name} is not valid UTF-8; spreadsheets call the right form "CSV UTF-8"`);
  return bytes.toString("utf8");
}

function bytesOf(file: string, name: string): Buffer {
  try {
    return readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new UserError(`there is no file ${name}`);
    throw new UserError(code === "EISDIR" ? `${name} is a folder; name the files in it` : `${name} cannot be read: ${message}`);
  }
}
