// The thread that sends webhooks, seen from the serving thread.

import { Worker } from "node:worker_threads";
import type { AttemptResult } from "../domain/alerts/notification-queue.ts";
import type { Webhook, WebhookSettings } from "./webhook.ts";
import type { WebhookCall, WebhookReply } from "./webhook-thread-main.ts";

const INTERRUPTED: AttemptResult = { status: null, error: "interrupted" };
const SCRIPT = new URL("./webhook-thread-main.ts", import.meta.url);

export class WebhookThread {
  readonly #settings: WebhookSettings;
  readonly #pending = new Map<number, PromiseWithResolvers<AttemptResult>>();
  #calls: WebhookCall[] = [];
  #lastNumber = 0;
  #worker: Worker | undefined;
  #isClosed = false;

  constructor(settings: WebhookSettings) {
    this.#settings = settings;
  }

  /** The first call starts the thread, and the first after it has ended by an error, with which its attempts are rejected. */
  async send(webhook: Webhook): Promise<AttemptResult> {
    if (this.#isClosed) return INTERRUPTED;
    this.#worker ??= this.#start();
    const number = ++this.#lastNumber;
    const pending = Promise.withResolvers<AttemptResult>();
    this.#pending.set(number, pending);
    // All of one turn of the event loop go in one message.
    if (this.#calls.push({ number, webhook }) === 1) setImmediate(() => this.#post());
    return pending.promise;
  }

  /** Attempts in progress end with the error "interrupted". The thread ends by itself: a name may still be resolved there. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#post();
    this.#worker?.postMessage("close");
    await Promise.allSettled(Array.from(this.#pending.values(), ({ promise }) => promise));
    this.#worker?.unref();
  }

  #post(): void {
    const calls = this.#calls;
    this.#calls = [];
    if (calls.length > 0) this.#worker?.postMessage(calls);
  }

  #start(): Worker {
    // It keeps nothing for long: a small young generation is enough.
    const worker = new Worker(SCRIPT, { workerData: this.#settings, resourceLimits: { maxYoungGenerationSizeMb: 8 } });
    let reason = new Error("the thread has ended");
    worker.on("message", (replies: readonly WebhookReply[]) => {
      for (const reply of replies) this.#settle(reply);
    });
    worker.on("error", (error: Error) => {
      reason = error;
    });
    worker.on("exit", () => this.#exited(reason));
    return worker;
  }

  #settle(reply: WebhookReply): void {
    const pending = this.#pending.get(reply.number);
    this.#pending.delete(reply.number);
    if ("result" in reply) pending?.resolve(reply.result);
    else pending?.reject(reply.error);
  }

  #exited(reason: Error): void {
    this.#worker = undefined;
    this.#calls = [];
    for (const { resolve, reject } of this.#pending.values()) {
      if (this.#isClosed) resolve(INTERRUPTED);
      else reject(reason);
    }
    this.#pending.clear();
  }
}
