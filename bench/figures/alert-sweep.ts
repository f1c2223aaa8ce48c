// The sweep for silent tanks of a very large fleet, when none is due.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { wideDatabase } from "../dataset/wide-fleet.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { startBenchProgram } from "../measure/bench-program.ts";
import { alternate, inMilliseconds, median } from "../measure/sampling.ts";
import type { Sweeps, SweepTimes } from "../programs/sweep-alerts.ts";

export const alertSweep: Figure = {
  name: "alert-sweep",
  about: "the sweep for silent tanks of a million, when none is due",
  rows: ENGINES.map(
    (engine): Row => ({
      name: `alert-sweep-${engine}`,
      label: `sweep for silent tanks among 1,000,000, when none is due, ${ENGINE_NAMES[engine]}`,
      unit: "ms",
      aim: { atMost: 5 },
    }),
  ),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(await onEngine(bench, engine));
    return { rows };
  },
};

async function onEngine(bench: Bench, engine: Engine): Promise<Measured> {
  const { largeFleet, rounds, samples } = bench.scale;
  const url = await wideDatabase(bench, engine, largeFleet);
  log(`alert-sweep: ${ENGINE_NAMES[engine]}, ${largeFleet.toLocaleString("en")} tanks`);
  await using sweeper = await startBenchProgram<Sweeps, SweepTimes>("sweep-alerts", [url]);
  const turn = () => sweeper.run({ sweeps: samples });
  await turn();
  const { sweeps } = await alternate(rounds, { sweeps: turn }, ({ p50 }) => inMilliseconds(p50));
  const medians = sweeps.map(({ p50 }) => p50);
  return {
    row: `alert-sweep-${engine}`,
    value: median(medians),
    spread: [Math.min(...medians), Math.max(...medians)],
    raw: [
      { label: "median of a round, with its commit", unit: "ms", values: medians },
      { label: "99th percentile", unit: "ms", values: sweeps.map(({ p99 }) => p99) },
    ],
  };
}
