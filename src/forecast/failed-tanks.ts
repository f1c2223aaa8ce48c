// Tanks that could not be written, for example because of damage. They are left out for a while, so that others go on.

import { hasCode } from "../domain/errors.ts";
import type { Instant } from "../domain/instant.ts";
import type { Observe } from "../domain/log-events.ts";

const LEFT_OUT_MS = 3_600_000;
/** If more fail, the cause is not in single tanks. */
const MAX_FAILED = 1000;

export class FailedTanks {
  readonly #observe: Observe;
  readonly #failedAt = new Map<string, Instant>();

  constructor(observe: Observe) {
    this.#observe = observe;
  }

  /** The tanks to leave out. */
  at(now: Instant): ReadonlySet<string> {
    for (const [id, failedAt] of this.#failedAt) if (Math.abs(now - failedAt) >= LEFT_OUT_MS) this.#failedAt.delete(id);
    return new Set(this.#failedAt.keys());
  }

  /** Writes all at once. If that fails, one by one: those that fail are reported and left out. */
  async write<T>(all: readonly T[], now: Instant, idOf: (one: T) => string, write: (some: readonly T[]) => Promise<void>) {
    try {
      return await write(all);
    } catch (error) {
      if (hasCode(error, "store_unavailable")) throw error;
    }
    for (const one of all) {
      try {
        await write([one]);
      } catch (error) {
        if (hasCode(error, "store_unavailable") || this.#failedAt.size >= MAX_FAILED) throw error;
        this.#failedAt.set(idOf(one), now);
        this.#observe({ kind: "forecast_failed", tankId: idOf(one), error });
      }
    }
  }
}
