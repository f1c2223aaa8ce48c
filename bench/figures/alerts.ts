// Readings ingested while one in a hundred opens or closes an alert, as a share of ingesting those that change none.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { type Contestant, PAGE_SIZE } from "../contestants/contestant.ts";
import { createKey, startWithMqtt } from "../contestants/tank-monitor.ts";
import { type Crossings, crossingsFromNow, openedAlerts, ReadingNumbers } from "../dataset/live-readings.ts";
import { temporaryFleet, verifyStored } from "../dataset/running-fleet.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { type BenchProgram, type RunTime, startBenchProgram } from "../measure/bench-program.ts";
import { Connection } from "../measure/connection.ts";
import { alternate, ratioOf } from "../measure/sampling.ts";
import type { Batches } from "../programs/send-batches.ts";
import type { Messages } from "../programs/send-messages.ts";

const CROSS_EVERY = 100;
const BATCH = 1000;
const HTTP = { readings: BATCH, clients: 4 } as const;
const MQTT = { connections: 100, inFlight: 10 } as const;

const PATHS = ["http", "http-device", "mqtt"] as const;
type Path = (typeof PATHS)[number];
const LABELS: Readonly<Record<Path, string>> = {
  http: "HTTP batches of 1,000 readings by tank, one reading in a hundred opens or closes an alert ÷ none",
  "http-device": "… by device",
  mqtt: "… MQTT single readings",
};

const rowName = (path: Path, engine: Engine): string => `alerts-${path}-${engine}`;

export const alerts: Figure = {
  name: "alerts",
  about: "ingestion while one reading in a hundred opens or closes an alert, against none",
  rows: ENGINES.flatMap((engine) =>
    PATHS.map(
      (path): Row => ({
        name: rowName(path, engine),
        label: `${LABELS[path]}, ${ENGINE_NAMES[engine]}`,
        unit: "",
        aim: { atLeast: 0.8 },
      }),
    ),
  ),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

/** A service with its own database and senders. */
type Side = AsyncDisposable & {
  readonly service: Contestant;
  readonly crossings: Crossings;
  readonly numbers: ReadingNumbers;
  readonly http: BenchProgram<Batches, RunTime>;
  readonly mqtt: BenchProgram<Messages, RunTime>;
};

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  await using crossing = await openSide(bench, engine, "crossing", crossingsFromNow(CROSS_EVERY));
  await using steady = await openSide(bench, engine, "steady", crossingsFromNow(null));
  const rows: Measured[] = [];
  for (const path of PATHS) rows.push(await measure(bench, rowName(path, engine), path, { crossing, steady }));
  for (const side of [crossing, steady]) await verify(bench, side);
  return rows;
}

async function openSide(bench: Bench, engine: Engine, name: string, crossings: Crossings): Promise<Side> {
  await using end = new AsyncDisposableStack();
  const database = end.use(await temporaryFleet(bench, engine, name, crossings));
  const key = createKey(database.url, "ingest");
  const service = end.use(await startWithMqtt(engine, database.url));
  const words = (url: string): string[] => [url, key, String(bench.scale.tanks)];
  const http = end.use(await startBenchProgram<Batches, RunTime>("send-batches", words(service.url)));
  const mqtt = end.use(await startBenchProgram<Messages, RunTime>("send-messages", words(service.mqttUrl)));
  const opened = end.move();
  return {
    ...{ service, crossings, numbers: new ReadingNumbers(), http, mqtt },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const readingsOf = ({ scale }: Bench, path: Path): number => (path === "mqtt" ? scale.messages : scale.batches * BATCH);

function turn(bench: Bench, path: Path, { http, mqtt, numbers, crossings }: Side): () => Promise<RunTime> {
  const readings = readingsOf(bench, path);
  const next = () => ({ crossings, first: numbers.allocate(readings) });
  if (path === "mqtt") return () => mqtt.run({ ...MQTT, ...next(), messages: readings });
  const idKind = path === "http" ? "tank" : "device";
  return () => http.run({ ...HTTP, ...next(), idKind, batches: bench.scale.batches });
}

type Sides = Readonly<Record<"crossing" | "steady", Side>>;

async function measure(bench: Bench, row: string, path: Path, { crossing, steady }: Sides): Promise<Measured> {
  const readings = readingsOf(bench, path);
  log(`${row}: ${readings.toLocaleString("en")} readings a round`);
  const turns = { crossing: turn(bench, path, crossing), steady: turn(bench, path, steady) };
  for (const warmUp of Object.values(turns)) await warmUp();
  const rate = ({ seconds }: RunTime): number => readings / seconds;
  const results = await alternate(bench.scale.rounds, turns, (one) => `${Math.round(rate(one)).toLocaleString("en")} readings/s`);
  const raw = (label: string, spent: readonly RunTime[]) => [
    { label, unit: "readings/s", values: spent.map(rate) },
    { label: `${label}: CPU of the sender`, unit: "cores", values: spent.map(({ busy }) => busy) },
  ];
  return {
    row,
    ...ratioOf(results.crossing.map(rate), results.steady.map(rate)),
    raw: [...raw("one in a hundred crosses its threshold", results.crossing), ...raw("none does", results.steady)],
  };
}

/** Throws if a reading or an alert is missing, or there twice. */
async function verify({ scale }: Bench, { service, numbers, crossings }: Side): Promise<void> {
  await verifyStored(service, scale.tanks, numbers.allocated, crossings);
  using connection = await Connection.open(service);
  const { body } = await connection.get(`/insight/v1/alerts?size=${PAGE_SIZE}`);
  const { total_items } = JSON.parse(body) as { readonly total_items?: number };
  const expected = openedAlerts(scale.tanks, numbers.allocated, crossings);
  if (total_items !== expected) throw new Error(`${total_items} alerts where ${expected} were opened: ${body.slice(0, 300)}`);
}
