// The first and the last page against PocketBase, which answers in the same shape, from SQLite too.

import { check, lastPage } from "../contestants/contestant.ts";
import { findPocketbase, startPocketbase } from "../contestants/pocketbase.ts";
import { startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf } from "../dataset/databases.ts";
import { peerPlan, scaleFleet } from "../dataset/plans.ts";
import type { Figure } from "../figure.ts";
import { underLoad } from "./throughput.ts";

const FIRST = "pocketbase-first";
const LAST = "pocketbase-last";

export const pocketbase: Figure = {
  name: "pocketbase",
  about: "page 1 and the last page against PocketBase",
  rows: [
    { name: FIRST, label: "page 1 against PocketBase", unit: "×", aim: { atLeast: 30 } },
    { name: LAST, label: "last page against PocketBase", unit: "×", aim: { atLeast: 50 } },
  ],
  async run(bench) {
    const found = await findPocketbase();
    if ("missing" in found) return { rows: [FIRST, LAST].map((row) => ({ row, ...found })) };
    const { tanks } = scaleFleet(bench.scale);
    await using ours = await startTankMonitor("sqlite", await databaseOf(bench, "sqlite", scaleFleet(bench.scale)));
    await using theirs = await startPocketbase(found.binary, peerPlan(bench.scale));
    for (const contestant of [ours, theirs]) await check(contestant, tanks.slice(0, 3));
    const first = await underLoad(bench, { row: FIRST, ours, theirs, tanks, page: () => 1 });
    const last = await underLoad(bench, { row: LAST, ours, theirs, tanks, page: lastPage });
    return { rows: [first, last] };
  },
};
