// What an order took in of the readings that waited for it, as it is told with what the order did.

import { formatInstant, type Instant } from "../instant.ts";
import type { Resource } from "../resource.ts";

/** Counted as they are taken, piece by piece: they may be very many. */
export class ReleasedReadings {
  #readings = 0;
  #rejected = 0;
  #from: Instant = Number.POSITIVE_INFINITY;
  #to: Instant = Number.NEGATIVE_INFINITY;

  /** A reading that waited, and waits no longer. */
  add(created_at: Instant, isRejected: boolean): void {
    if (isRejected) this.#rejected++;
    else this.#readings++;
    this.#from = Math.min(this.#from, created_at);
    this.#to = Math.max(this.#to, created_at);
  }

  get shown(): object | null {
    const [readings, rejected] = [this.#readings, this.#rejected];
    if (readings + rejected === 0) return null;
    return { readings, rejected, from: formatInstant(this.#from), to: formatInstant(this.#to) };
  }
}

/** For orders that readings may have waited for. It is filled in once they are taken. */
export function withReleasedField({ object, etag: tag }: Resource): Resource {
  return { object: { ...object, taken_in: null }, etag: tag };
}

export function withReleased(shown: Resource, taken: ReleasedReadings): Resource {
  if (!("taken_in" in shown.object)) return shown;
  return { ...shown, object: { ...shown.object, taken_in: taken.shown } };
}
