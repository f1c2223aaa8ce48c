// What one key that sends as much as it can costs the others: their reads, and their readings.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { createKey, startTankMonitor } from "../contestants/tank-monitor.ts";
import { ReadingNumbers } from "../dataset/live-readings.ts";
import { temporaryFleet } from "../dataset/running-fleet.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { startBenchProgram } from "../measure/bench-program.ts";
import { startReader } from "../measure/reader.ts";
import { alternate, median, ratioOf } from "../measure/sampling.ts";
import type { Flood, FloodResult } from "../programs/flood.ts";
import type { ReadTimes } from "../programs/read-at-rate.ts";
import type { Singles, SingleTimes } from "../programs/send-at-rate.ts";

/** Per second, of the others. */
const READS = 500;
const SINGLES = 50;
/** What one key sends at a time: bodies that are about the share of a key, and many more. */
const LOADS = {
  quarter: { clients: 25, readings: 1000, label: "sends 25 bodies of 1,000 readings at a time" },
  flood: { clients: 30, readings: 10_000, label: "sends 30 bodies of 10,000 readings at a time" },
} as const;
type Load = keyof typeof LOADS;
const LOAD_NAMES: readonly Load[] = ["quarter", "flood"];
/** Readings that a run of the flood may send. */
const FLOOD_READINGS = 1_000_000;
/** The part of the tanks whose readings one key sends; those of the rest are the others'. */
const FLOOD_TANKS = 0.9;

const floodOf = (load: Load) => ({ ...LOADS[load], bodies: FLOOD_READINGS / LOADS[load].readings });

const rowName = (what: string, load: Load, engine: Engine): string => `fairness-${what}-${load}-${engine}`;

export const fairness: Figure = {
  name: "fairness",
  about: "p99 of others' reads and readings while one key sends as much as it can",
  rows: ENGINES.flatMap((engine) => [
    ...LOAD_NAMES.flatMap((load): Row[] => [
      {
        name: rowName("reads", load, engine),
        label: `p99 of reads while one key ${LOADS[load].label} ÷ idle, ${ENGINE_NAMES[engine]}`,
        unit: "",
        aim: { atMost: 2 },
      },
      {
        name: rowName("refused", load, engine),
        label: `… readings of another key that were refused meanwhile, ${ENGINE_NAMES[engine]}`,
        unit: "",
        aim: { atMost: 0 },
      },
      {
        name: rowName("singles", load, engine),
        label: `… p99 of single readings of another key, ${ENGINE_NAMES[engine]}`,
        unit: "ms",
      },
    ]),
    {
      name: rowName("second-service", "quarter", engine),
      label: `p99 of reads while a second service, on the same processors, gets these 25 bodies ÷ idle, ${ENGINE_NAMES[engine]}`,
      unit: "",
    },
  ]),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

type Turn = { readonly reads: ReadTimes; readonly singles: SingleTimes; readonly flood: FloodResult };

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  const { scale } = bench;
  await using database = await temporaryFleet(bench, engine);
  const [floodKey, otherKey] = [createKey(database.url, "ingest"), createKey(database.url, "ingest")];
  await using service = await startTankMonitor(engine, database.url);
  await using secondDatabase = await temporaryFleet(bench, engine, "second");
  const secondKey = createKey(secondDatabase.url, "ingest");
  await using secondService = await startTankMonitor(engine, secondDatabase.url);
  const floodTanks = ["0", String(scale.tanks * FLOOD_TANKS)];
  const otherTanks = [String(scale.tanks * FLOOD_TANKS), String(scale.tanks)];
  await using reader = await startReader(service, scale.tanks);
  await using sender = await startBenchProgram<Singles, SingleTimes>("send-at-rate", [service.url, otherKey, ...otherTanks]);
  await using flooder = await startBenchProgram<Flood, FloodResult>("flood", [service.url, floodKey, ...floodTanks]);
  const secondWords = [secondService.url, secondKey, ...floodTanks];
  await using secondFlooder = await startBenchProgram<Flood, FloodResult>("flood", secondWords);
  const seconds = scale.mixedSeconds;
  const numbers = new ReadingNumbers();
  async function turn(load?: Load, program = flooder, pace: Pick<Flood, "rate"> = {}): Promise<Turn> {
    const flood =
      load && (await program.prepare({ ...floodOf(load), seconds, first: numbers.allocate(FLOOD_READINGS), ...pace }));
    const reads = await reader.prepare({ rate: READS, seconds });
    const singles = await sender.prepare({ rate: SINGLES, seconds, first: numbers.allocate(SINGLES * seconds) });
    const flooding = flood?.() ?? Promise.resolve({ accepted: 0, refused: 0 });
    const [readTimes, singleTimes, floodResult] = await Promise.all([reads(), singles(), flooding]);
    return { reads: readTimes, singles: singleTimes, flood: floodResult };
  }
  log(`fairness: ${service.name}, ${READS} reads and ${SINGLES} single readings a second`);
  /** What the service accepted from one key. The second service gets as much. */
  let rate = 0;
  const turns = {
    idle: () => turn(),
    async quarter() {
      const result = await turn("quarter");
      rate = result.flood.accepted / seconds;
      return result;
    },
    second: () => turn("quarter", secondFlooder, { rate }),
    flood: () => turn("flood"),
  };
  for (const one of Object.values(turns)) await one();
  const { idle, ...loaded } = await alternate(scale.rounds, turns, described);
  const second: Measured = {
    row: rowName("second-service", "quarter", engine),
    ...ratioOf(p99OfReads(loaded.second), p99OfReads(idle)),
    raw: [
      { label: "while the second service gets bodies, 99th percentile", unit: "ms", values: p99OfReads(loaded.second) },
      { label: "accepted bodies meanwhile", unit: "bodies", values: loaded.second.map(({ flood }) => flood.accepted) },
    ],
  };
  return [...LOAD_NAMES.flatMap((load) => rowsOf(engine, load, idle, loaded[load])), second];
}

const p99OfReads = (turns: readonly Turn[]): number[] => turns.map(({ reads }) => reads.p99);

const described = ({ reads, singles, flood }: Turn): string =>
  `reads p50 ${reads.p50.toFixed(2)}, p99 ${reads.p99.toFixed(2)} ms; ` +
  `single readings p50 ${singles.p50.toFixed(1)}, p99 ${singles.p99.toFixed(1)} ms, ${singles.refused} refused; ` +
  `flood ${flood.accepted} bodies accepted, ${flood.refused} refused`;

function rowsOf(engine: Engine, load: Load, idle: readonly Turn[], loaded: readonly Turn[]): Measured[] {
  const singles = (turns: readonly Turn[]): number[] => turns.map((turn) => turn.singles.p99);
  const refused = loaded.map((turn) => turn.singles.refused);
  const bodies = loaded.map(({ flood }) => flood.accepted);
  return [
    {
      row: rowName("reads", load, engine),
      ...ratioOf(p99OfReads(loaded), p99OfReads(idle)),
      raw: [
        { label: "idle, 99th percentile", unit: "ms", values: p99OfReads(idle) },
        { label: "while one key sends, 99th percentile", unit: "ms", values: p99OfReads(loaded) },
        { label: "accepted bodies meanwhile", unit: "bodies", values: bodies },
      ],
    },
    {
      row: rowName("refused", load, engine),
      value: Math.max(...refused),
      raw: [{ label: "refused single readings", unit: "readings", values: refused }],
    },
    {
      row: rowName("singles", load, engine),
      value: median(singles(loaded)),
      raw: [
        { label: "idle, 99th percentile", unit: "ms", values: singles(idle) },
        { label: "while one key sends, 99th percentile", unit: "ms", values: singles(loaded) },
      ],
    },
  ];
}
