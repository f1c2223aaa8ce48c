// read-steadily.ts URL KEY TANKS: takes turns at reading at a given rate, whatever the answers take, and tells how long they took.
// Half of the questions are for a first page of telemetry, half for a tank.

import { namesOf } from "../dataset/arrivals.ts";
import { jumbled } from "../dataset/plans.ts";
import { Connection } from "../measure/connection.ts";
import { paced, scattered } from "../measure/pace.ts";
import { quantile } from "../measure/statistics.ts";
import { takeTurns } from "../measure/turns.ts";

export type Reads = { readonly rate: number; readonly seconds: number };
export type ReadTimes = { readonly p50: number; readonly p99: number };

/** More than are ever busy at once, where answers take a few milliseconds. */
const CONNECTIONS = 32;

const [url = "", key = "", count = ""] = process.argv.slice(2);
const paths = jumbled(namesOf(Number(count), "tank")).map((id, i) => `/v1/tanks/${id}${i % 2 === 0 ? "/telemetry" : ""}`);
let asked = 0;
let turns = 0;

takeTurns<Reads, ReadTimes>(async ({ rate, seconds }) => {
  const end = new DisposableStack();
  const connections: Connection[] = [];
  for (let i = 0; i < CONNECTIONS; i++) connections.push(end.use(await Connection.open({ url, headers: { "x-api-key": key } })));
  const reads = rate * seconds;
  const dueAt = scattered(rate, reads, ++turns);
  return async () => {
    using _end = end;
    const times: number[] = [];
    await paced(connections, reads, dueAt, async (connection, _, since) => {
      await connection.time(paths[asked++ % paths.length] ?? "");
      times.push(performance.now() - since);
    });
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  };
});
