// Watches whether the database file is still the one that was opened. SQLite itself goes on reading and writing a file
// that was moved away, and whatever is acknowledged then is lost to the operator.

import { stat } from "node:fs/promises";

const LOOK_EVERY_MS = 500;

export type PresenceChange = { readonly lost: string } | "back";

export class Presence {
  readonly #file: string;
  readonly #changed: (change: PresenceChange) => void;
  readonly #timer: NodeJS.Timeout;
  #inode: number | undefined;
  #lost: string | undefined;

  constructor(file: string, changed: (change: PresenceChange) => void) {
    this.#file = file;
    this.#changed = changed;
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Why the database is away, or undefined. */
  get lost(): string | undefined {
    return this.#lost;
  }

  async look(): Promise<void> {
    const lost = await this.#whyLost();
    if (lost === this.#lost) return;
    const wasLost = this.#lost !== undefined;
    this.#lost = lost;
    if (lost !== undefined) this.#changed({ lost });
    else if (wasLost) this.#changed("back");
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #whyLost(): Promise<string | undefined> {
    try {
      const { ino } = await stat(this.#file);
      this.#inode ??= ino;
      return ino === this.#inode ? undefined : `${this.#file} was replaced while in use; restart to serve the new file`;
    } catch (error) {
      return `${this.#file} cannot be found: ${(error as Error).message}`;
    }
  }
}
