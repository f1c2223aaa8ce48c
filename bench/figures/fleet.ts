// Pages of the fleet overview, on a very large fleet and on a small one.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { type Contestant, PAGE_SIZE } from "../contestants/contestant.ts";
import { createKey, startTankMonitor } from "../contestants/tank-monitor.ts";
import { RECENT, SILENT, type WideTank, wideDatabase, wideTank } from "../dataset/wide-fleet.ts";
import type { Aim, Figure, Measured, Row } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { alternate, inMilliseconds, latency, ratioOf } from "../measure/sampling.ts";

const PATH = "/insight/v1/fleet";
const HOUR = 3_600_000;
const [OWNER, TOWN] = [wideTank(0).owner, wideTank(0).town];

type FleetQuery = {
  readonly name: string;
  readonly label: string;
  readonly parameters: (tanks: number) => string;
  /** Whether the result contains the tank. */
  readonly matches: (tank: WideTank) => boolean;
  readonly aim?: Aim;
};

const isLow = ({ threshold, latest }: WideTank): boolean => latest !== undefined && latest.fill <= threshold;
/** Halfway between the two times of the newest readings. */
const silentHours = (): number => Math.floor((Date.now() - (RECENT + SILENT) / 2) / HOUR);
const isSilent = ({ latest }: WideTank): boolean => latest === undefined || latest.at < RECENT;

const QUERIES: readonly FleetQuery[] = [
  { name: "fleet-first", label: "first page", parameters: () => "", matches: () => true },
  {
    name: "fleet-middle",
    label: "page in the middle",
    parameters: (tanks) => `?page=${tanks / PAGE_SIZE / 2}`,
    matches: () => true,
    aim: { atMost: 3 },
  },
  {
    name: "fleet-middle-margin",
    label: "page in the middle by margin",
    parameters: (tanks) => `?sort=margin&page=${tanks / PAGE_SIZE / 2}`,
    matches: () => true,
    aim: { atMost: 3 },
  },
  {
    name: "fleet-middle-silent",
    label: "page in the middle by silence",
    parameters: (tanks) => `?sort=silent&page=${tanks / PAGE_SIZE / 2}`,
    matches: () => true,
    aim: { atMost: 3 },
  },
  { name: "fleet-low", label: "low tanks", parameters: () => "?state=low", matches: isLow },
  { name: "fleet-silent", label: "silent tanks", parameters: () => `?silent_for=${silentHours()}h`, matches: isSilent },
  {
    name: "fleet-owner",
    label: "tanks of one customer",
    parameters: () => `?owner_id=${OWNER}`,
    matches: ({ owner }) => owner === OWNER,
  },
  { name: "fleet-town", label: "tanks in one town", parameters: () => `?city=${TOWN}`, matches: ({ town }) => town === TOWN },
];
export const fleetPages: Figure = {
  name: "fleet",
  about: "pages of the fleet of a million tanks against those of a thousand",
  rows: ENGINES.flatMap((engine) =>
    QUERIES.map(
      ({ name, label, aim }): Row => ({
        name: `${name}-${engine}`,
        label: `fleet, ${label}: 1,000,000 tanks ÷ 1,000, ${ENGINE_NAMES[engine]}`,
        unit: "",
        ...(aim && { aim }),
      }),
    ),
  ),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

type Side = AsyncDisposable & { readonly tanks: number; readonly service: Contestant };

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  const { largeFleet, smallFleet } = bench.scale;
  await using large = await openSide(bench, engine, largeFleet);
  await using small = await openSide(bench, engine, smallFleet);
  const rows: Measured[] = [];
  for (const query of QUERIES) rows.push(await measure(bench, engine, query, { large, small }));
  return rows;
}

async function openSide(bench: Bench, engine: Engine, tanks: number): Promise<Side> {
  const url = await wideDatabase(bench, engine, tanks);
  const service = await startTankMonitor(engine, url, createKey(url, "manage"));
  return { tanks, service, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

type Sides = Readonly<Record<"large" | "small", Side>>;

async function measure({ scale }: Bench, engine: Engine, query: FleetQuery, { large, small }: Sides): Promise<Measured> {
  const row = `${query.name}-${engine}`;
  log(`${row}: one connection`);
  for (const side of [large, small]) await checkTotal(side, query);
  // A connection for each turn: the service closes those that are idle for long.
  const turn =
    ({ service, tanks }: Side) =>
    async () => {
      using connection = await Connection.open(service);
      return await latency(connection, [`${PATH}${query.parameters(tanks)}`], scale.samples / 5);
    };
  const turns = { large: turn(large), small: turn(small) };
  for (const warmUp of Object.values(turns)) await warmUp();
  const results = await alternate(scale.rounds, turns, inMilliseconds);
  const raw = ([side, values]: readonly [Side, readonly number[]]) => ({
    label: `${side.tanks.toLocaleString("en")} tanks, median of a round`,
    unit: "ms",
    values,
  });
  return { row, ...ratioOf(results.large, results.small), raw: [raw([large, results.large]), raw([small, results.small])] };
}

async function checkTotal({ service, tanks }: Side, { parameters, matches }: FleetQuery): Promise<void> {
  using connection = await Connection.open(service);
  const { status, body } = await connection.get(`${PATH}${parameters(tanks)}`);
  const expected = Array.from({ length: tanks }, (_, i) => wideTank(i)).filter(matches).length;
  const total = status === 200 ? (JSON.parse(body) as { readonly total_items: number }).total_items : undefined;
  if (total !== expected)
    throw new Error(`${parameters(tanks)} of ${tanks} tanks: ${body.slice(0, 300)}, expected a total of ${expected}`);
}
