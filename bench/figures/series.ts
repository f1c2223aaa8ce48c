// A year of readings as local days: of one tank against page 1 of its telemetry, and of a hundred tanks in one request against a
// hundred requests.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf } from "../dataset/databases.ts";
import { fleet } from "../dataset/plans.ts";
import { readingAt, type TankPlan } from "../dataset/readings.ts";
import type { Figure, Measured, RawValues } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { alternate, inMilliseconds, latency, median, ratioOf } from "../measure/sampling.ts";

const TANKS = 100;
/** One every four hours, in the four years of the data. */
const READINGS = 4 * 365.25 * 6;
const QUERY = { from: "2024-12-31T23:00:00.000Z", to: "2025-12-31T23:00:00.000Z", step: "1d", timezone: "Europe/Berlin" };
const PATH = "/insight/v1/series";

type Series = { readonly tank_id: string; readonly buckets: readonly { readonly count: number }[] };

export const series: Figure = {
  name: "series",
  about: "a year of readings as local days: one tank against page 1, a hundred tanks in one request",
  rows: ENGINES.flatMap((engine) => [
    {
      name: `series-year-${engine}`,
      label: `a year of a tank as local days ÷ page 1 of telemetry, ${ENGINE_NAMES[engine]}`,
      unit: "",
      aim: { atMost: 5 },
    },
    {
      name: `series-hundred-${engine}`,
      label: `a year of 100 tanks as local days, one request ÷ 100, ${ENGINE_NAMES[engine]}`,
      unit: "",
      aim: { atMost: 0.5 },
    },
  ]),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  const plan = fleet(TANKS, READINGS);
  await using service = await startTankMonitor(engine, await databaseOf(bench, engine, plan));
  using connection = await Connection.open(service);
  const { samples, rounds } = bench.scale;
  const pages = plan.tanks.map(({ id }) => service.path(id, 1));
  const years = plan.tanks.map(({ id }) => `/insight/v1/tanks/${id}/series?${new URLSearchParams(QUERY)}`);
  const body = Buffer.from(JSON.stringify({ tank_ids: plan.tanks.map(({ id }) => id), ...QUERY }));
  await verify(connection, plan.tanks, years, body);
  log(`series: ${service.name}, one connection`);
  const turns = {
    "page 1": () => latency(connection, pages, samples),
    year: () => latency(connection, years, samples),
    "100 requests": () => times(samples / 100, () => inTurn(connection, years)),
    "one request": () => times(samples / 100, () => connection.timePost(PATH, body)),
  };
  for (const warmUp of Object.values(turns)) await warmUp();
  const results = await alternate(rounds, turns, inMilliseconds);
  const raw = (...names: (keyof typeof turns)[]): RawValues[] =>
    names.map((name) => ({ label: `${name}, median of a round`, unit: "ms", values: results[name] }));
  return [
    { row: `series-year-${engine}`, ...ratioOf(results.year, results["page 1"]), raw: raw("year", "page 1") },
    {
      row: `series-hundred-${engine}`,
      ...ratioOf(results["one request"], results["100 requests"]),
      raw: raw("one request", "100 requests"),
    },
  ];
}

async function inTurn(connection: Connection, paths: readonly string[]): Promise<void> {
  for (const path of paths) await connection.timeGet(path);
}

/** The median of `runs` runs, in milliseconds. */
async function times(runs: number, run: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < runs; i++) {
    const started = performance.now();
    await run();
    took.push(performance.now() - started);
  }
  return median(took);
}

/** Every reading of the year is in one bucket, and one request returns what a hundred return. */
async function verify(connection: Connection, tanks: readonly TankPlan[], years: readonly string[], body: Buffer): Promise<void> {
  const { data } = JSON.parse((await connection.post(PATH, body)).body) as { readonly data: readonly Series[] };
  for (const [i, tank] of tanks.entries()) {
    const alone = JSON.parse((await connection.get(years[i] ?? "")).body) as Series;
    const counted = alone.buckets.reduce((sum, { count }) => sum + count, 0);
    const isSame = JSON.stringify(alone) === JSON.stringify(data[i]);
    if (!isSame || counted !== readingsInYear(tank)) throw new Error(`the series of ${tank.id} has ${counted} readings`);
  }
}

function readingsInYear(tank: TankPlan): number {
  const [from, to] = [Date.parse(QUERY.from), Date.parse(QUERY.to)];
  const instants = Array.from({ length: tank.readings }, (_, i) => readingAt(tank, i).createdAt);
  return instants.filter((instant) => instant >= from && instant < to).length;
}
