// A fleet of very many tanks with one reading each, a hundred tanks per customer, spread over towns.

import { join } from "node:path";
import { incomingForTanks } from "../../src/domain/reading.ts";
import type { Store } from "../../src/domain/store.ts";
import { followReadings } from "../../src/forecast/fleet-order.ts";
import { openStore } from "../../src/store/open.ts";
import { customerRecord, tankRecord } from "../../test/support/records.ts";
import { type Bench, cacheFolder, ENGINE_NAMES, type Engine, log } from "../bench.ts";
import { createOnce, fingerprintOf, schemaOf } from "./cache.ts";
import { execute } from "./databases.ts";

const TANKS_PER_CUSTOMER = 100;
const TOWNS = 500;
const TANKS_PER_WRITE = 2000;
const READINGS_PER_WRITE = 20_000;
const HOUR = 3_600_000;
/** When all tanks but a few had their latest reading, and when those few had it. */
export const RECENT = Date.parse("2026-01-01T00:00:00Z");
export const SILENT = RECENT - 30 * 24 * HOUR;

export type WideTank = {
  readonly id: string;
  readonly owner: string;
  readonly town: string;
  readonly threshold: number;
  /** Its only reading; one in a hundred has none. */
  readonly latest: { readonly at: number; readonly fill: number } | undefined;
};

/** Tanks are filled before they are empty: the lower, the fewer. One in twenty-five is low, and one in a hundred silent. */
export function wideTank(number: number): WideTank {
  const chance = hash(number);
  const fill = Math.round(1000 * Math.sqrt(chance / 2 ** 32)) / 10;
  const at = (hash(number + 0x51ed) % 100 === 0 ? SILENT : RECENT) + (chance % (4 * HOUR));
  return {
    id: `tank_wide${String(number).padStart(7, "0")}`,
    owner: ownerOf(Math.floor(number / TANKS_PER_CUSTOMER)),
    town: `town-${String(chance % TOWNS).padStart(3, "0")}`,
    threshold: 20,
    latest: hash(number + 0xabcd) % 100 === 0 ? undefined : { at, fill },
  };
}

const ownerOf = (number: number): string => `cus_wide${String(number).padStart(5, "0")}`;

/** A 32-bit hash. */
function hash(number: number): number {
  let x = Math.imul(number + 1, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** By their readings all tanks have been silent since long: each would get an alert at the first start of the service. */
const NO_CHECKS = `UPDATE fleet SET check_at = ${Date.parse("2100-01-01T00:00:00Z")} WHERE check_at IS NOT NULL`;

/** One reading makes no forecast: computing them would only disturb. */
const NO_FORECASTS = "UPDATE forecast SET outdated_since = NULL WHERE outdated_since IS NOT NULL";

/** Created once and cached. */
export async function wideDatabase(bench: Bench, engine: Engine, tanks: number): Promise<string> {
  const name = `wide_${tanks}`;
  const fingerprint = fingerprintOf(
    "bench/dataset/wide-fleet.ts",
    "src/store/fleet-row.ts",
    "src/domain/fleet-order.ts",
    ...schemaOf(engine),
  );
  const create = async (url: string): Promise<void> => {
    log(`${name} is being created for Tank Monitor on ${ENGINE_NAMES[engine]}`);
    const store = await openStore(url, () => {});
    try {
      await fill(store, tanks);
      await followReadings(store, Date.now());
    } finally {
      await store.close();
    }
    await execute(engine, url, NO_CHECKS);
    await execute(engine, url, NO_FORECASTS);
  };
  if (engine === "postgres") return (await bench.postgres()).databaseOnce(`bench_${name}`, fingerprint, create);
  const file = join(cacheFolder("data"), `${name}.db`);
  await createOnce(file, fingerprint, (unfinished) => create(`sqlite:${unfinished}`));
  return `sqlite:${file}`;
}

async function fill(store: Store, tanks: number): Promise<void> {
  const started = performance.now();
  for (const some of chunksOf(Math.ceil(tanks / TANKS_PER_CUSTOMER), TANKS_PER_WRITE)) {
    await store.importCustomers(some.map((number) => customerRecord(ownerOf(number))));
  }
  for (const some of chunksOf(tanks, TANKS_PER_WRITE)) {
    const tanksToAdd = some.map(wideTank);
    await store.importTanks(
      tanksToAdd.map(({ id, owner, town, threshold }) =>
        tankRecord(id, owner, { location: { city: town }, min_fill_alert_percentage: threshold }),
      ),
    );
  }
  for (const some of chunksOf(tanks, READINGS_PER_WRITE)) await putReadings(store, some.map(wideTank));
  log(`  ${tanks.toLocaleString("en")} tanks in ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

async function putReadings(store: Store, tanks: readonly WideTank[]): Promise<void> {
  const withReading = tanks.flatMap(({ id, latest }) => (latest === undefined ? [] : [{ id, ...latest }]));
  await store.ingest(
    incomingForTanks({
      tankIds: withReading.map(({ id }) => id),
      tank: Uint32Array.from(withReading, (_, i) => i),
      createdAt: Float64Array.from(withReading, ({ at }) => at),
      fill: Float64Array.from(withReading, ({ fill }) => fill),
    }),
  );
}

function* chunksOf(count: number, size: number): Generator<number[]> {
  for (let from = 0; from < count; from += size) {
    yield Array.from({ length: Math.min(size, count - from) }, (_, i) => from + i);
  }
}
