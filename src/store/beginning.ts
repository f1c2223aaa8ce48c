// Texts that begin with a text, as a range in an index on lower(column). The same on every engine.

const LAST_POINT = 0x10ffff;
const SURROGATES = { first: 0xd800, after: 0xe000 } as const;

/** From `from` up to `to`, not included. A to Z count in lower case. */
export function rangeOf(start: string): { readonly from: string; readonly to: string } {
  const from = start.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const points = Array.from(from, (character) => character.codePointAt(0) ?? 0);
  for (let point = points.pop(); point !== undefined; point = points.pop()) {
    if (point === LAST_POINT) continue;
    const next = point + 1 === SURROGATES.first ? SURROGATES.after : point + 1;
    return { from, to: String.fromCodePoint(...points, next) };
  }
  // After the last character there is nothing: longer than any text that is kept.
  return { from, to: String.fromCodePoint(LAST_POINT).repeat(1000) };
}
