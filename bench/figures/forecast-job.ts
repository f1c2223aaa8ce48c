// What the job that computes forecasts costs others: reads while it works at full speed, and ingestion with it and without it.

import { setTimeout as sleep } from "node:timers/promises";
import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { createKey, startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf, execute, selectNumber, temporaryDatabase } from "../dataset/databases.ts";
import { ReadingNumbers } from "../dataset/live-readings.ts";
import { fleet } from "../dataset/plans.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { type BenchProgram, type RunTime, startBenchProgram } from "../measure/bench-program.ts";
import { startReader } from "../measure/reader.ts";
import { alternate, median, ratioOf } from "../measure/sampling.ts";
import type { ReadTimes } from "../programs/read-at-rate.ts";
import type { Batches } from "../programs/send-batches.ts";

/** One every four hours, in the four years of the data. */
const READINGS = 4 * 365.25 * 6;
const READS_PER_SECOND = 500;
const BATCH = 1000;
const CLIENTS = 4;

const ROWS = {
  reads: { label: "p99 of reads while forecasts are computed ÷ idle", unit: "", aim: { atMost: 1.5 } },
  rate: { label: "… forecasts computed meanwhile", unit: "/s" },
  ingest: { label: "HTTP batches of 1,000 readings, 4 clients, with forecasts ÷ without", unit: "", aim: { atLeast: 0.95 } },
} as const satisfies Record<string, Omit<Row, "name">>;
const rowName = (row: keyof typeof ROWS, engine: Engine): string => `forecast-job-${row}-${engine}`;

export const forecastJob: Figure = {
  name: "forecast-job",
  about: "reads and ingestion while forecasts are computed",
  rows: ENGINES.flatMap((engine) =>
    Object.entries(ROWS).map(([row, { label, ...rest }]): Row => {
      return { name: rowName(row as keyof typeof ROWS, engine), label: `${label}, ${ENGINE_NAMES[engine]}`, ...rest };
    }),
  ),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await readRows(bench, engine)), await ingestRow(bench, engine));
    return { rows };
  },
};

const copyOfFleet = async (bench: Bench, engine: Engine, name: string) =>
  temporaryDatabase(bench, engine, name, await databaseOf(bench, engine, fleet(bench.scale.tanks, READINGS)));

const OUTDATED = "SELECT count(*) FROM forecast WHERE due_at IS NOT NULL";
const makeOutdated = () => `UPDATE forecast SET due_at = ${Date.now()}`;
const PLACED = "SELECT count(*) FROM forecast";

async function readRows(bench: Bench, engine: Engine): Promise<Measured[]> {
  const { tanks, seconds, rounds } = bench.scale;
  await using database = await copyOfFleet(bench, engine, "forecasting");
  await using service = await startTankMonitor(engine, database.url);
  await using reader = await startReader(service, tanks);
  const count = (sql: string) => selectNumber(engine, database.url, sql);
  const reads = { rate: READS_PER_SECOND, seconds };
  async function idle(): Promise<ReadTimes & { readonly rate: number }> {
    while ((await count(OUTDATED)) > 0 || (await count(PLACED)) < tanks) await sleep(500);
    return { ...(await reader.run(reads)), rate: 0 };
  }
  async function busy(): Promise<ReadTimes & { readonly rate: number }> {
    const run = await reader.prepare(reads);
    await execute(engine, database.url, makeOutdated());
    // Until it has begun.
    while ((await count(OUTDATED)) === tanks) await sleep(50);
    const [before, started] = [await count(OUTDATED), performance.now()];
    const times = await run();
    const after = await count(OUTDATED);
    if (after === 0) throw new Error(`all ${tanks} forecasts were computed before the end of the measurement`);
    return { ...times, rate: (before - after) / ((performance.now() - started) / 1000) };
  }
  log(`forecast-job: ${service.name}, ${READS_PER_SECOND} reads a second`);
  const turns = { idle, busy };
  for (const turn of Object.values(turns)) await turn();
  const results = await alternate(rounds, turns, ({ p50, p99, rate }) => {
    return `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${rate.toFixed(0)} forecasts/s`;
  });
  const p99 = (times: readonly ReadTimes[]): number[] => times.map((one) => one.p99);
  const raw = (label: string, times: readonly ReadTimes[]) => [
    { label: `${label}, median`, unit: "ms", values: times.map(({ p50 }) => p50) },
    { label: `${label}, 99th percentile`, unit: "ms", values: p99(times) },
  ];
  const rates = results.busy.map(({ rate }) => rate);
  return [
    {
      row: rowName("reads", engine),
      ...ratioOf(p99(results.busy), p99(results.idle)),
      raw: [...raw("idle", results.idle), ...raw("while forecasts are computed", results.busy)],
    },
    { row: rowName("rate", engine), value: median(rates), raw: [{ label: "forecasts computed", unit: "/s", values: rates }] },
  ];
}

type Side = AsyncDisposable & { readonly numbers: ReadingNumbers; readonly sender: BenchProgram<Batches, RunTime> };

/** A service leaves the forecasts to another process that has renewed its lease within HOLDER_TIMEOUT_MS (90 s). */
const takenOver = (): string =>
  `INSERT INTO service_state (name, value) VALUES ('fleet_order', '${JSON.stringify({ asOf: 0, holder: "bench", at: Date.now() })}')
   ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

async function openSide(bench: Bench, engine: Engine, name: "with" | "without"): Promise<Side> {
  await using end = new AsyncDisposableStack();
  const database = end.use(await copyOfFleet(bench, engine, `${name}_forecasts`));
  if (name === "without") {
    await execute(engine, database.url, takenOver());
    const timer = setInterval(() => void execute(engine, database.url, takenOver()), 10_000);
    end.defer(() => clearInterval(timer));
  }
  const key = createKey(database.url, "ingest");
  const service = end.use(await startTankMonitor(engine, database.url));
  const sender = end.use(
    await startBenchProgram<Batches, RunTime>("send-batches", [service.url, key, String(bench.scale.tanks)]),
  );
  const opened = end.move();
  return { numbers: new ReadingNumbers(), sender, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function ingestRow(bench: Bench, engine: Engine): Promise<Measured> {
  await using on = await openSide(bench, engine, "with");
  await using off = await openSide(bench, engine, "without");
  const { batches, rounds } = bench.scale;
  const readings = batches * BATCH;
  const turn =
    ({ sender, numbers }: Side) =>
    () =>
      sender.run({ idKind: "device", readings: BATCH, clients: CLIENTS, batches, first: numbers.allocate(readings) });
  log(`forecast-job: ${ENGINE_NAMES[engine]}, ${readings.toLocaleString("en")} readings a round`);
  const turns = { with: turn(on), without: turn(off) };
  for (const warmUp of Object.values(turns)) await warmUp();
  const rate = ({ seconds }: RunTime): number => readings / seconds;
  const results = await alternate(rounds, turns, (one) => `${Math.round(rate(one)).toLocaleString("en")} readings/s`);
  const rates = { with: results.with.map(rate), without: results.without.map(rate) };
  return {
    row: rowName("ingest", engine),
    ...ratioOf(rates.with, rates.without),
    raw: [
      { label: "with forecasts", unit: "readings/s", values: rates.with },
      { label: "without", unit: "readings/s", values: rates.without },
    ],
  };
}
