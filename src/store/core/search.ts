// The words of a search in SQL.

import { GERMAN_LETTERS, mayHaveUmlauts, phoneDigits, spellings, withoutUmlauts } from "../../domain/search.ts";
import type { SqlParameters } from "./dialect.ts";

/** A word has no line break, so that it is found within one column only. */
export const textOf = (...columns: readonly string[]): string =>
  `lower(${columns.map((column) => `coalesce(${column}, '')`).join(" || '\n' || ")})`;

const PHONE_DIGITS = ["(0)", " ", "-", "/", ".", "(", ")"].reduce((text, sign) => `replace(${text}, '${sign}', '')`, "phone");

/** It doubles the time of a comparison, so it is used only for words that need it. */
const withoutUmlautsSql = (text: string): string =>
  Object.entries(GERMAN_LETTERS).reduce((rest, [letter, replacement]) => `replace(${rest}, '${letter}', '${replacement}')`, text);

/** `isIn`: whether the word is in a text of `textOf`. `isInPhone`: whether its digits are in the column `phone`. */
export function wordConditions(parameters: SqlParameters, word: string) {
  const compared = mayHaveUmlauts(word) ? withoutUmlautsSql : (text: string) => text;
  const patterns = spellings(withoutUmlauts(word)).map((one) =>
    parameters.add(`%${one.replaceAll(/[%_!]/g, (sign) => `!${sign}`)}%`),
  );
  const isIn = (text: string): string => patterns.map((pattern) => `${compared(text)} LIKE ${pattern} ESCAPE '!'`).join(" OR ");
  const digits = phoneDigits(word);
  const isInPhone = digits === undefined ? "false" : `${PHONE_DIGITS} LIKE ${parameters.add(`%${digits}%`)}`;
  return { isIn, isInPhone };
}
