// Many pieces of bytes as one value, which travels as it is: an array of them would travel as text, twice as long.

import type { Value } from "./connection.ts";

/** The pieces behind each other, where each begins, from 1, and how long it is. */
export function joined(pieces: readonly Uint8Array[]): [bytes: Uint8Array, places: Value, lengths: Value] {
  let place = 1;
  const places = pieces.map(({ length }) => {
    place += length;
    return place - length;
  });
  return [Buffer.concat(pieces), places, pieces.map(({ length }) => length)];
}

/** Of a row with a `place` and a `length`. */
export const pieceOf = (bytes: string): string => `substring(${bytes}::bytea FROM place FOR length)`;
