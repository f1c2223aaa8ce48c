// Where devices were, looked up in all that was ever told of them: written to be obviously right.

/** At `at` somebody said that the device serves this tank from now on, or none. */
export type Word = { readonly at: number; readonly tank: string | null };

/**
 * Of words in the order they were told, with a clock that never goes back. The last word before the instant counts; where
 * that is that it served none, or there is none, the next tank that is named.
 */
export function tankThen(words: readonly Word[], at: number): string | null {
  const last = words.findLastIndex((word) => word.at <= at);
  const tank = words[last]?.tank ?? null;
  return tank ?? words.slice(last + 1).find((word) => word.tank !== null)?.tank ?? null;
}

export class DeviceLocations {
  readonly #words = new Map<string, Word[]>();

  tell(device: string, tank: string | null, at: number): void {
    this.#words.set(device, [...(this.#words.get(device) ?? []), { at, tank }]);
  }

  tankThen(device: string, at: number): string | null {
    return tankThen(this.#words.get(device) ?? [], at);
  }

  /** The tank it serves by the last word. */
  tankNow(device: string): string | null {
    return this.#words.get(device)?.at(-1)?.tank ?? null;
  }
}
