// The lines of the plot: latency of the last page by the size of the tank, and of a page by its number.

import { type Bench, log } from "../bench.ts";
import { type Contestant, lastPage, verifyPages } from "../contestants/contestant.ts";
import { startPlatformatic } from "../contestants/platformatic.ts";
import { findPocketbase, startPocketbase } from "../contestants/pocketbase.ts";
import { startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf } from "../dataset/databases.ts";
import { longTank, longTanks, peerPlan } from "../dataset/plans.ts";
import type { Curve, Figure } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { latency } from "../measure/sampling.ts";

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
      const sizes = bench.scale.longTankSizes.filter((readings) => !isPeer || readings <= bench.scale.maxPeerTankSize);
      curves.push(...(await curvesOf(contestant, sizes, bench)));
    }
    return { rows: [], curves };
  },
};

function starters(bench: Bench): (() => Promise<Contestant | undefined>)[] {
  const ours = bench.engines.map(
    (engine) => async () => startTankMonitor(engine, await databaseOf(bench, engine, longTanks(bench.scale.longTankSizes))),
  );
  const pocketbase = async () => {
    const found = await findPocketbase();
    return "missing" in found ? undefined : startPocketbase(found.binary, peerPlan(bench.scale));
  };
  const platformatic = async () => startPlatformatic(await bench.postgres(), peerPlan(bench.scale));
  return [...ours, pocketbase, ...(bench.engines.includes("postgres") ? [platformatic] : [])];
}

async function curvesOf(contestant: Contestant, sizes: readonly number[], { scale }: Bench): Promise<Curve[]> {
  log(`depth: ${contestant.name}, one connection`);
  await verifyPages(
    contestant,
    sizes.filter((readings) => readings <= scale.maxPeerTankSize).map((readings) => longTank(readings)),
  );
  using connection = await Connection.open(contestant);
  const median = async (tankId: string, page: number) => {
    const paths = [contestant.path(tankId, page)];
    await latency(connection, paths, scale.samples / 5);
    return latency(connection, paths, scale.samples);
  };
  const overReadings: [number, number][] = [];
  for (const readings of sizes) overReadings.push([readings, await median(longTank(readings).id, lastPage(longTank(readings)))]);
  const tank = longTank(scale.maxPeerTankSize);
  const overPages: [number, number][] = [];
  for (let page = 1; page <= lastPage(tank); page *= 10) overPages.push([page, await median(tank.id, page)]);
  return [
    { panel: "readings", contestant: contestant.name, points: overReadings },
    { panel: "page", contestant: contestant.name, points: overPages },
  ];
}
