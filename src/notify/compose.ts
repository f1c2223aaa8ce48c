// Composes planned notifications when they are due. Any number of processes may do so: the store gives each of them a part.

import type { ComposeReads, ComposeSettings, ComposeWrites } from "../domain/alerts/compose.ts";
import { hasCode } from "../domain/errors.ts";
import type { Observe } from "../domain/events.ts";
import type { Clock } from "../domain/instant.ts";

const CHECK_MS = 1000;

export type ComposerOptions = {
  readonly store: ComposeReads & ComposeWrites;
  readonly settings: ComposeSettings;
  readonly clock: Clock;
  readonly observe: Observe;
};

export class Composer {
  readonly #options: ComposerOptions;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #isStopping = false;

  constructor(options: ComposerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#start(), CHECK_MS);
  }

  /** The step in progress is completed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  #start(): void {
    this.#running ??= this.#composeDue()
      .catch((error: unknown) => {
        if (!hasCode(error, "store_unavailable")) this.#options.observe({ kind: "composing_failed", error });
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #composeDue(): Promise<void> {
    const { store, settings, clock } = this.#options;
    const next = await store.nextPlannedAt();
    if (next === null || next > clock()) return;
    while (!this.#isStopping && (await store.composeNotifications(settings, clock())));
  }
}
