// What was sent, and what of it was acknowledged, held against what the service has stored.

/** `place` is the tank it belongs to; for a device that nobody knows, the device. Instants are milliseconds. */
export type Reading = { readonly place: string; readonly at: number; readonly fill: number };

/** By place and instant. */
export type StoredReadings = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** One delivery of a reading, from its start until it can no longer be in flight. */
type Attempt = { readonly fill: number; readonly begun: number; ended: number; isAcknowledged: boolean };

export type Sending = {
  readonly acknowledged: () => void;
  /** It may be stored or not, and is no longer in flight. */
  readonly refused: () => void;
  /** Unknown: it may be in flight until `settle`. */
  readonly broken: () => void;
};

const PATIENCE_MS = 60_000;

export class Ledger {
  readonly #places = new Map<string, Map<number, Attempt[]>>();
  readonly #awaited = new Set<{ readonly wanted: number; readonly resolve: () => void }>();
  #broken: (() => void)[] = [];
  /** Counts beginnings and ends, so that each is before or after every other. */
  #now = 0;
  #acknowledged = 0;
  #news = 0;

  /** Readings acknowledged so far, as often as they were. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Of these, the ones that had not been acknowledged before with the same value. The others need not be written. */
  get news(): number {
    return this.#news;
  }

  get now(): number {
    return this.#now;
  }

  begin(readings: readonly Reading[]): Sending {
    const attempts = readings.map((reading) => this.#attempt(reading));
    const end = (isAcknowledged: boolean): void => {
      this.#now++;
      for (const attempt of attempts) Object.assign(attempt, { ended: this.#now, isAcknowledged });
    };
    const isNew = ({ place, at, fill }: Reading): boolean =>
      this.#places
        .get(place)
        ?.get(at)
        ?.some((before) => before.isAcknowledged && before.fill === fill) !== true;
    return {
      acknowledged: () => {
        this.#news += readings.filter(isNew).length;
        end(true);
        this.#acknowledged += readings.length;
        for (const awaited of this.#awaited) {
          if (awaited.wanted > this.#acknowledged) continue;
          this.#awaited.delete(awaited);
          awaited.resolve();
        }
      },
      refused: () => end(false),
      broken: () => this.#broken.push(() => end(false)),
    };
  }

  /** Whoever could still write what was broken off is gone. */
  settle(): void {
    for (const end of this.#broken.splice(0)) end();
  }

  /** In the very moment of the acknowledgement that makes them so many more. */
  untilAcknowledged(more: number): Promise<void> {
    const wanted = this.#acknowledged + more;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (): void => reject(new Error(`${this.#acknowledged} readings are acknowledged after a minute, not ${wanted}`));
    const timer = setTimeout(fail, PATIENCE_MS);
    this.#awaited.add({ wanted, resolve });
    return promise.finally(() => clearTimeout(timer));
  }

  /** Instants of a place that were acknowledged, and those that were sent at all. */
  counts(place: string): { readonly acknowledged: number; readonly sent: number } {
    const instants = [...(this.#places.get(place)?.values() ?? [])];
    const acknowledged = instants.filter((attempts) => attempts.some(({ isAcknowledged }) => isAcknowledged)).length;
    return { acknowledged, sent: instants.length };
  }

  /** What is wrong with what is stored, where only what was acknowledged by then must be there. */
  errorsIn(stored: StoredReadings, places: readonly string[], by = this.#now): string[] {
    return places.flatMap((place) => {
      const here = stored.get(place) ?? new Map<number, number>();
      const sent = this.#places.get(place) ?? new Map<number, Attempt[]>();
      const instants = new Set([...here.keys(), ...sent.keys()]);
      return [...instants].flatMap((at) => {
        const error = errorOf(here.get(at), sent.get(at) ?? [], by);
        return error === undefined ? [] : [`${place} at ${new Date(at).toISOString()}: ${error}`];
      });
    });
  }

  #attempt({ place, at, fill }: Reading): Attempt {
    const attempt = { fill, begun: ++this.#now, ended: Number.POSITIVE_INFINITY, isAcknowledged: false };
    const here = this.#places.get(place) ?? new Map<number, Attempt[]>();
    this.#places.set(place, here);
    const before = here.get(at);
    if (before === undefined) here.set(at, [attempt]);
    else before.push(attempt);
    return attempt;
  }
}

/** A value stays until a later one comes: none that was acknowledged may have begun after the stored one had ended. */
function errorOf(stored: number | undefined, sent: readonly Attempt[], by: number): string | undefined {
  const acknowledged = sent.filter(({ isAcknowledged, ended }) => isAcknowledged && ended <= by);
  if (stored === undefined) {
    return acknowledged.length === 0 ? undefined : `${acknowledged.map(({ fill }) => fill)} was acknowledged and is lost`;
  }
  const same = sent.filter(({ fill }) => fill === stored);
  if (same.length === 0) return `${stored} was never sent`;
  const isLatest = same.some((one) => !acknowledged.some(({ begun }) => begun > one.ended));
  return isLatest ? undefined : `${stored} is stored although ${acknowledged.at(-1)?.fill} was acknowledged later`;
}
