// What a reading takes on disk, with everything that is kept for it: the growth of a database by an import.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, say } from "../bench.ts";
import { importFile } from "../contestants/tank-monitor.ts";
import { ORDERS, type Order, readingsFile } from "../dataset/files.ts";
import { fleet, totalReadings } from "../dataset/plans.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { type Ground, groundFor } from "./loading.ts";

const MOST: Readonly<Record<Engine, number>> = { sqlite: 32, postgres: 100 };

const rowName = (engine: Engine, order: Order): string => (order === "tank" ? `bytes-${engine}` : `bytes-time-order-${engine}`);

export const bytes: Figure = {
  name: "bytes",
  about: "bytes on disk a reading, milestones included",
  rows: ENGINES.flatMap((engine): Row[] => [
    {
      name: rowName(engine, "tank"),
      label: `bytes on disk a reading, ${ENGINE_NAMES[engine]}`,
      unit: "bytes",
      aim: { atMost: MOST[engine] },
    },
    { name: rowName(engine, "time"), label: `… imported in the order of time, ${ENGINE_NAMES[engine]}`, unit: "bytes" },
  ]),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) {
      await using ground = await groundFor(bench, engine);
      for (const order of ORDERS) rows.push(await measure(bench, ground, order));
    }
    return { rows };
  },
};

async function measure({ scale }: Bench, ground: Ground, order: Order): Promise<Measured> {
  const plan = fleet(scale.tanks, scale.importedATank[order]);
  const row = rowName(ground.engine, order);
  say(`${row}: ${totalReadings(plan).toLocaleString("en")} readings`);
  await using database = await ground.fresh("tanks");
  await ground.settle();
  const before = await ground.size(database.url);
  await importFile(database.url, await readingsFile(plan, order, "csv"));
  await ground.settle();
  const after = await ground.size(database.url);
  return {
    row,
    value: (after - before) / totalReadings(plan),
    raw: [
      { label: "database without readings", unit: "bytes", values: [before] },
      { label: `database with ${totalReadings(plan).toLocaleString("en")} readings`, unit: "bytes", values: [after] },
    ],
  };
}
