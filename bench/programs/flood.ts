// flood.ts URL KEY TANKS: one key sends large bodies in parallel for a while, as fast as they are accepted. A refused body is sent
// again after Retry-After.

import { setTimeout as sleep } from "node:timers/promises";
import { idsOf, liveReadings } from "../dataset/live-readings.ts";
import { serveRuns } from "../measure/bench-program.ts";
import { Connection } from "../measure/connection.ts";

export type Flood = {
  readonly seconds: number;
  /** The number of the first reading. */
  readonly first: number;
  /** Each sends one body at a time. */
  readonly clients: number;
  /** Per body. */
  readonly readings: number;
  /** Bodies a second, at most. */
  readonly rate?: number;
};
export type FloodResult = { readonly accepted: number; readonly refused: number };

/** Prepared bodies; sent again, their readings replace nothing. */
const BODIES = 50;

const [url = "", key = "", count = ""] = process.argv.slice(2);
const tanks = Number(count);
const ids = idsOf(tanks, "device");

function bodyFrom(first: number, readings: number): Buffer {
  const body = liveReadings(tanks, first, readings).map(({ tank, createdAt, fill }) => {
    return { device_id: ids[tank], created_at: new Date(createdAt).toISOString(), fill_percentage: fill };
  });
  return Buffer.from(JSON.stringify(body));
}

serveRuns<Flood, FloodResult>(async ({ seconds, first, clients, readings, rate = Number.POSITIVE_INFINITY }) => {
  const bodies = Array.from({ length: BODIES }, (_, i) => bodyFrom(first + i * readings, readings));
  const end = new DisposableStack();
  const connections: Connection[] = [];
  for (let i = 0; i < clients; i++) connections.push(end.use(await Connection.open({ url, headers: { "x-api-key": key } })));
  return async () => {
    using _end = end;
    const from = performance.now();
    const until = from + seconds * 1000;
    const result = { accepted: 0, refused: 0 };
    let next = 0;
    await Promise.all(
      connections.map(async (connection) => {
        for (;;) {
          const now = performance.now();
          const due = Math.max(now, from + (next / rate) * 1000);
          if (due >= until) return;
          const number = next++;
          if (due > now) await sleep(due - now);
          const { status, head, body } = await connection.post("/ingest/v1/readings", bodies[number % BODIES] as Buffer);
          if (status === 200) result.accepted++;
          else if (status !== 503) throw new Error(`a body got ${status}: ${body.slice(0, 300)}`);
          else {
            result.refused++;
            await sleep(1000 * Number(/^retry-after: *(\d+)/im.exec(head)?.[1] ?? 0));
          }
        }
      }),
    );
    return result;
  };
});
