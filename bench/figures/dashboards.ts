// What open dashboards cost: processor time, and the reads of others, while readings are ingested.

import { readFileSync } from "node:fs";
import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { withClient } from "../contestants/postgres-client.ts";
import { createKey, createSession, startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf, temporaryDatabase } from "../dataset/databases.ts";
import { ReadingNumbers } from "../dataset/live-readings.ts";
import { scaleFleet } from "../dataset/plans.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { type RunTime, startBenchProgram } from "../measure/bench-program.ts";
import { startReader } from "../measure/reader.ts";
import { alternate, median, ratioOf } from "../measure/sampling.ts";
import type { Dashboards, Polls } from "../programs/open-dashboards.ts";
import type { ReadTimes } from "../programs/read-at-rate.ts";
import type { Batches } from "../programs/send-batches.ts";

const DASHBOARDS = 200;
/** Per second. */
const READS = 500;
const READINGS = 2000;
const BATCH = { idKind: "device", readings: 100, clients: 4 } as const;

const rowName = (what: string, engine: Engine): string => `dashboards-${what}-${engine}`;

export const dashboards: Figure = {
  name: "dashboards",
  about: "processor time of 200 open dashboards at 2,000 readings a second, and p99 of reads meanwhile",
  rows: ENGINES.flatMap((engine): Row[] => [
    {
      name: rowName("processors", engine),
      label: `processors that ${DASHBOARDS} open dashboards use at 2,000 readings/s, ${ENGINE_NAMES[engine]}`,
      unit: "",
      aim: { atMost: 1 },
    },
    {
      name: rowName("reads", engine),
      label: `… p99 of reads meanwhile ÷ idle, ${ENGINE_NAMES[engine]}`,
      unit: "",
      aim: { atMost: 2 },
    },
    {
      name: rowName("second-service", engine),
      label: `… the same for reads of a second service on the same processors, ${ENGINE_NAMES[engine]}`,
      unit: "",
    },
  ]),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

type Turn = ReadTimes & { readonly processors: number };

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  const { scale } = bench;
  const original = await databaseOf(bench, engine, scaleFleet(scale));
  await using database = await temporaryDatabase(bench, engine, "mixed", original);
  const ingestKey = createKey(database.url, "ingest");
  await using service = await startTankMonitor(engine, database.url);
  await using secondDatabase = await temporaryDatabase(bench, engine, "second", original);
  await using secondService = await startTankMonitor(engine, secondDatabase.url);
  await using reader = await startReader(service, scale.tanks);
  await using secondReader = await startReader(secondService, scale.tanks);
  await using sender = await startBenchProgram<Batches, RunTime>("send-batches", [service.url, ingestKey, String(scale.tanks)]);
  const cookie = await createSession(database.url, service.url);
  await using viewers = await startBenchProgram<Dashboards, Polls>("open-dashboards", [service.url, cookie]);
  const seconds = scale.mixedSeconds;
  const numbers = new ReadingNumbers();
  const rate = READINGS / BATCH.readings;
  const processes = async (): Promise<number[]> => [service.pid, ...(engine === "sqlite" ? [] : await backendsOf(database.url))];

  async function turn(isIngesting: boolean, isViewed: boolean, program = reader): Promise<Turn> {
    const readings = { ...BATCH, batches: rate * seconds, rate };
    const send = isIngesting ? await sender.prepare({ ...readings, first: numbers.allocate(READINGS * seconds) }) : undefined;
    const view = isViewed ? await viewers.prepare({ dashboards: DASHBOARDS, seconds }) : undefined;
    const read = await program.prepare({ rate: READS, seconds });
    const pids = await processes();
    const before = secondsOf(pids);
    const [times] = await Promise.all([read(), send?.(), view?.()]);
    return { ...times, processors: (secondsOf(pids) - before) / seconds };
  }

  log(`dashboards: ${service.name}, ${DASHBOARDS} dashboards, ${READS} reads and ${READINGS} readings a second`);
  const turns = {
    idle: () => turn(false, false),
    ingesting: () => turn(true, false),
    viewed: () => turn(true, true),
    second: () => turn(true, true, secondReader),
  };
  for (const one of Object.values(turns)) await one();
  const { idle, ingesting, viewed, second } = await alternate(
    scale.rounds,
    turns,
    ({ p50, p99, processors }) => `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${processors.toFixed(2)} processors`,
  );
  const used = viewed.map(({ processors }, i) => processors - (ingesting[i]?.processors ?? 0));
  const p99 = (all: readonly Turn[]): number[] => all.map((one) => one.p99);
  return [
    {
      row: rowName("processors", engine),
      value: median(used),
      spread: [Math.min(...used), Math.max(...used)],
      raw: [{ label: "with dashboards − without", unit: "processors", values: used }],
    },
    {
      row: rowName("reads", engine),
      ...ratioOf(p99(viewed), p99(idle)),
      raw: [
        { label: "idle, 99th percentile", unit: "ms", values: p99(idle) },
        { label: "while readings are ingested, 99th percentile", unit: "ms", values: p99(ingesting) },
        { label: "with dashboards as well, 99th percentile", unit: "ms", values: p99(viewed) },
      ],
    },
    {
      row: rowName("second-service", engine),
      ...ratioOf(p99(second), p99(idle)),
      raw: [{ label: "reads of the second service, 99th percentile", unit: "ms", values: p99(second) }],
    },
  ];
}

/** The server processes that work for the service. */
function backendsOf(url: string): Promise<number[]> {
  const sql = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  return withClient(url, async (client) => (await client.query<{ pid: number }>(sql)).rows.map(({ pid }) => pid));
}

const TICKS_PER_SECOND = 100;

/** Processor time of the processes so far; of one that has ended, none. */
function secondsOf(pids: readonly number[]): number {
  const ticks = pids.map((pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return Number(fields[11]) + Number(fields[12]);
    } catch {
      return 0;
    }
  });
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND;
}
