// A group of milestones as it is stored: a column of counts and one of instants, each a run of little-endian doubles, and
// a column of ids, as a JSON list, where entries may share an instant.

import type { SQLInputValue } from "node:sqlite";
import type { Group, Position } from "../series/levels.ts";
import type { Row } from "./rows.ts";

const WIDTH = 8;

export class PackedGroup {
  readonly level: number;
  readonly length: number;
  readonly #aheads: DataView;
  readonly #instants: DataView;
  readonly #ids: string | undefined;

  /** Level, counts, instants, ids. */
  constructor(row: Row) {
    const [level, aheads, instants, ids] = row as readonly [number, Uint8Array, Uint8Array, string | undefined];
    this.level = level;
    this.length = Math.floor(instants.byteLength / WIDTH);
    this.#aheads = viewOf(aheads);
    this.#instants = viewOf(instants);
    this.#ids = ids;
  }

  ahead(place: number): number {
    return this.#aheads.getFloat64(place * WIDTH, true);
  }

  instant(place: number): number {
    return this.#instants.getFloat64(place * WIDTH, true);
  }

  at(place: number): Position {
    return this.#ids === undefined ? [this.instant(place)] : [this.instant(place), JSON.parse(this.#ids)[place]];
  }

  unpacked(): Group {
    const ids: string[] | undefined = this.#ids === undefined ? undefined : JSON.parse(this.#ids);
    return {
      level: this.level,
      at: numbersIn(this.#instants).map((instant, i) => (ids === undefined ? [instant] : [instant, ids[i] ?? ""])),
      ahead: numbersIn(this.#aheads),
    };
  }
}

/** The columns of a group: counts, instants, ids. */
export function packGroup({ at, ahead }: Group): SQLInputValue[] {
  const hasIds = (at[0]?.length ?? 0) > 1;
  const instants = doubles(at.map(([instant]) => Number(instant)));
  return [doubles(ahead), instants, ...(hasIds ? [JSON.stringify(at.map(([, id]) => id))] : [])];
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function numbersIn(view: DataView): number[] {
  return Array.from({ length: Math.floor(view.byteLength / WIDTH) }, (_, i) => view.getFloat64(i * WIDTH, true));
}

function doubles(numbers: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(numbers.length * WIDTH));
  for (const [i, number] of numbers.entries()) view.setFloat64(i * WIDTH, number, true);
  return new Uint8Array(view.buffer);
}
