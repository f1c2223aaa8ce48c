// Everything in the database, in the order an import needs. Nothing is sorted: all in the order of an index.

import { DamageError } from "../../domain/errors.ts";
import type { Stored } from "../../domain/lookups.ts";
import type { ExportRecord } from "../../domain/store.ts";
import {
  deviceWithHistory,
  type Row,
  removedDevice,
  STORED_CUSTOMER_COLUMNS,
  STORED_DEVICE_COLUMNS,
  STORED_PENDING_COLUMNS,
  STORED_TANK_COLUMNS,
  storedCustomer,
  storedPending,
  storedTank,
} from "../columns.ts";
import { readingsOf } from "../series/block.ts";
import { type BlockRow, type HeadRow, openBlock, openHead } from "../series/checksum.ts";
import { type Dialect, prefixed } from "./dialect.ts";

/** Columns and expressions that differ between the engines. */
type ExportSql = {
  /** The primary key of customers and tanks. */
  readonly key: string;
  /** The id of a tank, by the column `tank` of its readings. */
  readonly tankId: string;
  /** Until, tank and checksum of past assignments, as a JSON array. */
  readonly assignments: string;
  readonly dialect: Dialect;
};

/** `rows` streams the rows of a query from one snapshot. What is damaged is left out, and reported in its place. */
export async function* exportRecords(
  rows: (sql: string) => AsyncIterable<Row> | Iterable<Row>,
  { key, tankId, assignments, dialect }: ExportSql,
): AsyncGenerator<ExportRecord> {
  for await (const row of rows(`SELECT ${STORED_CUSTOMER_COLUMNS} FROM customer ORDER BY ${key}`)) {
    yield intact(storedCustomer(row), (customer) => ({ kind: "customer", ...customer }));
  }
  for await (const row of rows(`SELECT ${STORED_TANK_COLUMNS} FROM tank ORDER BY ${key}`)) {
    yield intact(storedTank(row), (tank) => ({ kind: "tank", ...tank }));
  }
  const past = `(SELECT ${assignments} FROM device_assignment AS past WHERE past.device = device.id)`;
  const devices = `SELECT ${prefixed("device", STORED_DEVICE_COLUMNS)}, tank.assigned_device_id, ${past}
    FROM device LEFT JOIN tank ON tank.id = device.tank AND ${dialect.isLive("tank")} ORDER BY device.id`;
  for await (const row of rows(devices)) yield intact(deviceWithHistory(row), (device) => ({ kind: "device", ...device }));
  const removed = `SELECT device, ${assignments} FROM device_assignment
    WHERE NOT EXISTS (SELECT 1 FROM device WHERE device.id = device_assignment.device) GROUP BY device ORDER BY device`;
  for await (const row of rows(removed)) yield intact(removedDevice(row), (device) => ({ kind: "device", ...device }));
  const readings = `SELECT ${tankId}, part.total, part.start, part.data, part.checksum FROM (
      SELECT tank, NULL AS total, start, data, checksum FROM block
      UNION ALL SELECT tank, total, start, data, checksum FROM head ORDER BY tank, start
    ) AS part`;
  for await (const row of rows(readings)) yield* readingsRecords(row);
  const pendingReadings = `SELECT ${STORED_PENDING_COLUMNS} FROM pending_reading ORDER BY device, created_at`;
  for await (const row of rows(pendingReadings)) yield intact(storedPending(row), (reading) => ({ kind: "pending", reading }));
}

function intact<T>(found: Stored<T>, record: (found: T) => ExportRecord): ExportRecord {
  const { damage, ...rest } = found;
  return damage === undefined ? record(rest as T) : { kind: "damaged", what: damage };
}

/** One of a block or of a head, which has a total; none of an empty head. */
function readingsRecords(row: Row): ExportRecord[] {
  const [id, total, start, data, checksum] = row;
  const tankId = String(id);
  try {
    const stored = { total, start, data, checksum };
    const block = total === null ? openBlock(tankId, stored as BlockRow) : openHead(tankId, stored as HeadRow).block;
    return block.length === 0 ? [] : [{ kind: "readings", tankId, readings: readingsOf(block).reverse() }];
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    return [{ kind: "damaged", what: error.message }];
  }
}
