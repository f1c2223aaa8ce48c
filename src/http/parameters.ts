// Request parameters, from the query string or a form body to checked values, and the lists they page through. One definition
// serves the check and the OpenAPI document.

import { RequestError } from "../domain/errors.ts";
import { isCleanText, isLongerThan } from "../domain/id.ts";
import { formatInstant, type Instant, LAST_INSTANT, parseDuration, parseInstant } from "../domain/instant.ts";
import { PAGE_NUMBER, PAGE_SIZE, type Page, type PageQuery } from "../domain/page.ts";
import { array, boolean, integer, literal, object, oneOf, type Schema, text as textSchema } from "../domain/schema.ts";
import { MAX_SEARCH_WORDS, searchWords } from "../domain/search.ts";
import { quoted, suggestion } from "../domain/text.ts";

export type Parameter<T> = {
  readonly schema: Schema;
  readonly fallback: T;
  /** The value, or what it must be. */
  readonly read: (text: string) => { readonly value: T } | { readonly must: string };
};

export type ParameterSet = Readonly<Record<string, Parameter<unknown>>>;
export type ParameterValues<S extends ParameterSet> = { readonly [N in keyof S]: S[N]["fallback"] };

export const instant = (description: string, roundUp: boolean): Parameter<Instant | undefined> => ({
  schema: textSchema({ format: "date-time", description: `${description}, such as 2026-11-01T00:00:00Z` }),
  fallback: undefined,
  read(text) {
    const parsed = parseInstant(text);
    if (parsed === undefined) return { must: "an ISO datetime such as 2026-11-14T09:30:00Z" };
    // Instants are stored in milliseconds: a finer lower bound is rounded up, a finer upper bound down.
    return { value: parsed.wasRounded && roundUp ? Math.min(parsed.instant + 1, LAST_INSTANT) : parsed.instant };
  },
});

type NumberRange<T> = { readonly minimum: number; readonly maximum: number; readonly default: T };

export const wholeNumber = <T extends number | undefined>(description: string, range: NumberRange<T>): Parameter<number | T> => ({
  schema: integer({ ...range, description }),
  fallback: range.default,
  read(text) {
    const value = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
    if (value >= range.minimum && value <= range.maximum) return { value };
    return { must: `a whole number from ${range.minimum} to ${range.maximum}` };
  },
});

const MAX_FILTER_LENGTH = 512;

export const textFilter = (description: string): Parameter<string | undefined> => ({
  schema: textSchema({ description }),
  fallback: undefined,
  read(text) {
    if (text === "" || isLongerThan(text, MAX_FILTER_LENGTH) || !isCleanText(text)) {
      return { must: `a text of 1 to ${MAX_FILTER_LENGTH} characters without control characters` };
    }
    return { value: text };
  },
});

export const prefixFilter = (field: string): Parameter<string | undefined> =>
  textFilter(`Only those whose ${field} begins with this text; letters A to Z match in either case`);

/** Each word of the text is looked for in `where`. */
export function wordSearch(where: string): Parameter<string | undefined> {
  const filter = textFilter(`Only those where each word of this text is part of ${where}, ignoring case`);
  return {
    ...filter,
    read: (text) =>
      searchWords(text).length > MAX_SEARCH_WORDS ? { must: `at most ${MAX_SEARCH_WORDS} words` } : filter.read(text),
  };
}

export const flag = <T extends boolean | undefined>(description: string, fallback: T): Parameter<boolean | T> => ({
  schema: boolean({ description }),
  fallback,
  read: (text) => (text === "true" || text === "false" ? { value: text === "true" } : { must: "true or false" }),
});

export const choice = <T extends string, F extends T | undefined>(
  values: readonly T[],
  description: string,
  fallback: F,
): Parameter<T | F> => ({
  schema: oneOf(values, { description, ...(fallback !== undefined && { default: fallback }) }),
  fallback,
  read(text) {
    const value = values.find((known) => known === text);
    return value === undefined ? { must: `one of ${values.join(", ")}` } : { value };
  },
});

export const duration = <T extends number | undefined>(schema: Schema, fallback: T): Parameter<number | T> => ({
  schema: { type: "string", ...schema },
  fallback,
  read(text) {
    const value = parseDuration(text);
    return value === undefined ? { must: "a duration such as 24h, 90m or 7d" } : { value };
  },
});

export const NO_PARAMETERS = {} satisfies ParameterSet;

export const PAGE_PARAMETERS = {
  page: wholeNumber("Which page to return", PAGE_NUMBER),
  size: wholeNumber("Maximum number of objects to return", PAGE_SIZE),
} satisfies ParameterSet;

export const LIST_PARAMETERS = {
  created_at_gte: instant("Minimum value of `created_at` to include (inclusive)", true),
  created_at_lte: instant("Maximum value of `created_at` to include (inclusive)", false),
  ...PAGE_PARAMETERS,
} satisfies ParameterSet;

export const EMAIL: Parameter<string | undefined> = {
  schema: textSchema({ description: "Case-sensitive exact filter on the customer's `email` field" }),
  fallback: undefined,
  read: (text) => (isCleanText(text) ? { value: text } : { must: "a text without control characters" }),
};

export function pageQuery(values: ParameterValues<typeof LIST_PARAMETERS>): PageQuery {
  return { from: values.created_at_gte, to: values.created_at_lte, page: values.page, size: values.size };
}

export type PageRequest = Pick<PageQuery, "page" | "size">;

/** The list envelope as JSON text, from items that are rendered one by one. `asOf`: when the list was read, if it says so. */
export function listJson<T>(
  { data, totalItems }: Page<T>,
  { page, size }: PageRequest,
  itemJson: (item: T) => string,
  asOf?: Instant,
): string {
  const totals = `"total_pages":${Math.ceil(totalItems / size)},"total_items":${totalItems}`;
  const time = asOf === undefined ? "" : `,"as_of":"${formatInstant(asOf)}"`;
  // Not by join, which copies a text that is copied again to be sent.
  let items = "";
  for (const item of data) items += items === "" ? itemJson(item) : `,${itemJson(item)}`;
  return `{"object":"list","data":[${items}],"page":${page},"size":${size},${totals}${time}}`;
}

/** One page of a list that was read as a whole, because it is short. */
export function pageOfAllJson<T>(all: readonly T[], { page, size }: PageRequest, itemJson: (item: T) => string): string {
  return listJson({ data: all.slice((page - 1) * size, page * size), totalItems: all.length }, { page, size }, itemJson);
}

const count = (description: string, minimum: number, example: number) => integer({ minimum, description, examples: [example] });

export const listSchema = (item: Schema, description: string) =>
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

export type ParameterReader<S extends ParameterSet> = (query: string, form: string) => ParameterValues<S>;

/** Created once per route. */
export function parameterReader<S extends ParameterSet>(set: S): ParameterReader<S> {
  const known = new Map(Object.entries(set));
  const fallbacks = Object.fromEntries(Object.entries(set).map(([name, { fallback }]) => [name, fallback]));
  const defaults = Object.freeze(fallbacks) as ParameterValues<S>;
  return (query, form) => {
    if (query === "" && form === "") return defaults;
    const values: Record<string, unknown> = { ...fallbacks };
    const given = new Set<string>();
    for (const source of [query, form]) {
      for (const pair of source === "" ? [] : source.split("&")) {
        if (pair !== "") readPair(pair, known, given, values);
      }
    }
    return values as ParameterValues<S>;
  };
}

function readPair(
  pair: string,
  known: ReadonlyMap<string, Parameter<unknown>>,
  given: Set<string>,
  values: Record<string, unknown>,
): void {
  const equals = pair.indexOf("=");
  const param = decode(equals === -1 ? pair : pair.slice(0, equals), undefined);
  const parameter = known.get(param);
  if (parameter === undefined) throw unknownParameter(param, [...known.keys()]);
  if (given.has(param)) {
    throw new RequestError("parameter_repeated", `${param} may be given only once, in the query or in the body.`, { param });
  }
  given.add(param);
  const text = decode(equals === -1 ? "" : pair.slice(equals + 1), param);
  const result = parameter.read(text);
  if ("must" in result) {
    throw new RequestError("parameter_invalid", `${param} must be ${result.must}, not ${quoted(text)}.`, { param });
  }
  values[param] = result.value;
}

function unknownParameter(name: string, known: readonly string[]): RequestError {
  const list = known.length === 0 ? " This endpoint takes no parameters." : ` Known parameters: ${known.join(", ")}.`;
  return new RequestError("parameter_unknown", `There is no parameter ${quoted(name)}.${suggestion(name, known)}${list}`, {
    param: name.slice(0, 80).toWellFormed(),
  });
}

function decode(text: string, param: string | undefined): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new RequestError("encoding_invalid", `${quoted(text)} is not valid percent-encoded UTF-8.`, { param });
  }
}
