// How much longer reads take while readings come in: the 99th percentile at a fixed rate of reads, against the idle service.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, say } from "../bench.ts";
import { createKey, startWithBroker } from "../contestants/tank-monitor.ts";
import { Numbers } from "../dataset/arrivals.ts";
import { databaseOf, temporaryDatabase } from "../dataset/databases.ts";
import { scaleFleet } from "../dataset/plans.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { alternate } from "../measure/rounds.ts";
import { ratioOf } from "../measure/statistics.ts";
import { type Spent, startTurns } from "../measure/turns.ts";
import type { Reads, ReadTimes } from "../programs/read-steadily.ts";
import type { Batches } from "../programs/send-batches.ts";
import type { Messages } from "../programs/send-messages.ts";

/** A second, of all clients together. */
const READS = 500;
const READINGS = 2000;
const HTTP = { named: "device", readings: 100, clients: 4 } as const;
const MQTT = { connections: 100, underWay: 10 } as const;
/** Of the readings that should come in, so many must. */
const KEPT_UP = 0.8;

const DOORS = ["http", "mqtt"] as const;
type Door = (typeof DOORS)[number];
const LABELS: Readonly<Record<Door, string>> = {
  http: "p99 of reads while 2,000 readings/s come in over HTTP ÷ idle",
  mqtt: "… while 2,000 readings/s come in over MQTT ÷ idle",
};

const rowName = (door: Door, engine: Engine): string => `reads-while-${door}-${engine}`;

export const readsWhileIngesting: Figure = {
  name: "reads-while-ingesting",
  about: "p99 of reads while 2,000 readings/s come in, against the idle service",
  rows: ENGINES.flatMap((engine) =>
    DOORS.map(
      (door): Row => ({
        name: rowName(door, engine),
        label: `${LABELS[door]}, ${ENGINE_NAMES[engine]}`,
        unit: "",
        aim: { atMost: 2 },
      }),
    ),
  ),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

type Seen = ReadTimes & { readonly cameIn: number };

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  const { scale } = bench;
  const original = await databaseOf(bench, engine, scaleFleet(scale));
  await using database = await temporaryDatabase(bench, engine, "mixed", original);
  const key = createKey(database.url, "ingest");
  await using service = await startWithBroker(engine, database.url);
  const words = (url: string, secret: string) => [url, secret, String(scale.tanks)];
  await using reader = await startTurns<Reads, ReadTimes>(
    "read-steadily",
    words(service.url, service.headers["x-api-key"] ?? ""),
  );
  await using http = await startTurns<Batches, Spent>("send-batches", words(service.url, key));
  await using mqtt = await startTurns<Messages, Spent>("send-messages", words(service.mqttUrl, key));
  const seconds = scale.mixedSeconds;
  const numbers = new Numbers();
  const batches = { batches: (READINGS / HTTP.readings) * seconds, rate: READINGS / HTTP.readings };
  const messages = { messages: READINGS * seconds, rate: READINGS };
  const senders: Readonly<Record<Door, () => Promise<() => Promise<Spent>>>> = {
    http: () => http.ready({ ...HTTP, ...batches, first: numbers.take(READINGS * seconds) }),
    mqtt: () => mqtt.ready({ ...MQTT, ...messages, first: numbers.take(READINGS * seconds) }),
  };
  const reads = { rate: READS, seconds };
  async function besides(door: Door): Promise<Seen> {
    const both = [await senders[door](), await reader.ready(reads)] as const;
    const [sent, times] = await Promise.all([both[0](), both[1]()]);
    const cameIn = (READINGS * seconds) / sent.seconds;
    if (cameIn < KEPT_UP * READINGS) throw new Error(`only ${Math.round(cameIn)} readings a second came in over ${door}`);
    return { ...times, cameIn };
  }
  const turns = {
    idle: async (): Promise<Seen> => ({ ...(await reader.take(reads)), cameIn: 0 }),
    http: () => besides("http"),
    mqtt: () => besides("mqtt"),
  };
  say(`reads-while-ingesting: ${service.name}, ${READS} reads a second`);
  for (const turn of Object.values(turns)) await turn();
  const seen = await alternate(scale.rounds, turns, ({ p50, p99 }) => `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`);
  return DOORS.map((door) => ({ row: rowName(door, engine), ...compared(seen.idle, seen[door]) }));
}

function compared(idle: readonly Seen[], busy: readonly Seen[]): Omit<Measured, "row"> {
  const p99 = (turns: readonly Seen[]): number[] => turns.map((turn) => turn.p99);
  const raw = (label: string, turns: readonly Seen[]) => [
    { label: `${label}, median`, unit: "ms", values: turns.map(({ p50 }) => p50) },
    { label: `${label}, 99th percentile`, unit: "ms", values: p99(turns) },
  ];
  const came = { label: "came in meanwhile", unit: "readings/s", values: busy.map(({ cameIn }) => cameIn) };
  return { ...ratioOf(p99(busy), p99(idle)), raw: [...raw("idle", idle), ...raw("while readings come in", busy), came] };
}
