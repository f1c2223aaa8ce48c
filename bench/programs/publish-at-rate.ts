// publish-at-rate.ts URL KEY TANKS: publishes single readings over MQTT (QoS 1) at a given rate, and measures the time until PUBACK.

import { connectAsync, type MqttClient } from "mqtt";
import { idsOf, liveReadings } from "../dataset/live-readings.ts";
import { serveRuns } from "../measure/bench-program.ts";
import { quantile } from "../measure/sampling.ts";
import { atRandomTimes, runScheduled } from "../measure/schedule.ts";

export type Publishes = { readonly rate: number; readonly seconds: number; readonly first: number };
export type PublishTimes = { readonly p50: number; readonly p99: number };

const CLIENTS = 16;

const [url = "", key = "", count = ""] = process.argv.slice(2);
const tanks = Number(count);
const ids = idsOf(tanks, "device");
let runs = 0;

serveRuns<Publishes, PublishTimes>(async ({ rate, seconds, first }) => {
  const readings = liveReadings(tanks, first, rate * seconds);
  const clients: MqttClient[] = [];
  for (let i = 0; i < CLIENTS; i++) clients.push(await connectAsync(url, { username: "bench", password: key }));
  const dueAt = atRandomTimes(rate, readings.length, ++runs);
  return async () => {
    const times: number[] = [];
    await runScheduled(clients, readings.length, dueAt, async (client, i, since) => {
      const { tank = 0, createdAt = 0, fill = 0 } = readings[i] ?? {};
      const reading = { created_at: new Date(createdAt).toISOString(), fill_percentage: fill };
      await client.publishAsync(`tanks/${ids[tank]}/readings`, JSON.stringify(reading), { qos: 1 });
      times.push(performance.now() - since);
    });
    for (const client of clients) client.end(true);
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  };
});
