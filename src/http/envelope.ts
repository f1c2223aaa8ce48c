// The list envelope.

import type { Page, PageQuery } from "../domain/page.ts";
import { array, integer, literal, object, type Schema } from "../domain/schema.ts";

const count = (description: string, minimum: number, example: number) => integer({ minimum, description, examples: [example] });

export const listObject = (item: Schema, description: string) =>
  object(
    {
      object: literal("list", { description: "Always `list`" }),
      data: array(item, { maxItems: 100, description: "Up to `size` objects; empty when no more are available" }),
      page: count("The page returned", 1, 1),
      size: count("The page size in effect", 1, 10),
      total_pages: count("Total number of pages", 0, 1),
      total_items: count("Total number of items", 0, 1),
    },
    { description },
  );

/** As JSON, of items that are JSON already. */
export function envelope<T>(
  found: Page<T>,
  { page, size }: Pick<PageQuery, "page" | "size">,
  itemText: (item: T) => string,
): string {
  const { data, totalItems } = found;
  const totals = `"total_pages":${Math.ceil(totalItems / size)},"total_items":${totalItems}`;
  return `{"object":"list","data":[${data.map(itemText).join()}],"page":${page},"size":${size},${totals}}`;
}
