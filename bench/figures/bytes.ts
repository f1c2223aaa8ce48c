// Bytes on disk per reading: how much a database grows by an import.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { importFile } from "../contestants/tank-monitor.ts";
import { ORDERS, type Order, readingsFile } from "../dataset/files.ts";
import { fleet, totalReadings } from "../dataset/plans.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { type ImportTarget, importTargetFor } from "./import-target.ts";

const MAX_BYTES: Readonly<Record<Engine, number>> = { sqlite: 32, postgres: 100 };

const rowName = (engine: Engine, order: Order): string => (order === "tank" ? `bytes-${engine}` : `bytes-time-order-${engine}`);

export const bytes: Figure = {
  name: "bytes",
  about: "bytes on disk per reading, rank index included",
  rows: ENGINES.flatMap((engine): Row[] => [
    {
      name: rowName(engine, "tank"),
      label: `bytes on disk per reading, ${ENGINE_NAMES[engine]}`,
      unit: "bytes",
      aim: { atMost: MAX_BYTES[engine] },
    },
    { name: rowName(engine, "time"), label: `… imported in time order, ${ENGINE_NAMES[engine]}`, unit: "bytes" },
  ]),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) {
      await using target = await importTargetFor(bench, engine);
      for (const order of ORDERS) rows.push(await measure(bench, target, order));
    }
    return { rows };
  },
};

async function measure({ scale }: Bench, target: ImportTarget, order: Order): Promise<Measured> {
  const plan = fleet(scale.tanks, scale.importedPerTank[order]);
  const row = rowName(target.engine, order);
  log(`${row}: ${totalReadings(plan).toLocaleString("en")} readings`);
  await using database = await target.createDatabase("tanks");
  await target.checkpoint();
  const before = await target.size(database.url);
  await importFile(database.url, await readingsFile(plan, order, "csv"));
  await target.checkpoint();
  const after = await target.size(database.url);
  return {
    row,
    value: (after - before) / totalReadings(plan),
    raw: [
      { label: "database without readings", unit: "bytes", values: [before] },
      { label: `database with ${totalReadings(plan).toLocaleString("en")} readings`, unit: "bytes", values: [after] },
    ],
  };
}
