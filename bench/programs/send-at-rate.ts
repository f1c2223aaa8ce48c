// send-at-rate.ts URL KEY FROM TO: sends single readings of the tanks FROM to TO, exclusive, at a given rate, however long responses
// take, and measures the latency.

import { idsOf, liveReadings } from "../dataset/live-readings.ts";
import { serveRuns } from "../measure/bench-program.ts";
import { Connection } from "../measure/connection.ts";
import { quantile } from "../measure/sampling.ts";
import { atRandomTimes, runScheduled } from "../measure/schedule.ts";

export type Singles = { readonly rate: number; readonly seconds: number; readonly first: number };
export type SingleTimes = { readonly p50: number; readonly p99: number; readonly refused: number };

const CONNECTIONS = 64;

const [url = "", key = "", from = "", to = ""] = process.argv.slice(2);
const ids = idsOf(Number(to), "device").slice(Number(from));
let runs = 0;

serveRuns<Singles, SingleTimes>(async ({ rate, seconds, first }) => {
  const readings = liveReadings(ids.length, first, rate * seconds);
  const end = new DisposableStack();
  const connections: Connection[] = [];
  for (let i = 0; i < CONNECTIONS; i++) connections.push(end.use(await Connection.open({ url, headers: { "x-api-key": key } })));
  const dueAt = atRandomTimes(rate, readings.length, ++runs);
  return async () => {
    using _end = end;
    const times: number[] = [];
    let refused = 0;
    await runScheduled(connections, readings.length, dueAt, async (connection, i, since) => {
      const { tank = 0, createdAt = 0, fill = 0 } = readings[i] ?? {};
      const reading = { device_id: ids[tank], created_at: new Date(createdAt).toISOString(), fill_percentage: fill };
      const { status } = await connection.post("/ingest/v1/readings", Buffer.from(JSON.stringify(reading)));
      times.push(performance.now() - since);
      if (status !== 200) refused++;
    });
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), refused };
  };
});
