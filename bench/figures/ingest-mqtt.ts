// Single readings over MQTT with QoS 1, as a share of the same MQTT endpoint without a store.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { startProgram } from "../contestants/program.ts";
import { createKey, startWithMqtt } from "../contestants/tank-monitor.ts";
import { ReadingNumbers } from "../dataset/live-readings.ts";
import { temporaryFleet, verifyStored } from "../dataset/running-fleet.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { type RunTime, startBenchProgram } from "../measure/bench-program.ts";
import { alternate, ratioOf } from "../measure/sampling.ts";
import { stop } from "../processes.ts";
import type { Messages } from "../programs/send-messages.ts";

const CONNECTIONS = 100;
/** Unacknowledged messages per connection. */
const IN_FLIGHT = [10, 1] as const;

/** The options that `bin/tank-monitor.js` starts the service with. */
const SERVICE_NODE_OPTIONS = ["--max-semi-space-size=8", "--v8-pool-size=1"];

const rowName = (engine: Engine, inFlight: number): string => `ingest-mqtt-${inFlight}-${engine}`;

export const ingestMqtt: Figure = {
  name: "ingest-mqtt",
  about: "MQTT single readings as a share of the same MQTT endpoint without a store",
  rows: ENGINES.flatMap((engine) =>
    IN_FLIGHT.map(
      (inFlight): Row => ({
        name: rowName(engine, inFlight),
        label: `MQTT single readings, ${CONNECTIONS} connections with ${inFlight} in flight, as a share of storing nothing, ${ENGINE_NAMES[engine]}`,
        unit: "",
        aim: { atLeast: 0.5 },
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
  const { tanks, messages } = bench.scale;
  await using database = await temporaryFleet(bench, engine);
  const key = createKey(database.url, "ingest");
  await using service = await startWithMqtt(engine, database.url);
  await using end = new AsyncDisposableStack();
  const discarding = await startProgram("discarding-endpoint", [], SERVICE_NODE_OPTIONS);
  end.defer(() => stop(discarding.child));
  const senderTo = async (url: string) =>
    end.use(await startBenchProgram<Messages, RunTime>("send-messages", [url, key, String(tanks)]));
  const [stored, acknowledged] = [await senderTo(service.mqttUrl), await senderTo(discarding.url)];
  const numbers = new ReadingNumbers();
  const rows: Measured[] = [];
  for (const inFlight of IN_FLIGHT) {
    const run = { messages, connections: CONNECTIONS, inFlight };
    const turns = {
      stored: () => stored.run({ ...run, first: numbers.allocate(messages) }),
      acknowledged: () => acknowledged.run({ ...run, first: 0 }),
    };
    rows.push(await measure(bench, rowName(engine, inFlight), turns));
  }
  await verifyStored(service, tanks, numbers.allocated);
  return rows;
}

type Turn = () => Promise<RunTime>;

async function measure(
  { scale }: Bench,
  row: string,
  turns: Readonly<Record<"stored" | "acknowledged", Turn>>,
): Promise<Measured> {
  log(`${row}: ${scale.messages.toLocaleString("en")} messages a round`);
  for (const turn of Object.values(turns)) await turn();
  const rate = ({ seconds }: RunTime): number => scale.messages / seconds;
  const results = await alternate(scale.rounds, turns, (one) => `${Math.round(rate(one)).toLocaleString("en")} messages/s`);
  const raw = (label: string, spent: readonly RunTime[]) => [
    { label, unit: "messages/s", values: spent.map(rate) },
    { label: `${label}: CPU of the sender`, unit: "cores", values: spent.map(({ busy }) => busy) },
  ];
  return {
    row,
    ...ratioOf(results.stored.map(rate), results.acknowledged.map(rate)),
    raw: [...raw("stored and acknowledged", results.stored), ...raw("acknowledged only", results.acknowledged)],
  };
}
