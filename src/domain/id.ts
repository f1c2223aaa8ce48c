// Identifiers: opaque strings. Ours have a prefix and sort by creation time; imported ones are kept unchanged.

import { randomBytes } from "node:crypto";
import type { Instant } from "./instant.ts";
import { isCleanText, isLongerThan } from "./text.ts";

export const ID_MAX_LENGTH = 128;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

export type IdPrefix = "cus" | "tank" | "key";

/** Ten characters of time and sixteen random ones (80 bits). */
export function newId(prefix: IdPrefix, now: Instant, random: (size: number) => Uint8Array = randomBytes): string {
  let time = "";
  for (let rest = now, i = 0; i < 10; i++) {
    time = ALPHABET.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  const suffix = Array.from(random(16), (byte) => ALPHABET.charAt(byte % 32)).join("");
  return `${prefix}_${time}${suffix}`;
}

/** False for a text that cannot be the id of anything, so that no query is needed. */
export function isPossibleId(text: string): boolean {
  return text !== "" && !isLongerThan(text, ID_MAX_LENGTH) && isCleanText(text);
}
