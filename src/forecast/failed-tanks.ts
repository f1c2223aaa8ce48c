// Tanks that could not be written, for example because of damage. They are skipped for a while, so that others go on.

import { hasCode } from "../domain/errors.ts";
import { HOUR, type Instant } from "../domain/instant.ts";
import type { Observe } from "../domain/log-events.ts";

const SKIPPED_MS = HOUR;
/** If more fail, the cause is not in single tanks. */
const MAX_FAILED = 1000;

export class FailedTanks {
  readonly #observe: Observe;
  readonly #failedAt = new Map<string, Instant>();

  constructor(observe: Observe) {
    this.#observe = observe;
  }

  skippedTanks(now: Instant): ReadonlySet<string> {
    for (const [id, failedAt] of this.#failedAt) if (Math.abs(now - failedAt) >= SKIPPED_MS) this.#failedAt.delete(id);
    return new Set(this.#failedAt.keys());
  }

  /** Writes all at once. If that fails, one by one: those that fail are reported and skipped. */
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
