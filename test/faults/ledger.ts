// What was sent, and what of it was acknowledged, compared with what the service has stored.

import type { Reading, Source } from "./fleet.ts";

/** Fills by source and instant. */
export type FillsBySource = ReadonlyMap<Source, ReadonlyMap<number, number>>;

/** One delivery of a reading, from its start until it can no longer be in flight. */
type Attempt = { readonly fill: number; readonly begun: number; ended: number; isAcknowledged: boolean };

export type Sending = {
  readonly acknowledged: () => void;
  /** It may be stored or not, and is no longer in flight. */
  readonly rejected: () => void;
  /** Unknown: it may be in flight until `settle`. */
  readonly broken: () => void;
};

const TIMEOUT_MS = 60_000;

export class Ledger {
  readonly #sent = new Map<Source, Map<number, Attempt[]>>();
  readonly #awaited = new Set<{ readonly wanted: number; readonly resolve: () => void }>();
  #broken: (() => void)[] = [];
  /** Counts beginnings and ends, so that each is before or after every other. */
  #now = 0;
  #acknowledged = 0;
  #changes = 0;

  /** Acknowledged readings that had not been acknowledged before with the same value. The others need not be written. */
  get changes(): number {
    return this.#changes;
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
    return {
      acknowledged: () => {
        this.#changes += readings.filter((reading) => !this.#isAcknowledged(reading)).length;
        end(true);
        this.#acknowledged += readings.length;
        for (const awaited of this.#awaited) {
          if (awaited.wanted > this.#acknowledged) continue;
          this.#awaited.delete(awaited);
          awaited.resolve();
        }
      },
      rejected: () => end(false),
      broken: () => this.#broken.push(() => end(false)),
    };
  }

  /** To be called when nothing that was broken off can still be written. */
  settle(): void {
    for (const end of this.#broken.splice(0)) end();
  }

  /** Resolves in the moment of the acknowledgement that completes `more` readings. */
  untilAcknowledged(more: number): Promise<void> {
    const wanted = this.#acknowledged + more;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (): void => reject(new Error(`${this.#acknowledged} readings are acknowledged after a minute, not ${wanted}`));
    const timer = setTimeout(fail, TIMEOUT_MS);
    this.#awaited.add({ wanted, resolve });
    return promise.finally(() => clearTimeout(timer));
  }

  /** Instants of a source that were acknowledged, and those that were sent at all. */
  counts(source: Source): { readonly acknowledged: number; readonly sent: number } {
    const instants = [...(this.#sent.get(source)?.values() ?? [])];
    const acknowledged = instants.filter((attempts) => attempts.some(({ isAcknowledged }) => isAcknowledged)).length;
    return { acknowledged, sent: instants.length };
  }

  /** Acknowledged readings that were never sent before `since`. The others may have been stored before, and only be duplicates. */
  acknowledgedNewSince(since: number): number {
    const isNew = (attempts: readonly Attempt[]): boolean =>
      attempts.some(
        ({ isAcknowledged, fill }) => isAcknowledged && attempts.every((one) => one.fill !== fill || one.begun > since),
      );
    return [...this.#sent.values()].flatMap((sent) => [...sent.values()].filter(isNew)).length;
  }

  /** What is wrong with what is stored. Only what was acknowledged by then must be there. */
  errorsIn(stored: FillsBySource, sources: readonly Source[], by = this.#now): string[] {
    return sources.flatMap((source) => {
      const here = stored.get(source) ?? new Map<number, number>();
      const sent = this.#sent.get(source) ?? new Map<number, Attempt[]>();
      return [...new Set([...here.keys(), ...sent.keys()])].flatMap((at) => {
        const error = errorOf(here.get(at), sent.get(at) ?? [], by);
        return error === undefined ? [] : [`${source.tankId} at ${new Date(at).toISOString()}: ${error}`];
      });
    });
  }

  #attempt({ source, at, fill }: Reading): Attempt {
    const attempt = { fill, begun: ++this.#now, ended: Number.POSITIVE_INFINITY, isAcknowledged: false };
    const sent = this.#sent.get(source) ?? new Map<number, Attempt[]>();
    this.#sent.set(source, sent);
    const attempts = sent.get(at) ?? [];
    sent.set(at, attempts);
    attempts.push(attempt);
    return attempt;
  }

  #isAcknowledged({ source, at, fill }: Reading): boolean {
    const attempts = this.#sent.get(source)?.get(at) ?? [];
    return attempts.some((attempt) => attempt.isAcknowledged && attempt.fill === fill);
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
