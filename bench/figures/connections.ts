// What ten thousand connections that do nothing, or next to nothing, cost the requests and messages of others. The engine does not matter.

import { type Bench, log } from "../bench.ts";
import { createKey, startWithMqtt } from "../contestants/tank-monitor.ts";
import { ReadingNumbers } from "../dataset/live-readings.ts";
import { temporaryFleet } from "../dataset/running-fleet.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { startBenchProgram } from "../measure/bench-program.ts";
import { startReader } from "../measure/reader.ts";
import { alternate, ratioOf } from "../measure/sampling.ts";
import type { Holding, HoldResult } from "../programs/hold-connections.ts";
import type { Publishes, PublishTimes } from "../programs/publish-at-rate.ts";
import type { ReadTimes } from "../programs/read-at-rate.ts";

/** Per second, of the others. */
const READS = 500;
const MESSAGES = 50;
/** The connections are closed, all at once, only after everything is measured. */
const HELD_LONGER_S = 2;
/** A key may have 5,000 MQTT clients. */
const KEYS = 3;

type Kind = Pick<Holding, "protocol" | "state"> & { readonly name: string; readonly label: string };

const KINDS: readonly Kind[] = [
  { name: "http-idle", label: "idle HTTP connections", protocol: "http", state: "idle" },
  { name: "http-slow", label: "HTTP connections that send a byte per second", protocol: "http", state: "slow" },
  { name: "http-silent", label: "silent HTTP connections", protocol: "http", state: "silent" },
  { name: "mqtt-idle", label: "idle MQTT clients", protocol: "mqtt", state: "idle" },
  { name: "mqtt-slow", label: "MQTT clients that log in by a byte per second", protocol: "mqtt", state: "slow" },
  { name: "mqtt-silent", label: "silent connections to the MQTT endpoint", protocol: "mqtt", state: "silent" },
];

const rowName = (name: string): string => `connections-${name}`;
const messagesRowName = (name: string): string => `connections-${name}-messages`;

export const connections: Figure = {
  name: "connections",
  about: "p99 of reads and MQTT messages beside ten thousand idle, slow or silent connections",
  rows: KINDS.flatMap(({ name, label }): Row[] => [
    { name: rowName(name), label: `p99 of reads beside 9,900 ${label} ÷ none, SQLite`, unit: "", aim: { atMost: 2 } },
    { name: messagesRowName(name), label: "… p99 of MQTT messages ÷ none, SQLite", unit: "", aim: { atMost: 2 } },
  ]),
  async run(bench) {
    if (!bench.engines.includes("sqlite")) {
      const names = KINDS.flatMap(({ name }) => [rowName(name), messagesRowName(name)]);
      return { rows: names.map((row) => ({ row, missing: "measured on SQLite only" })) };
    }
    return { rows: await measure(bench) };
  },
};

type Turn = { readonly reads: ReadTimes; readonly messages: PublishTimes; readonly reopened: number };

async function measure(bench: Bench): Promise<Measured[]> {
  const { scale } = bench;
  await using database = await temporaryFleet(bench, "sqlite");
  const keys = Array.from({ length: KEYS }, () => createKey(database.url, "ingest"));
  await using service = await startWithMqtt("sqlite", database.url);
  await using reader = await startReader(service, scale.tanks);
  const words = [service.url, service.mqttUrl, ...keys];
  await using holder = await startBenchProgram<Holding, HoldResult>("hold-connections", words);
  const messageWords = [service.mqttUrl, createKey(database.url, "ingest"), String(scale.tanks)];
  await using publisher = await startBenchProgram<Publishes, PublishTimes>("publish-at-rate", messageWords);
  const seconds = scale.mixedSeconds;
  const numbers = new ReadingNumbers();
  async function turn(kind?: Kind): Promise<Turn> {
    const hold = kind && (await holder.prepare({ ...kind, connections: scale.connections, seconds: seconds + HELD_LONGER_S }));
    const read = await reader.prepare({ rate: READS, seconds });
    const publish = await publisher.prepare({ rate: MESSAGES, seconds, first: numbers.allocate(MESSAGES * seconds) });
    const [held, reads, messages] = await Promise.all([hold?.(), read(), publish()]);
    return { reads, messages, reopened: held?.reopened ?? 0 };
  }
  const rows: Measured[] = [];
  for (const kind of KINDS) {
    log(`connections: ${READS} reads and ${MESSAGES} messages a second beside ${scale.connections} ${kind.label}`);
    const turns = { none: () => turn(), beside: () => turn(kind) };
    for (const one of Object.values(turns)) await one();
    const { none, beside: held } = await alternate(scale.rounds, turns, described);
    rows.push({ row: rowName(kind.name), ...compared(none, held, ({ reads }) => reads.p99) });
    rows.push({ row: messagesRowName(kind.name), ...compared(none, held, ({ messages }) => messages.p99) });
  }
  return rows;
}

const described = ({ reads, messages, reopened }: Turn): string =>
  `reads p50 ${reads.p50.toFixed(2)}, p99 ${reads.p99.toFixed(2)} ms; ` +
  `messages p50 ${messages.p50.toFixed(2)}, p99 ${messages.p99.toFixed(2)} ms; ${reopened} connections reopened`;

function compared(none: readonly Turn[], held: readonly Turn[], p99: (turn: Turn) => number): Omit<Measured, "row"> {
  return {
    ...ratioOf(held.map(p99), none.map(p99)),
    raw: [
      { label: "without connections, 99th percentile", unit: "ms", values: none.map(p99) },
      { label: "beside connections, 99th percentile", unit: "ms", values: held.map(p99) },
      { label: "connections reopened meanwhile", unit: "connections", values: held.map(({ reopened }) => reopened) },
    ],
  };
}
