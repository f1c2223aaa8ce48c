// Strings with a prefix, as a range in an index on lower(column). The same for both engines.

const LAST_POINT = 0x10ffff;
const SURROGATES = { first: 0xd800, after: 0xe000 } as const;

/** From `from` to `to`, exclusive. Only A to Z are lowercased. */
export function prefixRange(start: string): { readonly from: string; readonly to: string } {
  const from = start.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const points = Array.from(from, (character) => character.codePointAt(0) ?? 0);
  for (let point = points.pop(); point !== undefined; point = points.pop()) {
    if (point === LAST_POINT) continue;
    const next = point + 1 === SURROGATES.first ? SURROGATES.after : point + 1;
    return { from, to: String.fromCodePoint(...points, next) };
  }
  // Nothing sorts after the last character: longer than any string that is stored.
  return { from, to: String.fromCodePoint(LAST_POINT).repeat(1000) };
}
