// The operations of a transaction, many rows per statement.

import type { AlertSettings } from "../../domain/alerts/evaluate.ts";
import { unknownDevice } from "../../domain/device.ts";
import type { PendingReading, ResolvedReading } from "../../domain/placement.ts";
import { MAX_PENDING_PER_DEVICE } from "../../domain/store.ts";
import type { EngineTransaction } from "../check/check.ts";
import { deviceChecksum, pendingValues, STORED_PENDING_COLUMNS } from "../columns.ts";
import { sharedTables } from "../core/reads-and-tables.ts";
import { PendingAlertWork } from "../core/transaction.ts";
import { EMPTY_HEAD, headChecksum } from "../packed/checksum.ts";
import { equalsByIndex, insertOn, runForIdsOn, runForRowsOn, transposed } from "./batch.ts";
import { checkOperations } from "./check.ts";
import { type Db, prepareOn, statement } from "./connection.ts";
import { listOperations } from "./list-pages.ts";
import { rankIndexOperations } from "./rank-index.ts";
import { DIALECT } from "./schema.ts";
import { telemetryWrites } from "./telemetry-writes.ts";

/** All writes of lists, of all processes, run one after the other: they are rare, and many touch the same few rows. */
const LOCK_LISTS = statement("SELECT pg_advisory_xact_lock(5522219042)");
const LOCK_DEVICES = {
  exclusive: statement("SELECT pg_advisory_xact_lock(5522219043)"),
  shared: statement("SELECT pg_advisory_xact_lock_shared(5522219043)"),
};

const NOW = statement("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)");
/** Held until the end of the transaction, so that events become visible in the order of their sequence numbers. */
const LOCK_ALERTS = statement("SELECT pg_advisory_xact_lock(5522219045)");

export function transactionOn(db: Db, alertSettings: AlertSettings, damagedTanks = new Set<string>()): EngineTransaction {
  const sql = { prepare: prepareOn(db), insert: insertOn(db), runForIds: runForIdsOn(db), runForRows: runForRowsOn(db) };
  return {
    async lockLists() {
      await db.rows(LOCK_LISTS);
    },
    async lockDevices(mode) {
      await db.rows(LOCK_DEVICES[mode]);
    },
    async devicesWithPending(limit) {
      await db.rows(LOCK_UNKNOWN_DEVICES);
      return Number((await db.rows(DEVICES_WITH_PENDING, [limit]))[0]?.[0]);
    },
    ...sharedTables(sql, DIALECT, (tankIds) => addHeads(db, tankIds)),
    setThresholds: (thresholds) => setThresholds(db, thresholds),
    ...pendingWrites(db),
    ...telemetryWrites(db, alertSettings.closeMargin, damagedTanks),
    alertWork: new PendingAlertWork(),
    alertSettings,
    damagedTanks,
    async lockAlerts() {
      await db.rows(LOCK_ALERTS);
    },
    now: async () => Number((await db.rows(NOW))[0]?.[0]),
    ...rankIndexOperations(db),
    ...listOperations(db),
    checkOperations: () => checkOperations(db),
  };
}

/** Unknown devices of all processes are added one after the other, so that the number of devices is exact. */
const LOCK_UNKNOWN_DEVICES = statement("SELECT pg_advisory_xact_lock(5522219044)");
const DEVICES_WITH_PENDING = statement("SELECT count(*) FROM (SELECT FROM device WHERE pending > 0 LIMIT $1) AS counted"); // device_pending

async function addHeads(db: Db, tankIds: readonly string[]): Promise<void> {
  const rows = tankIds.map((id) => [id, headChecksum(id, EMPTY_HEAD)]);
  await insertOn(db)("head", ["tank", "checksum"], rows);
}

const SET_THRESHOLDS = statement(`
  UPDATE head SET threshold = new.threshold,
    active_conditions = CASE WHEN new.threshold IS NULL THEN 0 ELSE active_conditions END,
    evaluate_at = CASE WHEN new.threshold IS NULL THEN NULL ELSE evaluate_at END
  FROM unnest($1::text[], $2::integer[]) AS new (tank, threshold) WHERE ${equalsByIndex("head.tank", "new.tank")}`);
/** Locks heads in the order of their ids, as every write does. */
async function setThresholds(db: Db, thresholds: ReadonlyMap<string, number | null>): Promise<void> {
  const ids = [...thresholds.keys()].sort();
  if (ids.length > 0) await db.rows(SET_THRESHOLDS, [ids, ids.map((id) => thresholds.get(id) ?? null)]);
}

/** Adds unknown devices, and locks the rows of all in the order given. */
const LOCK_DEVICE_ROWS = statement(`
  INSERT INTO device (id, checksum) SELECT * FROM unnest($1::text[], $2::bigint[])
  ON CONFLICT (id) DO UPDATE SET pending = device.pending`);
const ADD_PENDING = statement(`
  INSERT INTO pending_reading (${STORED_PENDING_COLUMNS})
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::double precision[], $4::text[], $5::text[], $6::bigint[])
  ON CONFLICT (device, created_at) DO UPDATE SET fill = excluded.fill, payload = excluded.payload,
    customer_id = excluded.customer_id, checksum = excluded.checksum`);
const REMOVE_PENDING = statement(`
  DELETE FROM pending_reading WHERE ctid = ANY (ARRAY(
    SELECT own.ctid FROM unnest($1::text[], $2::bigint[]) AS resolved (device, created_at)
    CROSS JOIN LATERAL (
      SELECT ctid FROM pending_reading WHERE device = resolved.device AND created_at = resolved.created_at OFFSET 0
    ) AS own
  ))`);
/** $1 devices, $2 rejected readings of each. Keeps the newest readings of each, and its counts. By primary keys. */
const TRIM_AND_COUNT = statement(`
  WITH counted AS MATERIALIZED (
    SELECT given.id, given.rejected, own.total FROM unnest($1::text[], $2::bigint[]) AS given (id, rejected)
    CROSS JOIN LATERAL (SELECT count(*) AS total FROM pending_reading WHERE device = given.id) AS own
  ), trimmed AS (
    DELETE FROM pending_reading WHERE ctid = ANY (ARRAY(
      SELECT own.ctid FROM counted CROSS JOIN LATERAL (
        SELECT ctid FROM pending_reading WHERE device = counted.id ORDER BY created_at DESC OFFSET ${MAX_PENDING_PER_DEVICE}
      ) AS own WHERE counted.total > ${MAX_PENDING_PER_DEVICE}
    ))
  )
  UPDATE device SET pending = least(total, ${MAX_PENDING_PER_DEVICE}), dropped = dropped + more, checksum = checksum + more
  FROM (SELECT *, rejected + greatest(0, total - ${MAX_PENDING_PER_DEVICE}) AS more FROM counted) AS own
  WHERE ${equalsByIndex("device.id", "own.id")}`);
function pendingWrites(db: Db) {
  const lockDeviceRows = (ids: readonly string[]) =>
    db.rows(LOCK_DEVICE_ROWS, [ids, ids.map((id) => deviceChecksum(unknownDevice(id), 0))]);
  return {
    async addPending(readings: readonly PendingReading[]): Promise<void> {
      // Of readings of one device and instant, the last one counts.
      const last = [...new Map(readings.map((reading) => [`${reading.created_at} ${reading.device}`, reading])).values()];
      const devices = [...new Set(last.map(({ device }) => device))].sort();
      await lockDeviceRows(devices);
      await db.rows(ADD_PENDING, transposed(last.map(pendingValues)));
      await db.rows(TRIM_AND_COUNT, [devices, devices.map(() => 0)]);
    },

    async resolvePending(readings: readonly ResolvedReading[]): Promise<void> {
      const rejected = new Map(readings.map(({ device }) => [device, 0]));
      for (const { device, isRejected } of readings) if (isRejected) rejected.set(device, (rejected.get(device) ?? 0) + 1);
      const devices = [...rejected.keys()].sort();
      await lockDeviceRows(devices);
      await db.rows(REMOVE_PENDING, [readings.map(({ device }) => device), readings.map(({ created_at }) => created_at)]);
      await db.rows(TRIM_AND_COUNT, [devices, devices.map((device) => rejected.get(device) ?? 0)]);
    },
  };
}
