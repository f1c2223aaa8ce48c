// npm run bench [-- NAME…] [--quick | --full] [--engine sqlite|postgres]
//
// Ratios measured side by side in one run: figures/ has the measurements, contestants/ the servers; README.md explains how.

import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Bench, cacheFolder, ENGINES, type Engine, log, ROOT } from "./bench.ts";
import { type Postgres, startPostgres } from "./contestants/postgres.ts";
import type { Figure } from "./figure.ts";
import { alertPages } from "./figures/alert-pages.ts";
import { alertSweep } from "./figures/alert-sweep.ts";
import { alerts } from "./figures/alerts.ts";
import { bytes } from "./figures/bytes.ts";
import { connections } from "./figures/connections.ts";
import { dashboards } from "./figures/dashboards.ts";
import { deepPage } from "./figures/deep-page.ts";
import { depth } from "./figures/depth.ts";
import { fairness } from "./figures/fairness.ts";
import { firstScreen } from "./figures/first-screen.ts";
import { fleetPages } from "./figures/fleet.ts";
import { forecastJob } from "./figures/forecast-job.ts";
import { forecasts } from "./figures/forecasts.ts";
import { growth } from "./figures/growth.ts";
import { importing } from "./figures/import.ts";
import { ingestHttp } from "./figures/ingest-http.ts";
import { ingestMqtt } from "./figures/ingest-mqtt.ts";
import { lateReading } from "./figures/late-reading.ts";
import { notifications } from "./figures/notifications.ts";
import { pageOne } from "./figures/page-one.ts";
import { platformatic, pocketbase } from "./figures/peers.ts";
import { readsWhileIngesting } from "./figures/reads-while-ingesting.ts";
import { series } from "./figures/series.ts";
import { starting } from "./figures/starting.ts";
import { machine } from "./report/machine.ts";
import { readResults, withFigure, writeResults } from "./report/results.ts";
import { SCALES } from "./scale.ts";

const FIGURES: readonly Figure[] = [
  pageOne,
  pocketbase,
  platformatic,
  deepPage,
  growth,
  importing,
  bytes,
  lateReading,
  starting,
  ingestHttp,
  ingestMqtt,
  readsWhileIngesting,
  fairness,
  connections,
  fleetPages,
  series,
  alerts,
  notifications,
  alertSweep,
  alertPages,
  forecasts,
  forecastJob,
  dashboards,
  firstScreen,
  depth,
];

const { values: flags, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean" },
    full: { type: "boolean" },
    engine: { type: "string", multiple: true },
    help: { type: "boolean" },
  },
});
const unknown = names.find((name) => !FIGURES.some((figure) => figure.name === name));
if (flags.help || unknown !== undefined) {
  if (unknown !== undefined) console.error(`Unknown figure ${unknown}.`);
  console.error("npm run bench [-- NAME…] [--quick | --full] [--engine sqlite|postgres]\n");
  for (const { name, about } of FIGURES) console.error(`  ${name.padEnd(23)}${about}`);
  process.exit(unknown === undefined ? 0 : 2);
}

const isEngine = (name: string): name is Engine => ENGINES.some((engine) => engine === name);
const engines = (flags.engine ?? ENGINES).filter(isEngine);
const scale = SCALES[flags.quick ? "quick" : flags.full ? "full" : "usual"];
/** The figures of a quick run mean nothing, and are kept apart. */
const folder = flags.quick ? cacheFolder("quick") : join(ROOT, "bench");

let failures = 0;
{
  let started: Promise<Postgres> | undefined;
  await using end = new AsyncDisposableStack();
  const bench: Bench = { scale, engines, postgres: () => (started ??= startPostgres().then((one) => end.use(one))) };
  for (const figure of FIGURES) {
    if (names.length > 0 && !names.includes(figure.name)) continue;
    try {
      const outcome = await figure.run(bench);
      const when = { date: new Date().toISOString().slice(0, 10), machine: machine((await started)?.version) };
      // After every figure, so that an interrupted run keeps its results.
      writeResults(folder, FIGURES, withFigure(readResults(folder), outcome, when));
    } catch (error) {
      failures++;
      log(`${figure.name} failed: ${error instanceof Error ? error.stack : error}`);
    }
  }
}
log(`the results are in ${folder}`);
process.exitCode = failures === 0 ? 0 : 1;
