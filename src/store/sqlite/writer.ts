// The serving side of the writing thread: hands a write over, resolves when it is durable.

import { Worker } from "node:worker_threads";
import { Refusal, storeUnavailable } from "../../domain/errors.ts";
import type { WriteName, WriteReply, WriteRequest, WriteTable } from "./writer-thread.ts";

type Waiting = { resolve: (value: never) => void; reject: (error: unknown) => void };

export class Writer {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #ended: unknown;

  constructor(file: string) {
    this.#worker = new Worker(new URL("./writer-thread.ts", import.meta.url), { workerData: { file } });
    this.#worker.on("message", (reply: WriteReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#end(error));
    this.#worker.on("exit", () => this.#end(new Error("the writing thread has ended")));
  }

  write<N extends WriteName>(name: N, ...args: Parameters<WriteTable[N]>): Promise<ReturnType<WriteTable[N]>> {
    if (this.#ended !== undefined) return Promise.reject(storeUnavailable(this.#ended));
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<WriteTable[N]>>();
    const id = ++this.#last;
    this.#waiting.set(id, { resolve, reject });
    this.#worker.postMessage({ id, name, args } satisfies WriteRequest);
    return promise;
  }

  /** What was handed over before is written first. */
  async close(): Promise<void> {
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

  #end(error: unknown): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) {
      reject(error instanceof Refusal ? error : storeUnavailable(error));
    }
    this.#waiting.clear();
  }
}
