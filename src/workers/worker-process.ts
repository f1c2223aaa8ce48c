// One worker process, seen from the supervisor.

import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Config } from "../config.ts";
import { type FatalError, UserError } from "../domain/errors.ts";
import type { Listening, ToSupervisor, ToWorker } from "./messages.ts";

export type WorkerExit = { readonly reason: string; readonly isClean: boolean };

type WorkerProcessOptions = {
  readonly number: number;
  readonly config: Config;
  readonly socketDescriptor: number;
  readonly log: (lines: string) => void;
  readonly onMessage: (message: Extract<ToSupervisor, { kind: "take_tokens" | "report" | "get_all_reports" }>) => void;
};

const WORKER = fileURLToPath(new URL("./worker.ts", import.meta.url));
const REPORT_TIMEOUT_MS = 1000;

export class WorkerProcess {
  readonly number: number;
  readonly pid: number;
  /** Rejected with a UserError where the process exits before it listens. */
  readonly listening: Promise<Listening>;
  readonly exited: Promise<WorkerExit>;
  isListening = false;
  readonly #startedAt = performance.now();
  readonly #child: ChildProcess;
  readonly #options: WorkerProcessOptions;
  readonly #listening = Promise.withResolvers<Listening>();
  #report: PromiseWithResolvers<void> | undefined;
  #error: FatalError | undefined;

  constructor(options: WorkerProcessOptions) {
    this.#options = options;
    this.number = options.number;
    // The same Node with the same flags as this process; the environment names the compile cache.
    this.#child = spawn(process.execPath, [...process.execArgv, WORKER, String(options.number)], {
      stdio: ["ignore", "ignore", "pipe", "ipc", options.socketDescriptor],
    });
    this.pid = this.#child.pid ?? 0;
    this.listening = this.#listening.promise;
    this.exited = this.#watchExit();
    if (this.#child.stderr !== null) forwardLines(this.#child.stderr, options.log);
    this.#child.on("message", (message: ToSupervisor) => this.#handle(message));
    this.send({ kind: "start", config: options.config });
  }

  get ageMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  send(message: ToWorker): void {
    // Errors are ignored: the process may have just exited.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Requests a report of the worker's metrics, and waits a limited time for it. */
  async updateReport(): Promise<void> {
    if (this.#report === undefined) {
      this.#report = Promise.withResolvers();
      this.send({ kind: "get_report" });
    }
    await Promise.race([this.#report.promise, this.exited, delay(REPORT_TIMEOUT_MS, undefined, { ref: false })]);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #handle(message: ToSupervisor): void {
    switch (message.kind) {
      case "listening":
        this.isListening = true;
        this.#listening.resolve(message);
        return;
      case "failed":
        this.#error = message;
        return;
      case "report":
        this.#options.onMessage(message);
        this.#report?.resolve();
        this.#report = undefined;
        return;
      default:
        this.#options.onMessage(message);
    }
  }

  #watchExit(): Promise<WorkerExit> {
    const exited = new Promise<WorkerExit>((resolve) => {
      // Not "exit": its last output and messages are still to be read then.
      this.#child.on("close", (code, signal) => {
        const detail = this.#error === undefined ? "" : `: ${this.#error.message}`;
        const reason = signal !== null ? `killed by ${signal}` : code === 0 ? "stopped" : `exit code ${code}${detail}`;
        resolve({ reason, isClean: code === 0 });
      });
      this.#child.on("error", ({ message }) => resolve({ reason: `could not be started: ${message}`, isClean: false }));
    });
    exited.then(({ reason }) => {
      this.isListening = false;
      const { message, exitCode } = this.#error ?? { message: `a worker exited before it was ready: ${reason}`, exitCode: 1 };
      this.#listening.reject(new UserError(message, exitCode));
    });
    return exited;
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
