// Lists: read page by page, and printed as a table, as JSON lines or as CSV.

import { once } from "node:events";
import { UserError } from "../domain/errors.ts";
import { quoted } from "../domain/text.ts";
import { isObject } from "../domain/validate.ts";
import { type CliCall, text } from "./command.ts";
import type { Option } from "./fields.ts";
import { type Column, CsvTable, clean, printMessage, Table } from "./output.ts";
import { type Item, type QueryParameters, type Service, ServiceError } from "./service.ts";

export type List = {
  readonly path: string;
  readonly columns: readonly Column<Item>[];
  readonly filter?: QueryParameters;
  /** Said where nothing is found. */
  readonly empty: string;
  /** An upper bound of this field keeps the pages stable while objects are created. */
  readonly newestFirstBy?: "created_at" | "opened_at";
  /** What --json prints of an item; all of it by default. */
  readonly json?: (item: Item) => Item;
  /** What --csv prints of an item, by the name of the column. */
  readonly csv?: (item: Item) => Readonly<Record<string, unknown>>;
};

const PAGE_SIZE = 100;
export const LIST_OPTIONS: readonly Option[] = [
  { flag: "limit", value: "N", help: "print at most N" },
  { flag: "json", help: "print one JSON object per line" },
];

/** Prints a list page by page, as it comes. */
export async function printList(service: Service, call: CliCall, query: QueryParameters, list: List): Promise<number> {
  const limit = limitOf(call);
  const isJson = call.flags["json"] === true;
  const isCsv = call.flags["csv"] === true;
  if (isJson && isCsv) throw new UserError(`${call.name}: --json and --csv contradict each other`, 2);
  const table = new Table(list.columns);
  const csv = new CsvTable(list.csv ?? ((item) => item));
  const { json = (item) => item } = list;
  let count = 0;
  for await (const page of pages(service, query, list)) {
    const items = page.slice(0, limit - count);
    count += items.length;
    const lines = isJson ? items.map((item) => JSON.stringify(json(item))) : isCsv ? csv.lines(items) : table.lines(items);
    if (lines.length > 0 && !process.stdout.write(`${lines.join("\n")}\n`)) await once(process.stdout, "drain");
    if (count >= limit) return 0;
  }
  if (count > 0) return 0;
  await requireKnown(query, service);
  if (!isJson && !isCsv) printMessage(list.empty);
  return 0;
}

/** What filters refer to, by parameter, in a group that the key for the list may read. */
const FILTERED_BY: Readonly<Record<string, { readonly noun: string; readonly group: string }>> = {
  owner_id: { noun: "customer", group: "v1" },
  customer_id: { noun: "customer", group: "v1" },
  tank_id: { noun: "tank", group: "v1" },
  device_id: { noun: "device", group: "manage/v1" },
  channel_id: { noun: "channel", group: "manage/v1" },
  alert_id: { noun: "alert", group: "insight/v1" },
};

/** Nothing is found for an object that does not exist either, but its id may be mistyped. */
async function requireKnown(query: QueryParameters, service: Service): Promise<void> {
  for (const [name, { noun, group }] of Object.entries(FILTERED_BY)) {
    const id = query[name];
    if (id === undefined) continue;
    await service({ method: "GET", path: `/${group}/${noun}s/${encodeURIComponent(id)}` }).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      // Customers and tanks that are deleted are known.
      if (error.code === `${noun}_unknown`)
        throw new UserError(`no such ${noun}: ${clean(id)}; see "npx tank-monitor ${noun} list"`);
    });
  }
}

function limitOf(call: CliCall): number {
  const given = text(call, "limit");
  if (given === undefined) return Number.POSITIVE_INFINITY;
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new UserError(`--limit must be a whole number from 1, not ${quoted(given)}`, 2);
}

type ListPath = Pick<List, "path" | "newestFirstBy">;
const MAX_PASSES = 5;

/**
 * Every item once. One that moves in the list while it is read, or is behind one that leaves it, may be missed: the list is read
 * again until nothing is missing.
 */
export async function* pages(service: Service, query: QueryParameters, list: ListPath): AsyncGenerator<readonly Item[]> {
  const seen = new Set<unknown>();
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const before = seen.size;
    let total = 0;
    for await (const { data, totalItems } of pagesOnce(service, query, list)) {
      const items = data.filter((item) => !seen.has(identityOf(item)));
      for (const item of items) seen.add(identityOf(item));
      if (items.length > 0) yield items;
      total = totalItems;
    }
    if (seen.size >= total || seen.size === before) return;
  }
  throw new UserError("the list changes faster than it can be read: some of it is missing. Try again.");
}

/** Audit entries have numbers, entries of the fleet their tanks. */
const identityOf = ({ number, id, tank }: Item): unknown => number ?? id ?? (isObject(tank) ? tank["id"] : undefined);

async function* pagesOnce(
  service: Service,
  query: QueryParameters,
  { path, newestFirstBy }: ListPath,
): AsyncGenerator<{ readonly data: readonly Item[]; readonly totalItems: number }> {
  let upperBound: QueryParameters = {};
  for (let page = 1; ; page++) {
    const request = { ...query, ...upperBound, page: String(page), size: String(PAGE_SIZE) };
    const { data, total_pages, total_items } = await service({ method: "GET", path, query: request });
    if (!Array.isArray(data) || !data.every(isObject))
      throw new UserError("the response is not a list of Tank Monitor objects. Is --url right?");
    yield { data, totalItems: Number(total_items) };
    if (data.length < PAGE_SIZE || page >= Number(total_pages)) return;
    const newest = newestFirstBy && data[0]?.[newestFirstBy];
    if (page === 1 && typeof newest === "string") upperBound = { [`${newestFirstBy}_lte`]: newest };
  }
}
