// Watches whether the database file is still the one that was opened. SQLite continues to read and write a file that was moved
// away; what is acknowledged then is lost to the operator.

import { stat } from "node:fs/promises";

const CHECK_INTERVAL_MS = 500;

export type FileChange = { readonly lost: string } | "back";

export class FileWatch {
  readonly #file: string;
  readonly #changed: (change: FileChange) => void;
  readonly #timer: NodeJS.Timeout;
  #inode: number | undefined;
  #lost: string | undefined;

  constructor(file: string, changed: (change: FileChange) => void) {
    this.#file = file;
    this.#changed = changed;
    this.#timer = setInterval(() => void this.check(), CHECK_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Why the file is lost, or undefined. */
  get lost(): string | undefined {
    return this.#lost;
  }

  async check(): Promise<void> {
    const lost = await this.#lossReason();
    if (lost === this.#lost) return;
    const wasLost = this.#lost !== undefined;
    this.#lost = lost;
    if (lost !== undefined) this.#changed({ lost });
    else if (wasLost) this.#changed("back");
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #lossReason(): Promise<string | undefined> {
    try {
      const { ino } = await stat(this.#file);
      this.#inode ??= ino;
      return ino === this.#inode ? undefined : `${this.#file} was replaced while in use; restart to serve the new file`;
    } catch (error) {
      return `${this.#file} cannot be found: ${(error as Error).message}`;
    }
  }
}
