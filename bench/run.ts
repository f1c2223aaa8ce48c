// npm run bench [-- NAME…] [--quick | --full] [--engine sqlite|postgres]
//
// Where the service stands, as ratios measured side by side in one run. The figures are in figures/, one file each; what
// they are held against is in contestants/, and README.md tells how.

import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Bench, cacheFolder, ENGINES, type Engine, ROOT, say } from "./bench.ts";
import { type Postgres, startPostgres } from "./contestants/postgres.ts";
import type { Figure } from "./figure.ts";
import { bytes } from "./figures/bytes.ts";
import { deepPage } from "./figures/deep-page.ts";
import { depth } from "./figures/depth.ts";
import { fleetPages } from "./figures/fleet.ts";
import { growth } from "./figures/growth.ts";
import { importing } from "./figures/import.ts";
import { ingestHttp } from "./figures/ingest-http.ts";
import { ingestMqtt } from "./figures/ingest-mqtt.ts";
import { lateReading } from "./figures/late-reading.ts";
import { pageOne } from "./figures/page-one.ts";
import { platformatic } from "./figures/platformatic.ts";
import { pocketbase } from "./figures/pocketbase.ts";
import { readsWhileIngesting } from "./figures/reads-while-ingesting.ts";
import { starting } from "./figures/starting.ts";
import { machine } from "./report/machine.ts";
import { readResults, withOutcome, writeResults } from "./report/results.ts";
import { SCALES } from "./scale.ts";

const FIGURES: readonly Figure[] = [
  pageOne,
  pocketbase,
  platformatic,
  deepPage,
  growth,
  importing,
  bytes,
  lateReading,
  starting,
  ingestHttp,
  ingestMqtt,
  readsWhileIngesting,
  fleetPages,
  depth,
];

const { values: flags, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean" },
    full: { type: "boolean" },
    engine: { type: "string", multiple: true },
    help: { type: "boolean" },
  },
});
const unknown = names.find((name) => !FIGURES.some((figure) => figure.name === name));
if (flags.help || unknown !== undefined) {
  if (unknown !== undefined) console.error(`There is no figure ${unknown}.`);
  console.error("npm run bench [-- NAME…] [--quick | --full] [--engine sqlite|postgres]\n");
  for (const { name, about } of FIGURES) console.error(`  ${name.padEnd(23)}${about}`);
  process.exit(unknown === undefined ? 0 : 2);
}

const isEngine = (name: string): name is Engine => ENGINES.some((engine) => engine === name);
const engines = (flags.engine ?? ENGINES).filter(isEngine);
const scale = SCALES[flags.quick ? "quick" : flags.full ? "full" : "usual"];
/** A quick run shows that it works; its figures are nobody's. */
const folder = flags.quick ? cacheFolder("quick") : join(ROOT, "bench");

let failures = 0;
{
  let started: Promise<Postgres> | undefined;
  await using end = new AsyncDisposableStack();
  const bench: Bench = { scale, engines, postgres: () => (started ??= startPostgres().then((one) => end.use(one))) };
  for (const figure of FIGURES) {
    if (names.length > 0 && !names.includes(figure.name)) continue;
    try {
      const outcome = await figure.run(bench);
      const when = { date: new Date().toISOString().slice(0, 10), machine: machine((await started)?.version) };
      // After every figure, so that a run that breaks off keeps what it has.
      writeResults(folder, FIGURES, withOutcome(readResults(folder), outcome, when));
    } catch (error) {
      failures++;
      say(`${figure.name} failed: ${error instanceof Error ? error.stack : error}`);
    }
  }
}
say(`the results are in ${folder}`);
process.exitCode = failures === 0 ? 0 : 1;
