// read-at-rate.ts URL KEY TANKS: reads at a given rate, however long responses take, and measures the latency. Half of the
// requests are for a first page of telemetry, half for a tank.

import { idsOf } from "../dataset/live-readings.ts";
import { scatterOrder } from "../dataset/plans.ts";
import { serveRuns } from "../measure/bench-program.ts";
import { Connection } from "../measure/connection.ts";
import { quantile } from "../measure/sampling.ts";
import { atRandomTimes, runScheduled } from "../measure/schedule.ts";

export type Reads = { readonly rate: number; readonly seconds: number };
export type ReadTimes = { readonly p50: number; readonly p99: number };

/** More than are ever busy at once while responses take a few milliseconds. */
const CONNECTIONS = 32;

const [url = "", key = "", count = ""] = process.argv.slice(2);
const paths = scatterOrder(idsOf(Number(count), "tank")).map((id, i) => `/v1/tanks/${id}${i % 2 === 0 ? "/telemetry" : ""}`);
let requested = 0;
let runs = 0;

serveRuns<Reads, ReadTimes>(async ({ rate, seconds }) => {
  const end = new DisposableStack();
  const connections: Connection[] = [];
  for (let i = 0; i < CONNECTIONS; i++) connections.push(end.use(await Connection.open({ url, headers: { "x-api-key": key } })));
  const reads = rate * seconds;
  const dueAt = atRandomTimes(rate, reads, ++runs);
  return async () => {
    using _end = end;
    const times: number[] = [];
    await runScheduled(connections, reads, dueAt, async (connection, _, since) => {
      await connection.timeGet(paths[requested++ % paths.length] ?? "");
      times.push(performance.now() - since);
    });
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  };
});
