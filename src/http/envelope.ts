// The list envelope.

import type { Page, PageQuestion } from "../domain/page.ts";
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

export function envelope<T, O>(page: Page<T>, question: PageQuestion, present: (item: T) => O) {
  return {
    object: "list",
    data: page.data.map(present),
    page: question.page,
    size: question.size,
    total_pages: Math.ceil(page.totalItems / question.size),
    total_items: page.totalItems,
  };
}
