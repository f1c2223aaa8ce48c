// A worker process: the whole service on the supervisor's socket, with rate limits and metrics shared by all workers. It
// stops when the supervisor or a signal says so, and when the supervisor is gone.

import { startApp } from "../app.ts";
import type { Config } from "../config.ts";
import { describeFatalError } from "../domain/errors.ts";
import type { LogEvent } from "../domain/log-events.ts";
import type { Limits } from "../http/limits.ts";
import { openLog } from "../observe/log.ts";
import { openMetrics } from "../observe/metrics.ts";
import { type MetricsReport, prometheusText } from "../observe/report.ts";
import { SOCKET_DESCRIPTOR, type TokenRequest, type ToSupervisor, type ToWorker } from "./messages.ts";

type PendingTokens = { readonly request: TokenRequest; readonly resolve: (remaining: number) => void };

/** The message channel to the supervisor, which keeps the rate limits and adds up the metrics. */
class SupervisorChannel implements Limits {
  readonly config = Promise.withResolvers<Config>();
  readonly stop = Promise.withResolvers<undefined>();
  readonly #report: () => Promise<MetricsReport>;
  #queued: PendingTokens[] = [];
  /** Sent, and not yet responded to. */
  #sent: PendingTokens[] = [];
  #allReports: PromiseWithResolvers<readonly MetricsReport[]> | undefined;

  constructor(report: () => Promise<MetricsReport>) {
    this.#report = report;
    process.on("message", (message: ToWorker) => this.#handle(message));
    process.on("disconnect", () => this.#handleDisconnect());
  }

  /** One message is in flight at a time; requests of the same event loop turn, or made meanwhile, go with the next one. */
  take(...request: TokenRequest): Promise<number> {
    return new Promise((resolve) => {
      this.#queued.push({ request, resolve });
      if (this.#queued.length === 1) setImmediate(() => this.#sendQueued());
    });
  }

  /** The reports of all workers, including this one. Concurrent calls share one response. */
  async allReports(): Promise<readonly MetricsReport[]> {
    if (!process.connected) return [await this.#report()];
    if (this.#allReports === undefined) {
      this.#allReports = Promise.withResolvers();
      this.send({ kind: "get_all_reports" });
    }
    return this.#allReports.promise;
  }

  /** Resolves when the message is sent, or the supervisor is gone. */
  send(message: ToSupervisor): Promise<void> {
    return new Promise((resolve) => {
      if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
      else resolve();
    });
  }

  /** Lets the process exit. */
  disconnect(): void {
    if (process.connected) process.disconnect?.();
  }

  #handle(message: ToWorker): void {
    switch (message.kind) {
      case "start":
        this.config.resolve(message.config);
        return;
      case "tokens":
        for (const [i, { resolve }] of this.#sent.entries()) resolve(message.remaining[i] ?? 0);
        this.#sent = [];
        this.#sendQueued();
        return;
      case "get_report":
        this.#report().then((report) => this.send({ kind: "report", report }));
        return;
      case "all_reports":
        this.#allReports?.resolve(message.reports);
        this.#allReports = undefined;
        return;
      case "stop":
        this.stop.resolve(undefined);
        return;
    }
  }

  #sendQueued(): void {
    if (this.#sent.length > 0 || this.#queued.length === 0) return;
    const pending = this.#queued;
    this.#queued = [];
    if (!process.connected) {
      allowAll(pending);
      return;
    }
    this.#sent = pending;
    this.send({ kind: "take_tokens", requests: pending.map(({ request }) => request) });
  }

  /** Without a supervisor this process stops; requests in progress are completed without limits. */
  #handleDisconnect(): void {
    this.stop.resolve(undefined);
    allowAll(this.#sent);
    this.#sent = [];
    this.#sendQueued();
    this.#report().then((report) => this.#allReports?.resolve([report]));
  }
}

function allowAll(pending: readonly PendingTokens[]): void {
  for (const { request, resolve } of pending) {
    const [, , , burst] = request;
    resolve(burst - 1);
  }
}

async function serve(config: Config): Promise<void> {
  const log = openLog(config.logLevel, worker);
  let database = "";
  /** The supervisor logs once for all workers that the service listens and has stopped. */
  function observe(event: LogEvent): void {
    if (event.kind === "listening") database = event.database;
    else if (event.kind !== "stopped") log.observe(event);
  }
  const sharedMetrics = {
    ...metrics,
    text: async (more: MetricsReport = []) => prometheusText([...(await supervisor.allReports()), more]),
  };
  const shared = { metrics: sharedMetrics, limits: supervisor, socketDescriptor: SOCKET_DESCRIPTOR };
  try {
    const app = await startApp({ config, log: observe, worker, ...shared });
    try {
      const contents = { isEmpty: await app.store.isEmpty(), hasNoUsers: (await app.store.userList()).length === 0 };
      await supervisor.send({ kind: "listening", url: app.url, database, ...contents });
      await supervisor.stop.promise;
    } finally {
      await app.stop();
    }
    await supervisor.send({ kind: "report", report: await metrics.report() });
  } finally {
    await log.close();
  }
}

const worker = Number(process.argv[2]);
const metrics = openMetrics(worker);
const supervisor = new SupervisorChannel(metrics.report);
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => supervisor.stop.resolve(undefined));

try {
  const config = await Promise.race([supervisor.config.promise, supervisor.stop.promise]);
  if (config !== undefined) await serve(config);
} catch (error) {
  const fatal = describeFatalError(error);
  process.exitCode = fatal.exitCode;
  await supervisor.send({ kind: "failed", ...fatal });
}
supervisor.disconnect();
