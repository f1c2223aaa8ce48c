// Writes of this process, one transaction after the other, in the order they were made. Waiting batches of readings share a
// transaction.

import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import type { AlertSettings } from "../../domain/alerts/evaluate.ts";
import { hasCode, storeUnavailable } from "../../domain/errors.ts";
import type { Observe } from "../../domain/log-events.ts";
import type { IncomingBatch, IngestResult, ReadingSource } from "../../domain/reading.ts";
import type { EngineTransaction } from "../check/check.ts";
import { finishTransaction } from "../core/alerts.ts";
import { appendBatch, mergeBatch } from "../core/ingest.ts";
import { HeadsBusyError, splitLongHeads } from "../core/telemetry.ts";
import { type DbTransaction, transaction, translateError } from "./connection.ts";
import { transactionOn } from "./transaction.ts";

const MAX_READINGS_TOGETHER = 20_000;
/** Splitting this many heads together takes hardly longer than one. */
const HEADS_TO_SPLIT = 64;

/** Attempts of a transaction that finds heads locked: about 2 seconds in all. */
const MAX_ATTEMPTS = 20;

type WriteJob = { readonly run: () => Promise<void> };
type IngestJob = { readonly batch: IncomingBatch; readonly settle: (result: Promise<IngestResult>) => void };

export class Writer {
  readonly #pool: pg.Pool;
  readonly #alerts: AlertSettings;
  readonly #observe: Observe;
  readonly #queue: (WriteJob | IngestJob)[] = [];
  readonly #longHeads = new Set<string>();
  readonly damagedTanks = new Set<string>();
  #running: Promise<void> | undefined;

  constructor(pool: pg.Pool, alerts: AlertSettings, observe: Observe) {
    this.#pool = pool;
    this.#alerts = alerts;
    this.#observe = observe;
  }

  write<T>(work: (tx: EngineTransaction) => Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      const run = async (): Promise<void> => {
        const result = this.transaction(work);
        resolve(result);
        await result.catch(() => {});
      };
      this.#enqueue({ run });
    });
  }

  ingest(batch: IncomingBatch): Promise<IngestResult> {
    return new Promise((resolve) => this.#enqueue({ batch, settle: resolve }));
  }

  /** Writes made before are completed first. */
  async close(): Promise<void> {
    await this.#running;
  }

  #enqueue(job: WriteJob | IngestJob): void {
    this.#queue.push(job);
    this.#running ??= this.#runAll();
  }

  async #runAll(): Promise<void> {
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
      if ("batch" in job) await this.#ingestTogether(job);
      else await job.run();
      if (this.#longHeads.size >= HEADS_TO_SPLIT) await this.#splitLongHeads();
    }
    // In the same turn: the next write starts a new run.
    this.#running = undefined;
  }

  async #ingestTogether(first: IngestJob): Promise<void> {
    const jobs = [first];
    let size = first.batch.sourceOf.length;
    for (let next = this.#queue[0]; next !== undefined && "batch" in next; next = this.#queue[0]) {
      size += next.batch.sourceOf.length;
      if (size > MAX_READINGS_TOGETHER) break;
      jobs.push(next);
      this.#queue.shift();
    }
    const result = this.#ingest(joinBatches(jobs.map(({ batch }) => batch)));
    const error: unknown = await result.then(
      () => undefined,
      (reason) => reason,
    );
    // Some other error is of one batch: it must not fail the others.
    if (error !== undefined && jobs.length > 1 && !hasCode(translateError(error), "store_unavailable")) {
      for (const job of jobs) await this.#ingestAlone(job);
      return;
    }
    let from = 0;
    for (const { batch, settle } of jobs) {
      const [start, end] = [from, from + batch.sourceOf.length];
      settle(result.then((whole) => sliceResult(whole, start, end)));
      from = end;
    }
  }

  async #ingestAlone({ batch, settle }: IngestJob): Promise<void> {
    const result = this.#ingest(batch);
    settle(result);
    await result.catch(() => {});
  }

  async #ingest(batch: IncomingBatch): Promise<IngestResult> {
    const appended = await this.transaction(
      (tx) => appendBatch(tx, batch),
      (outcome) => outcome === "retry",
    );
    const result = appended === "retry" ? await this.transaction((tx) => mergeBatch(tx, batch)) : appended;
    for (const tankId of result.longHeads) this.#longHeads.add(tankId);
    return result;
  }

  /** Runs at once, beside the queue. Alerts are evaluated at its end. A result that `isAborted` accepts is rolled back. */
  async transaction<T>(work: (tx: EngineTransaction) => Promise<T>, isAborted: (result: T) => boolean = () => false): Promise<T> {
    let notifications = 0;
    const run = async (db: DbTransaction): Promise<T> => {
      const tx = transactionOn(db, this.#alerts, this.damagedTanks);
      const result = await work(tx);
      notifications = isAborted(result) ? 0 : await finishTransaction(tx);
      return result;
    };
    const result = await retryWhileHeadsBusy(() => transaction(this.#pool, run, { isAborted }));
    if (notifications > 0) this.#observe({ kind: "notifications_created", count: notifications });
    return result;
  }

  /** Heads that are not split now are reported again when they grow. */
  async #splitLongHeads(): Promise<void> {
    const tankIds = [...this.#longHeads];
    this.#longHeads.clear();
    await this.transaction((tx) => splitLongHeads(tx, tankIds)).catch(() => {});
  }
}

/** Retries with increasing delays. */
async function retryWhileHeadsBusy<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof HeadsBusyError)) throw error;
      if (attempt === MAX_ATTEMPTS) throw storeUnavailable(error);
      await pause(attempt * (5 + Math.random() * 10));
    }
  }
}

function joinBatches(batches: readonly IncomingBatch[]): IncomingBatch {
  const [only] = batches;
  if (only !== undefined && batches.length === 1) return only;
  const length = batches.reduce((sum, { sourceOf }) => sum + sourceOf.length, 0);
  const sources: ReadingSource[] = [];
  const payloads = new Map<number, string>();
  const joined = { sourceOf: new Uint32Array(length), createdAt: new Float64Array(length), fill: new Float64Array(length) };
  let offset = 0;
  for (const batch of batches) {
    const firstSource = sources.length;
    for (const source of batch.sources) sources.push(source);
    for (const [position, payload] of batch.payloads) payloads.set(offset + position, payload);
    joined.sourceOf.set(
      batch.sourceOf.map((index) => index + firstSource),
      offset,
    );
    joined.createdAt.set(batch.createdAt, offset);
    joined.fill.set(batch.fill, offset);
    offset += batch.sourceOf.length;
  }
  return { ...only, sources, payloads, ...joined };
}

function sliceResult({ outcomes, reasons }: IngestResult, from: number, to: number): IngestResult {
  const inSlice = [...reasons].filter(([position]) => position >= from && position < to);
  return { outcomes: outcomes.slice(from, to), reasons: new Map(inSlice.map(([position, reason]) => [position - from, reason])) };
}
