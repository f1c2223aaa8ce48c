// The serving side of the writing thread: hands a write over, resolves when it is durable.

import { Worker } from "node:worker_threads";
import { storeUnavailable } from "../../domain/errors.ts";
import type { WriteName, WriteReply, WriteRequest, WriteTable } from "./writer-thread.ts";

type Waiting = { resolve: (value: never) => void; reject: (error: unknown) => void };

const START_AGAIN_MS = 500;

export class Writer {
  readonly #file: string;
  readonly #lost: (reason: string) => void;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker;
  #last = 0;
  #ended: Error | undefined;
  #isClosing = false;

  constructor(file: string, lost: (reason: string) => void) {
    this.#file = file;
    this.#lost = lost;
    this.#worker = this.#start();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./writer-thread.ts", import.meta.url), {
      workerData: { file: this.#file },
      // It keeps nothing for long: a small nursery is enough.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    worker.on("message", (reply: WriteReply) => this.#settle(reply));
    worker.on("error", (error: Error) => {
      this.#ended = error;
    });
    worker.on("exit", () => this.#exited());
    return worker;
  }

  async write<N extends WriteName>(name: N, ...args: Parameters<WriteTable[N]>): Promise<ReturnType<WriteTable[N]>> {
    if (this.#ended !== undefined) throw storeUnavailable(this.#ended);
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<WriteTable[N]>>();
    const id = ++this.#last;
    this.#waiting.set(id, { resolve, reject });
    try {
      this.#worker.postMessage({ id, name, args } satisfies WriteRequest);
    } catch (error) {
      // What cannot be handed over is answered by nobody.
      this.#waiting.delete(id);
      throw error;
    }
    return promise;
  }

  /** What was handed over before is written first. */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#ended !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#worker.once("exit", () => resolve());
    this.#worker.postMessage("close");
    await promise;
  }

  #settle(reply: WriteReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ("value" in reply) waiting?.resolve(reply.value as never);
    else waiting?.reject(reply.unavailable ? storeUnavailable(reply.error) : reply.error);
  }

  /** A thread that ended by itself has failed what waited for it, and is started again. */
  #exited(): void {
    this.#ended ??= new Error("the writing thread has ended");
    for (const { reject } of this.#waiting.values()) reject(storeUnavailable(this.#ended));
    this.#waiting.clear();
    if (this.#isClosing) return;
    this.#lost(this.#ended.message);
    setTimeout(() => {
      if (this.#isClosing) return;
      this.#ended = undefined;
      this.#worker = this.#start();
    }, START_AGAIN_MS).unref();
  }
}
