// send-batches.ts URL KEY TANKS: sends batches of readings over HTTP. The batches are created before the clock starts.

import { type Crossings, type IdKind, idsOf, liveReadings } from "../dataset/live-readings.ts";
import { type RunTime, serveRuns, timeRun } from "../measure/bench-program.ts";
import { Connection } from "../measure/connection.ts";
import { atRate, immediately, runScheduled } from "../measure/schedule.ts";

export type Batches = {
  readonly idKind: IdKind;
  /** The number of the first reading. */
  readonly first: number;
  readonly batches: number;
  /** Per batch. */
  readonly readings: number;
  /** Each has its own connection and one request at a time. */
  readonly clients: number;
  /** Batches a second; without it, as fast as possible. */
  readonly rate?: number;
  readonly crossings?: Crossings;
};

const PATH = "/ingest/v1/readings";

const [url = "", key = "", count = ""] = process.argv.slice(2);
const tanks = Number(count);
const ids = { tank: idsOf(tanks, "tank"), device: idsOf(tanks, "device") };

function batchFrom(first: number, { readings, idKind, crossings }: Batches): Buffer {
  const batch = liveReadings(tanks, first, readings, crossings).map(({ tank, createdAt, fill }) => {
    const created_at = new Date(createdAt).toISOString();
    return { [`${idKind}_id`]: ids[idKind][tank], created_at, fill_percentage: fill };
  });
  return Buffer.from(JSON.stringify(batch));
}

serveRuns<Batches, RunTime>(async (task) => {
  const { first, batches, readings, clients, rate } = task;
  const bodies = Array.from({ length: batches }, (_, i) => batchFrom(first + i * readings, task));
  const expected = JSON.stringify({ object: "results", results: Array.from({ length: readings }, () => ({ status: "stored" })) });
  const end = new DisposableStack();
  const connections: Connection[] = [];
  for (let i = 0; i < clients; i++) connections.push(end.use(await Connection.open({ url, headers: { "x-api-key": key } })));
  return async () => {
    using _end = end;
    return await timeRun(() =>
      runScheduled(connections, batches, rate === undefined ? immediately : atRate(rate), async (connection, i) => {
        const { status, body } = await connection.post(PATH, bodies[i] as Buffer);
        if (status !== 200 || body !== expected) throw new Error(`a batch got ${status}: ${body.slice(0, 300)}`);
      }),
    );
  };
});
