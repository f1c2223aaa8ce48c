// The lines of the plot: how long the last page takes as a tank grows, and how long a page takes the deeper it lies.

import { type Bench, say } from "../bench.ts";
import { type Contestant, check, lastPage } from "../contestants/contestant.ts";
import { startPlatformatic } from "../contestants/platformatic.ts";
import { findPocketbase, startPocketbase } from "../contestants/pocketbase.ts";
import { startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf } from "../dataset/databases.ts";
import { ladder, peerPlan, rung } from "../dataset/plans.ts";
import type { Curve, Figure } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { latency } from "../measure/latency.ts";

export const depth: Figure = {
  name: "depth",
  about: "the lines of the plot: latency over page depth and over the number of readings",
  rows: [],
  async run(bench) {
    const curves: Curve[] = [];
    for (const start of starters(bench)) {
      await using contestant = await start();
      if (contestant === undefined) continue;
      const isPeer = !contestant.name.startsWith("Tank Monitor");
      const rungs = bench.scale.rungs.filter((readings) => !isPeer || readings <= bench.scale.peerRungMost);
      curves.push(...(await curvesOf(contestant, rungs, bench)));
    }
    return { rows: [], curves };
  },
};

function starters(bench: Bench): (() => Promise<Contestant | undefined>)[] {
  const ours = bench.engines.map(
    (engine) => async () => startTankMonitor(engine, await databaseOf(bench, engine, ladder(bench.scale.rungs))),
  );
  const pocketbase = async () => {
    const found = await findPocketbase();
    return "missing" in found ? undefined : startPocketbase(found.binary, peerPlan(bench.scale));
  };
  const platformatic = async () => startPlatformatic(await bench.postgres(), peerPlan(bench.scale));
  return [...ours, pocketbase, ...(bench.engines.includes("postgres") ? [platformatic] : [])];
}

async function curvesOf(contestant: Contestant, rungs: readonly number[], { scale }: Bench): Promise<Curve[]> {
  say(`depth: ${contestant.name}, one connection`);
  await check(
    contestant,
    rungs.filter((readings) => readings <= scale.peerRungMost).map((readings) => rung(readings)),
  );
  using connection = await Connection.open(contestant);
  const median = async (tankId: string, page: number) => {
    const paths = [contestant.path(tankId, page)];
    await latency(connection, paths, scale.samples / 5);
    return latency(connection, paths, scale.samples);
  };
  const overReadings: [number, number][] = [];
  for (const readings of rungs) overReadings.push([readings, await median(rung(readings).id, lastPage(rung(readings)))]);
  const tank = rung(scale.peerRungMost);
  const overPages: [number, number][] = [];
  for (let page = 1; page <= lastPage(tank); page *= 10) overPages.push([page, await median(tank.id, page)]);
  return [
    { panel: "readings", contestant: contestant.name, points: overReadings },
    { panel: "page", contestant: contestant.name, points: overPages },
  ];
}
