// flood.ts URL KEY FROM TO: one key sends large bodies in parallel for a while, as fast as they are accepted: new readings of the
// tanks FROM to TO, exclusive. A refused body is sent again after Retry-After.

import { constants, setPriority } from "node:os";
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
  /** Prepared, each to be accepted once. */
  readonly bodies: number;
  /** Bodies a second, at most. */
  readonly rate?: number;
};
export type FloodResult = { readonly accepted: number; readonly refused: number };

const [url = "", key = "", from = "", to = ""] = process.argv.slice(2);
const ids = idsOf(Number(to), "device").slice(Number(from));

function bodyFrom(first: number, readings: number): Buffer {
  const body = liveReadings(ids.length, first, readings).map(({ tank, createdAt, fill }) => {
    return { device_id: ids[tank], created_at: new Date(createdAt).toISOString(), fill_percentage: fill };
  });
  return Buffer.from(JSON.stringify(body));
}

// Senders have processors of their own; on this machine the service comes first.
setPriority(constants.priority.PRIORITY_LOW);

serveRuns<Flood, FloodResult>(async ({ seconds, first, clients, readings, bodies: count, rate = Number.POSITIVE_INFINITY }) => {
  const bodies = Array.from({ length: count }, (_, i) => bodyFrom(first + i * readings, readings));
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
          const number = next++;
          const body = bodies[number];
          if (body === undefined) throw new Error(`all ${bodies.length} bodies were accepted`);
          const due = from + (number / rate) * 1000;
          if (due >= until) return;
          const early = due - performance.now();
          if (early > 0) await sleep(early);
          while (!(await isAccepted(connection, body, result))) if (performance.now() >= until) return;
          if (performance.now() >= until) return;
        }
      }),
    );
    return result;
  };
});

/** Counts the result, and waits after a rejected request. */
async function isAccepted(connection: Connection, body: Buffer, result: { accepted: number; refused: number }): Promise<boolean> {
  const { status, head, body: text } = await connection.post("/ingest/v1/readings", body);
  if (status === 200) {
    result.accepted++;
    return true;
  }
  if (status !== 503) throw new Error(`a body got ${status}: ${text.slice(0, 300)}`);
  result.refused++;
  await sleep(1000 * Number(/^retry-after: *(\d+)/im.exec(head)?.[1] ?? 0));
  return false;
}
