// The serving side of a thread of the store: hands a call over, and resolves when it is answered; a write, when it is durable.
// The thread is started by the first call, or before.

import { Worker } from "node:worker_threads";
import { RequestError, storeUnavailable } from "../../domain/errors.ts";
import { asRefusal } from "./connection.ts";

/** What a thread can be asked, by name. */
type Table = Readonly<Record<string, (...args: never[]) => unknown>>;
export type Call = { readonly id: number; readonly name: string; readonly args: readonly unknown[] };
export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: unknown; readonly unavailable: boolean };

type Waiting = { resolve: (value: never) => void; reject: (error: unknown) => void };

const START_AGAIN_MS = 500;

export class Thread<T extends Table> {
  readonly #script: URL;
  readonly #file: string;
  readonly #lost: (reason: string) => void;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #last = 0;
  #ended: Error | undefined;
  #isClosing = false;

  constructor(script: URL, file: string, lost: (reason: string) => void) {
    this.#script = script;
    this.#file = file;
    this.#lost = lost;
  }

  start(): void {
    this.#worker ??= this.#newWorker();
  }

  async call<N extends keyof T & string>(name: N, ...args: Parameters<T[N]>): Promise<ReturnType<T[N]>> {
    if (this.#ended !== undefined) throw storeUnavailable(this.#ended);
    this.start();
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<T[N]>>();
    const id = ++this.#last;
    this.#worker?.postMessage({ id, name, args } satisfies Call);
    this.#waiting.set(id, { resolve, reject });
    return promise;
  }

  /** What was handed over before is answered first. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const worker = this.#worker;
    this.#ended ??= new Error("the store is closed");
    if (worker === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    worker.once("exit", () => resolve());
    worker.postMessage("close");
    await promise;
  }

  #newWorker(): Worker {
    const worker = new Worker(this.#script, {
      workerData: { file: this.#file },
      // It keeps nothing for long: a small nursery is enough.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    let failure = new Error("the thread has ended");
    worker.on("message", (reply: Reply) => this.#settle(reply));
    worker.on("error", (error: Error) => {
      failure = error;
    });
    worker.on("exit", () => this.#exited(failure));
    return worker;
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ("value" in reply) waiting?.resolve(reply.value as never);
    else waiting?.reject(reply.unavailable ? storeUnavailable(reply.error) : reply.error);
  }

  /** A thread that ended by itself has failed what waited for it; after a moment the next call starts another. */
  #exited(failure: Error): void {
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(storeUnavailable(failure));
    this.#waiting.clear();
    if (this.#isClosing) return;
    this.#ended = failure;
    this.#lost(failure.message);
    setTimeout(() => {
      if (!this.#isClosing) this.#ended = undefined;
    }, START_AGAIN_MS).unref();
  }
}

/** On the other side: that a call failed, and whether for want of the database. */
export function failed(id: number, error: unknown): Reply {
  const refusal = asRefusal(error);
  const unavailable = refusal instanceof RequestError;
  return { id, error: unavailable ? refusal.cause : error, unavailable };
}
