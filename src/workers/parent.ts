// The parent process, as a worker sees it: gives the configuration, keeps the buckets, gathers the counts, says when to stop.

import type { Config } from "../config.ts";
import type { Limits } from "../http/limits.ts";
import type { Report } from "../observe/report.ts";
import type { Ask, ToParent, ToWorker } from "./messages.ts";

type Taking = { readonly ask: Ask; readonly resolve: (left: number) => void };

export class Parent implements Limits {
  readonly begun: Promise<Config>;
  readonly stopped: Promise<undefined>;
  readonly stop: () => void;
  readonly #report: () => Promise<Report>;
  /** Not yet asked for. */
  #gathered: Taking[] = [];
  /** Asked for and not yet answered. */
  #asked: Taking[] = [];
  #reports: PromiseWithResolvers<readonly Report[]> | undefined;

  constructor(report: () => Promise<Report>) {
    const begun = Promise.withResolvers<Config>();
    const stopped = Promise.withResolvers<undefined>();
    this.begun = begun.promise;
    this.stopped = stopped.promise;
    this.stop = () => stopped.resolve(undefined);
    this.#report = report;
    process.on("message", (message: ToWorker) => {
      if (message.kind === "begin") begun.resolve(message.config);
      else this.#hear(message);
    });
    process.on("disconnect", () => this.#lose());
  }

  /** One message is under way at a time: what is taken in one turn of the event loop, or meanwhile, goes with the next. */
  take(...ask: Ask): Promise<number> {
    return new Promise((resolve) => {
      this.#gathered.push({ ask, resolve });
      if (this.#gathered.length === 1) setImmediate(() => this.#askTogether());
    });
  }

  /** What all workers have counted, this one included. Who asks meanwhile gets the same answer. */
  async reports(): Promise<readonly Report[]> {
    if (!process.connected) return [await this.#report()];
    if (this.#reports === undefined) {
      this.#reports = Promise.withResolvers();
      this.tell({ kind: "reports" });
    }
    return this.#reports.promise;
  }

  /** Resolves when it is on its way. To a parent that is gone nothing can be told. */
  tell(message: ToParent): Promise<void> {
    return new Promise((resolve) => {
      if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
      else resolve();
    });
  }

  /** Lets the process end. */
  leave(): void {
    if (process.connected) process.disconnect?.();
  }

  #hear(message: Exclude<ToWorker, { kind: "begin" }>): void {
    switch (message.kind) {
      case "taken":
        for (const [i, { resolve }] of this.#asked.entries()) resolve(message.left[i] ?? 0);
        this.#asked = [];
        this.#askTogether();
        return;
      case "report":
        this.#report().then((report) => this.tell({ kind: "report", report }));
        return;
      case "reports":
        this.#reports?.resolve(message.reports);
        this.#reports = undefined;
        return;
      case "stop":
        this.stop();
        return;
    }
  }

  #askTogether(): void {
    if (this.#asked.length > 0 || this.#gathered.length === 0) return;
    const takings = this.#gathered;
    this.#gathered = [];
    if (process.connected) {
      this.#asked = takings;
      this.tell({ kind: "take", asks: takings.map(({ ask }) => ask) });
    } else {
      letThrough(takings);
    }
  }

  /** Without a parent this process ends; what has arrived is still answered. */
  #lose(): void {
    this.stop();
    letThrough(this.#asked);
    this.#asked = [];
    this.#askTogether();
    this.#report().then((report) => this.#reports?.resolve([report]));
  }
}

function letThrough(takings: readonly Taking[]): void {
  for (const { ask, resolve } of takings) resolve(ask[3] - 1);
}
