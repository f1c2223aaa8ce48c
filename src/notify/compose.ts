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

/** When it is stopped, the step in progress is completed. */
export function startComposer({ store, settings, clock, observe }: ComposerOptions): RepeatedTask {
  const task = new RepeatedTask({
    everyMs: CHECK_MS,
    run: composeDue,
    onError(error) {
      if (!hasCode(error, "store_unavailable")) observe({ kind: "composing_failed", error });
    },
  });

  async function composeDue(): Promise<void> {
    while (!task.isStopping) {
      const next = await store.nextDeferred();
      if (next === undefined || next.dueAt > clock() || !(await composeFor(next.recipientId))) return;
    }
  }

  async function composeFor(recipientId: string): Promise<boolean> {
    try {
      return await store.composeNotifications(recipientId, settings, clock());
    } catch (error) {
      if (hasCode(error, "store_unavailable")) throw error;
      observe({ kind: "composing_failed", error });
      await store.postponeNotifications(recipientId, clock() + RETRY_MS);
      return true;
    }
  }

  return task;
}
