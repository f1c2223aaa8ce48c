// The question of every morning, put to a very large fleet and to a small one: which tank needs a truck next?

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, say } from "../bench.ts";
import { type Contestant, SIZE } from "../contestants/contestant.ts";
import { createKey, startTankMonitor } from "../contestants/tank-monitor.ts";
import { HEARD, SILENT, type WideTank, wideDatabase, wideTank } from "../dataset/wide-fleet.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { inMilliseconds, latency } from "../measure/latency.ts";
import { alternate } from "../measure/rounds.ts";
import { ratioOf } from "../measure/statistics.ts";

const PATH = "/manage/v1/fleet";
const HOUR = 3_600_000;
const [OWNER, TOWN] = [wideTank(0).owner, wideTank(0).town];

type Question = {
  readonly name: string;
  readonly label: string;
  readonly query: (tanks: number) => string;
  /** Of which tanks it is. */
  readonly isOf: (tank: WideTank) => boolean;
};

const isLow = ({ threshold, latest }: WideTank): boolean => latest !== undefined && latest.fill <= threshold;
/** Since halfway between the two times at which tanks were last heard. */
const silentHours = (): number => Math.floor((Date.now() - (HEARD + SILENT) / 2) / HOUR);
const isSilent = ({ latest }: WideTank): boolean => latest === undefined || latest.at < HEARD;

const QUESTIONS: readonly Question[] = [
  { name: "fleet-first", label: "the first page", query: () => "", isOf: () => true },
  { name: "fleet-middle", label: "a page in the middle", query: (tanks) => `?page=${tanks / SIZE / 2}`, isOf: () => true },
  { name: "fleet-low", label: "those that are low", query: () => "?state=low", isOf: isLow },
  { name: "fleet-silent", label: "those that are silent", query: () => `?silent_for=${silentHours()}h`, isOf: isSilent },
  {
    name: "fleet-owner",
    label: "those of one customer",
    query: () => `?owner_id=${OWNER}`,
    isOf: ({ owner }) => owner === OWNER,
  },
  { name: "fleet-town", label: "those in one town", query: () => `?city=${TOWN}`, isOf: ({ town }) => town === TOWN },
];
const SIZES: Readonly<Record<Engine, string>> = { sqlite: "1,000,000", postgres: "100,000" };

export const fleetPages: Figure = {
  name: "fleet",
  about: "pages of the fleet of a million tanks against those of a thousand",
  rows: ENGINES.flatMap((engine) =>
    QUESTIONS.map(
      ({ name, label }): Row => ({
        name: `${name}-${engine}`,
        label: `the fleet, ${label}: of ${SIZES[engine]} tanks ÷ of 1,000, ${ENGINE_NAMES[engine]}`,
        unit: "",
      }),
    ),
  ),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

type Side = AsyncDisposable & { readonly tanks: number; readonly connection: Connection };

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  const { largeFleet, smallFleet } = bench.scale;
  await using large = await openSide(bench, engine, largeFleet[engine]);
  await using small = await openSide(bench, engine, smallFleet);
  const rows: Measured[] = [];
  for (const question of QUESTIONS) rows.push(await measure(bench, engine, question, { large, small }));
  return rows;
}

async function openSide(bench: Bench, engine: Engine, tanks: number): Promise<Side> {
  const url = await wideDatabase(bench, engine, tanks);
  const service: Contestant = await startTankMonitor(engine, url, createKey(url, "manage"));
  const connection = await Connection.open(service);
  return {
    tanks,
    connection,
    async [Symbol.asyncDispose]() {
      connection[Symbol.dispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

type Sides = Readonly<Record<"large" | "small", Side>>;

async function measure({ scale }: Bench, engine: Engine, question: Question, { large, small }: Sides): Promise<Measured> {
  const row = `${question.name}-${engine}`;
  say(`${row}: one connection`);
  for (const side of [large, small]) await checkTotal(side, question);
  const turn =
    ({ connection, tanks }: Side) =>
    () =>
      latency(connection, [`${PATH}${question.query(tanks)}`], scale.samples / 5);
  const turns = { large: turn(large), small: turn(small) };
  for (const warmUp of Object.values(turns)) await warmUp();
  const seen = await alternate(scale.rounds, turns, inMilliseconds);
  const raw = ([side, values]: readonly [Side, readonly number[]]) => ({
    label: `${side.tanks.toLocaleString("en")} tanks, median of a round`,
    unit: "ms",
    values,
  });
  return { row, ...ratioOf(seen.large, seen.small), raw: [raw([large, seen.large]), raw([small, seen.small])] };
}

async function checkTotal({ connection, tanks }: Side, { query, isOf }: Question): Promise<void> {
  const { status, body } = await connection.ask(`${PATH}${query(tanks)}`);
  const expected = Array.from({ length: tanks }, (_, i) => wideTank(i)).filter(isOf).length;
  const told = status === 200 ? (JSON.parse(body) as { readonly total_items: number }).total_items : undefined;
  if (told !== expected) throw new Error(`${query(tanks)} of ${tanks} tanks: ${body.slice(0, 300)}, where ${expected} are`);
}
