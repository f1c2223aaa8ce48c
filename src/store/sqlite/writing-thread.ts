// The writing thread: the only place of a process that writes to its database. Whatever waits is taken together into one
// transaction (group commit), and answered after the commit.

import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { RequestError } from "../../domain/errors.ts";
import { answersOn } from "./answers.ts";
import { arrivalWrites } from "./arrivals.ts";
import { repairs } from "./check.ts";
import { asRefusal, openWriter, patiently } from "./connection.ts";
import { Courtesy } from "./courtesy.ts";
import { customerWrites } from "./customers.ts";
import { deviceRecordWrites } from "./device-records.ts";
import { orderWrites } from "./orders.ts";
import { tankWrites } from "./tanks.ts";
import { type Call, failed, type Reply } from "./thread.ts";

export type WriteTable = ReturnType<typeof writeTable>;
export type WriteName = keyof WriteTable;

function writeTable(db: DatabaseSync, rest: () => void) {
  const answers = answersOn(db);
  const arrivals = arrivalWrites(db, answers, rest);
  const customers = customerWrites(db);
  const tanks = tankWrites(db, arrivals);
  return {
    importCustomers: customers.importCustomers,
    updateLastSeen: customers.updateLastSeen,
    importTanks: tanks.importTanks,
    ...deviceRecordWrites(db, answers, arrivals),
    ingest: arrivals.ingest,
    acceptAny: arrivals.acceptAny,
    ...orderWrites(db, { answers, customers, tanks, arrivals }),
    ...repairs(db),
  };
}

/** A transaction takes on no further write after this long, so that other processes get their turn. */
const TRANSACTION_MS = 150;

/**
 * For a write to be undone by itself, every page it changes is kept as it was, which for readings is much, and they hardly ever
 * fail: where one does, all that was taken with it is undone, and done again carefully.
 */
const READINGS = "ingest" satisfies WriteName;
const CAREFULLY = "acceptAny" satisfies WriteName;

class WritingThread {
  readonly #db: DatabaseSync;
  readonly #table: WriteTable;
  readonly #courtesy = new Courtesy();
  readonly #queue: Call[] = [];
  #closing = false;
  #scheduled = false;

  constructor(file: string) {
    this.#db = openWriter(file);
    this.#table = patiently(() => writeTable(this.#db, this.#courtesy.rest));
  }

  take(message: Call | "close"): void {
    if (message === "close") this.#closing = true;
    else this.#queue.push(message);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#queue.length > 0) this.#commitTogether();
      if (this.#queue.length > 0) this.#schedule();
      else if (this.#closing) this.#close();
    });
  }

  #commitTogether(isCareful = false): void {
    const taken: Call[] = [];
    const replies: Reply[] = [];
    const started = performance.now();
    try {
      patiently(() => this.#db.exec("BEGIN IMMEDIATE"));
      this.#courtesy.begin();
      while (this.#queue.length > 0 && performance.now() - started < TRANSACTION_MS) {
        const request = this.#queue.shift() as Call;
        taken.push(request);
        replies.push(this.#reply(request, isCareful));
      }
      this.#db.exec("COMMIT");
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      if (!isCareful && !(asRefusal(error) instanceof RequestError)) {
        this.#queue.unshift(...taken);
        this.#commitTogether(true);
        return;
      }
      const lost = taken.length > 0 ? taken : this.#queue.splice(0);
      for (const { id } of lost) parentPort?.postMessage(failed(id, error));
      return;
    }
    for (const reply of replies) parentPort?.postMessage(reply);
    this.#courtesy.end();
  }

  #reply(request: Call, isCareful: boolean): Reply {
    if (request.name !== READINGS) return this.#runByItself(request);
    return isCareful ? this.#runByItself({ ...request, name: CAREFULLY }) : this.#run(request);
  }

  #run({ id, name, args }: Call): Reply {
    const write = this.#table[name as WriteName] as (...args: readonly unknown[]) => unknown;
    return { id, value: write(...args) };
  }

  /** A write that fails by itself is undone by itself; one that shows the database is away fails the transaction. */
  #runByItself(request: Call): Reply {
    this.#db.exec("SAVEPOINT one_write");
    try {
      const reply = this.#run(request);
      this.#db.exec("RELEASE one_write");
      return reply;
    } catch (error) {
      if (asRefusal(error) instanceof RequestError) throw error;
      this.#db.exec("ROLLBACK TO one_write; RELEASE one_write");
      return failed(request.id, error);
    }
  }

  #close(): void {
    this.#db.close();
    parentPort?.close();
  }
}

if (parentPort !== null) {
  const thread = new WritingThread((workerData as { file: string }).file);
  parentPort.on("message", (message) => thread.take(message));
}
