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
    this.length = instants.byteLength / WIDTH;
    if (!Number.isInteger(this.length) || this.length === 0 || aheads.byteLength !== instants.byteLength) throw unreadable();
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
    const ids = this.#readIds();
    return ids === undefined ? [this.instant(place)] : [this.instant(place), ids[place] as string];
  }

  unpacked(): Group {
    const ids = this.#readIds();
    const places = Array.from({ length: this.length }, (_, i) => i);
    return {
      level: this.level,
      at: places.map((i) => (ids === undefined ? [this.instant(i)] : [this.instant(i), ids[i] as string])),
      ahead: places.map((i) => this.ahead(i)),
    };
  }

  #readIds(): string[] | undefined {
    if (this.#ids === undefined) return undefined;
    const ids: unknown = JSON.parse(this.#ids);
    if (!Array.isArray(ids) || ids.length !== this.length || !ids.every((id) => typeof id === "string")) throw unreadable();
    return ids;
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

function unreadable(): Error {
  return new Error('a group of milestones cannot be read: "tank-monitor check --repair" makes it anew');
}

function doubles(numbers: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(numbers.length * WIDTH));
  for (const [i, number] of numbers.entries()) view.setFloat64(i * WIDTH, number, true);
  return new Uint8Array(view.buffer);
}
