// Latency as the database grows: the same requests to fleets with more and more readings.

import { type Bench, log } from "../bench.ts";
import { type Contestant, lastPage, verifyPages } from "../contestants/contestant.ts";
import { startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf } from "../dataset/databases.ts";
import { fleet, type Plan, scatterOrder } from "../dataset/plans.ts";
import { readingAt } from "../dataset/readings.ts";
import type { Figure, Measured } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { alternate, inMilliseconds, latency, ratioOf } from "../measure/sampling.ts";

export const growth: Figure = {
  name: "growth",
  about: "median latency at 100,000,000 readings (--full; else 10,000,000) against that at 1,000,000",
  rows: [
    {
      name: "growth-100x",
      label: "median latency at 100,000,000 readings ÷ at 1,000,000, SQLite",
      unit: "",
      aim: { atMost: 1.3 },
    },
    { name: "growth-10x", label: "median latency at 10,000,000 readings ÷ at 1,000,000, SQLite", unit: "" },
  ],
  async run(bench) {
    const { scale } = bench;
    const plans = scale.growth.map((readings) => fleet(scale.tanks, readings));
    const urls: string[] = [];
    for (const plan of plans) urls.push(await databaseOf(bench, "sqlite", plan));
    await using stack = new AsyncDisposableStack();
    const turns: Record<string, () => Promise<number>> = {};
    for (const [i, plan] of plans.entries()) turns[plan.name] = stack.use(await turnOf(bench, plan, urls[i] ?? "")).turn;
    log("growth: one connection, pages of every kind");
    for (const turn of Object.values(turns)) await turn();
    const results = await alternate(scale.rounds, turns, inMilliseconds);
    const times = plans.map(({ name }) => results[name] ?? []);
    const raw = plans.map(({ name }, i) => ({ label: `${name}, median of a round`, unit: "ms", values: times[i] ?? [] }));
    const rows = times.slice(1).map((over, i): Measured => {
      const factor = Math.round((scale.growth[i + 1] ?? 0) / (scale.growth[0] ?? 1));
      return {
        row: `growth-${factor}x`,
        ...ratioOf(over, times[0] ?? []),
        raw: [...raw.slice(0, 1), ...raw.slice(i + 1, i + 2)],
      };
    });
    return { rows };
  },
};

async function turnOf({ scale }: Bench, plan: Plan, url: string): Promise<AsyncDisposable & { turn: () => Promise<number> }> {
  const service = await startTankMonitor("sqlite", url);
  await verifyPages(service, plan.tanks.slice(0, 3));
  const connection = await Connection.open(service);
  const paths = pathsOf(service, plan);
  return {
    turn: () => latency(connection, paths, scale.samples),
    async [Symbol.asyncDispose]() {
      connection[Symbol.dispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

/** One page per tank: in turn the first, the last, one between, and one within a range. */
function pathsOf(service: Contestant, plan: Plan): string[] {
  return scatterOrder(plan.tanks).map((tank, i) => {
    if (i % 4 === 0) return service.path(tank.id, 1);
    if (i % 4 === 1) return service.path(tank.id, lastPage(tank));
    if (i % 4 === 2) return service.path(tank.id, Math.ceil(lastPage(tank) * ((i * 0.618) % 1)) || 1);
    const bound = (share: number) => new Date(readingAt(tank, Math.floor(tank.readings * share)).createdAt).toISOString();
    const page = Math.max(2, Math.floor(lastPage(tank) / 4));
    return `${service.path(tank.id, page)}&created_at_gte=${bound(0.2)}&created_at_lte=${bound(0.7)}`;
  });
}
