// Reads and writes for checks and repairs. Only what is wrong leaves the database, where that can be told in SQL.

import type pg from "pg";
import type { CheckTotals, Finding, Progress } from "../../domain/store.ts";
import { checkAll, type Repair } from "../check/check.ts";
import { type CheckResult, repairable, unrepairable } from "../check/inconsistency.ts";
import type { CustomerRow, RepairOperations, TankRow } from "../check/operations.ts";
import {
  ASSIGNMENT_COLUMNS,
  assignmentOf,
  CUSTOMER_COLUMNS,
  customerOf,
  isDeleted,
  KEY_COLUMNS,
  KEY_TABLES,
  keyOf,
  PENDING_COLUMNS,
  pendingOf,
  TANK_COLUMNS,
  tankOf,
} from "../columns.ts";
import { LIST_END, LISTS, type ListKind, seriesOf } from "../series/lists.ts";
import { EARLIEST, type Position, SEGMENT_MAX } from "../series/rank-index.ts";
import { type Db, type Row, type Statement, statement, transaction, translateError, type Value } from "./connection.ts";
import { entriesOf, listKey } from "./list-pages.ts";
import { rankIndexOperations } from "./rank-index.ts";
import { deviceKeyOf } from "./schema.ts";

/** Without `repair` nothing is changed. */
export async function* checkDatabase(
  pool: pg.Pool,
  repair: Repair | undefined,
  progress: Progress,
): AsyncGenerator<Finding, CheckTotals, void> {
  try {
    return yield* checkAll(
      (work) => transaction(pool, (db) => work(checkOperations(db)), { isolation: "REPEATABLE READ READ ONLY" }),
      repair,
      progress,
    );
  } catch (error) {
    throw translateError(error);
  }
}

export function checkOperations(db: Db): RepairOperations {
  return {
    // PostgreSQL checks its own pages: checksums, and the extension amcheck.
    databaseErrors: async () => [],
    rebuildDatabaseIndexes: async () => {},
    storedGroups: rankIndexOperations(db).storedGroups,
    ...referenceChecks(db),
    ...objectChecks(db),
    ...deviceChecks(db),
    ...listChecks(db),
  };
}

/** Each value of a column that is the first of a primary key, one index lookup each, that is not in the other table. */
const unknownValues = (table: string, column: string, other: string): string => `
  WITH RECURSIVE own (id) AS (
    SELECT min(${column}) FROM ${table}
    UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${column} > own.id) FROM own WHERE own.id IS NOT NULL
  )
  SELECT id FROM own WHERE id IS NOT NULL AND NOT EXISTS (SELECT FROM ${other} WHERE ${other}.id = own.id)`;

const DANGLING_BLOCKS = statement(`SELECT count(*), min(id) FROM (${unknownValues("block", "tank", "tank")}) AS found`);
const DANGLING_GROUPS = statement(`SELECT count(*), min(id) FROM (${unknownValues("reading_index", "tank", "tank")}) AS found`);
const REMOVE_GROUPS = statement(`DELETE FROM reading_index WHERE tank IN (${unknownValues("reading_index", "tank", "tank")})`);
const OBJECT_COUNT = statement("SELECT (SELECT count(*) FROM customer) + (SELECT count(*) FROM tank)");
const KEYS = statement(`SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES}`);
const AUDIT_NUMBERS = statement("SELECT count(*), coalesce(min(number), 1), coalesce(max(number), 0) FROM audit");
const BATCH = 2000;
/** The batches of these begin after the first columns of the last row. */
const AUDIT_CHANGES = statement(`SELECT number, changes FROM audit WHERE number > $1 ORDER BY number LIMIT ${BATCH}`);

function referenceChecks(db: Db) {
  return {
    async danglingRows(): Promise<CheckResult[]> {
      const [[blocks, firstBlock] = []] = await db.rows(DANGLING_BLOCKS);
      const [[groups, firstGroup] = []] = await db.rows(DANGLING_GROUPS);
      const message = (count: unknown, first: unknown): string => `rows of ${count} tanks belong to no tank (${first})`;
      const hint = "restore a backup, or export what can be read into a new database";
      return [
        { where: "table block", found: Number(blocks) === 0 ? [] : unrepairable(`${message(blocks, firstBlock)}: ${hint}`) },
        { where: "table reading_index", found: Number(groups) === 0 ? [] : repairable(message(groups, firstGroup)) },
      ];
    },
    async removeDanglingRows(): Promise<void> {
      await db.rows(REMOVE_GROUPS);
    },
    objectCount: async () => Number((await db.rows(OBJECT_COUNT))[0]?.[0]),
    allKeys: async () => (await db.rows(KEYS)).map(keyOf),
    async auditNumbers() {
      const [count = 0, first = 1, last = 0] = ((await db.rows(AUDIT_NUMBERS))[0] ?? []).map(Number);
      return { count, first, last };
    },
    auditChanges: () => inBatches(db, AUDIT_CHANGES, [0]) as AsyncIterable<Row> as AsyncIterable<readonly [number, string]>,
  };
}

async function* inBatches(db: Db, query: Statement, start: readonly Value[]): AsyncGenerator<Row> {
  for (let after = start; ; ) {
    const rows = await db.rows(query, after);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.slice(0, start.length) as Value[];
  }
}

const MAX_OBJECTS = 500;
const OWNED_TANKS = "(SELECT count(*) FROM tank WHERE NOT tank.deleted AND tank.owner_id = customer.id)"; // tank_by_owner
const CUSTOMER = `SELECT ${OWNED_TANKS}, ${CUSTOMER_COLUMNS} FROM customer`;
const CUSTOMERS_AFTER = statement(`${CUSTOMER} WHERE id > $1 ORDER BY id LIMIT ${MAX_OBJECTS}`);
const ONE_CUSTOMER = statement(`${CUSTOMER} WHERE id = $1`);
const RECOUNT_TANKS = statement(`UPDATE customer SET tank_count = ${OWNED_TANKS} WHERE id = $1`);

/** All by primary keys. */
const TANK = `
  SELECT head.total, head.in_blocks, head.start, head.data, head.threshold, head.at, head.fill, head.urgency, head.heard,
    device.id, device.tank, other.id IS NOT NULL, tank.shape, own.*
  FROM (SELECT ${TANK_COLUMNS} FROM tank) AS own
  JOIN tank ON tank.id = own.id
  LEFT JOIN head ON head.tank = own.id
  LEFT JOIN device ON device.id = ${deviceKeyOf("own.assigned_device_id")}
  LEFT JOIN tank AS other ON other.id = device.tank AND NOT other.deleted
    AND ${deviceKeyOf("other.assigned_device_id")} = device.id`;
const TANKS_AFTER = statement(`${TANK} WHERE own.id > $1 ORDER BY own.id LIMIT ${MAX_OBJECTS}`);
const ONE_TANK = statement(`${TANK} WHERE own.id = $1`);
const BLOCKS = statement("SELECT tank, start, data FROM block WHERE tank = ANY ($1::text[]) ORDER BY tank, start");
const ENSURE_HEAD = statement("INSERT INTO head (tank) VALUES ($1) ON CONFLICT DO NOTHING");
const REMOVE_BLOCKS = statement("DELETE FROM block WHERE tank = $1");

function customerRow([ownedTanks, ...columns]: Row): CustomerRow {
  return { customer: customerOf(columns), deletedFlag: isDeleted(columns), ownedTanks: Number(ownedTanks) };
}

function tankRow(row: Row): TankRow {
  const [total, inBlocks, start, data, threshold, at, fill, urgency, heard, device, deviceTank, isElsewhere, shape, ...columns] =
    row;
  const isInFleet = [threshold, urgency, heard].some((value) => value !== null);
  return {
    tank: tankOf(columns),
    deletedFlag: isDeleted(columns),
    shape: shape as string | null,
    ...(start === null
      ? { head: undefined }
      : {
          head: { total: Number(total), inBlocks: Number(inBlocks), start: Number(start), data: data as Uint8Array },
          latest: { at: Number(at), fill: fill as number | null },
        }),
    fleet: isInFleet ? ({ threshold, at, fill, urgency, heard } as TankRow["fleet"]) : undefined,
    deviceTank: device === null ? undefined : (deviceTank as string | null),
    isDeviceElsewhere: isElsewhere === true,
  };
}

function objectChecks(db: Db) {
  const run = async (query: Statement, id: string): Promise<void> => void (await db.rows(query, [id]));
  return {
    customersAfter: async (id: string) => (await db.rows(CUSTOMERS_AFTER, [id])).map(customerRow),
    customer: async (id: string) => (await db.rows(ONE_CUSTOMER, [id])).map(customerRow)[0],
    recountTanks: (id: string) => run(RECOUNT_TANKS, id),
    tanksAfter: async (id: string) => (await db.rows(TANKS_AFTER, [id])).map(tankRow),
    tank: async (id: string) => (await db.rows(ONE_TANK, [id])).map(tankRow)[0],
    async blocksOf(ids: readonly string[]) {
      const blocks = (await db.rows(BLOCKS, [ids])).map(([tankId, start, data]) => ({
        tankId: String(tankId),
        start: Number(start),
        data: data as Uint8Array,
      }));
      return Map.groupBy(blocks, ({ tankId }) => tankId);
    },
    ensureHead: (id: string) => run(ENSURE_HEAD, id),
    removeBlocks: (id: string) => run(REMOVE_BLOCKS, id),
  };
}

/** Without tank_by_device: ids that differ only in case are one device. The older tank comes first. */
const SHARED_DEVICES = statement(`
  SELECT key, first, id FROM (
    SELECT key, id, first_value(id) OVER same AS first, row_number() OVER same AS number
    FROM (SELECT ${deviceKeyOf("assigned_device_id")} AS key, created_at, id FROM tank WHERE NOT deleted) AS live
    WINDOW same AS (PARTITION BY key ORDER BY created_at, id)
  ) AS named WHERE number > 1`);
const MISASSIGNED_DEVICES = statement(`
  SELECT device.id, device.tank, own.assigned_device_id FROM device LEFT JOIN LATERAL (
    SELECT assigned_device_id FROM tank WHERE tank.id = device.tank AND NOT tank.deleted OFFSET 0
  ) AS own ON true
  WHERE device.tank IS NOT NULL AND ${deviceKeyOf("own.assigned_device_id")} IS DISTINCT FROM device.id ORDER BY device.id`);
const COUNTED_PENDING = "(SELECT count(*) FROM pending_reading WHERE pending_reading.device = device.id)";
const WRONG_PENDING_COUNTS = statement(`
  SELECT id, pending, counted.number FROM device CROSS JOIN LATERAL (SELECT ${COUNTED_PENDING} AS number OFFSET 0) AS counted
  WHERE pending <> counted.number ORDER BY id`);
const UNKNOWN_PENDING_DEVICES = statement(unknownValues("pending_reading", "device", "device"));
const ASSIGNMENTS_OF_UNKNOWN_TANKS = statement(`
  SELECT ${ASSIGNMENT_COLUMNS} FROM device_assignment AS past
  WHERE NOT EXISTS (SELECT FROM tank WHERE tank.id = past.tank) ORDER BY device, until`);
const PROFILES = statement(`
  SELECT id, profile FROM device WHERE id > $1 AND profile IS NOT NULL ORDER BY id LIMIT ${BATCH}`);
const PENDING = statement(`
  SELECT ${PENDING_COLUMNS} FROM pending_reading WHERE (device, created_at) > ($1, $2)
  ORDER BY device, created_at LIMIT ${BATCH}`);
const ASSIGN_DEVICE = statement(`
  INSERT INTO device (id, tank) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET tank = excluded.tank
  WHERE NOT EXISTS (
    SELECT FROM tank WHERE tank.id = device.tank AND NOT tank.deleted AND ${deviceKeyOf("tank.assigned_device_id")} = device.id
  )`);
const UNASSIGN_DEVICES = statement("UPDATE device SET tank = NULL WHERE id = ANY ($1::text[])");
const ADD_DEVICES = statement("INSERT INTO device (id) SELECT unnest($1::text[])");
const RECOUNT_PENDING = statement(`UPDATE device SET pending = ${COUNTED_PENDING} WHERE id = ANY ($1::text[])`);

function deviceChecks(db: Db) {
  const run = async (query: Statement, ids: readonly string[]): Promise<void> => void (await db.rows(query, [ids]));
  return {
    sharedDevices: async () =>
      (await db.rows(SHARED_DEVICES)).map(([device, first, other]) => ({
        device: String(device),
        tanks: [String(first), String(other)] as const,
      })),
    misassignedDevices: async () =>
      (await db.rows(MISASSIGNED_DEVICES)).map(([id, tank, device]) => ({
        id: String(id),
        tank: String(tank),
        tankDevice: device as string | null,
      })),
    wrongPendingCounts: async () =>
      (await db.rows(WRONG_PENDING_COUNTS)).map(([id, stored, counted]) => ({
        id: String(id),
        stored: Number(stored),
        counted: Number(counted),
      })),
    unknownPendingDevices: async () => (await db.rows(UNKNOWN_PENDING_DEVICES)).map(([id]) => String(id)),
    assignmentsOfUnknownTanks: async () => (await db.rows(ASSIGNMENTS_OF_UNKNOWN_TANKS)).map(assignmentOf),
    profiles: () => inBatches(db, PROFILES, [""]) as AsyncIterable<Row> as AsyncIterable<readonly [string, string]>,
    async *allPending() {
      for await (const row of inBatches(db, PENDING, ["", EARLIEST])) yield pendingOf(row);
    },
    async assignDevice(deviceKey: string, tankId: string): Promise<void> {
      await db.rows(ASSIGN_DEVICE, [deviceKey, tankId]);
    },
    unassignDevices: (ids: readonly string[]) => run(UNASSIGN_DEVICES, ids),
    addDevices: (ids: readonly string[]) => run(ADD_DEVICES, ids),
    recountPending: (ids: readonly string[]) => run(RECOUNT_PENDING, ids),
  };
}

const STORED_SERIES = statement("SELECT DISTINCT series FROM list_index");
type ListStatements = { readonly long: Statement | undefined; readonly counts: Statement };
const LIST_STATEMENTS = new Map<ListKind, ListStatements>(
  Object.values(LISTS).map((kind: ListKind) => {
    const { table, column } = kind;
    const long = `SELECT ${column} FROM ${table} WHERE NOT deleted GROUP BY ${column} HAVING count(*) > ${SEGMENT_MAX}`;
    const counts = statement(`
      SELECT (SELECT count(*) ${entriesOf(kind, "$5")} AND (created_at, id) >= (segment.created_at, segment.id)
        AND (created_at, id) < (segment.end_created_at, segment.end_id))
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[])
        WITH ORDINALITY AS segment (created_at, id, end_created_at, end_id, number) ORDER BY number`);
    return [kind, { long: column === null ? undefined : statement(long), counts }];
  }),
);

function listChecks(db: Db) {
  return {
    async indexedLists(): Promise<string[]> {
      const series = new Set<string>();
      for (const [kind, { long }] of LIST_STATEMENTS) {
        const keys = long === undefined ? [null] : (await db.rows(long)).map(([key]) => String(key));
        for (const key of keys) series.add(seriesOf(kind, key));
      }
      for (const [stored] of await db.rows(STORED_SERIES)) series.add(String(stored));
      return [...series];
    },

    async segmentCounts(kind: ListKind, key: string | null, starts: readonly Position[]): Promise<number[]> {
      const ends = [...starts.slice(1), LIST_END];
      const part = (of: readonly Position[], i: number) => of.map((at) => at[i] ?? EARLIEST);
      const values = [part(starts, 0), part(starts, 1), part(ends, 0), part(ends, 1), ...listKey(kind, key)];
      const rows = await db.rows((LIST_STATEMENTS.get(kind) as ListStatements).counts, values);
      return rows.map(([count]) => Number(count));
    },
  };
}
