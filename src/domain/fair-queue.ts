// Runs work of several keys round-robin, so that a key with much work does not keep the others waiting.

/** Items of several keys, taken from one key after the other; those of one key in the order they were added. */
export class RoundRobin<T> {
  readonly #items = new Map<string, T[]>();
  readonly #paused = new Map<string, T[]>();
  #size = 0;

  /** The number of items, without those of paused keys. */
  get size(): number {
    return this.#size;
  }

  /** The number of items of one key. */
  count(key: string): number {
    return (this.#items.get(key) ?? this.#paused.get(key))?.length ?? 0;
  }

  add(key: string, item: T): void {
    const paused = this.#paused.get(key);
    if (paused !== undefined) {
      paused.push(item);
      return;
    }
    this.#size++;
    const items = this.#items.get(key);
    if (items === undefined) this.#items.set(key, [item]);
    else items.push(item);
  }

  /** It will be the next of its key. */
  putBack(key: string, item: T): void {
    this.#size++;
    const items = this.#items.get(key);
    if (items === undefined) this.#items.set(key, [item]);
    else items.unshift(item);
  }

  /** Until it is resumed, no item of the key is taken. */
  pause(key: string): void {
    if (this.#paused.has(key)) return;
    const items = this.#items.get(key) ?? [];
    this.#items.delete(key);
    this.#size -= items.length;
    this.#paused.set(key, items);
  }

  resume(key: string): void {
    const items = this.#paused.get(key) ?? [];
    this.#paused.delete(key);
    this.#size += items.length;
    if (items.length > 0) this.#items.set(key, items);
  }

  take(): { readonly key: string; readonly item: T } | undefined {
    const [first] = this.#items;
    if (first === undefined) return undefined;
    this.#size--;
    const [key, items] = first;
    const item = items.shift() as T;
    this.#items.delete(key);
    if (items.length > 0) this.#items.set(key, items);
    return { key, item };
  }
}

type Job = { readonly size: number; readonly run: () => Promise<unknown> };

/** Starts jobs while the total size of running jobs is below `capacity`, which is evaluated before each job. */
export class FairQueue {
  readonly #capacity: () => number;
  readonly #pauseAfter: (took: number) => number;
  readonly #waiting = new RoundRobin<Job>();
  #running = 0;

  /** `pauseAfter`: how long a key is paused after a job that took this long; both in milliseconds. */
  constructor(capacity: number | (() => number), pauseAfter: (took: number) => number = () => 0) {
    this.#capacity = typeof capacity === "number" ? () => capacity : capacity;
    this.#pauseAfter = pauseAfter;
  }

  /** The number of jobs of a key that have not started. */
  waiting(key: string): number {
    return this.#waiting.count(key);
  }

  run<T>(key: string, work: () => Promise<T>, size = 1): Promise<T> {
    return new Promise((resolve) => {
      const run = (): Promise<unknown> => {
        const result = Promise.try(work);
        resolve(result);
        return result;
      };
      this.#waiting.add(key, { size, run });
      this.#startNext();
    });
  }

  #startNext(): void {
    while (this.#running < this.#capacity()) {
      const next = this.#waiting.take();
      if (next === undefined) return;
      const { key, item } = next;
      const { size, run } = item;
      const started = performance.now();
      const end = (): void => {
        this.#running -= size;
        this.#pause(key, this.#pauseAfter(performance.now() - started));
        this.#startNext();
      };
      this.#running += size;
      run().then(end, end);
    }
  }

  #pause(key: string, milliseconds: number): void {
    if (milliseconds <= 0) return;
    this.#waiting.pause(key);
    const timer = setTimeout(() => {
      this.#waiting.resume(key);
      this.#startNext();
    }, milliseconds);
    // With nothing to do afterwards it does not keep the process from ending.
    if (this.#waiting.count(key) === 0) timer.unref();
  }
}

/** The first step may be longer: most work needs only one. */
const FIRST_STEP_MS = 1;
const STEP_MS = 0.5;

/** Work for a `StepScheduler`: as much in each step as takes about half a millisecond. */
export function* forEachInSteps<T>(parts: Iterable<T>, work: (part: T) => void): Generator<undefined, void> {
  let until = performance.now() + FIRST_STEP_MS;
  for (const part of parts) {
    work(part);
    if (performance.now() < until) continue;
    yield;
    until = performance.now() + STEP_MS;
  }
}

type Task = { readonly takeStep: () => boolean };

/** Pause between two steps while other keys send requests. */
const PAUSE_MS = 1;
/** A key counts as the only active one if no other key has sent a request for this long. */
const ONLY_KEY_AFTER_MS = 100;

/**
 * Runs long work of the serving thread in short steps, keys round-robin, with pauses in which requests of others are served. Without
 * others there is no pause: requests that have arrived meanwhile are served before the next step anyway.
 */
export class StepScheduler {
  readonly #waiting = new RoundRobin<Task>();
  #isPausing = false;
  #lastKey = "";
  #keyChangedAt = Number.NEGATIVE_INFINITY;

  /** Called for every request, also for those without long work. */
  recordRequest(key: string): void {
    if (key === this.#lastKey) return;
    this.#lastKey = key;
    this.#keyChangedAt = performance.now();
  }

  hasOneKey(): boolean {
    return performance.now() - this.#keyChangedAt > ONLY_KEY_AFTER_MS;
  }

  /** Work of one step. */
  runStep<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    return this.runSteps(key, { next: () => ({ done: true, value: work() }) });
  }

  /** The first step is taken at once if there was no other one just before. */
  runSteps<T>(key: string, steps: Iterator<unknown, T | Promise<T>>): Promise<T> {
    return new Promise((resolve, reject) => {
      const takeStep = (): boolean => {
        try {
          const { done, value } = steps.next();
          if (done === true) resolve(value);
          return done === true;
        } catch (error) {
          reject(error);
          return true;
        }
      };
      this.#waiting.add(key, { takeStep });
      if (!this.#isPausing) this.#takeStep();
    });
  }

  #takeStep(): void {
    const next = this.#waiting.take();
    this.#isPausing = next !== undefined;
    if (next === undefined) return;
    const { key, item } = next;
    if (!item.takeStep()) this.#waiting.putBack(key, item);
    if (this.hasOneKey()) setImmediate(() => this.#takeStep());
    else setTimeout(() => this.#takeStep(), PAUSE_MS);
  }
}
