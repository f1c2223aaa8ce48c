// The first and the last page against Platformatic DB, on the same PostgreSQL.

import { check, lastPage } from "../contestants/contestant.ts";
import { startPlatformatic } from "../contestants/platformatic.ts";
import { startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf } from "../dataset/databases.ts";
import { peerPlan, scaleFleet } from "../dataset/plans.ts";
import type { Figure } from "../figure.ts";
import { underLoad } from "./throughput.ts";

const FIRST = "platformatic-first";
const LAST = "platformatic-last";

export const platformatic: Figure = {
  name: "platformatic",
  about: "page 1 and the last page against Platformatic DB",
  rows: [
    { name: FIRST, label: "page 1 against Platformatic on the same PostgreSQL", unit: "×", aim: { atLeast: 8 } },
    { name: LAST, label: "last page against Platformatic on the same PostgreSQL", unit: "×", aim: { atLeast: 12 } },
  ],
  async run(bench) {
    if (!bench.engines.includes("postgres")) return { rows: [] };
    const { tanks } = scaleFleet(bench.scale);
    await using ours = await startTankMonitor("postgres", await databaseOf(bench, "postgres", scaleFleet(bench.scale)));
    await using theirs = await startPlatformatic(await bench.postgres(), peerPlan(bench.scale));
    for (const contestant of [ours, theirs]) await check(contestant, tanks.slice(0, 3));
    const first = await underLoad(bench, { row: FIRST, ours, theirs, tanks, page: () => 1 });
    const last = await underLoad(bench, { row: LAST, ours, theirs, tanks, page: lastPage });
    return { rows: [first, last] };
  },
};
