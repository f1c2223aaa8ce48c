// Parameters: from the text of a query string or a form body to checked values. A schema describes each parameter to the
// OpenAPI document and to the check alike.

import { RequestError } from "../domain/errors.ts";
import { type Instant, parseInstant } from "../domain/instant.ts";
import { PAGE_NUMBER, PAGE_SIZE, type PageQuery } from "../domain/page.ts";
import { integer, type Schema, text as textSchema } from "../domain/schema.ts";
import { isCleanText, isLongerThan, quoted, suggestion } from "../domain/text.ts";

export type Parameter<T> = {
  readonly schema: Schema;
  readonly fallback: T;
  /** The value, or what it must be. */
  readonly read: (text: string) => { readonly value: T } | { readonly must: string };
};

export type ParameterSet = Readonly<Record<string, Parameter<unknown>>>;
export type Values<S extends ParameterSet> = { readonly [N in keyof S]: S[N]["fallback"] };

const datetime = (description: string, atMost: boolean): Parameter<Instant | undefined> => ({
  schema: textSchema({ format: "date-time", description: `${description}, such as 2026-11-01T00:00:00Z` }),
  fallback: undefined,
  read(text) {
    const parsed = parseInstant(text);
    if (parsed === undefined) return { must: "an ISO datetime such as 2026-11-14T09:30:00Z" };
    // Instants are kept in milliseconds: a finer lower bound moves up to the next one, a finer upper bound down.
    return { value: parsed.finer && !atMost ? parsed.instant + 1 : parsed.instant };
  },
});

const whole = (description: string, range: { minimum: number; maximum: number; default: number }): Parameter<number> => ({
  schema: integer({ ...range, description }),
  fallback: range.default,
  read(text) {
    const value = /^(?:0|[1-9]\d{0,9})$/.test(text) ? Number(text) : Number.NaN;
    if (value >= range.minimum && value <= range.maximum) return { value };
    return { must: `a whole number from ${range.minimum} to ${range.maximum}` };
  },
});

export const LIST_PARAMETERS = {
  created_at_gte: datetime("Minimum value of `created_at` to include (inclusive)", false),
  created_at_lte: datetime("Maximum value of `created_at` to include (inclusive)", true),
  page: whole("Which page to return", PAGE_NUMBER),
  size: whole("Maximum number of objects to return", PAGE_SIZE),
} satisfies ParameterSet;

export function pageQuestion(values: Values<typeof LIST_PARAMETERS>): PageQuery {
  return { from: values.created_at_gte, to: values.created_at_lte, page: values.page, size: values.size };
}

export const EMAIL: Parameter<string | undefined> = {
  schema: textSchema({
    description: "Case-sensitive exact filter on the customer's `email` field",
  }),
  fallback: undefined,
  read: (text) => (isCleanText(text) ? { value: text } : { must: "a text without control characters" }),
};

export const NO_PARAMETERS = {} satisfies ParameterSet;

export type ParameterReader<S extends ParameterSet> = (query: string, form: string) => Values<S>;

/** Prepares the reading of one set: made once a route, used for every request. */
export function parameterReader<S extends ParameterSet>(set: S): ParameterReader<S> {
  const known = new Map(Object.entries(set));
  const fallbacks = Object.fromEntries(Object.entries(set).map(([name, { fallback }]) => [name, fallback]));
  const defaults = Object.freeze(fallbacks) as Values<S>;
  return (query, form) => {
    if (query === "" && form === "") return defaults;
    const values: Record<string, unknown> = { ...fallbacks };
    const seen = new Set<string>();
    for (const source of [query, form]) {
      for (const pair of source === "" ? [] : source.split("&")) {
        if (pair !== "") readPair(pair, known, seen, values);
      }
    }
    return values as Values<S>;
  };
}

function readPair(
  pair: string,
  known: ReadonlyMap<string, Parameter<unknown>>,
  seen: Set<string>,
  values: Record<string, unknown>,
): void {
  const equals = pair.indexOf("=");
  const name = decode(equals === -1 ? pair : pair.slice(0, equals), undefined);
  const parameter = known.get(name);
  if (parameter === undefined) throw unknown(name, [...known.keys()]);
  if (seen.has(name)) {
    throw new RequestError(
      "parameter_repeated",
      `${name} is given more than once; it may be given once, in the query or in the body.`,
      {
        param: name,
      },
    );
  }
  seen.add(name);
  const text = decode(equals === -1 ? "" : pair.slice(equals + 1), name);
  const read = parameter.read(text);
  if ("must" in read) {
    throw new RequestError("parameter_invalid", `${name} must be ${read.must}, not ${quoted(text)}.`, { param: name });
  }
  values[name] = read.value;
}

function unknown(name: string, known: readonly string[]): RequestError {
  const list = known.length === 0 ? " This endpoint takes no parameters." : ` Known here: ${known.join(", ")}.`;
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

const FILTER_MAX_LENGTH = 512;

/** A text that something begins with, or is. */
export const textFilter = (description: string): Parameter<string | undefined> => ({
  schema: textSchema({ description }),
  fallback: undefined,
  read(given) {
    if (given === "" || isLongerThan(given, FILTER_MAX_LENGTH) || !isCleanText(given)) {
      return { must: `a text of 1 to ${FILTER_MAX_LENGTH} characters, none of them control characters` };
    }
    return { value: given };
  },
});
