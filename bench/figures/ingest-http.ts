// Readings sent over HTTP in batches, as a share of the engine's own bulk insert into a plain table.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { createKey, startTankMonitor } from "../contestants/tank-monitor.ts";
import { sqliteFile, temporaryDatabase } from "../dataset/databases.ts";
import { type IdKind, ReadingNumbers } from "../dataset/live-readings.ts";
import { temporaryFleet, verifyStored } from "../dataset/running-fleet.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { type RunTime, startBenchProgram } from "../measure/bench-program.ts";
import { alternate, ratioOf } from "../measure/sampling.ts";
import type { Batches } from "../programs/send-batches.ts";
import type { Upserts } from "../programs/upsert-postgres.ts";

type Kind = { readonly name: string; readonly label: string; readonly idKind: IdKind; readonly clients: number };

const READINGS = 1000;
const MIN_RATIO = 0.4;
const KINDS: readonly Kind[] = [
  { name: "ingest-http", label: "HTTP batches of 1,000 readings by tank, 4 clients", idKind: "tank", clients: 4 },
  { name: "ingest-http-device", label: "… by device, 4 clients", idKind: "device", clients: 4 },
  { name: "ingest-http-one", label: "… by tank, 1 client", idKind: "tank", clients: 1 },
];
const OWN_INSERT: Readonly<Record<Engine, string>> = { sqlite: "prepared upserts", postgres: "upserts of arrays" };

export const ingestHttp: Figure = {
  name: "ingest-http",
  about: "HTTP batches of 1,000 readings as a share of the engine's own bulk insert",
  rows: ENGINES.flatMap((engine) =>
    KINDS.map(
      ({ name, label }): Row => ({
        name: `${name}-${engine}`,
        label: `${label}, as a share of ${OWN_INSERT[engine]}, ${ENGINE_NAMES[engine]}`,
        unit: "",
        aim: { atLeast: MIN_RATIO },
      }),
    ),
  ),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  const { tanks } = bench.scale;
  await using ours = await temporaryFleet(bench, engine);
  await using theirs = await temporaryDatabase(bench, engine, "upsert");
  const key = createKey(ours.url, "ingest");
  await using service = await startTankMonitor(engine, ours.url);
  await using sender = await startBenchProgram<Batches, RunTime>("send-batches", [service.url, key, String(tanks)]);
  const target = engine === "sqlite" ? sqliteFile(theirs.url) : theirs.url;
  await using inserter = await startBenchProgram<Upserts, RunTime>(`upsert-${engine}`, [target, String(tanks)]);
  const { batches } = bench.scale;
  const [sent, inserted] = [new ReadingNumbers(), new ReadingNumbers()];
  const batch = { batches, readings: READINGS };
  const rows: Measured[] = [];
  for (const kind of KINDS) {
    const { idKind, clients } = kind;
    const turns = {
      ours: () => sender.run({ ...batch, idKind, clients, first: sent.allocate(batches * READINGS) }),
      theirs: () => inserter.run({ ...batch, clients, first: inserted.allocate(batches * READINGS) }),
    };
    rows.push(await measure(bench, `${kind.name}-${engine}`, turns, OWN_INSERT[engine]));
  }
  await verifyStored(service, tanks, sent.allocated);
  return rows;
}

type Turn = () => Promise<RunTime>;

async function measure(
  { scale }: Bench,
  row: string,
  turns: Readonly<Record<"ours" | "theirs", Turn>>,
  theirName: string,
): Promise<Measured> {
  const readings = scale.batches * READINGS;
  log(`${row}: ${readings.toLocaleString("en")} readings a round, beside ${theirName}`);
  for (const turn of Object.values(turns)) await turn();
  const rate = ({ seconds }: RunTime): number => readings / seconds;
  const results = await alternate(scale.rounds, turns, (one) => `${Math.round(rate(one)).toLocaleString("en")} readings/s`);
  const [ours, theirs] = [results.ours.map(rate), results.theirs.map(rate)];
  const raw = [
    { label: "over HTTP", unit: "readings/s", values: ours },
    { label: theirName, unit: "readings/s", values: theirs },
    { label: "CPU of the sender", unit: "cores", values: results.ours.map(({ busy }) => busy) },
  ];
  return { row, ...ratioOf(ours, theirs), raw };
}
