// Composes deferred notifications when they are due. Any number of processes may do so: the store gives each of them a part.

import type { ComposeReads, ComposeSettings, ComposeWrites } from "../domain/alerts/compose.ts";
import { hasCode } from "../domain/errors.ts";
import { type Clock, MINUTE } from "../domain/instant.ts";
import type { Observe } from "../domain/log-events.ts";
import { RepeatedTask } from "../domain/repeated-task.ts";

const CHECK_MS = 1000;
/** Where composing fails for one recipient, for example because of damaged data, this recipient waits, and the others go on. */
const RETRY_MS = 10 * MINUTE;

type ComposerOptions = {
  readonly store: ComposeReads & ComposeWrites;
  readonly settings: ComposeSettings;
  readonly clock: Clock;
  readonly observe: Observe;
};

export class Composer {
  readonly #options: ComposerOptions;
  readonly #task: RepeatedTask;

  constructor(options: ComposerOptions) {
    this.#options = options;
    this.#task = new RepeatedTask({
      everyMs: CHECK_MS,
      run: () => this.#composeDue(),
      onError: (error) => {
        if (!hasCode(error, "store_unavailable")) options.observe({ kind: "composing_failed", error });
      },
    });
  }

  /** The step in progress is completed. */
  async stop(): Promise<void> {
    await this.#task.stop();
  }

  async #composeDue(): Promise<void> {
    const { store, clock } = this.#options;
    while (!this.#task.isStopping) {
      const next = await store.nextDeferred();
      if (next === undefined || next.dueAt > clock() || !(await this.#composeFor(next.recipientId))) return;
    }
  }

  async #composeFor(recipientId: string): Promise<boolean> {
    const { store, settings, clock, observe } = this.#options;
    try {
      return await store.composeNotifications(recipientId, settings, clock());
    } catch (error) {
      if (hasCode(error, "store_unavailable")) throw error;
      observe({ kind: "composing_failed", error });
      await store.postponeNotifications(recipientId, clock() + RETRY_MS);
      return true;
    }
  }
}
