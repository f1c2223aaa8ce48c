// The import command, from start to end, as a share of the engine's own bulk load of the same bare rows.

import { type Bench, ENGINE_NAMES, ENGINES, type Engine, log } from "../bench.ts";
import { type Format, type Order, readingsFile } from "../dataset/files.ts";
import { fleet, totalReadings } from "../dataset/plans.ts";
import type { Figure, Measured, Row } from "../figure.ts";
import { alternate, ratioOf } from "../measure/sampling.ts";
import { type ImportTarget, importTargetFor, timedBareLoad, timedImport } from "./import-target.ts";

type Kind = {
  readonly name: string;
  readonly label: string;
  readonly order: Order;
  readonly format: Format;
  readonly aim?: number;
};

const KINDS: readonly Kind[] = [
  { name: "import", label: "bulk import of CSV in tank order", order: "tank", format: "csv", aim: 0.5 },
  { name: "import-time-order", label: "… of CSV in time order, tanks interleaved", order: "time", format: "csv" },
  { name: "import-ndjson", label: "… of newline-delimited JSON in tank order", order: "tank", format: "ndjson" },
];

const OWN_LOAD: Readonly<Record<Engine, string>> = { sqlite: "prepared inserts", postgres: "COPY" };

export const importing: Figure = {
  name: "import",
  about: "bulk import as a share of the engine's own bulk load of the bare rows",
  rows: ENGINES.flatMap((engine) =>
    KINDS.map(
      ({ name, label, aim }): Row => ({
        name: `${name}-${engine}`,
        label: `${label}, as a share of ${OWN_LOAD[engine]}, ${ENGINE_NAMES[engine]}`,
        unit: "",
        ...(aim === undefined ? {} : { aim: { atLeast: aim } }),
      }),
    ),
  ),
  async run(bench) {
    const rows: Measured[] = [];
    for (const engine of bench.engines) {
      await using target = await importTargetFor(bench, engine);
      for (const kind of KINDS) rows.push(await measure(bench, target, kind));
    }
    return { rows };
  },
};

async function measure({ scale }: Bench, target: ImportTarget, { name, order, format }: Kind): Promise<Measured> {
  const plan = fleet(scale.tanks, scale.importedPerTank[order]);
  const readings = totalReadings(plan);
  const ours = await readingsFile(plan, order, format);
  const theirs = await readingsFile(plan, order, "csv");
  const row = `${name}-${target.engine}`;
  log(`${row}: ${readings.toLocaleString("en")} readings`);
  const own = OWN_LOAD[target.engine];
  const results = await alternate(
    scale.importRounds,
    {
      import: async () => readings / (await timedImport(target, ours)),
      [own]: async () => readings / (await timedBareLoad(target, theirs, readings)),
    },
    (rate) => `${Math.round(rate).toLocaleString("en")} readings/s`,
  );
  const raw = Object.entries(results).map(([label, values]) => ({ label, unit: "readings/s", values }));
  return { row, ...ratioOf(results["import"] ?? [], results[own] ?? []), raw };
}
