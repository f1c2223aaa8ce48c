// What ten thousand connections that do nothing, or next to nothing, cost the requests of others. The engine does not matter.

import { type Bench, log } from "../bench.ts";
import { createKey, startWithMqtt } from "../contestants/tank-monitor.ts";
import { temporaryFleet } from "../dataset/running-fleet.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { startBenchProgram } from "../measure/bench-program.ts";
import { alternate, ratioOf } from "../measure/sampling.ts";
import type { Holding, HoldResult } from "../programs/hold-connections.ts";
import type { Reads, ReadTimes } from "../programs/read-at-rate.ts";

/** Per second, of the others. */
const READS = 500;
/** A key may have 5,000 MQTT clients. */
const KEYS = 3;

type Kind = Pick<Holding, "protocol" | "state"> & { readonly name: string; readonly label: string };

const KINDS: readonly Kind[] = [
  { name: "http-idle", label: "idle HTTP connections", protocol: "http", state: "idle" },
  { name: "http-slow", label: "HTTP connections that send a byte per second", protocol: "http", state: "slow" },
  { name: "http-silent", label: "silent HTTP connections", protocol: "http", state: "silent" },
  { name: "mqtt-idle", label: "idle MQTT clients", protocol: "mqtt", state: "idle" },
  { name: "mqtt-silent", label: "silent connections to the MQTT endpoint", protocol: "mqtt", state: "silent" },
];

const rowName = (name: string): string => `connections-${name}`;

export const connections: Figure = {
  name: "connections",
  about: "p99 of reads beside ten thousand idle, slow or silent connections",
  rows: KINDS.map(
    ({ name, label }): Row => ({
      name: rowName(name),
      label: `p99 of reads beside 9,900 ${label} ÷ none, SQLite`,
      unit: "",
      aim: { atMost: 2 },
    }),
  ),
  async run(bench) {
    if (!bench.engines.includes("sqlite")) {
      return { rows: KINDS.map(({ name }) => ({ row: rowName(name), missing: "measured on SQLite only" })) };
    }
    return { rows: await measure(bench) };
  },
};

type Turn = ReadTimes & HoldResult;

async function measure(bench: Bench): Promise<Measured[]> {
  const { scale } = bench;
  await using database = await temporaryFleet(bench, "sqlite");
  const keys = Array.from({ length: KEYS }, () => createKey(database.url, "ingest"));
  await using service = await startWithMqtt("sqlite", database.url);
  const secret = service.headers["x-api-key"] ?? "";
  await using reader = await startBenchProgram<Reads, ReadTimes>("read-at-rate", [service.url, secret, String(scale.tanks)]);
  const words = [service.url, service.mqttUrl, ...keys];
  await using holder = await startBenchProgram<Holding, HoldResult>("hold-connections", words);
  const seconds = scale.mixedSeconds;
  const reads = { rate: READS, seconds };
  async function beside({ protocol, state }: Kind): Promise<Turn> {
    const hold = await holder.prepare({ protocol, state, connections: scale.connections, seconds });
    const read = await reader.prepare(reads);
    const [held, times] = await Promise.all([hold(), read()]);
    return { ...times, ...held };
  }
  const rows: Measured[] = [];
  for (const kind of KINDS) {
    log(`connections: ${READS} reads a second beside ${scale.connections} ${kind.label}`);
    const turns = {
      none: async (): Promise<Turn> => ({ ...(await reader.run(reads)), reopened: 0 }),
      beside: () => beside(kind),
    };
    for (const turn of Object.values(turns)) await turn();
    const { none, beside: held } = await alternate(scale.rounds, turns, described);
    rows.push({ row: rowName(kind.name), ...compared(none, held) });
  }
  return rows;
}

const described = ({ p50, p99, reopened }: Turn): string =>
  `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${reopened} connections reopened`;

function compared(none: readonly Turn[], held: readonly Turn[]): Omit<Measured, "row"> {
  const p99 = (turns: readonly Turn[]): number[] => turns.map((turn) => turn.p99);
  return {
    ...ratioOf(p99(held), p99(none)),
    raw: [
      { label: "without connections, 99th percentile", unit: "ms", values: p99(none) },
      { label: "beside connections, 99th percentile", unit: "ms", values: p99(held) },
      { label: "connections reopened meanwhile", unit: "connections", values: held.map(({ reopened }) => reopened) },
    ],
  };
}
