// A fleet of very many tanks with one reading each: customers with a hundred tanks, and towns with some of each.

import { join } from "node:path";
import { incomingForTanks } from "../../src/domain/reading.ts";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import { customerRecord, tankRecord } from "../../test/support/records.ts";
import { type Bench, cacheFolder, ENGINE_NAMES, type Engine, say } from "../bench.ts";
import { makeOnce, schemaOf, stampOf } from "./stamp.ts";

const TANKS_OF_A_CUSTOMER = 100;
const TOWNS = 500;
const TANKS_A_WRITE = 2000;
const READINGS_A_WRITE = 20_000;
const HOUR = 3_600_000;
/** When all but a few were last heard, and when those few were. */
export const HEARD = Date.parse("2026-01-01T00:00:00Z");
export const SILENT = HEARD - 30 * 24 * HOUR;

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
  const chance = scrambled(number);
  const fill = Math.round(1000 * Math.sqrt(chance / 2 ** 32)) / 10;
  const at = (scrambled(number + 0x51ed) % 100 === 0 ? SILENT : HEARD) + (chance % (4 * HOUR));
  return {
    id: `tank_wide${String(number).padStart(7, "0")}`,
    owner: ownerOf(Math.floor(number / TANKS_OF_A_CUSTOMER)),
    town: `town-${String(chance % TOWNS).padStart(3, "0")}`,
    threshold: 20,
    latest: scrambled(number + 0xabcd) % 100 === 0 ? undefined : { at, fill },
  };
}

const ownerOf = (number: number): string => `cus_wide${String(number).padStart(5, "0")}`;

/** A well mixed number of 32 bits. */
function scrambled(number: number): number {
  let x = Math.imul(number + 1, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Made once, as databases of plans are. */
export async function wideDatabase(bench: Bench, engine: Engine, tanks: number): Promise<string> {
  const name = `wide_${tanks}`;
  const stamp = stampOf("bench/dataset/wide-fleet.ts", "src/store/fleet-row.ts", ...schemaOf(engine));
  const make = async (url: string): Promise<void> => {
    say(`${name} is made for Tank Monitor on ${ENGINE_NAMES[engine]}`);
    const store = await openStore(url, () => {});
    try {
      await fill(store, tanks);
    } finally {
      await store.close();
    }
  };
  if (engine === "postgres") return (await bench.postgres()).databaseOnce(`bench_${name}`, stamp, make);
  const file = join(cacheFolder("data"), `${name}.db`);
  await makeOnce(file, stamp, (making) => make(`sqlite:${making}`));
  return `sqlite:${file}`;
}

async function fill(store: Store, tanks: number): Promise<void> {
  const started = performance.now();
  for (const some of inParts(Math.ceil(tanks / TANKS_OF_A_CUSTOMER), TANKS_A_WRITE)) {
    await store.importCustomers(some.map((number) => customerRecord(ownerOf(number))));
  }
  for (const some of inParts(tanks, TANKS_A_WRITE)) {
    const made = some.map(wideTank);
    await store.importTanks(
      made.map(({ id, owner, town, threshold }) =>
        tankRecord(id, owner, { location: { city: town }, min_fill_alert_percentage: threshold }),
      ),
    );
  }
  for (const some of inParts(tanks, READINGS_A_WRITE)) await putReadings(store, some.map(wideTank));
  say(`  ${tanks.toLocaleString("en")} tanks in ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

async function putReadings(store: Store, tanks: readonly WideTank[]): Promise<void> {
  const heard = tanks.flatMap(({ id, latest }) => (latest === undefined ? [] : [{ id, ...latest }]));
  await store.ingest(
    incomingForTanks({
      tankIds: heard.map(({ id }) => id),
      tank: Uint32Array.from(heard, (_, i) => i),
      createdAt: Float64Array.from(heard, ({ at }) => at),
      fill: Float64Array.from(heard, ({ fill }) => fill),
    }),
  );
}

function* inParts(count: number, size: number): Generator<number[]> {
  for (let from = 0; from < count; from += size) {
    yield Array.from({ length: Math.min(size, count - from) }, (_, i) => from + i);
  }
}
