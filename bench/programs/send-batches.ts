// send-batches.ts URL KEY TANKS: takes turns at sending readings over HTTP, in batches, each made before the clock starts.

import { arrivingFrom, type Named, namesOf } from "../dataset/arrivals.ts";
import { Connection } from "../measure/connection.ts";
import { atOnce, evenly, paced } from "../measure/pace.ts";
import { type Spent, spent, takeTurns } from "../measure/turns.ts";

export type Batches = {
  readonly named: Named;
  /** The number of the first reading. */
  readonly first: number;
  readonly batches: number;
  /** In each batch. */
  readonly readings: number;
  /** Each on a connection of its own, with one batch under way. */
  readonly clients: number;
  /** Batches a second; without it, as fast as they are answered. */
  readonly rate?: number;
};

const PATH = "/ingest/v1/readings";

const [url = "", key = "", count = ""] = process.argv.slice(2);
const tanks = Number(count);
const names = { tank: namesOf(tanks, "tank"), device: namesOf(tanks, "device") };

function batchFrom(first: number, readings: number, named: Named): Buffer {
  const batch = arrivingFrom(tanks, first, readings).map(({ tank, createdAt, fill }) => {
    const created_at = new Date(createdAt).toISOString();
    return { [`${named}_id`]: names[named][tank], created_at, fill_percentage: fill };
  });
  return Buffer.from(JSON.stringify(batch));
}

takeTurns<Batches, Spent>(async ({ named, first, batches, readings, clients, rate }) => {
  const bodies = Array.from({ length: batches }, (_, i) => batchFrom(first + i * readings, readings, named));
  const expected = JSON.stringify({ object: "results", results: Array.from({ length: readings }, () => ({ status: "stored" })) });
  const end = new DisposableStack();
  const connections: Connection[] = [];
  for (let i = 0; i < clients; i++) connections.push(end.use(await Connection.open({ url, headers: { "x-api-key": key } })));
  return async () => {
    using _end = end;
    return await spent(() =>
      paced(connections, batches, rate === undefined ? atOnce : evenly(rate), async (connection, i) => {
        const { status, body } = await connection.send(PATH, bodies[i] as Buffer);
        if (status !== 200 || body !== expected) throw new Error(`a batch is answered with ${status}: ${body.slice(0, 300)}`);
      }),
    );
  };
});
