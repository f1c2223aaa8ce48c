// How the words of a search are compared with texts: without their case, with umlauts in either spelling, and phone numbers by digits.

/** Enough for an address. Each word takes time. */
export const MAX_SEARCH_WORDS = 16;

/** The words of a search, without the commas between them. A match that could begin at any of many commas would take quadratic time. */
export const searchWords = (search = ""): readonly string[] =>
  search.split(/(?<!,),*\s+|(?<!,),+$/).filter((word) => word !== "");

/** German letters, and how they are written where a keyboard does not have them. */
export const GERMAN_LETTERS = { ä: "ae", Ä: "ae", ö: "oe", Ö: "oe", ü: "ue", Ü: "ue", ß: "ss", ẞ: "ss" } as const;

/** "Mueller" for "Müller". */
export const withoutUmlauts = (text: string): string =>
  Object.entries(GERMAN_LETTERS).reduce((rest, [letter, replacement]) => rest.replaceAll(letter, replacement), text);

/** Whether there may be another spelling of the word: then both the word and the texts are compared without umlauts. */
export const mayHaveUmlauts = (word: string): boolean => /ae|oe|ue|ss/i.test(withoutUmlauts(word));

/** How a text may spell the word. The databases ignore the case of A to Z only, which is lowercased here: Ä and ä are two letters. */
export function spellings(word: string): readonly string[] {
  const [first = "", ...others] = word;
  const capitalized = first.toUpperCase() + others.join("").toLowerCase();
  const all = [word, word.toLowerCase(), word.toUpperCase(), capitalized];
  return [...new Set(all.map((one) => one.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())))];
}

/**
 * The digits of a word that may be part of a phone number, without the zeros before it and a (0); undefined for other words. At least
 * three digits, or two in a word that begins as a phone number does.
 */
export function phoneDigits(word: string): string | undefined {
  const digits = word.replaceAll(/\(0\)|[^0-9]/g, "").replace(/^0+/, "");
  const least = /^[0+(]/.test(word) ? 2 : 3;
  return /^[0-9+()/.-]+$/.test(word) && digits.length >= least ? digits : undefined;
}
