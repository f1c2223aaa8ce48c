// What a check finds, before it is decided whether to repair it.

import type { Finding } from "../../domain/store.ts";

/** Repairable: it can be rebuilt from other data. */
export type Inconsistency = { readonly message: string; readonly isRepairable: boolean };
/** What was checked, and what is wrong with it. */
export type CheckResult = { readonly where: string; readonly found: readonly Inconsistency[] };
/** The result of a row. `key`: its place in the order of the rows. */
export type CheckedRow<K> = CheckResult & { readonly key: K };

/** Keeps the first inconsistency of each kind and counts the others: a damaged tank is reported in a few lines. */
export class Inconsistencies {
  readonly #kinds = new Map<string, { readonly first: Inconsistency; count: number }>();

  add(kind: string, isRepairable: boolean, message: () => string): void {
    const known = this.#kinds.get(kind);
    if (known === undefined) this.#kinds.set(kind, { first: { message: message(), isRepairable }, count: 1 });
    else known.count++;
  }

  list(): Inconsistency[] {
    return Array.from(this.#kinds.values(), ({ first, count }) =>
      count === 1 ? first : { ...first, message: `${first.message} (and ${count - 1} more like it)` },
    );
  }
}

/** `remaining` is what a check after the repair found, if one was tried. */
export function findingsOf({ where, found }: CheckResult, remaining: readonly Inconsistency[] = found): Finding[] {
  const isRepaired = !remaining.some(({ isRepairable }) => isRepairable);
  return found.map(({ message, isRepairable }) => ({
    where,
    what: message,
    isRepairable,
    repaired: isRepairable && isRepaired,
  }));
}

export const unrepairable = (message: string): Inconsistency[] => [{ message, isRepairable: false }];
export const repairable = (message: string): Inconsistency[] => [{ message, isRepairable: true }];
/** For rows that nothing else says how to correct. */
export const damagedRow = (error: string | undefined): Inconsistency[] =>
  error === undefined ? [] : unrepairable(`${error}: restore a backup`);
