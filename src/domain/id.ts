// Identifiers, and what stored texts may contain. Identifiers are opaque strings: ours have a prefix and sort by creation time,
// imported ones are kept unchanged.

import { hash, randomFillSync } from "node:crypto";
import type { Instant } from "./instant.ts";

export const ID_MAX_LENGTH = 128;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

const RANDOM_CHARACTERS = 16;

export type IdPrefix = "cus" | "tank" | "key" | "alr" | "chn" | "msg" | "usr" | "ses";

/** Random bytes for 256 ids at a time: requesting them from the system takes ten times as long as the rest of an id. */
const randomPool = new Uint8Array(256 * RANDOM_CHARACTERS);
let usedBytes = randomPool.length;

/** Ten characters of time and sixteen random ones (80 bits). */
export function newId(prefix: IdPrefix, now: Instant): string {
  let time = "";
  for (let rest = now, i = 0; i < 10; i++) {
    time = ALPHABET.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  if (usedBytes === randomPool.length) {
    randomFillSync(randomPool);
    usedBytes = 0;
  }
  usedBytes += RANDOM_CHARACTERS;
  const random = randomPool.subarray(usedBytes - RANDOM_CHARACTERS, usedBytes);
  return `${prefix}_${time}${idCharacters(random)}`;
}

/** The same id for the same text. It says nothing about the time. */
export function derivedId(prefix: IdPrefix, text: string): string {
  return `${prefix}_${idCharacters(hash("sha256", text, "buffer").subarray(0, 26))}`;
}

function idCharacters(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += ALPHABET.charAt(byte % 32);
  return text;
}

/** False for a text that cannot be the id of anything, so that no query is needed. */
export function isPossibleId(text: string): boolean {
  return text !== "" && !isLongerThan(text, ID_MAX_LENGTH) && isCleanText(text);
}

/** Clients resolve these in a URL as relative paths, however they are encoded. New objects cannot have them as ids. */
export const isDotSegment = (text: string): boolean => text === "." || text === "..";
export const NO_DOT_SEGMENT = 'must not be "." or ".."';

/** The id under which a device is stored. Network servers and people write an EUI-64 in either case: it becomes lower case. */
export function deviceKey(id: string): string {
  return EUI_64.test(id) ? id.toLowerCase() : id;
}

const EUI_64 = /^[0-9A-Fa-f]{16}$/;

/** Counts characters, of which some take two places in a string. */
export function isLongerThan(text: string, characters: number): boolean {
  return text.length > characters && (text.length > characters * 2 || [...text].length > characters);
}

/** No control characters, no broken surrogate pairs: both engines store and return it unchanged. */
export function isCleanText(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return false;
  }
  return text.isWellFormed();
}
