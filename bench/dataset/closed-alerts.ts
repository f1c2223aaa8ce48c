// A database with very many closed alerts: they are written directly, and "check --repair" builds the rank indexes of their lists.

import { join } from "node:path";
import { openStore } from "../../src/store/open.ts";
import { type Bench, cacheFolder, ENGINE_NAMES, type Engine, log } from "../bench.ts";
import { createOnce, fingerprintOf, schemaOf } from "./cache.ts";
import { execute } from "./databases.ts";
import { putTanks } from "./fill.ts";
import { fleet } from "./plans.ts";

const FIRST = Date.parse("2022-01-01T00:00:00Z");
const STEP_MS = 60_000;

export const closedAlertId = (number: number): string => `alr_bench${String(number).padStart(8, "0")}`;

/** Alert i is of tank i modulo their number, open for an hour. Each text has the same length. */
const insertAlerts = (alerts: number, tanks: number): string => `
  INSERT INTO alert (id, kind, state, tank_id, owner_id, created_at, closed_at, close_reason, threshold, fill, latest_fill,
    latest_at, updated_at)
  WITH RECURSIVE number (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i < ${alerts - 1}),
    opened (i, at) AS (SELECT i, ${FIRST} + CAST(${STEP_MS} AS bigint) * i FROM number)
  SELECT 'alr_bench' || substr(CAST(100000000 + i AS text), 2), 'low', 'closed',
    tank.id, tank.owner_id, at, at + 3600000, 'recovered', 20, 19.5, 80, at + 3600000, at + 3600000
  FROM opened JOIN tank ON tank.id = 'tank_fleet' || substr(CAST(10000 + i % ${tanks} AS text), 2)`;

/** Created once and cached. */
export async function closedAlertsDatabase(bench: Bench, engine: Engine): Promise<string> {
  const { alerts, tanks } = bench.scale;
  const name = `closed_alerts_${alerts}`;
  const fingerprint = fingerprintOf("bench/dataset/closed-alerts.ts", ...schemaOf(engine));
  const create = async (url: string): Promise<void> => {
    log(`${name} is being created for Tank Monitor on ${ENGINE_NAMES[engine]}`);
    await withStore(url, (store) => putTanks(store, fleet(tanks, 0).tanks));
    await execute(engine, url, insertAlerts(alerts, tanks));
    // The first read of new rows is slow, and a statement of the store may take 10 seconds.
    if (engine === "postgres") await execute(engine, url, "VACUUM (ANALYZE) alert");
    await withStore(url, async (store) => {
      for await (const { where, what, repaired } of store.check(true, () => {})) {
        log(`  ${where}: ${what}`);
        if (!repaired) throw new Error("the database cannot be repaired");
      }
    });
  };
  if (engine === "postgres") return (await bench.postgres()).databaseOnce(`bench_${name}`, fingerprint, create);
  const file = join(cacheFolder("data"), `${name}.db`);
  await createOnce(file, fingerprint, (unfinished) => create(`sqlite:${unfinished}`));
  return `sqlite:${file}`;
}

async function withStore(url: string, work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<void>): Promise<void> {
  const store = await openStore(url, () => {});
  try {
    await work(store);
  } finally {
    await store.close();
  }
}
