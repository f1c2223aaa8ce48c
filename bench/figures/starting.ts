// From the start of the process to its first response, on the large database.

import { log } from "../bench.ts";
import { createKey, startTankMonitor } from "../contestants/tank-monitor.ts";
import { databaseOf } from "../dataset/databases.ts";
import { scaleFleet } from "../dataset/plans.ts";
import type { Figure } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { median } from "../measure/sampling.ts";

export const starting: Figure = {
  name: "start",
  about: "start to first response",
  rows: [{ name: "start", label: "start to first response", unit: "ms", aim: { atMost: 1000 } }],
  async run(bench) {
    const plan = scaleFleet(bench.scale);
    const url = await databaseOf(bench, "sqlite", plan);
    const key = createKey(url);
    const times: number[] = [];
    log("start: to the first response");
    for (let round = 0; round < bench.scale.rounds; round++) {
      const started = performance.now();
      await using service = await startTankMonitor("sqlite", url, key);
      using connection = await Connection.open(service);
      await connection.timeGet(service.path(plan.tanks[0]?.id ?? "", 1));
      times.push(performance.now() - started);
    }
    return {
      rows: [
        {
          row: "start",
          value: median(times),
          spread: [Math.min(...times), Math.max(...times)],
          raw: [{ label: "start to first response", unit: "ms", values: times }],
        },
      ],
    };
  },
};
