// A late reading in the middle of a long tank against an appended one; each has its own commit.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { program } from "../contestants/program.ts";
import { databaseOf, temporaryDatabase } from "../dataset/databases.ts";
import { longTank, longTanks } from "../dataset/plans.ts";
import { readingAt } from "../dataset/readings.ts";
import type { Figure, Measured } from "../figure.ts";
import { median, quantile } from "../measure/sampling.ts";
import { runProgram } from "../processes.ts";
import type { LateWrites } from "../programs/late-writer.ts";

export const lateReading: Figure = {
  name: "late-reading",
  about: "one late reading in the middle of ten million against an append",
  rows: ENGINES.map((engine) => ({
    name: `late-reading-${engine}`,
    label: `one late reading in the middle of ten million ÷ an append, ${ENGINE_NAMES[engine]}`,
    unit: "",
    aim: { atMost: 3 },
  })),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(await onEngine(bench, engine));
    return { rows };
  },
};

async function onEngine(bench: Bench, engine: Engine): Promise<Measured> {
  const { scale } = bench;
  const tank = longTank(scale.longTankSizes.at(-1) ?? 0);
  const original = await databaseOf(bench, engine, longTanks(scale.longTankSizes));
  await using copy = await temporaryDatabase(bench, engine, "late", original);
  log(`late-reading: ${ENGINE_NAMES[engine]}, ${scale.writes} of each`);
  const [oldest, newest] = [readingAt(tank, 0).createdAt, readingAt(tank, tank.readings - 1).createdAt];
  const words = [copy.url, tank.id, oldest, newest, scale.writes].map(String);
  const { appended, late } = await runProgram<LateWrites>(program("late-writer"), words);
  const summary = (label: string, times: readonly number[]) => [
    { label: `${label}, median`, unit: "ms", values: [median(times)] },
    { label: `${label}, 99th percentile`, unit: "ms", values: [quantile(times, 0.99)] },
  ];
  return {
    row: `late-reading-${engine}`,
    value: median(late) / median(appended),
    raw: [...summary("append", appended), ...summary("late", late)],
  };
}
