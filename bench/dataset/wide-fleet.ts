// A fleet of very many tanks with one reading and a forecast each, and an alert for each low one, a hundred tanks per customer, spread over towns.

import { join } from "node:path";
import type { Alert } from "../../src/domain/alerts/alert.ts";
import { DEFAULT_TANK_ALERT_SETTINGS } from "../../src/domain/alerts/tank-alert-settings.ts";
import type { Change, CustomerState, TankState } from "../../src/domain/changes.ts";
import { sortKeysOf } from "../../src/domain/fleet-order.ts";
import type { ForecastValues } from "../../src/domain/forecast/stored.ts";
import { EARLIEST } from "../../src/domain/instant.ts";
import type { ForecastRow } from "../../src/store/core/forecast-tables.ts";
import { rebuildListIndex } from "../../src/store/core/lists.ts";
import type { StoreTransaction } from "../../src/store/core/transaction.ts";
import { packHead } from "../../src/store/packed/block.ts";
import { LISTS } from "../../src/store/packed/lists.ts";
import type { HeadUpdate } from "../../src/store/packed/merge.ts";
import { customerRecord, tankRecord } from "../../test/support/records.ts";
import { type Bench, cacheFolder, ENGINE_NAMES, type Engine, log } from "../bench.ts";
import { openBulkWriter } from "./bulk.ts";
import { createOnce, fingerprintOf, schemaOf } from "./cache.ts";

const TANKS_PER_CUSTOMER = 100;
const TOWNS = 500;
const CUSTOMERS_PER_WRITE = 200;
const HOUR = 3_600_000;
/** When all tanks but a few had their latest reading, and when those few had it. */
export const RECENT = Date.parse("2026-01-01T00:00:00Z");
export const SILENT = RECENT - 30 * 24 * HOUR;

export type WideTank = {
  readonly id: string;
  readonly owner: string;
  readonly town: string;
  readonly latitude: number;
  readonly longitude: number;
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
    latitude: 47 + (hash(number + 0x1a7) % 70_000) / 10_000,
    longitude: 6 + (hash(number + 0x107) % 90_000) / 10_000,
    threshold: 20,
    latest: hash(number + 0xabcd) % 100 === 0 ? undefined : { at, fill },
  };
}

export const isLow = ({ threshold, latest }: WideTank): boolean => latest !== undefined && latest.fill <= threshold;

const ownerOf = (number: number): string => `cus_wide${String(number).padStart(5, "0")}`;

/** A 32-bit hash. */
function hash(number: number): number {
  let x = Math.imul(number + 1, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

const FAR = Date.parse("2100-01-01T00:00:00Z");
/** Its reading is old enough for a silent alert, which would open at the first start of the service. */
const NEVER_EVALUATED = { activeConditions: 0, evaluateAt: FAR };

/** Three tanks in four run low within a year. */
function forecastOf({ id, owner, threshold, latest }: WideTank, number: number): ForecastRow {
  const chance = hash(number + 0x7777);
  const low = chance % 4 === 0 ? null : RECENT + (chance % (365 * 24 * HOUR));
  const never = { p10: null, p50: null, p90: null };
  const forecast: ForecastValues | null =
    latest === undefined
      ? null
      : {
          state: "ok",
          based_on_until: latest.at,
          use_per_day: { percentage: 0.5, volume: 13.5, unit: "liters" },
          runs_low_at: { p10: low, p50: low, p90: low },
          runs_empty_at: never,
          suggested_delivery: null,
          level: latest.fill,
          leak: "none",
        };
  const reading = latest === undefined ? null : { created_at: latest.at, fill_percentage: latest.fill };
  return {
    ...{ id, owner_id: owner, at: latest?.at ?? EARLIEST, fill: latest?.fill ?? null },
    ...sortKeysOf(threshold, reading, forecast),
    // Nothing is to be computed: it would only disturb.
    ...{ dueAt: null, computedAt: forecast === null ? null : FAR, forecast },
  };
}

/** Created once and cached. */
export async function wideDatabase(bench: Bench, engine: Engine, tanks: number): Promise<string> {
  const name = `wide_${tanks}`;
  const sources = ["bench/dataset/wide-fleet.ts", "src/store/fleet-row.ts", "src/domain/fleet-order.ts", ...schemaOf(engine)];
  const fingerprint = fingerprintOf(...sources);
  const create = async (url: string): Promise<void> => {
    log(`${name} is being created for Tank Monitor on ${ENGINE_NAMES[engine]}`);
    await fill(engine, url, tanks);
  };
  if (engine === "postgres") return (await bench.postgres()).databaseOnce(`bench_${name}`, fingerprint, create);
  const file = join(cacheFolder("data"), `${name}.db`);
  await createOnce(file, fingerprint, (unfinished) => create(`sqlite:${unfinished}`));
  return `sqlite:${file}`;
}

async function fill(engine: Engine, url: string, tanks: number): Promise<void> {
  const started = performance.now();
  await using writer = await openBulkWriter(engine, url);
  const customers = Math.ceil(tanks / TANKS_PER_CUSTOMER);
  for (let from = 0; from < customers; from += CUSTOMERS_PER_WRITE) {
    const to = Math.min(customers, from + CUSTOMERS_PER_WRITE);
    await writer.run((tx) => putTanks(tx, from * TANKS_PER_CUSTOMER, Math.min(tanks, to * TANKS_PER_CUSTOMER)));
  }
  await writer.createIndexes();
  for (const list of [
    LISTS.customers,
    LISTS.tanks,
    LISTS.fleetByUrgency,
    LISTS.fleetByMargin,
    LISTS.fleetBySilence,
    LISTS.alerts,
  ]) {
    await writer.run((tx) => rebuildListIndex(tx, list, null));
  }
  await writer.run((tx) => rebuildListIndex(tx, LISTS.alertsByState, "open"));
  log(`  ${tanks.toLocaleString("en")} tanks in ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

/** Tanks by their numbers, `from` to `to` (exclusive), with their customers. */
async function putTanks(tx: StoreTransaction, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, i) => from + i);
  const tanks = numbers.map(wideTank);
  const owners = Map.groupBy(tanks, ({ owner }) => owner);
  await tx.putCustomers(Array.from(owners.keys(), customerChange));
  const changes = tanks.map(tankChange);
  await tx.putTanks(changes);
  await tx.addTankCounts(new Map(Array.from(owners, ([owner, own]) => [owner, own.length])));
  await tx.setThresholds(new Map(tanks.map(({ id, threshold }) => [id, threshold])));
  await tx.putDevices(
    changes.map(({ id, after }) => ({
      device: { id: after.tank.assigned_device_id, tank_id: id, since: EARLIEST, profile: null },
      dropped: 0,
    })),
  );
  const heads = tanks.flatMap(({ id, latest }): [string, HeadUpdate][] => {
    if (latest === undefined) return [];
    const data = packHead({ instants: Float64Array.of(latest.at), fills: Float64Array.of(latest.fill) });
    return [[id, { total: 1, inBlocks: 0, start: EARLIEST, data }]];
  });
  await tx.writeHeads(new Map(heads));
  await tx.setEvaluations(new Map(heads.map(([id]) => [id, NEVER_EVALUATED])));
  await tx.putAlerts(tanks.filter(isLow).map(openAlert));
  await tx.putForecasts(numbers.map((number) => forecastOf(wideTank(number), number)));
}

function openAlert({ id, owner, threshold, latest }: WideTank): Alert {
  const { at, fill } = latest ?? { at: RECENT, fill: 0 };
  return {
    ...{ id: id.replace("tank_", "alr_"), kind: "low", state: "open", tank_id: id, owner_id: owner, opened_at: at },
    ...{ acknowledged_at: null, acknowledged_by: null, closed_at: null, close_reason: null },
    ...{ threshold, fill_percentage: fill, latest_fill_percentage: fill, latest_reading_at: at },
    ...{ runs_low_at: null, leak: null, note: null, updated_at: at },
  };
}

function customerChange(id: string): Change<CustomerState> {
  const record = customerRecord(id);
  if (!("customer" in record)) throw new Error("not a customer");
  const { customer, deleted } = record;
  const notifications = { language: null, unsubscribed_at: null };
  return { id, before: undefined, after: { customer, deleted, deletedAt: null, notifications } };
}

function tankChange({ id, owner, town, latitude, longitude, threshold }: WideTank): Change<TankState> {
  const record = tankRecord(id, owner, { location: { city: town, latitude, longitude }, min_fill_alert_percentage: threshold });
  if (!("tank" in record)) throw new Error("not a tank");
  const { tank, deleted } = record;
  return { id, before: undefined, after: { tank, deleted, deletedAt: null, shape: null, alerts: DEFAULT_TANK_ALERT_SETTINGS } };
}
