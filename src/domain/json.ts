// Measures a text before it is parsed as JSON. Values take many times the memory of their text, so a text with too many values
// or levels is found before any memory is used for it. Whether it is valid JSON is left to the parser.

export const MAX_JSON_DEPTH = 64;
export const TOO_DEEP = `must not be nested deeper than ${MAX_JSON_DEPTH} levels`;

/** `entries` are those of the list if the text is one, 1 otherwise. */
export type JsonSize = { readonly values: number; readonly levels: number; readonly entries: number };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const LIST = 0x5b;
const OBJECT = 0x7b;

/** Bytes that matter outside of strings. The codes of ] and } are those of [ and { plus two. */
const IS_STRUCTURAL = new Uint8Array(256);
for (const byte of [QUOTE, COMMA, LIST, LIST + 2, OBJECT, OBJECT + 2]) IS_STRUCTURAL[byte] = 1;

/** Of UTF-8. Stops at the first value or level that exceeds its limit. */
export function measureJson(bytes: Uint8Array, maxValues: number): JsonSize {
  const { length } = bytes;
  let values = 0;
  let levels = 0;
  let deepest = 0;
  let entries = 1;
  let isList = false;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number;
    if (IS_STRUCTURAL[byte] === 0) continue;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA) {
      if (levels === 1 && isList) entries++;
      if (++values > maxValues) break;
    } else if (byte === LIST || byte === OBJECT) {
      if (deepest === 0) isList = byte === LIST;
      if (++levels > deepest) deepest = levels;
      if (++values > maxValues || deepest > MAX_JSON_DEPTH) break;
    } else levels--;
  }
  return { values, levels: deepest, entries };
}

/** The position of the closing quote. */
function endOfString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from + 1;
  for (; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return at;
}
