// Everything in the database, in the order an import needs. Nothing is sorted: all in the order of an index. What is damaged is left
// out, and reported in its place.

import { DamageError } from "../../domain/errors.ts";
import { displayInstant } from "../../domain/instant.ts";
import type { MaybeDamaged } from "../../domain/lookups.ts";
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
import { readingsOf } from "../packed/block.ts";
import { type BlockRow, displayBlock, type HeadRow, openBlock, openHead } from "../packed/checksum.ts";
import { type Dialect, prefixed, type SqlParameters } from "./dialect.ts";
import { compare, damaged, type KeyIndex, requireDamage, type Snapshot, scan } from "./scan.ts";

/** Columns and expressions that differ between the engines. */
export type ExportSql = {
  /** The primary keys of customers and tanks, and of blocks. */
  readonly key: string;
  readonly blockKey: readonly string[];
  /** The id of a tank, by the column `tank` of its readings. */
  readonly tankId: string;
  /** Until, tank and checksum of past assignments, as a JSON array. */
  readonly assignments: string;
  readonly dialect: Dialect;
};

export async function* exportRecords(snapshot: Snapshot, sql: ExportSql): AsyncGenerator<ExportRecord> {
  const { assignments, dialect } = sql;
  yield* scan(snapshot, {
    columns: STORED_CUSTOMER_COLUMNS,
    table: "customer",
    key: [sql.key],
    index: idIndex(sql, "customer"),
    recordsOf: (row) => recordOrDamage(storedCustomer(row), (customer) => ({ kind: "customer", ...customer })),
  });
  yield* scan(snapshot, {
    columns: STORED_TANK_COLUMNS,
    table: "tank",
    key: [sql.key],
    index: idIndex(sql, "tank"),
    recordsOf: (row) => recordOrDamage(storedTank(row), (tank) => ({ kind: "tank", ...tank })),
  });
  const past = `(SELECT ${assignments} FROM device_assignment AS past WHERE past.device = device.id)`;
  yield* scan(snapshot, {
    table: "device",
    columns: `${prefixed("device", STORED_DEVICE_COLUMNS)}, tank.assigned_device_id, ${past}`,
    joins: `LEFT JOIN tank ON tank.id = device.tank AND ${dialect.isLive("tank")}`,
    key: ["device.id"],
    index: primaryKey("device", ["device.id"], "devices", (id) => `device ${id}`),
    recordsOf: (row) => recordOrDamage(deviceWithHistory(row), (device) => ({ kind: "device", ...device })),
  });
  yield* scan(snapshot, {
    columns: `device, ${assignments}`,
    table: "device_assignment",
    where: () => "NOT EXISTS (SELECT 1 FROM device WHERE device.id = device_assignment.device)",
    groupBy: "GROUP BY device",
    key: ["device"],
    index: primaryKey("device_assignment", ["device"], "past assignments of devices", (id) => `device ${id}`),
    recordsOf: (row) => recordOrDamage(removedDevice(row), (device) => ({ kind: "device", ...device })),
  });
  yield* allReadings(snapshot, sql);
  const pendingKey = ["device", "created_at"];
  yield* scan(snapshot, {
    columns: STORED_PENDING_COLUMNS,
    table: "pending_reading",
    key: pendingKey,
    index: primaryKey(
      "pending_reading",
      pendingKey,
      "pending readings",
      (id, at) => `device ${id}: its pending reading of ${displayInstant(Number(at))}`,
    ),
    recordsOf: (row) => recordOrDamage(storedPending(row), (reading) => ({ kind: "pending", reading })),
  });
}

/** Of customers or tanks. On SQLite it is not the primary key. */
const idIndex = ({ key, dialect }: ExportSql, table: "customer" | "tank"): KeyIndex => ({
  table,
  hint: dialect.indexedBy(`sqlite_autoindex_${table}_1`),
  key: [key],
  names: ["id"],
  what: `${table}s`,
  describe: (id) => `${table} ${id}`,
});

function primaryKey(table: string, key: readonly string[], what: string, describe: KeyIndex["describe"]): KeyIndex {
  return { table, hint: "", key, names: key, what, describe };
}

function recordOrDamage<T>(found: MaybeDamaged<T>, record: (found: T) => ExportRecord): ExportRecord[] {
  const { damage, ...rest } = found;
  return [damage === undefined ? record(rest as T) : damaged(damage)];
}

/** By tank, from the oldest; behind a page that cannot be read, all other blocks, then all other heads. */
async function* allReadings(snapshot: Snapshot, sql: ExportSql): AsyncGenerator<ExportRecord> {
  const rows = `SELECT part.tank, ${sql.tankId}, part.total, part.start, part.data, part.checksum FROM (
      SELECT tank, NULL AS total, start, data, checksum FROM block
      UNION ALL SELECT tank, total, start, data, checksum FROM head ORDER BY tank, start
    ) AS part`;
  let last: Row | undefined;
  try {
    for await (const row of snapshot.rows(rows, [])) {
      last = row;
      yield* readingsIn(row);
    }
    return;
  } catch (error) {
    requireDamage(snapshot, error);
  }
  const ids = await tankIds(snapshot, sql);
  const idOf = (tank: unknown): unknown => ids.get(tank) ?? tank;
  const withId = ([tank, ...packed]: Row) => readingsIn([tank, idOf(tank), ...packed]);
  const [tank, , total, start] = last ?? [];
  const remaining = (columns: readonly string[], operator: string, ...values: Row) =>
    last && ((parameters: SqlParameters) => compare(parameters, columns, operator, values));
  yield* scan(snapshot, {
    columns: "tank, NULL, start, data, checksum",
    table: "block",
    where: remaining(["tank", "start"], ">", tank, start),
    key: sql.blockKey,
    index: {
      table: "block",
      hint: sql.dialect.indexedBy("block_by_start"),
      key: sql.blockKey,
      names: ["tank", "start"],
      what: "blocks of readings",
      describe: (of, at) => `tank ${idOf(of)}: ${displayBlock(Number(at))}`,
    },
    recordsOf: withId,
  });
  yield* scan(snapshot, {
    columns: "tank, total, start, data, checksum",
    table: "head",
    // The head of a tank follows its blocks.
    where: remaining(["tank"], total === null ? ">=" : ">", tank),
    key: ["tank"],
    index: { ...idIndex(sql, "tank"), what: "the newest readings of tanks", describe: (id) => `tank ${id}: its head` },
    recordsOf: withId,
  });
}

/** By the column `tank` of their readings: from the rows and from the index, since either may be damaged. */
async function tankIds(snapshot: Snapshot, { key, dialect }: ExportSql): Promise<ReadonlyMap<unknown, unknown>> {
  const ids = new Map<unknown, unknown>();
  const index = dialect.indexedBy("sqlite_autoindex_tank_1");
  for (const rows of [`ORDER BY ${key}`, `ORDER BY ${key} DESC`, `${index} ORDER BY id`, `${index} ORDER BY id DESC`]) {
    try {
      for await (const [tank, id] of snapshot.rows(`SELECT ${key}, id FROM tank ${rows}`, [])) ids.set(tank, id);
    } catch (error) {
      requireDamage(snapshot, error);
    }
  }
  return ids;
}

/** The readings of a block, or of a head, which has a total. An empty head has none. */
function readingsIn([, id, total, start, data, checksum]: Row): ExportRecord[] {
  const tankId = String(id);
  try {
    const stored = { total, start, data, checksum };
    const block = total === null ? openBlock(tankId, stored as BlockRow) : openHead(tankId, stored as HeadRow).block;
    return block.length === 0 ? [] : [{ kind: "readings", tankId, readings: readingsOf(block).reverse() }];
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    return [damaged(error.message)];
  }
}
