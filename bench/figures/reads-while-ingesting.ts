// How much slower reads are while readings are ingested: the 99th percentile at a fixed rate, against an idle service.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { createKey, startWithMqtt } from "../contestants/tank-monitor.ts";
import { databaseOf, temporaryDatabase } from "../dataset/databases.ts";
import { ReadingNumbers } from "../dataset/live-readings.ts";
import { scaleFleet } from "../dataset/plans.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { type RunTime, startBenchProgram } from "../measure/bench-program.ts";
import { startReader } from "../measure/reader.ts";
import { alternate, ratioOf } from "../measure/sampling.ts";
import type { ReadTimes } from "../programs/read-at-rate.ts";
import type { Batches } from "../programs/send-batches.ts";
import type { Messages } from "../programs/send-messages.ts";

/** Per second, of all clients together. */
const READS = 500;
const READINGS = 2000;
const HTTP = { idKind: "device", readings: 100, clients: 4 } as const;
const MQTT = { connections: 100, inFlight: 10 } as const;
/** The share of the planned readings that must be ingested for a valid round. */
const MIN_SHARE = 0.8;

const PROTOCOLS = ["http", "mqtt"] as const;
type Protocol = (typeof PROTOCOLS)[number];
const LABELS: Readonly<Record<Protocol, string>> = {
  http: "p99 of reads while 2,000 readings/s are ingested over HTTP ÷ idle",
  mqtt: "… while 2,000 readings/s are ingested over MQTT ÷ idle",
};

const rowName = (protocol: Protocol, engine: Engine): string => `reads-while-${protocol}-${engine}`;

export const readsWhileIngesting: Figure = {
  name: "reads-while-ingesting",
  about: "p99 of reads while 2,000 readings/s are ingested, against the idle service",
  rows: ENGINES.flatMap((engine) =>
    PROTOCOLS.map(
      (protocol): Row => ({
        name: rowName(protocol, engine),
        label: `${LABELS[protocol]}, ${ENGINE_NAMES[engine]}`,
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

type ReadResult = ReadTimes & { readonly ingestRate: number };

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  const { scale } = bench;
  const original = await databaseOf(bench, engine, scaleFleet(scale));
  await using database = await temporaryDatabase(bench, engine, "mixed", original);
  const key = createKey(database.url, "ingest");
  await using service = await startWithMqtt(engine, database.url);
  const words = (url: string, secret: string) => [url, secret, String(scale.tanks)];
  await using reader = await startReader(service, scale.tanks);
  await using http = await startBenchProgram<Batches, RunTime>("send-batches", words(service.url, key));
  await using mqtt = await startBenchProgram<Messages, RunTime>("send-messages", words(service.mqttUrl, key));
  const seconds = scale.mixedSeconds;
  const numbers = new ReadingNumbers();
  const batches = { batches: (READINGS / HTTP.readings) * seconds, rate: READINGS / HTTP.readings };
  const messages = { messages: READINGS * seconds, rate: READINGS };
  const senders: Readonly<Record<Protocol, () => Promise<() => Promise<RunTime>>>> = {
    http: () => http.prepare({ ...HTTP, ...batches, first: numbers.allocate(READINGS * seconds) }),
    mqtt: () => mqtt.prepare({ ...MQTT, ...messages, first: numbers.allocate(READINGS * seconds) }),
  };
  const reads = { rate: READS, seconds };
  async function whileIngesting(protocol: Protocol): Promise<ReadResult> {
    const both = [await senders[protocol](), await reader.prepare(reads)] as const;
    const [sent, times] = await Promise.all([both[0](), both[1]()]);
    const ingestRate = (READINGS * seconds) / sent.seconds;
    if (ingestRate < MIN_SHARE * READINGS)
      throw new Error(`only ${Math.round(ingestRate)} readings a second were ingested over ${protocol}`);
    return { ...times, ingestRate };
  }
  const turns = {
    idle: async (): Promise<ReadResult> => ({ ...(await reader.run(reads)), ingestRate: 0 }),
    http: () => whileIngesting("http"),
    mqtt: () => whileIngesting("mqtt"),
  };
  log(`reads-while-ingesting: ${service.name}, ${READS} reads a second`);
  for (const turn of Object.values(turns)) await turn();
  const results = await alternate(scale.rounds, turns, ({ p50, p99 }) => `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`);
  return PROTOCOLS.map((protocol) => ({ row: rowName(protocol, engine), ...compared(results.idle, results[protocol]) }));
}

function compared(idle: readonly ReadResult[], busy: readonly ReadResult[]): Omit<Measured, "row"> {
  const p99 = (turns: readonly ReadResult[]): number[] => turns.map((turn) => turn.p99);
  const raw = (label: string, turns: readonly ReadResult[]) => [
    { label: `${label}, median`, unit: "ms", values: turns.map(({ p50 }) => p50) },
    { label: `${label}, 99th percentile`, unit: "ms", values: p99(turns) },
  ];
  const ingested = { label: "ingested meanwhile", unit: "readings/s", values: busy.map(({ ingestRate }) => ingestRate) };
  return { ...ratioOf(p99(busy), p99(idle)), raw: [...raw("idle", idle), ...raw("while readings are ingested", busy), ingested] };
}
