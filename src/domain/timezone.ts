// Time zones: the offset of local time from UTC, which changes a few times a year at most. It is looked up once per change,
// not once per instant.

import type { Instant } from "./instant.ts";

/** While local time is UTC plus `offset` milliseconds: from `from` to `until`, exclusive. */
export type OffsetPeriod = { readonly from: Instant; readonly until: Instant; readonly offset: number };

const MAX_CACHED_PERIODS = 2000;

export class TimeZone {
  /** As the database of time zones writes it: `Europe/Berlin`, also for `europe/berlin`. */
  readonly id: string;
  /** Periods that were looked up so far, in order. */
  #periods: OffsetPeriod[] = [];

  constructor(id: string) {
    this.id = id;
  }

  periodAt(instant: Instant): OffsetPeriod {
    const position = this.#countUntil(instant);
    const known = this.#periods[position];
    if (known !== undefined && known.from <= instant) return known;
    const found = this.#lookUp(instant);
    if (this.#periods.length >= MAX_CACHED_PERIODS) this.#periods = [found];
    else this.#periods.splice(position, 0, found);
    return found;
  }

  /** How many of the periods have ended at the instant. */
  #countUntil(instant: Instant): number {
    let [low, high] = [0, this.#periods.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#periods[middle] as OffsetPeriod).until <= instant) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #lookUp(instant: Instant): OffsetPeriod {
    const at = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(this.id);
    // The change before an instant is not the one at the instant.
    const before = at.add({ milliseconds: 1 }).getTimeZoneTransition("previous");
    return {
      from: before?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
      until: at.getTimeZoneTransition("next")?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
      offset: at.offsetNanoseconds / 1e6,
    };
  }
}

const zones = new Map<string, TimeZone>();

/** Finds a time zone by its name, in any case of letters; undefined if there is none. */
export function timeZone(name: string): TimeZone | undefined {
  const known = zones.get(name);
  if (known !== undefined) return known;
  if (!isTimeZone(name)) return undefined;
  const id = Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  const zone = zones.get(id) ?? new TimeZone(id);
  zones.set(id, zone);
  return zone;
}

/** Temporal alone would also accept a datetime with a time zone in brackets. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
