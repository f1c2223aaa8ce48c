// One worker process, as its parent sees it: started, listening, ended.

import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Config } from "../config.ts";
import { type FatalError, UserError } from "../domain/errors.ts";
import { passLines } from "./lines.ts";
import type { Listening, ToParent, ToWorker } from "./messages.ts";

export type Ended = { readonly how: string; readonly inOrder: boolean };

type Parts = {
  readonly number: number;
  readonly config: Config;
  /** The listening address. */
  readonly descriptor: number;
  readonly log: (lines: string) => void;
  readonly hear: (message: Extract<ToParent, { kind: "take" | "report" | "reports" }>) => void;
};

const WORKER = fileURLToPath(new URL("./worker.ts", import.meta.url));
const REPORT_MS = 1000;

export class Member {
  readonly number: number;
  readonly pid: number;
  /** Rejected with a complaint where it ends before it listens. */
  readonly listening: Promise<Listening>;
  readonly ended: Promise<Ended>;
  isListening = false;
  readonly #since = performance.now();
  readonly #child: ChildProcess;
  readonly #parts: Parts;
  readonly #listening = Promise.withResolvers<Listening>();
  #report: PromiseWithResolvers<void> | undefined;
  #lastWords: FatalError | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.number = parts.number;
    // The same Node with the same flags as this one; the environment names the compile cache.
    this.#child = spawn(process.execPath, [...process.execArgv, WORKER, String(parts.number)], {
      stdio: ["ignore", "ignore", "pipe", "ipc", parts.descriptor],
    });
    this.pid = this.#child.pid ?? 0;
    this.listening = this.#listening.promise;
    this.ended = this.#watch();
    if (this.#child.stderr !== null) passLines(this.#child.stderr, parts.log);
    this.#child.on("message", (message: ToParent) => this.#hear(message));
    this.tell({ kind: "begin", config: parts.config });
  }

  get age(): number {
    return performance.now() - this.#since;
  }

  tell(message: ToWorker): void {
    // One that has just died is told nothing any more.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Asks for what it has counted, and waits until that is heard, for a while. */
  async report(): Promise<void> {
    if (this.#report === undefined) {
      this.#report = Promise.withResolvers();
      this.tell({ kind: "report" });
    }
    await Promise.race([this.#report.promise, this.ended, pause(REPORT_MS, undefined, { ref: false })]);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #hear(message: ToParent): void {
    switch (message.kind) {
      case "listening":
        this.isListening = true;
        this.#listening.resolve(message);
        return;
      case "failed":
        this.#lastWords = message;
        return;
      case "report":
        this.#parts.hear(message);
        this.#report?.resolve();
        this.#report = undefined;
        return;
      default:
        this.#parts.hear(message);
    }
  }

  #watch(): Promise<Ended> {
    const ended = new Promise<Ended>((resolve) => {
      // Not "exit": what it has said before its end is still to be read.
      this.#child.on("close", (code, signal) => {
        const words = this.#lastWords === undefined ? "" : `: ${this.#lastWords.message}`;
        const how = signal !== null ? `killed by ${signal}` : code === 0 ? "stopped in order" : `exit code ${code}${words}`;
        resolve({ how, inOrder: code === 0 });
      });
      this.#child.on("error", ({ message }) => resolve({ how: `could not be started: ${message}`, inOrder: false }));
    });
    ended.then(({ how }) => {
      this.isListening = false;
      const { message: words, exitCode } = this.#lastWords ?? {
        message: `a worker ended before it could answer: ${how}`,
        exitCode: 1,
      };
      this.#listening.reject(new UserError(words, exitCode));
    });
    return ended;
  }
}
