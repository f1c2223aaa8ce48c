// Webhooks: how many are sent a second, what a receiver that hangs costs the others, what sending costs reads, and how long a
// webhook takes.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { createKey, startTankMonitor } from "../contestants/tank-monitor.ts";
import { crossingsFromNow, ReadingNumbers } from "../dataset/live-readings.ts";
import { temporaryFleet } from "../dataset/running-fleet.ts";
import type { Figure, Measured, Missing, Row } from "../figure.ts";
import { type RunTime, startBenchProgram } from "../measure/bench-program.ts";
import { startReader } from "../measure/reader.ts";
import { alternate, median, ratioOf } from "../measure/sampling.ts";
import type { Reads, ReadTimes } from "../programs/read-at-rate.ts";
import type { Received, Reception } from "../programs/receive-webhooks.ts";
import type { Batches } from "../programs/send-batches.ts";
import type { Singles, WebhookTimes } from "../programs/time-webhooks.ts";

const RECEIVERS = 100;
/** Per second, while reads are timed. */
const WEBHOOKS = 1000;
const READS = 500;
/** The share of these webhooks that must arrive in time for a valid round. */
const MIN_SHARE = 0.8;

const rowName = (what: string, engine: Engine): string => `notifications-${what}-${engine}`;

export const notifications: Figure = {
  name: "notifications",
  about: "webhooks a second, with a receiver that hangs, beside reads, and the time until one arrives",
  rows: ENGINES.flatMap((engine): Row[] => [
    {
      name: rowName("rate", engine),
      label: `webhooks to one receiver, ${ENGINE_NAMES[engine]}`,
      unit: "/s",
      aim: { atLeast: 1000 },
    },
    {
      name: rowName("hanging", engine),
      label: `webhooks to ${RECEIVERS} receivers, one of which hangs, counted at the others ÷ none hangs, ${ENGINE_NAMES[engine]}`,
      unit: "",
      aim: { atLeast: 0.95 },
    },
    {
      name: rowName("reads", engine),
      label: `p99 of reads while 1,000 webhooks/s are sent ÷ idle, ${ENGINE_NAMES[engine]}`,
      unit: "",
      aim: { atMost: 2 },
    },
    {
      name: rowName("second-service", engine),
      label: `… the same for reads of a second service on the same processors, ${ENGINE_NAMES[engine]}`,
      unit: "",
    },
    {
      name: rowName("delay", engine),
      label: `from the acknowledged reading to its webhook, idle, ${ENGINE_NAMES[engine]}`,
      unit: "ms",
      aim: { atMost: 50 },
    },
  ]),
  async run(bench) {
    const rows: (Measured | Missing)[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

async function onEngine(bench: Bench, engine: Engine): Promise<(Measured | Missing)[]> {
  const { tanks } = bench.scale;
  // Every reading opens or closes an alert.
  const crossings = crossingsFromNow(1);
  await using database = await temporaryFleet(bench, engine, "notifications", crossings);
  const [ingestKey, manageKey] = [createKey(database.url, "ingest"), createKey(database.url, "manage")];
  await using service = await startTankMonitor(engine, database.url);
  await using secondDatabase = await temporaryFleet(bench, engine, "second", crossings);
  await using secondService = await startTankMonitor(engine, secondDatabase.url);
  const words = (key: string): string[] => [service.url, key, String(tanks)];
  await using sender = await startBenchProgram<Batches, RunTime>("send-batches", words(ingestKey));
  await using receiver = await startBenchProgram<Reception, Received>("receive-webhooks", words(manageKey));
  await using timer = await startBenchProgram<Singles, WebhookTimes>("time-webhooks", words(manageKey));
  await using reader = await startReader(service, tanks);
  await using secondReader = await startReader(secondService, tanks);
  const numbers = new ReadingNumbers();

  /** Prepares to send readings in batches, one batch at a time: no commit has two readings of a tank, which would be one event. */
  function prepareReadings(batches: number, readings: number, rate?: number) {
    const first = numbers.allocate(batches * readings);
    const pace = rate === undefined ? {} : { rate };
    return sender.prepare({ idKind: "device", crossings, first, batches, readings, clients: 1, ...pace });
  }
  /** Sends readings as fast as possible, and waits for their webhooks. */
  async function webhooksTo(receivers: number, hanging: number, batches: number, readings: number): Promise<Received> {
    const send = await prepareReadings(batches, readings);
    const receive = await receiver.prepare({ receivers, hanging, webhooks: batches * readings * (receivers - hanging) });
    return (await Promise.all([receive(), send()]))[0];
  }

  async function whileSending(reads: Reads, program = reader): Promise<SendingTimes> {
    const [perBatch, webhooks] = [WEBHOOKS / 10, WEBHOOKS * reads.seconds];
    const send = await prepareReadings(webhooks / perBatch, perBatch, WEBHOOKS / perBatch);
    const receive = await receiver.prepare({ receivers: 1, hanging: 0, webhooks });
    const read = await program.prepare(reads);
    const [times, received] = await Promise.all([read(), receive(), send()]);
    return { ...times, rate: webhooks / received.seconds };
  }
  const singles = (readings: number) => timer.run({ readings, crossings, first: numbers.allocate(readings) });
  return [
    await measureRate(bench, rowName("rate", engine), webhooksTo),
    await measureHanging(bench, rowName("hanging", engine), webhooksTo),
    ...(await measureReads(bench, engine, {
      idle: async (reads) => ({ ...(await reader.run(reads)), rate: 0 }),
      sending: (reads) => whileSending(reads),
      second: (reads) => whileSending(reads, secondReader),
    })),
    await measureDelay(bench, rowName("delay", engine), singles),
  ];
}

type WebhooksTo = (receivers: number, hanging: number, batches: number, readings: number) => Promise<Received>;

const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString("en")} webhooks/s`;

const repeatedIn = (received: readonly Received[]) => ({
  label: "arrived more than once",
  unit: "webhooks",
  values: received.map(({ repeated }) => repeated),
});

async function measureRate({ scale }: Bench, row: string, webhooksTo: WebhooksTo): Promise<Measured> {
  const perBatch = Math.min(scale.tanks, 1000);
  const batches = scale.webhooks / perBatch;
  log(`${row}: ${scale.webhooks.toLocaleString("en")} webhooks a round`);
  const turn = () => webhooksTo(1, 0, batches, perBatch);
  await turn();
  const rateOf = ({ seconds }: Received): number => scale.webhooks / seconds;
  const { receiver } = await alternate(scale.rounds, { receiver: turn }, (one) => perSecond(rateOf(one)));
  const rates = receiver.map(rateOf);
  return {
    row,
    value: median(rates),
    spread: [Math.min(...rates), Math.max(...rates)],
    raw: [
      { label: "received, from the first reading sent to the last webhook", unit: "webhooks/s", values: rates },
      { label: "CPU of the receiver", unit: "cores", values: receiver.map(({ busy }) => busy) },
      repeatedIn(receiver),
    ],
  };
}

async function measureHanging({ scale }: Bench, row: string, webhooksTo: WebhooksTo): Promise<Measured> {
  const perBatch = 10;
  const batches = scale.webhooks / RECEIVERS / perBatch;
  log(`${row}: ${scale.webhooks.toLocaleString("en")} webhooks a round to ${RECEIVERS} receivers`);
  const turns = {
    hanging: () => webhooksTo(RECEIVERS, 1, batches, perBatch),
    none: () => webhooksTo(RECEIVERS, 0, batches, perBatch),
  };
  for (const warmUp of Object.values(turns)) await warmUp();
  /** For each receiver that does not hang. */
  const rateOf = ({ seconds }: Received): number => (batches * perBatch) / seconds;
  const results = await alternate(scale.rounds, turns, (one) => perSecond(rateOf(one) * RECEIVERS));
  const raw = (label: string, received: readonly Received[]) => [
    { label, unit: "webhooks/s to each", values: received.map(rateOf) },
    { ...repeatedIn(received), label: `${label}: arrived more than once` },
  ];
  return {
    row,
    ...ratioOf(results.hanging.map(rateOf), results.none.map(rateOf)),
    raw: [...raw("one hangs", results.hanging), ...raw("none hangs", results.none)],
  };
}

/** `rate` is that of the webhooks that arrived. */
type SendingTimes = ReadTimes & { readonly rate: number };
type ReadTurns = Readonly<Record<"idle" | "sending" | "second", (reads: Reads) => Promise<SendingTimes>>>;

async function measureReads({ scale }: Bench, engine: Engine, turns: ReadTurns): Promise<(Measured | Missing)[]> {
  log(`${rowName("reads", engine)}: ${READS} reads a second`);
  const reads = { rate: READS, seconds: scale.mixedSeconds };
  for (const warmUp of Object.values(turns)) await warmUp(reads);
  const { idle, ...loaded } = await alternate(
    scale.rounds,
    { idle: () => turns.idle(reads), sending: () => turns.sending(reads), second: () => turns.second(reads) },
    ({ p50, p99 }) => `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
  );
  const p99 = (times: readonly ReadTimes[]): number[] => times.map((one) => one.p99);
  const raw = (label: string, times: readonly ReadTimes[]) => [
    { label: `${label}, median`, unit: "ms", values: times.map(({ p50 }) => p50) },
    { label: `${label}, 99th percentile`, unit: "ms", values: p99(times) },
  ];
  function result(row: string, times: readonly SendingTimes[]): Measured | Missing {
    const slowest = Math.min(...times.map(({ rate }) => rate));
    if (slowest < MIN_SHARE * WEBHOOKS) return { row, missing: `only ${perSecond(slowest)} arrived` };
    const sent = { label: "received meanwhile", unit: "webhooks/s", values: times.map(({ rate }) => rate) };
    return {
      row,
      ...ratioOf(p99(times), p99(idle)),
      raw: [...raw("idle", idle), ...raw("while webhooks are sent", times), sent],
    };
  }
  return [result(rowName("reads", engine), loaded.sending), result(rowName("second-service", engine), loaded.second)];
}

async function measureDelay(
  { scale }: Bench,
  row: string,
  singles: (readings: number) => Promise<WebhookTimes>,
): Promise<Measured> {
  log(`${row}: single readings`);
  const turn = () => singles(scale.samples / 5);
  await turn();
  const { single } = await alternate(scale.rounds, { single: turn }, ({ p50 }) => `${p50.toFixed(2)} ms`);
  const medians = single.map(({ p50 }) => p50);
  return {
    row,
    value: median(medians),
    spread: [Math.min(...medians), Math.max(...medians)],
    raw: [
      { label: "median of a round", unit: "ms", values: medians },
      { label: "99th percentile", unit: "ms", values: single.map(({ p99 }) => p99) },
    ],
  };
}
