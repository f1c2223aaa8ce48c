// The first and the last page against PocketBase, also on SQLite, and against Platformatic DB on the same PostgreSQL.

import type { Bench, Engine } from "../bench.ts";
import { type Contestant, lastPage, verifyPages } from "../contestants/contestant.ts";
import { startPlatformatic } from "../contestants/platformatic.ts";
import { findPocketbase, startPocketbase } from "../contestants/pocketbase.ts";
import { startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf } from "../dataset/databases.ts";
import { peerPlan, scaleFleet } from "../dataset/plans.ts";
import type { Figure, Row } from "../figure.ts";
import { compareUnderLoad } from "./throughput.ts";

const rowsOf = (name: string, label: string, first: number, last: number): readonly Row[] => [
  { name: `${name}-first`, label: `page 1 against ${label}`, unit: "×", aim: { atLeast: first } },
  { name: `${name}-last`, label: `last page against ${label}`, unit: "×", aim: { atLeast: last } },
];

const POCKETBASE_ROWS = rowsOf("pocketbase", "PocketBase", 30, 50);

export const pocketbase: Figure = {
  name: "pocketbase",
  about: "page 1 and the last page against PocketBase",
  rows: POCKETBASE_ROWS,
  async run(bench) {
    const found = await findPocketbase();
    if ("missing" in found) return { rows: POCKETBASE_ROWS.map(({ name }) => ({ row: name, ...found })) };
    return comparePages(bench, "sqlite", "pocketbase", () => startPocketbase(found.binary, peerPlan(bench.scale)));
  },
};

export const platformatic: Figure = {
  name: "platformatic",
  about: "page 1 and the last page against Platformatic DB",
  rows: rowsOf("platformatic", "Platformatic on the same PostgreSQL", 8, 12),
  async run(bench) {
    if (!bench.engines.includes("postgres")) return { rows: [] };
    return comparePages(bench, "postgres", "platformatic", async () =>
      startPlatformatic(await bench.postgres(), peerPlan(bench.scale)),
    );
  },
};

async function comparePages(bench: Bench, engine: Engine, name: string, startPeer: () => Promise<Contestant>) {
  const { tanks } = scaleFleet(bench.scale);
  await using ours = await startTankMonitor(engine, await databaseOf(bench, engine, scaleFleet(bench.scale)));
  await using theirs = await startPeer();
  for (const contestant of [ours, theirs]) await verifyPages(contestant, tanks.slice(0, 3));
  const first = await compareUnderLoad(bench, { row: `${name}-first`, ours, theirs, tanks, page: () => 1 });
  const last = await compareUnderLoad(bench, { row: `${name}-last`, ours, theirs, tanks, page: lastPage });
  return { rows: [first, last] };
}
