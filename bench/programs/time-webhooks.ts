// time-webhooks.ts URL KEY TANKS: sends single readings, one after the other, each of which opens or closes an alert, and measures
// the time from the response to the webhook.

import { setTimeout as sleep } from "node:timers/promises";
import { type Crossings, idsOf, liveReadings } from "../dataset/live-readings.ts";
import { serveRuns } from "../measure/bench-program.ts";
import { Connection } from "../measure/connection.ts";
import { quantile } from "../measure/sampling.ts";
import { WebhookReceivers } from "../measure/webhook-receivers.ts";

export type Singles = { readonly readings: number; readonly first: number; readonly crossings: Crossings };
export type WebhookTimes = { readonly p50: number; readonly p99: number };

/** The service becomes idle again. */
const PAUSE_MS = 20;

const [url = "", key = "", count = ""] = process.argv.slice(2);
const tanks = Number(count);
const ids = idsOf(tanks, "device");

let onWebhook: (at: number) => void = () => {};
const receivers = await WebhookReceivers.open({ url, key }, () => onWebhook(performance.now()));

serveRuns<Singles, WebhookTimes>(async ({ readings, first, crossings }) => {
  await receivers.add(1, 0);
  const connection = await Connection.open({ url, headers: { "x-api-key": key } });
  return async () => {
    using _end = connection;
    const times: number[] = [];
    for (const { tank, createdAt, fill } of liveReadings(tanks, first, readings, crossings)) {
      const { promise: received, resolve } = Promise.withResolvers<number>();
      onWebhook = resolve;
      const reading = { device_id: ids[tank], created_at: new Date(createdAt).toISOString(), fill_percentage: fill };
      const { status, body } = await connection.post("/ingest/v1/readings", Buffer.from(JSON.stringify(reading)));
      const acknowledged = performance.now();
      if (status !== 200) throw new Error(`a reading got ${status}: ${body.slice(0, 300)}`);
      // A webhook may even arrive before the response.
      times.push(Math.max(0, (await received) - acknowledged));
      await sleep(PAUSE_MS);
    }
    await receivers.removeAll();
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  };
});
