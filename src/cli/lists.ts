// Lists, however long: asked for page by page, and printed as they come; a table for people, or with --json a line each.

import { once } from "node:events";
import { UserError } from "../domain/errors.ts";
import { quoted } from "../domain/text.ts";
import { isObject } from "../domain/validate.ts";
import { type Call, say, text } from "./command.ts";
import type { Item, Service } from "./request.ts";
import { type Column, Table } from "./table.ts";

const PAGE_SIZE = 100;

export const LIST_FLAGS = { json: { type: "boolean" }, limit: { type: "string" } } as const;
export const LIST_HELP = [
  { flag: "limit", value: "N", words: "no more than so many" },
  { flag: "json", value: "", words: "a line of JSON each" },
];

export type List = {
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly columns: readonly Column<Item>[];
  /** Said where there is nothing. */
  readonly none: string;
  /** Newest first, and bounded by `created_at_lte`: what is made while pages are asked for moves nothing. */
  readonly isDated?: true;
  /** What --json prints of an item; all of it, unless it says otherwise. */
  readonly json?: (item: Item) => Item;
};

/** What is asked for is checked before anything is opened. */
export function listing(call: Call, list: List): (service: Service) => Promise<number> {
  const limit = limitIn(call);
  return async (service) => {
    const isJson = call.flags["json"] === true;
    const table = new Table(list.columns);
    const { json = (item) => item } = list;
    let count = 0;
    for await (const page of pages(service, list)) {
      const items = page.slice(0, limit - count);
      count += items.length;
      await printLines(isJson ? items.map((item) => JSON.stringify(json(item))) : table.lines(items));
      if (count >= limit) return 0;
    }
    if (count === 0 && !isJson) say(list.none);
    return 0;
  };
}

function limitIn(call: Call): number {
  const given = text(call, "limit");
  if (given === undefined) return Number.POSITIVE_INFINITY;
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new UserError(`--limit must be a whole number from 1 on, not ${quoted(given)}`, 2);
}

async function* pages(service: Service, { path, query, isDated }: List): AsyncGenerator<readonly Item[]> {
  let bound = query["created_at_lte"];
  for (let page = 1; ; page++) {
    const asked = { ...query, created_at_lte: bound, page: String(page), size: String(PAGE_SIZE) };
    const { data, total_pages } = await service.ask({ method: "GET", path, query: asked });
    if (!Array.isArray(data) || !data.every(isObject)) throw new UserError("the answer is not a list, as Tank Monitor gives it");
    if (data.length > 0) yield data;
    if (data.length < PAGE_SIZE || page >= Number(total_pages)) return;
    const newest = data[0]?.["created_at"];
    if (isDated === true && page === 1 && typeof newest === "string") bound = newest;
  }
}

/** Waits for a reader who is slower than we are. */
async function printLines(lines: readonly string[]): Promise<void> {
  if (lines.length > 0 && !process.stdout.write(`${lines.join("\n")}\n`)) await once(process.stdout, "drain");
}
