// What was acknowledged before a kill -9 is there after it. The long run does this two hundred times, on both engines.

import test from "node:test";
import { SEED } from "./chance.ts";
import { SQLITE } from "./engines.ts";
import { surviveKills } from "./kills.ts";

for (const { name, processes, times } of [
  { name: "the service", processes: 1, times: 3 },
  { name: "a worker, and the parent of workers", processes: 2, times: 2 },
] as const) {
  test(`kill -9 of ${name} under load loses nothing that was acknowledged, seed ${SEED}`, async (t) => {
    await surviveKills(t, { engine: SQLITE, seed: `${SEED} ${name}`, times, processes, calm: 1000 });
  });
}
