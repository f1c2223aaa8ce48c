// PostgreSQL servers in the hands of a keeper, which stops them when this process is gone.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Answer, Kept, Order, Told } from "./orders.ts";

export class Keeper {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<Kept>>();
  #orders = 0;

  constructor() {
    // In a session of its own, where Ctrl-C does not reach it: it must still work when everybody else has ended.
    this.#process = fork(new URL("./keeper.ts", import.meta.url), {
      detached: true,
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#process.on("message", (message) => this.#hear(message as Answer));
    this.#process.once("exit", () => this.#despair(new Error("PostgreSQL's keeper has ended")));
    this.#process.once("error", (error) => this.#despair(error));
    this.#holdOn();
  }

  tell(order: Order): Promise<Kept> {
    const waiting = Promise.withResolvers<Kept>();
    const told: Told = { id: this.#orders++, order };
    this.#waiting.set(told.id, waiting);
    this.#process.send(told, (error) => {
      if (error !== null) this.#despair(error);
    });
    this.#holdOn();
    return waiting.promise;
  }

  /** Resolves when nothing is left of it. */
  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.ref();
    if (this.#process.connected) this.#process.disconnect();
    await ended;
  }

  #hear(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    this.#holdOn();
    if ("kept" in answer) waiting?.resolve(answer.kept);
    else waiting?.reject(new Error(answer.fault));
  }

  #despair(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  /** This process may end while a keeper is there, but not while an answer is awaited. */
  #holdOn(): void {
    if (this.#waiting.size > 0) {
      this.#process.ref();
      this.#process.channel?.ref();
    } else {
      this.#process.unref();
      this.#process.channel?.unref();
    }
  }
}
