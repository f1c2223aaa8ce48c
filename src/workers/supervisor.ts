// Several processes behind one address. The supervisor binds the address, keeps the rate limits, adds up the metrics, writes
// the log and replaces workers that exit; each worker runs the whole service (app.ts). The supervisor opens no database.

import { BoundSocket } from "node:net";
import type { Config } from "../config.ts";
import { UserError } from "../domain/errors.ts";
import { listenError, numericHost } from "../http/address.ts";
import { localLimits } from "../http/limits.ts";
import type { Log } from "../observe/log.ts";
import { WorkerReports } from "../observe/report.ts";
import type { Listening, ToSupervisor } from "./messages.ts";
import { type WorkerExit, WorkerProcess } from "./worker-process.ts";

/** Longer than a worker waits for its own requests. */
const STOP_MS = 12_000;

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
    this.#socket = await bindSocket(this.#config);
    const { url, database, isEmpty } = await this.#spawn(1).listening;
    if (this.#state === "starting") this.#state = "running";
    await Promise.allSettled(Array.from({ length: workers - 1 }, (_, i) => this.#spawn(i + 2).listening));
    const milliseconds = Math.round(performance.now() - startedAt);
    this.#log.observe({ kind: "listening", url, database, workers, milliseconds });
    return { url, database, isEmpty };
  }

  async stop(): Promise<void> {
    this.#state = "stopping";
    for (const timer of this.#timers) clearTimeout(timer);
    // Connections are accepted as long as any process holds the socket.
    this.#socket?.[Symbol.dispose]();
    const workers = [...this.#workers.values()];
    for (const worker of workers) worker.send({ kind: "stop" });
    const killTimer = setTimeout(() => {
      for (const worker of workers) worker.kill();
    }, STOP_MS);
    await Promise.all(workers.map(({ exited }) => exited));
    clearTimeout(killTimer);
  }

  #spawn(number: number): WorkerProcess {
    if (this.#state === "stopping") throw new UserError("the service was stopped before it had started");
    const worker: WorkerProcess = new WorkerProcess({
      number,
      config: this.#config,
      socketDescriptor: this.#socket?.fd() ?? -1,
      log: this.#log.writeLines,
      onMessage: (message) => this.#handle(worker, message),
    });
    this.#workers.set(number, worker);
    worker.listening.then(
      () => this.#log.observe({ kind: "worker_started", worker: number, pid: worker.pid, milliseconds: worker.ageMs }),
      () => {},
    );
    worker.exited.then((exit) => this.#handleExit(worker, exit));
    return worker;
  }

  #handle(worker: WorkerProcess, message: Extract<ToSupervisor, { kind: "take_tokens" | "report" | "get_all_reports" }>): void {
    switch (message.kind) {
      case "take_tokens":
        worker.send({ kind: "tokens", left: message.requests.map((request) => this.#limits.take(...request)) });
        return;
      case "report":
        this.#reports.set(worker.number, message.report);
        return;
      case "get_all_reports":
        this.#sendAllReports(worker);
        return;
    }
  }

  async #sendAllReports(to: WorkerProcess): Promise<void> {
    const listening = [...this.#workers.values()].filter(({ isListening }) => isListening);
    await Promise.all(listening.map((worker) => worker.updateReport()));
    to.send({ kind: "all_reports", reports: await this.#reports.all() });
  }

  #handleExit({ number, pid, ageMs }: WorkerProcess, { reason, isClean }: WorkerExit): void {
    this.#workers.delete(number);
    this.#reports.exit(number);
    const restartInMs = this.#state === "running" ? this.#restartDelay(number, ageMs) : null;
    if (restartInMs !== null || (this.#state === "stopping" && !isClean))
      this.#log.observe({ kind: "worker_exited", worker: number, pid, reason, isClean, restartInMs });
    if (restartInMs === null) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#spawn(number);
    }, restartInMs);
    this.#timers.add(timer);
  }

  #restartDelay(number: number, ageMs: number): number {
    const delay = this.#restarts.get(number) ?? new RestartDelay();
    this.#restarts.set(number, delay);
    return delay.next(ageMs);
  }
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

/** Bound here, listened on by the workers: the system gives each connection to one that accepts. */
async function bindSocket({ host, port }: Config): Promise<BoundSocket> {
  if (process.platform === "win32") throw new UserError("several workers cannot share an address on Windows: use --workers 1.");
  try {
    return new BoundSocket({ host: await numericHost(host), port });
  } catch (error) {
    throw listenError(error, { host, port });
  }
}
