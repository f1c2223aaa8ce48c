// Writes, one transaction after the other, in the order they were handed over. Readings that wait are taken together: many
// devices, one commit.

import type pg from "pg";
import type { ReadingBatch } from "../../domain/reading.ts";
import { acceptReadings } from "./acceptance.ts";
import { type Transaction, transaction } from "./connection.ts";

const READINGS_TOGETHER = 20_000;

type WriteJob = { readonly work: (db: Transaction) => Promise<unknown>; readonly settle: (result: Promise<unknown>) => void };
type ReadingJob = { readonly batch: ReadingBatch; readonly settle: (result: Promise<Uint8Array>) => void };
type Job = WriteJob | ReadingJob;

export class Writer {
  readonly #pool: pg.Pool;
  readonly #queue: Job[] = [];
  #running: Promise<void> | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  write<T>(work: (db: Transaction) => Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      const job: WriteJob = { work, settle: (result) => resolve(result as Promise<T>) };
      this.#take(job);
    });
  }

  acceptReadings(batch: ReadingBatch): Promise<Uint8Array> {
    return new Promise((resolve) => this.#take({ batch, settle: resolve }));
  }

  /** What was handed over before is written first. */
  async close(): Promise<void> {
    await this.#running;
  }

  #take(job: Job): void {
    this.#queue.push(job);
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
      await ("batch" in job ? this.#acceptTogether(job) : this.#commit(job));
    }
  }

  async #commit({ work, settle }: WriteJob): Promise<void> {
    const result = transaction(this.#pool, work);
    settle(result);
    await result.catch(() => {});
  }

  async #acceptTogether(first: ReadingJob): Promise<void> {
    const jobs = [first];
    for (
      let size = first.batch.tank.length, next = this.#queue[0];
      next !== undefined && "batch" in next;
      next = this.#queue[0]
    ) {
      size += next.batch.tank.length;
      if (size > READINGS_TOGETHER) break;
      jobs.push(next);
      this.#queue.shift();
    }
    const whole = joined(jobs.map(({ batch }) => batch));
    const result = transaction(this.#pool, (db) => acceptReadings(db, whole));
    let from = 0;
    for (const { batch, settle } of jobs) {
      const own = [from, from + batch.tank.length] as const;
      settle(result.then((outcomes) => outcomes.slice(...own)));
      from += batch.tank.length;
    }
    await result.catch(() => {});
  }
}

/** Several batches as one, in their order. */
function joined(batches: readonly ReadingBatch[]): ReadingBatch {
  const [only] = batches;
  if (only !== undefined && batches.length === 1) return only;
  const length = batches.reduce((sum, { tank }) => sum + tank.length, 0);
  const tankIds: string[] = [];
  const whole = { tank: new Uint32Array(length), createdAt: new Float64Array(length), fill: new Float64Array(length) };
  let from = 0;
  for (const batch of batches) {
    const first = tankIds.length;
    for (const id of batch.tankIds) tankIds.push(id);
    whole.tank.set(
      batch.tank.map((index) => index + first),
      from,
    );
    whole.createdAt.set(batch.createdAt, from);
    whole.fill.set(batch.fill, from);
    from += batch.tank.length;
  }
  return { tankIds, ...whole };
}
