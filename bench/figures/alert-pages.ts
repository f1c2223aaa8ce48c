// Pages of a million closed alerts: the last one and one in the middle against the first, one request at a time.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { startTankMonitor } from "../contestants/tank-monitor.ts";
import { closedAlertId, closedAlertsDatabase } from "../dataset/closed-alerts.ts";
import type { Figure, Measured, RawValues, Row } from "../figure.ts";
import { Connection } from "../measure/connection.ts";
import { alternate, inMilliseconds, latency, ratioOf } from "../measure/sampling.ts";

const PATH = "/insight/v1/alerts";
const SIZE = 100;

const LISTS = [
  { name: "all", label: "all alerts", parameters: `size=${SIZE}` },
  { name: "closed", label: "closed alerts", parameters: `size=${SIZE}&state=closed` },
] as const;
const DEPTHS = ["middle", "last"] as const;

const rowName = (list: string, depth: string, engine: Engine): string => `alert-pages-${list}-${depth}-${engine}`;

export const alertPages: Figure = {
  name: "alert-pages",
  about: "pages of a million closed alerts against the first",
  rows: ENGINES.flatMap((engine) =>
    LISTS.flatMap(({ name, label }) =>
      DEPTHS.map(
        (depth): Row => ({
          name: rowName(name, depth, engine),
          label: `${label}, 1,000,000 of them, ${depth} page of ${SIZE} ÷ first, ${ENGINE_NAMES[engine]}`,
          unit: "",
          aim: { atMost: 1.5 },
        }),
      ),
    ),
  ),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) rows.push(...(await onEngine(bench, engine)));
    return { rows };
  },
};

async function onEngine(bench: Bench, engine: Engine): Promise<Measured[]> {
  const { alerts, rounds, samples } = bench.scale;
  await using service = await startTankMonitor(engine, await closedAlertsDatabase(bench, engine));
  using connection = await Connection.open(service);
  const lastPage = alerts / SIZE;
  const rows: Measured[] = [];
  for (const { name, parameters } of LISTS) {
    const pages = { first: 1, middle: lastPage / 2, last: lastPage };
    for (const page of Object.values(pages)) await verify(connection, `${PATH}?${parameters}&page=${page}`, page, alerts);
    log(`alert-pages: ${service.name}, ${name}, one connection`);
    const turn = (page: number) => () => latency(connection, [`${PATH}?${parameters}&page=${page}`], samples / 5);
    const turns = { first: turn(pages.first), middle: turn(pages.middle), last: turn(pages.last) };
    for (const warmUp of Object.values(turns)) await warmUp();
    const results = await alternate(rounds, turns, inMilliseconds);
    const raw = (page: keyof typeof turns): RawValues => ({
      label: `${page} page, median of a round`,
      unit: "ms",
      values: results[page],
    });
    for (const depth of DEPTHS) {
      const ratio = ratioOf(results[depth], results.first);
      rows.push({ row: rowName(name, depth, engine), ...ratio, raw: [raw("first"), raw(depth)] });
    }
  }
  return rows;
}

type AlertPage = { readonly data: readonly { readonly id: string }[]; readonly total_items: number };

/** Newest first: throws unless the page has exactly its alerts, and the total is right. */
async function verify(connection: Connection, path: string, page: number, alerts: number): Promise<void> {
  const { status, body } = await connection.get(path);
  if (status !== 200) throw new Error(`${path} got ${status}: ${body.slice(0, 300)}`);
  const { data, total_items } = JSON.parse(body) as AlertPage;
  const expected = Array.from({ length: SIZE }, (_, i) => closedAlertId(alerts - 1 - (page - 1) * SIZE - i));
  const got = data.map(({ id }) => id);
  if (total_items !== alerts || got.join() !== expected.join()) {
    throw new Error(`${path} has a total of ${total_items} and ${got[0]} to ${got.at(-1)}, expected ${expected[0]}`);
  }
}
