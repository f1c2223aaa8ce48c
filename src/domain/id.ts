// Identifiers: opaque strings. Ours carry a prefix and sort by the time they were made; an imported one is kept as it is.

import { randomBytes } from "node:crypto";
import type { Instant } from "./instant.ts";

export const ID_MAX_LENGTH = 128;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

export type IdPrefix = "cus" | "tank" | "key";

/** Ten characters of time, sixteen of chance: 80 bits within one millisecond. */
export function newId(prefix: IdPrefix, now: Instant, random: (size: number) => Uint8Array = randomBytes): string {
  let time = "";
  for (let rest = now, i = 0; i < 10; i++) {
    time = ALPHABET.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  let chance = "";
  for (const byte of random(16)) chance += ALPHABET.charAt(byte % 32);
  return `${prefix}_${time}${chance}`;
}

/** A text that fails this cannot be the id of anything, so looking it up is pointless. */
export function isPossibleId(text: string): boolean {
  return text !== "" && !isLongerThan(text, ID_MAX_LENGTH) && isCleanText(text);
}

/** In characters, of which some take two places in a string. */
export function isLongerThan(text: string, characters: number): boolean {
  return text.length > characters && (text.length > characters * 2 || [...text].length > characters);
}

/** No control characters, no broken surrogate pairs: what both engines store and give back unchanged. */
export function isCleanText(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return false;
  }
  return text.isWellFormed();
}
