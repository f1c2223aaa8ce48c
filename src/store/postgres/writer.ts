// Writes, one transaction after the other, in the order they were handed over. Readings that wait are taken together: many
// devices, one commit.

import type pg from "pg";
import type { IncomingBatch, IngestResult, ReadingSource } from "../../domain/reading.ts";
import { cutHeads } from "./acceptance.ts";
import { ingest } from "./arrivals.ts";
import { type Transaction, transaction } from "./connection.ts";
import { acceptInOnePass, acceptInTwoPasses } from "./two-passes.ts";

const READINGS_TOGETHER = 20_000;
const CUT_TOGETHER = 64;
/** After so many batches of which nothing was left to the second pass, nothing probably will be of the next. */
const SMOOTH = 4;

type WriteJob = { readonly work: (db: Transaction) => Promise<unknown>; readonly settle: (result: Promise<unknown>) => void };
type ReadingJob = { readonly batch: IncomingBatch; readonly settle: (result: Promise<IngestResult>) => void };
type Job = WriteJob | ReadingJob;

export class Writer {
  readonly #pool: pg.Pool;
  readonly #queue: Job[] = [];
  /** Tanks whose heads should be cut: many at a time take hardly longer than one. */
  readonly #long = new Set<string>();
  /** So many batches in a row left nothing to the second pass. */
  #smooth = 0;
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

  ingest(batch: IncomingBatch): Promise<IngestResult> {
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
      if (this.#long.size >= CUT_TOGETHER) await this.#cutLong();
    }
  }

  /** What was beaten locks at first all that it needs. */
  async #accept(batch: IncomingBatch): Promise<IngestResult> {
    const whole = this.#smooth >= SMOOTH ? await acceptInOnePass(this.#pool, batch, this.#long) : undefined;
    if (whole !== undefined) return whole;
    const { left, ...accepted } = await transaction(this.#pool, async (db, tries) =>
      tries === 1 ? acceptInTwoPasses(db, batch, this.#long) : { ...(await ingest(db, batch)), left: batch.source.length },
    );
    this.#smooth = left === 0 ? this.#smooth + 1 : 0;
    return accepted;
  }

  /** What is not cut now is told again when it grows on. */
  async #cutLong(): Promise<void> {
    const tanks = [...this.#long];
    this.#long.clear();
    await transaction(this.#pool, (db) => cutHeads(db, tanks)).catch(() => {});
  }

  async #commit({ work, settle }: WriteJob): Promise<void> {
    const result = transaction(this.#pool, work);
    settle(result);
    await result.catch(() => {});
  }

  async #acceptTogether(first: ReadingJob): Promise<void> {
    const jobs = [first];
    for (
      let size = first.batch.source.length, next = this.#queue[0];
      next !== undefined && "batch" in next;
      next = this.#queue[0]
    ) {
      size += next.batch.source.length;
      if (size > READINGS_TOGETHER) break;
      jobs.push(next);
      this.#queue.shift();
    }
    const batch = joined(jobs.map(({ batch }) => batch));
    const result = this.#accept(batch);
    let from = 0;
    for (const { batch, settle } of jobs) {
      const [own, past] = [from, from + batch.source.length];
      settle(result.then((whole) => part(whole, own, past)));
      from = past;
    }
    await result.catch(() => {});
  }
}

/** Several batches as one, in their order. */
function joined(batches: readonly IncomingBatch[]): IncomingBatch {
  const [only] = batches;
  if (only !== undefined && batches.length === 1) return only;
  const length = batches.reduce((sum, { source }) => sum + source.length, 0);
  const sources: ReadingSource[] = [];
  const payloads = new Map<number, string>();
  const whole = { source: new Uint32Array(length), createdAt: new Float64Array(length), fill: new Float64Array(length) };
  let from = 0;
  for (const batch of batches) {
    const first = sources.length;
    for (const source of batch.sources) sources.push(source);
    for (const [place, payload] of batch.payloads) payloads.set(from + place, payload);
    whole.source.set(
      batch.source.map((index) => index + first),
      from,
    );
    whole.createdAt.set(batch.createdAt, from);
    whole.fill.set(batch.fill, from);
    from += batch.source.length;
  }
  return { sources, payloads, ...whole };
}

/** What became of those from one place to another, not included. */
function part({ outcomes, reasons }: IngestResult, from: number, past: number): IngestResult {
  const own = [...reasons].filter(([place]) => place >= from && place < past);
  return { outcomes: outcomes.slice(from, past), reasons: new Map(own.map(([place, reason]) => [place - from, reason])) };
}
