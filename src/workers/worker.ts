// A worker process: the whole service, on an address that its parent opened, with limits and metrics that all workers have
// in common. It stops in order when it is told to, by its parent or by a signal, and when its parent is gone.

import { startApp } from "../app.ts";
import type { Config } from "../config.ts";
import { describeFatalError } from "../domain/errors.ts";
import type { Event } from "../domain/events.ts";
import { openLog } from "../observe/log.ts";
import { openMetrics } from "../observe/metrics.ts";
import { textOfAll } from "../observe/report.ts";
import { LISTENING } from "./messages.ts";
import { Parent } from "./parent.ts";

const worker = Number(process.argv[2]);
const metrics = openMetrics(worker);
const parent = new Parent(metrics.report);
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => parent.stop());

const config = await Promise.race([parent.begun, parent.stopped]);
try {
  if (config !== undefined) await work(config);
} catch (error) {
  const last = describeFatalError(error);
  process.exitCode = last.exitCode;
  await parent.tell({ kind: "failed", ...last });
}
parent.leave();

async function work(config: Config): Promise<void> {
  const log = openLog(config.logLevel, worker);
  let database = "";
  /** That the service listens and has stopped is told once, by the parent. */
  function observe(event: Event): void {
    if (event.kind === "listening") database = event.database;
    else if (event.kind !== "stopped") log.observe(event);
  }
  const shared = { ...metrics, text: async () => textOfAll(await parent.reports()) };
  try {
    const app = await startApp({ config, log: observe, metrics: shared, limits: parent, descriptor: LISTENING, worker });
    try {
      await parent.tell({ kind: "listening", url: app.url, database, isEmpty: await app.store.isEmpty() });
      await parent.stopped;
    } finally {
      await app.stop();
    }
    await parent.tell({ kind: "report", report: await metrics.report() });
  } finally {
    log.flush();
  }
}
