// Several processes behind one address. The supervisor binds the address, keeps the rate limits, adds up the metrics, writes
// the log and replaces workers that exit; each worker runs the whole service (app.ts). The supervisor opens no database.

import { type ChildProcess, spawn } from "node:child_process";
import type { BoundSocket } from "node:net";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Config } from "../config.ts";
import { type FatalError, UserError } from "../domain/errors.ts";
import { bindSocket } from "../http/address.ts";
import { localLimits } from "../http/limits.ts";
import type { Log } from "../observe/log.ts";
import { WorkerReports } from "../observe/report.ts";
import type { Listening, ToSupervisor, ToWorker } from "./messages.ts";

const WORKER = fileURLToPath(new URL("./worker.ts", import.meta.url));
/** Longer than a worker waits for its own requests. */
const STOP_MS = 12_000;
const REPORT_TIMEOUT_MS = 1000;

type WorkerExit = { readonly reason: string; readonly isClean: boolean };

type WorkerProcess = {
  readonly number: number;
  readonly child: ChildProcess;
  readonly startedAt: number;
  /** Rejected with a `UserError` where the process exits before it listens. */
  readonly listening: PromiseWithResolvers<Listening>;
  isListening: boolean;
  /** Pending while a report of its metrics is requested. */
  report: PromiseWithResolvers<void> | undefined;
  /** Why it is about to exit. */
  error: FatalError | undefined;
  exited: Promise<WorkerExit>;
};

export class Supervisor {
  readonly #config: Config;
  readonly #log: Log;
  readonly #limits = localLimits(Date.now);
  readonly #reports = new WorkerReports();
  readonly #workers = new Map<number, WorkerProcess>();
  readonly #restarts = new Map<number, RestartDelay>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #socket: BoundSocket | undefined;
  /** Workers are replaced while running, that is from the first one that listens until the stop. */
  #state: "starting" | "running" | "stopping" = "starting";

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
  }

  /** The first worker creates the database; if it cannot serve, the start fails. Resolves when all have started or failed. */
  async start(): Promise<Listening> {
    const startedAt = performance.now();
    const { workers } = this.#config;
    if (process.platform === "win32") throw new UserError("several workers cannot share an address on Windows: use --workers 1.");
    this.#socket = await bindSocket(this.#config);
    const first = await this.#spawn(1);
    if (this.#state === "starting") this.#state = "running";
    await Promise.allSettled(Array.from({ length: workers - 1 }, (_, i) => this.#spawn(i + 2)));
    const { url, database } = first;
    this.#log.observe({ kind: "listening", url, database, workers, milliseconds: since(startedAt) });
    return first;
  }

  async stop(): Promise<void> {
    this.#state = "stopping";
    for (const timer of this.#timers) clearTimeout(timer);
    // Connections are accepted as long as any process holds the socket.
    this.#socket?.[Symbol.dispose]();
    const workers = [...this.#workers.values()];
    for (const worker of workers) send(worker, { kind: "stop" });
    const killTimer = setTimeout(() => {
      for (const { child } of workers) child.kill("SIGKILL");
    }, STOP_MS);
    await Promise.all(workers.map(({ exited }) => exited));
    clearTimeout(killTimer);
  }

  /** Resolves when the worker listens. */
  async #spawn(number: number): Promise<Listening> {
    if (this.#state === "stopping") throw new UserError("the service was stopped before it had started");
    // The same Node with the same flags as this process; the environment names the compile cache.
    const child = spawn(process.execPath, [...process.execArgv, WORKER, String(number)], {
      stdio: ["ignore", "ignore", "pipe", "ipc", this.#socket?.fd() ?? -1],
    });
    const { promise, resolve } = Promise.withResolvers<WorkerExit>();
    const worker: WorkerProcess = {
      number,
      child,
      startedAt: performance.now(),
      listening: Promise.withResolvers(),
      isListening: false,
      report: undefined,
      error: undefined,
      exited: promise,
    };
    this.#workers.set(number, worker);
    promise.then((exit) => this.#handleExit(worker, exit));
    // Not "exit": its last output and messages are still to be read then.
    child.on("close", (code, signal) => {
      const detail = worker.error === undefined ? "" : `: ${worker.error.message}`;
      const reason = signal !== null ? `killed by ${signal}` : code === 0 ? "stopped" : `exit code ${code}${detail}`;
      resolve({ reason, isClean: code === 0 });
    });
    child.on("error", ({ message }) => resolve({ reason: `could not be started: ${message}`, isClean: false }));
    child.on("message", (message: ToSupervisor) => this.#handle(worker, message));
    if (child.stderr !== null) forwardLines(child.stderr, this.#log.writeLines);
    send(worker, { kind: "start", config: this.#config });
    return worker.listening.promise;
  }

  #handle(worker: WorkerProcess, message: ToSupervisor): void {
    const { number, child, startedAt } = worker;
    switch (message.kind) {
      case "listening":
        worker.isListening = true;
        worker.listening.resolve(message);
        this.#log.observe({ kind: "worker_started", worker: number, pid: child.pid ?? 0, milliseconds: since(startedAt) });
        return;
      case "failed":
        worker.error = message;
        return;
      case "take_tokens":
        send(worker, { kind: "tokens", remaining: message.requests.map((request) => this.#limits.take(...request)) });
        return;
      case "report":
        this.#reports.set(number, message.report);
        worker.report?.resolve();
        worker.report = undefined;
        return;
      case "get_all_reports":
        this.#sendAllReports(worker);
        return;
    }
  }

  async #sendAllReports(to: WorkerProcess): Promise<void> {
    const listening = [...this.#workers.values()].filter(({ isListening }) => isListening);
    await Promise.all(listening.map(updateReport));
    send(to, { kind: "all_reports", reports: await this.#reports.all() });
  }

  #handleExit(worker: WorkerProcess, { reason, isClean }: WorkerExit): void {
    const { number, child, startedAt, error } = worker;
    worker.isListening = false;
    const { message, exitCode } = error ?? { message: `a worker exited before it was ready: ${reason}`, exitCode: 1 };
    worker.listening.reject(new UserError(message, exitCode));
    worker.report?.resolve();
    this.#workers.delete(number);
    this.#reports.exit(number);
    const restartInMs = this.#state === "running" ? this.#restartDelay(number, since(startedAt)) : null;
    if (restartInMs !== null || (this.#state === "stopping" && !isClean))
      this.#log.observe({ kind: "worker_exited", worker: number, pid: child.pid ?? 0, reason, isClean, restartInMs });
    if (restartInMs === null) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      // Should it fail, its exit is handled here again.
      this.#spawn(number).catch(() => {});
    }, restartInMs);
    this.#timers.add(timer);
  }

  #restartDelay(number: number, ageMs: number): number {
    const delay = this.#restarts.get(number) ?? new RestartDelay();
    this.#restarts.set(number, delay);
    return delay.next(ageMs);
  }
}

const since = (instant: number): number => Math.round(performance.now() - instant);

function send({ child }: WorkerProcess, message: ToWorker): void {
  // Errors are ignored: the process may have just exited.
  if (child.connected) child.send(message, () => {});
}

/** Requests a report of the worker's metrics, and waits a limited time for it. */
async function updateReport(worker: WorkerProcess): Promise<void> {
  if (worker.report === undefined) {
    worker.report = Promise.withResolvers();
    send(worker, { kind: "get_report" });
  }
  await Promise.race([worker.report.promise, sleep(REPORT_TIMEOUT_MS, undefined, { ref: false })]);
}

const STABLE_MS = 10_000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;

/** A worker that exits is replaced at once; if its successors exit early too, after a delay that doubles each time. */
export class RestartDelay {
  #exits = 0;

  next(ageMs: number): number {
    if (ageMs >= STABLE_MS) this.#exits = 0;
    this.#exits++;
    return this.#exits === 1 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#exits - 2));
  }
}

/**
 * Forwards complete lines. Workers log through the supervisor, because lines of several processes on one pipe would be mixed.
 */
export function forwardLines(from: Readable, write: (lines: string) => void): void {
  let partial = "";
  from.setEncoding("utf8");
  from.on("data", (text: string) => {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) write(partial + text.slice(0, end));
    partial = end > 0 ? text.slice(end) : partial + text;
  });
  from.on("end", () => {
    if (partial !== "") write(`${partial}\n`);
  });
}
