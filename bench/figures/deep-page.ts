// The last page of one long tank against its first, without and with a range, one request at a time.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { type Contestant, lastPage, PAGE_SIZE, verifyPages } from "../contestants/contestant.ts";
import { program } from "../contestants/program.ts";
import { startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf } from "../dataset/databases.ts";
import { longTank, longTanks } from "../dataset/plans.ts";
import { readingAt, type TankPlan } from "../dataset/readings.ts";
import type { Figure, Measured, RawValues } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { alternate, inMilliseconds, latency, ratioOf } from "../measure/sampling.ts";
import { runProgram } from "../processes.ts";
import type { StorePages } from "../programs/store-pages.ts";

export const deepPage: Figure = {
  name: "deep-page",
  about: "the last page of one tank with 10,000,000 readings against its first",
  rows: ENGINES.flatMap((engine) => [
    {
      name: `deep-page-${engine}`,
      label: `last page ÷ first, one long tank, ${ENGINE_NAMES[engine]}`,
      unit: "",
      aim: { atMost: 1.5 },
    },
    { name: `deep-range-${engine}`, label: `the same with a range, ${ENGINE_NAMES[engine]}`, unit: "", aim: { atMost: 1.5 } },
  ]),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  const tank = longTank(bench.scale.longTankSizes.at(-1) ?? 0);
  const url = await databaseOf(bench, engine, longTanks(bench.scale.longTankSizes));
  const inProcess = await inProcessTimes(url, tank);
  await using service = await startTankMonitor(engine, url);
  await verifyPages(service, [tank]);
  using connection = await Connection.open(service);
  const range = await checkedRange(service, connection, tank);
  const paths = {
    "first page": service.path(tank.id, 1),
    "last page": service.path(tank.id, lastPage(tank)),
    "first page of range": `${range.path}&page=1`,
    "last page of range": `${range.path}&page=${range.lastPage}`,
  };
  log(`deep-page: ${service.name}, one connection`);
  const turn = (path: string) => () => latency(connection, [path], bench.scale.samples);
  for (const path of Object.values(paths)) await turn(path)();
  const turns = Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, turn(path)]));
  const results = await alternate(bench.scale.rounds, turns as Record<keyof typeof paths, () => Promise<number>>, inMilliseconds);
  const raw = (...names: (keyof typeof paths)[]): RawValues[] =>
    names.map((name) => ({ label: `${name}, median of a round`, unit: "ms", values: results[name] }));
  return [
    {
      row: `deep-page-${engine}`,
      ...ratioOf(results["last page"], results["first page"]),
      raw: [...raw("first page", "last page"), ...inProcess],
    },
    {
      row: `deep-range-${engine}`,
      ...ratioOf(results["last page of range"], results["first page of range"]),
      raw: raw("first page of range", "last page of range"),
    },
  ];
}

/** The middle four fifths of the tank. Its total is verified before anything is timed. */
async function checkedRange(
  service: Contestant,
  connection: Connection,
  tank: TankPlan,
): Promise<{ path: string; lastPage: number }> {
  const { from, to, total } = rangeOf(tank);
  const bounds = `created_at_gte=${new Date(from).toISOString()}&created_at_lte=${new Date(to).toISOString()}`;
  const path = `${service.path(tank.id, 1)}?${bounds}`;
  const last = Math.ceil(total / PAGE_SIZE);
  const got = service.decode(await connection.get(`${path}&page=${last}`));
  if (got.total !== total || got.readings.at(-1)?.createdAt !== from)
    throw new Error(`a range of ${total} readings has a total of ${got.total}`);
  return { path, lastPage: last };
}

function rangeOf(tank: TankPlan): { from: number; to: number; total: number } {
  const [oldest, newest] = [Math.floor(tank.readings * 0.1), Math.floor(tank.readings * 0.9)];
  return { from: readingAt(tank, oldest).createdAt, to: readingAt(tank, newest).createdAt, total: newest - oldest + 1 };
}

/** The same pages read from the store, without HTTP. */
async function inProcessTimes(url: string, tank: TankPlan): Promise<RawValues[]> {
  const { from, to, total } = rangeOf(tank);
  const words = [url, tank.id, lastPage(tank), from, to, Math.ceil(total / PAGE_SIZE)].map(String);
  const times = await runProgram<StorePages>(program("store-pages"), words);
  return Object.entries(times).map(([name, ms]) => ({ label: `in process, ${name}`, unit: "ms", values: [ms] }));
}
