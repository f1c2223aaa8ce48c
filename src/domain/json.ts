// A look at a text before it is read as JSON. Values take many times the memory of their text, so a text that would become
// too many of them, or too deep, is known for it before the first is made. Whether it is JSON is left to the reader.

/** Far deeper than anything that is sent here, and no trouble for whoever goes through it level by level. */
export const MAX_JSON_DEPTH = 64;
export const TOO_DEEP = `must not be nested deeper than ${MAX_JSON_DEPTH} levels`;

/** `entries` are those of the list that the text is; of any other text, one. */
export type JsonSize = { readonly values: number; readonly levels: number; readonly entries: number };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const LIST = 0x5b;
const OBJECT = 0x7b;

/** Which bytes matter outside of texts; most do not. The closing ] and } stand two places after the opening ones. */
const IS_STRUCTURAL = new Uint8Array(256);
for (const byte of [QUOTE, COMMA, LIST, LIST + 2, OBJECT, OBJECT + 2]) IS_STRUCTURAL[byte] = 1;

/** Of UTF-8. Goes no further than to the first level too many, or the first value. */
export function measureJson(bytes: Uint8Array, mostValues: number): JsonSize {
  const { length } = bytes;
  let values = 0;
  let levels = 0;
  let deepest = 0;
  let entries = 1;
  let isList = false;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number;
    if (IS_STRUCTURAL[byte] === 0) continue;
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === COMMA) {
      if (levels === 1 && isList) entries++;
      if (++values > mostValues) break;
    } else if (byte === LIST || byte === OBJECT) {
      if (deepest === 0) isList = byte === LIST;
      if (++levels > deepest) deepest = levels;
      if (++values > mostValues || deepest > MAX_JSON_DEPTH) break;
    } else levels--;
  }
  return { values, levels: deepest, entries };
}

/** Where the quote stands that closes the text which begins here. */
function endOfText(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from + 1;
  for (; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return at;
}
