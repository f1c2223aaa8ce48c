// send-messages.ts URL KEY TANKS: sends readings over MQTT, one per message, over many connections.

import { setTimeout as pause } from "node:timers/promises";
import { type Crossings, idsOf, type LiveReading, liveReadings } from "../dataset/live-readings.ts";
import { type RunTime, serveRuns, timeRun } from "../measure/bench-program.ts";
import { type Message, Publisher } from "../measure/publisher.ts";

export type Messages = {
  /** The number of the first reading. */
  readonly first: number;
  readonly messages: number;
  readonly connections: number;
  /** Unacknowledged messages per connection. */
  readonly inFlight: number;
  /** Messages a second, of all connections together; without it, as fast as they are acknowledged. */
  readonly rate?: number;
  readonly crossings?: Crossings;
};

const TICK_MS = 1;

const [url = "", key = "", count = ""] = process.argv.slice(2);
const tanks = Number(count);
const devices = idsOf(tanks, "device");

function messageOf({ tank, createdAt, fill }: LiveReading): Message {
  const payload = JSON.stringify({ fill_percentage: fill, created_at: new Date(createdAt).toISOString() });
  return { topic: `tanks/${devices[tank]}/readings`, payload };
}

/** Message i goes over connection i modulo their number. */
async function release(publishers: readonly Publisher[], messages: number, rate: number): Promise<void> {
  const started = performance.now();
  for (let released = 0; released < messages; ) {
    const due = Math.min(messages, Math.ceil(((performance.now() - started) / 1000) * rate));
    for (; released < due; released++) publishers[released % publishers.length]?.release(1);
    await pause(TICK_MS);
  }
}

serveRuns<Messages, RunTime>(async ({ first, messages, connections, inFlight, rate, crossings }) => {
  const prepared = liveReadings(tanks, first, messages, crossings).map(messageOf);
  const end = new DisposableStack();
  const publishers: Publisher[] = [];
  for (let i = 0; i < connections; i++) {
    const own = prepared.filter((_, n) => n % connections === i);
    publishers.push(end.use(await Publisher.open(url, key, own, inFlight)));
  }
  return async () => {
    using _end = end;
    return await timeRun(async () => {
      if (rate === undefined) for (const publisher of publishers) publisher.release(messages);
      else await release(publishers, messages, rate);
      await Promise.all(publishers.map((publisher) => publisher.finished()));
    });
  };
});
