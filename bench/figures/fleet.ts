// Pages of the fleet overview, on a very large fleet and on a small one; searches and the map of a large one.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { type Contestant, PAGE_SIZE } from "../contestants/contestant.ts";
import { createKey, startTankMonitor } from "../contestants/tank-monitor.ts";
import { isLow, RECENT, SILENT, type WideTank, wideDatabase, wideTank } from "../dataset/wide-fleet.ts";
import type { Aim, Figure, Measured, Row } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { alternate, inMilliseconds, latency, median, ratioOf } from "../measure/sampling.ts";

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

/** Those that take longer the more tanks there are. */
const SEARCHES: readonly FleetQuery[] = [
  { name: "fleet-search", label: "search", parameters: () => `?search=${TOWN}`, matches: ({ town }) => town === TOWN },
  { name: "fleet-alert", label: "tanks with an alert", parameters: () => "?alert=low", matches: isLow },
];
const MAP = "/insight/v1/map";

export const fleetPages: Figure = {
  name: "fleet",
  about: "pages of the fleet of a million tanks against those of a thousand; searches and the map of a hundred thousand",
  rows: ENGINES.flatMap((engine): Row[] => [
    ...QUERIES.map(
      ({ name, label, aim }): Row => ({
        name: `${name}-${engine}`,
        label: `fleet, ${label}: 1,000,000 tanks ÷ 1,000, ${ENGINE_NAMES[engine]}`,
        unit: "",
        ...(aim && { aim }),
      }),
    ),
    ...[...SEARCHES, { name: "fleet-map", label: "the map, as it is kept" }].map(
      ({ name, label }): Row => ({
        name: `${name}-${engine}`,
        label: `fleet, ${label}: 100,000 tanks, ${ENGINE_NAMES[engine]}`,
        unit: "ms",
      }),
    ),
  ]),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

type Side = AsyncDisposable & { readonly tanks: number; readonly service: Contestant };

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  return [...(await ratioRows(bench, engine)), ...(await searchRows(bench, engine))];
}

async function ratioRows(bench: Bench, engine: Engine): Promise<Measured[]> {
  const { largeFleet, smallFleet } = bench.scale;
  await using large = await openSide(bench, engine, largeFleet);
  await using small = await openSide(bench, engine, smallFleet);
  const rows: Measured[] = [];
  for (const query of QUERIES) rows.push(await measure(bench, engine, query, { large, small }));
  return rows;
}

async function searchRows(bench: Bench, engine: Engine): Promise<Measured[]> {
  await using side = await openSide(bench, engine, bench.scale.searchedFleet);
  const rows: Measured[] = [];
  for (const query of SEARCHES) {
    await checkTotal(side, query);
    rows.push(await timeOf(bench, `${query.name}-${engine}`, side, `${PATH}${query.parameters(side.tanks)}`));
  }
  const computed = await firstMap(side);
  const map = await timeOf(bench, `fleet-map-${engine}`, side, MAP);
  return [...rows, { ...map, raw: [...map.raw, { label: "the first, which is computed", unit: "ms", values: [computed] }] }];
}

/** Milliseconds. Throws unless each tank is on it. */
async function firstMap({ service, tanks }: Side): Promise<number> {
  using connection = await Connection.open(service);
  const took = await connection.timeGet(MAP);
  const { positions } = JSON.parse((await connection.get(MAP)).body) as { readonly positions: Record<string, number[]> };
  const found = Object.values(positions).reduce((sum, list) => sum + list.length / 2, 0);
  if (found !== tanks) throw new Error(`the map of ${tanks} tanks has ${found}`);
  return took;
}

async function timeOf({ scale }: Bench, row: string, { service }: Side, path: string): Promise<Measured> {
  log(`${row}: one connection`);
  const turn = async (): Promise<number> => {
    using connection = await Connection.open(service);
    return await latency(connection, [path], scale.samples / 5);
  };
  await turn();
  const { request: values } = await alternate(scale.rounds, { request: turn }, inMilliseconds);
  const raw = [{ label: "median of a round", unit: "ms", values }];
  return { row, value: median(values), spread: [Math.min(...values), Math.max(...values)], raw };
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
