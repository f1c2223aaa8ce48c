// Two contestants under the same load, in turns.

import { type Bench, log } from "../bench.ts";
import type { Contestant } from "../contestants/contestant.ts";
import { scatterOrder } from "../dataset/plans.ts";
import type { TankPlan } from "../dataset/readings.ts";
import type { Measured } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { type Load, load } from "../measure/load.ts";
import { alternate, ratioOf } from "../measure/sampling.ts";

type LoadComparison = {
  readonly row: string;
  readonly ours: Contestant;
  readonly theirs: Contestant;
  readonly tanks: readonly TankPlan[];
  readonly page: (tank: TankPlan) => number;
};

/** Our requests a second as a multiple of theirs. */
export async function compareUnderLoad({ scale }: Bench, { row, ours, theirs, tanks, page }: LoadComparison): Promise<Measured> {
  log(`${row}: ${ours.name} and ${theirs.name} under load`);
  const turn = (contestant: Contestant, seconds: number) => () =>
    load(
      contestant,
      scatterOrder(tanks).map((tank) => contestant.path(tank.id, page(tank))),
      seconds,
    );
  for (const contestant of [ours, theirs]) await turn(contestant, scale.warmUpSeconds)();
  const results = await alternate(
    scale.rounds,
    { ours: turn(ours, scale.seconds), theirs: turn(theirs, scale.seconds) },
    ({ requests, p50 }) => `${requests.toFixed(0)} requests/s, median ${p50.toFixed(1)} ms`,
  );
  const sizes = await Promise.all([ours, theirs].map((contestant) => bodyBytes(contestant, tanks[0], page)));
  const rates = (loads: readonly Load[]) => loads.map(({ requests }) => requests);
  const raw = ([contestant, loads]: readonly [Contestant, readonly Load[]]) => [
    { label: contestant.name, unit: "requests/s", values: rates(loads) },
    { label: `${contestant.name}, median`, unit: "ms", values: loads.map(({ p50 }) => p50) },
    { label: `${contestant.name}, 99th percentile`, unit: "ms", values: loads.map(({ p99 }) => p99) },
  ];
  return {
    row,
    ...ratioOf(rates(results.ours), rates(results.theirs)),
    raw: [
      ...raw([ours, results.ours]),
      ...raw([theirs, results.theirs]),
      { label: `a page of ${ours.name} · of ${theirs.name}`, unit: "bytes", values: sizes },
    ],
  };
}

async function bodyBytes(contestant: Contestant, tank: TankPlan | undefined, page: LoadComparison["page"]): Promise<number> {
  if (tank === undefined) return 0;
  using connection = await Connection.open(contestant);
  return Buffer.byteLength((await connection.get(contestant.path(tank.id, page(tank)))).body);
}
