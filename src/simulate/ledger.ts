// A book of every reading of a simulation: what was measured, and whether the service said that it is safe. In columns, by
// number, so that millions of readings fit.

import type { Instant } from "../domain/instant.ts";
import type { Outcome } from "./delivery.ts";

export const LEDGER_MOST = 5_000_000;
const CHUNK = 65_536;

type Columns = {
  readonly device: Uint32Array;
  readonly at: Float64Array;
  readonly fill: Float64Array;
  readonly isSafe: Uint8Array;
};

/** `isSafe`: it must be there. What was sent and never acknowledged, or waits, may be there. */
export type Entry = { readonly at: Instant; readonly fill: number; readonly isSafe: boolean };

export class Ledger {
  readonly #chunks: Columns[] = [];
  #size = 0;

  get isFull(): boolean {
    return this.#size >= LEDGER_MOST;
  }

  /** Numbers come in order, from 0. */
  note(number: number, device: number, at: Instant, fill: number): void {
    if (number % CHUNK === 0) this.#chunks.push(emptyColumns());
    const columns = this.#columns(number);
    const place = number % CHUNK;
    columns.device[place] = device;
    columns.at[place] = at;
    columns.fill[place] = fill;
    this.#size = number + 1;
  }

  outcome(number: number, { status }: Outcome): void {
    if (status !== "waiting" && status !== "rejected") this.#columns(number).isSafe[number % CHUNK] = 1;
  }

  /** The readings of each device that has any, oldest first. */
  *byDevice(devices: number): Generator<{ readonly device: number; readonly entries: readonly Entry[] }, void, undefined> {
    const { starts, numbers } = this.#sorted(devices);
    for (let device = 0; device < devices; device++) {
      const own = numbers.subarray(starts[device], starts[device + 1]);
      if (own.length > 0) yield { device, entries: Array.from(own, (number) => this.#entry(number)) };
    }
  }

  /** Numbers by device. The instants of a device rise with its numbers, so they are in order too. */
  #sorted(devices: number): { readonly starts: Uint32Array; readonly numbers: Uint32Array } {
    const starts = new Uint32Array(devices + 1);
    for (let number = 0; number < this.#size; number++) add(starts, this.#deviceOf(number) + 1, 1);
    for (let device = 0; device < devices; device++) add(starts, device + 1, starts[device] ?? 0);
    const next = starts.slice();
    const numbers = new Uint32Array(this.#size);
    for (let number = 0; number < this.#size; number++) {
      const device = this.#deviceOf(number);
      numbers[next[device] ?? 0] = number;
      add(next, device, 1);
    }
    return { starts, numbers };
  }

  #deviceOf(number: number): number {
    return this.#columns(number).device[number % CHUNK] ?? 0;
  }

  #entry(number: number): Entry {
    const { at, fill, isSafe } = this.#columns(number);
    const place = number % CHUNK;
    return { at: at[place] ?? 0, fill: fill[place] ?? 0, isSafe: isSafe[place] === 1 };
  }

  #columns(number: number): Columns {
    const columns = this.#chunks[Math.floor(number / CHUNK)];
    if (columns === undefined) throw new Error(`reading ${number} was never noted`);
    return columns;
  }
}

const emptyColumns = (): Columns => ({
  device: new Uint32Array(CHUNK),
  at: new Float64Array(CHUNK),
  fill: new Float64Array(CHUNK),
  isSafe: new Uint8Array(CHUNK),
});

function add(column: Uint32Array, place: number, amount: number): void {
  column[place] = (column[place] ?? 0) + amount;
}
