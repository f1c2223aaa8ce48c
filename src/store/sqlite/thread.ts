// A thread of the store, seen from the serving thread: sends calls and resolves them with their replies.

import { Worker } from "node:worker_threads";
import type { AlertSettings } from "../../domain/alerts/evaluate.ts";
import { DamageError, dataDamaged, type ErrorCode, RequestError, storeUnavailable } from "../../domain/errors.ts";
import type { LogEvent, Observe } from "../../domain/log-events.ts";
import { translateError } from "./connection.ts";

export type Call = { readonly id: number; readonly name: string; readonly args: readonly unknown[] };
export type Reply =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly error: unknown;
      readonly code: ErrorCode | undefined;
      readonly damagedTank: string | undefined;
    };
/** To the writer thread: the head of the tank is damaged. */
export type DamagedTank = { readonly damagedTank: string };

export type ThreadData = { readonly file: string; readonly alerts: AlertSettings };

type PendingCall = { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void };

const RESTART_DELAY_MS = 500;

/** The first message starts it. `onEnd` gets the reason when it has ended by itself. */
export class StoreThread {
  readonly #script: URL;
  readonly #data: ThreadData;
  readonly #observe: Observe;
  readonly #onEnd: (reason: string) => void;
  readonly #calls = new Map<number, PendingCall>();
  #worker: Worker | undefined;
  #lastId = 0;
  #ended: Error | undefined;
  #isClosing = false;

  constructor(script: URL, data: ThreadData, onEnd: (reason: string) => void, observe: Observe) {
    this.#script = script;
    this.#data = data;
    this.#observe = observe;
    this.#onEnd = onEnd;
  }

  async call(name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#ended !== undefined) throw storeUnavailable(this.#ended);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = ++this.#lastId;
    this.#post({ id, name, args });
    this.#calls.set(id, { resolve, reject });
    return promise;
  }

  /** Sends a message that has no reply. */
  send(message: DamagedTank): void {
    if (this.#ended === undefined) this.#post(message);
  }

  /** Calls made before are completed first. */
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

  #post(message: Call | DamagedTank): void {
    this.#worker ??= this.#newWorker();
    this.#worker.postMessage(message);
  }

  #newWorker(): Worker {
    // It keeps nothing for long: a small young generation is enough.
    const worker = new Worker(this.#script, {
      workerData: this.#data,
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    let failure = new Error("the thread has ended");
    worker.on("message", (message: Reply | LogEvent) => {
      if ("kind" in message) this.#observe(message);
      else this.#settle(message);
    });
    worker.on("error", (error: Error) => {
      failure = error;
    });
    worker.on("exit", () => this.#exited(failure));
    return worker;
  }

  #settle(reply: Reply): void {
    const call = this.#calls.get(reply.id);
    this.#calls.delete(reply.id);
    if ("value" in reply) call?.resolve(reply.value);
    else call?.reject(errorOf(reply));
  }

  /** If a thread ends by itself its calls fail, and after a moment the next call starts another one. */
  #exited(failure: Error): void {
    this.#worker = undefined;
    for (const { reject } of this.#calls.values()) reject(storeUnavailable(failure));
    this.#calls.clear();
    if (this.#isClosing) return;
    this.#ended = failure;
    this.#onEnd(failure.message);
    setTimeout(() => {
      if (!this.#isClosing) this.#ended = undefined;
    }, RESTART_DELAY_MS).unref();
  }
}

type FailedReply = Extract<Reply, { readonly error: unknown }>;

/** In the thread: the reply to a call that failed. A message keeps neither the class of an error nor its fields. */
export function failedReply(id: number, error: unknown): FailedReply {
  const translated = translateError(error);
  if (!(translated instanceof RequestError)) return { id, error, code: undefined, damagedTank: undefined };
  const { cause, code } = translated;
  return { id, error: cause, code, damagedTank: cause instanceof DamageError ? cause.tankId : undefined };
}

function errorOf({ error, code, damagedTank: tankId }: FailedReply): unknown {
  if (code === undefined) return error;
  if (code !== "data_damaged") return storeUnavailable(error);
  return dataDamaged(tankId === undefined ? error : new DamageError((error as Error).message, { tankId }));
}
