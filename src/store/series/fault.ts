// What a check finds wrong with one thing, before anybody decides whether to repair it.

import { errorInKey, type StoredKey } from "../../domain/key.ts";
import type { Finding } from "../../domain/store.ts";

export type Fault = {
  readonly what: string;
  /** Can be made anew from the data. */
  readonly isDerived: boolean;
};

/** The first fault of each kind, and how many more there are: a broken tank says a few things, not thousands. */
export class Faults {
  readonly #kinds = new Map<string, { readonly fault: Fault; count: number }>();

  /** `kind` groups those of which one is told. */
  add(kind: string, isDerived: boolean, what: () => string): void {
    const known = this.#kinds.get(kind);
    if (known === undefined) this.#kinds.set(kind, { fault: { what: what(), isDerived }, count: 1 });
    else known.count++;
  }

  has(kind: string): boolean {
    return this.#kinds.has(kind);
  }

  list(): Fault[] {
    return Array.from(this.#kinds.values(), ({ fault, count }) =>
      count === 1 ? fault : { ...fault, what: `${fault.what} (and ${count - 1} more like it)` },
    );
  }
}

/** As told to the operator; `left` are the faults that a repair has left, where one was tried. */
export function findingsOf(where: string, faults: readonly Fault[], left: readonly Fault[] = faults): Finding[] {
  const isMended = !left.some(({ isDerived }) => isDerived);
  return faults.map(({ what, isDerived }) => ({ where, what, repaired: isDerived && isMended }));
}

/** What the rules of the interface say of an object. */
export function ruleFaults(fault: string | undefined): Fault[] {
  return fault === undefined ? [] : [{ isDerived: false, what: `${fault}; import it again, put right` }];
}

export function countFaults(kept: number, tanks: number): Fault[] {
  return kept === tanks ? [] : [{ isDerived: true, what: `there are ${tanks} tanks, tank_count says ${kept}` }];
}

/** What is wrong with a key. */
export function keyFaults(keys: readonly StoredKey[]): { readonly where: string; readonly faults: Fault[] }[] {
  const ids = new Set(keys.map(({ id }) => id));
  return keys.flatMap((key) => {
    const isLost = key.replaced_by !== null && !ids.has(key.replaced_by);
    const fault = errorInKey(key) ?? (isLost ? `its successor ${key.replaced_by} is not there` : undefined);
    if (fault === undefined) return [];
    return [{ where: `key ${key.id}`, faults: [{ isDerived: false, what: `${fault}; revoke it and make another` }] }];
  });
}
