// The writer thread: the only place of a process that writes to its database. Waiting writes share one transaction (group
// commit) and get their results after the commit.

import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { hasCode, RequestError, storeUnavailable } from "../../domain/errors.ts";
import type { LogEvent } from "../../domain/log-events.ts";
import type { IncomingBatch, IngestResult } from "../../domain/reading.ts";
import type { EngineTransaction } from "../check/check.ts";
import { finishTransaction } from "../core/alerts.ts";
import { appendBatch, mergeBatch } from "../core/ingest.ts";
import { runWrite, type WriteArgs, type WriteName } from "../core/writes.ts";
import { openWriter, retryWhileBusy, translateError } from "./connection.ts";
import { OpenFiles } from "./file-watch.ts";
import { type Call, type DamagedTank, failedReply, type Reply, type ThreadData } from "./thread.ts";
import { transactionOn } from "./transaction.ts";
import { WriteThrottle } from "./write-throttle.ts";

/** A transaction takes no further write after this long, so that other processes get their turn. */
const TRANSACTION_MS = 150;

class WriterThread {
  readonly #db: DatabaseSync;
  readonly #tx: EngineTransaction;
  /** Created in the transaction that is open. */
  #notifications = 0;
  readonly #files: OpenFiles;
  /** Other processes may use the files that are at the path now: nothing more is written to those that were. */
  #isLost = false;
  readonly #throttle = new WriteThrottle();
  readonly #queue: Call[] = [];
  #isRunning = false;
  #isClosing = false;

  constructor({ file, alerts }: ThreadData) {
    this.#db = openWriter(file);
    this.#tx = retryWhileBusy(() => transactionOn(this.#db, this.#throttle.pause, alerts));
    this.#files = new OpenFiles(file, this.#db);
  }

  receive(message: Call | DamagedTank | "close"): void {
    if (message !== "close" && "damagedTank" in message) {
      this.#tx.damagedTanks.add(message.damagedTank);
      return;
    }
    if (message === "close") this.#isClosing = true;
    else this.#queue.push(message);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => void this.#run());
  }

  async #run(): Promise<void> {
    if (this.#queue.length > 0) await this.#commitGroup(false);
    if (this.#queue.length > 0) setImmediate(() => void this.#run());
    else {
      this.#isRunning = false;
      if (this.#isClosing) this.#close();
    }
  }

  /**
   * A savepoint keeps a copy of every page that a write changes. Readings, which change many and hardly ever fail, go without
   * at first; if one fails or has to be retried, the group is rolled back and run again with a savepoint for each write
   * (`isolated`). The group is limited to `size` writes.
   */
  async #commitGroup(isolated: boolean, size = Number.POSITIVE_INFINITY): Promise<void> {
    const calls: Call[] = [];
    const replies: Reply[] = [];
    const started = performance.now();
    try {
      // Behind the end of a truncated log, a commit would leave a gap, and a checkpoint write the gap into the database.
      this.#requireFiles(this.#isLost ? this.#files.lossReason() : this.#files.walLossReason());
      retryWhileBusy(() => this.#db.exec("BEGIN IMMEDIATE"));
      this.#tx.alertWork.clear();
      this.#notifications = 0;
      this.#throttle.beginTransaction();
      while (this.#queue.length > 0 && calls.length < size && performance.now() - started < TRANSACTION_MS) {
        const call = this.#queue.shift() as Call;
        calls.push(call);
        const reply = call.name === "ingest" && !isolated ? await this.#append(call) : await this.#writeAlone(call);
        if (reply === "retry") return this.#retryIsolated(calls);
        replies.push(reply);
      }
      if (!(await this.#evaluateAlerts())) return this.#retryIsolated(calls);
      this.#db.exec("COMMIT");
      this.#requireFiles(this.#files.lossReason());
    } catch (error) {
      this.#rollBack();
      const translated = translateError(error);
      if (hasCode(translated, "data_damaged") && calls.length > 1) return this.#retryWithoutLast(calls, isolated, error);
      if (!isolated && !(translated instanceof RequestError)) return this.#retryIsolated(calls);
      for (const { id } of calls.length > 0 ? calls : this.#queue.splice(0)) parentPort?.postMessage(failedReply(id, error));
      return;
    }
    for (const reply of replies) parentPort?.postMessage(reply);
    if (this.#notifications > 0) {
      parentPort?.postMessage({ kind: "notifications_created", count: this.#notifications } satisfies LogEvent);
    }
    this.#throttle.endTransaction();
  }

  /** Once for all writes of a group. False: it has failed, and is tried again for each write. */
  async #evaluateAlerts(): Promise<boolean> {
    try {
      this.#notifications += await finishTransaction(this.#tx);
      return true;
    } catch (error) {
      if (hasCode(translateError(error), "store_unavailable")) throw error;
      return false;
    }
  }

  #requireFiles(lossReason: string | undefined): void {
    this.#isLost = lossReason !== undefined;
    if (lossReason !== undefined) throw storeUnavailable(new Error(lossReason));
  }

  #retryIsolated(calls: readonly Call[]): Promise<void> {
    this.#rollBack();
    this.#queue.unshift(...calls);
    return this.#commitGroup(true);
  }

  /** After a read of a damaged page SQLite refuses all that follows in the transaction, also behind a savepoint. */
  #retryWithoutLast(calls: readonly Call[], isolated: boolean, error: unknown): Promise<void> {
    const others = calls.slice(0, -1);
    const { id } = calls.at(-1) as Call;
    parentPort?.postMessage(failedReply(id, error));
    this.#queue.unshift(...others);
    return this.#commitGroup(isolated, others.length);
  }

  #rollBack(): void {
    if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
  }

  async #append({ id, args }: Call): Promise<Reply | "retry"> {
    const result = await appendBatch(this.#tx, args[0] as IncomingBatch);
    return result === "retry" ? result : ingestReply(id, result);
  }

  async #write({ id, name, args }: Call): Promise<Reply> {
    if (name === "ingest") return ingestReply(id, await mergeBatch(this.#tx, args[0] as IncomingBatch));
    return { id, value: await runWrite(this.#tx, name as WriteName, args as unknown as WriteArgs<WriteName>) };
  }

  /** Alerts of readings before it are evaluated first: it may depend on them, and if it fails, it alone is undone. */
  async #writeAlone(call: Call): Promise<Reply | "retry"> {
    return (await this.#evaluateAlerts()) ? this.#writeIsolated(call) : "retry";
  }

  /** A write that fails is undone alone, unless the database is unavailable or damaged. */
  async #writeIsolated(call: Call): Promise<Reply> {
    this.#db.exec("SAVEPOINT one_write");
    try {
      const reply = await this.#write(call);
      this.#notifications += await finishTransaction(this.#tx);
      this.#db.exec("RELEASE one_write");
      return reply;
    } catch (error) {
      if (translateError(error) instanceof RequestError) throw error;
      this.#db.exec("ROLLBACK TO one_write; RELEASE one_write");
      this.#tx.alertWork.clear();
      return failedReply(call.id, error);
    }
  }

  #close(): void {
    this.#files.close();
    this.#db.close();
    parentPort?.close();
  }
}

function ingestReply(id: number, { outcomes, reasons }: IngestResult): Reply {
  return { id, value: { outcomes, reasons } };
}

if (parentPort !== null) {
  const thread = new WriterThread(workerData as ThreadData);
  parentPort.on("message", (message) => thread.receive(message));
}
