// The first page, as a share of a bare Fastify server; and the memory of the service meanwhile.

import { readFileSync } from "node:fs";
import { verifyPages } from "../contestants/contestant.ts";
import { startBareFastify } from "../contestants/program.ts";
import { startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf } from "../dataset/databases.ts";
import { scaleFleet } from "../dataset/plans.ts";
import type { Figure, Measured, Missing } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { compareUnderLoad } from "./throughput.ts";

export const pageOne: Figure = {
  name: "page-one",
  about: "page 1 on SQLite against a bare Fastify with the same bytes; memory",
  rows: [
    { name: "page-one", label: "page 1, SQLite, as a share of bare Fastify", unit: "", aim: { atLeast: 0.63 } },
    { name: "memory", label: "peak memory under that load", unit: "MB", aim: { atMost: 150 } },
  ],
  async run(bench) {
    const { tanks } = scaleFleet(bench.scale);
    await using ours = await startTankMonitor("sqlite", await databaseOf(bench, "sqlite", scaleFleet(bench.scale)));
    await verifyPages(ours, tanks.slice(0, 3));
    using connection = await Connection.open(ours);
    const { body } = await connection.get(ours.path(tanks[0]?.id ?? "", 1));
    await using theirs = await startBareFastify(ours, body);
    const share = await compareUnderLoad(bench, { row: "page-one", ours, theirs, tanks, page: () => 1 });
    return { rows: [share, memoryOf(ours.pid)] };
  },
};

function memoryOf(pid: number): Measured | Missing {
  try {
    const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    return { row: "memory", value: (kilobytes * 1024) / 1e6, raw: [] };
  } catch {
    return { row: "memory", missing: "only measured on Linux" };
  }
}
