// Reads and writes of checks and repairs, in SQL that both engines run.

import type { TankAlertSettings } from "../../domain/alerts/tank-alert-settings.ts";
import type { CustomerWithCount, NotificationSettings } from "../../domain/customer.ts";
import { type DeviceAssignment, unknownDevice } from "../../domain/device.ts";
import { EARLIEST, type Instant } from "../../domain/instant.ts";
import type { StoredKey } from "../../domain/key.ts";
import type { MaybeDamaged } from "../../domain/lookups.ts";
import type { PendingReading } from "../../domain/placement.ts";
import type { Tank } from "../../domain/tank.ts";
import {
  deviceChecksum,
  KEY_COLUMNS,
  KEY_TABLES,
  keyOf,
  type Row,
  STORED_ASSIGNMENT_COLUMNS,
  STORED_CUSTOMER_COLUMNS,
  STORED_DEVICE_COLUMNS,
  STORED_PENDING_COLUMNS,
  STORED_TANK_COLUMNS,
  storedAssignment,
  storedCustomer,
  storedDevice,
  storedPending,
  storedTank,
} from "../columns.ts";
import { type Dialect, entriesOf, isListed, listKey, prefixed } from "../core/dialect.ts";
import { FORECAST_COLUMNS, type ForecastRow, forecastRowOf } from "../core/forecast-tables.ts";
import type { RunForIds, RunQuery } from "../core/sql-runner.ts";
import type { RankTable } from "../core/transaction.ts";
import type { FleetRow } from "../fleet-row.ts";
import { type BlockRow, EMPTY_HEAD, type HeadRow, headChecksum } from "../packed/checksum.ts";
import { LIST_END, LISTS, type ListKind, listName } from "../packed/lists.ts";
import { type Position, SEGMENT_MAX } from "../packed/rank-index.ts";
import { accountOperations } from "./accounts.ts";
import { alertOperations } from "./alert-rows.ts";
import type { Inconsistency } from "./inconsistency.ts";
import type { IndexOperations } from "./indexes.ts";
import { notificationOperations } from "./notifications.ts";
import type { StoredGroup } from "./rank-index.ts";
import { serviceStateOperations } from "./service-state.ts";

type PositionValue = string | number;

/** A table whose column `tank`, or another one, refers to a tank; a derived one can be repaired. */
type TableOfTanks = { readonly table: string; readonly column?: string; readonly key: string; readonly isDerived: boolean };

const FORECAST_TABLES: readonly TableOfTanks[] = [
  { table: "forecast", column: "id", key: "tank.id", isDerived: true },
  { table: "refill", column: "tank_id", key: "tank.id", isDerived: true },
];

/** What differs between the engines. */
interface CheckEngine extends IndexOperations {
  readonly dialect: Dialect;
  readonly rows: RunQuery;
  readonly runForIds: RunForIds;
  /** The column of `tank` that rows of readings refer to. */
  readonly tankKey: string;
  /** Total, in_blocks, start, data and checksum of a tank's head; the latest reading beside it; threshold to evaluate_at of the fleet. */
  readonly headColumns: string;
  readonly headJoins: string;
  /** Tank id, start, data and checksum of the blocks of the tanks from $1 to $2, in this order. */
  readonly blocks: string;
  /** The tables of readings and of the fleet. */
  readonly tablesOfTanks: readonly TableOfTanks[];
  /** The groups of each index that has some, by level and key. */
  storedGroups(table: RankTable, indexes: readonly string[]): Promise<ReadonlyMap<string, readonly StoredGroup[]>>;
  /** Damage of the database itself. */
  databaseErrors(): Promise<Inconsistency[]>;
  rebuildDatabaseIndexes(): Promise<void>;
}

/** `deletedFlag` is the stored value, which should be a boolean, or 0 or 1. `isDamaged`: the checksum is wrong. */
export type CustomerRow = {
  readonly customer: CustomerWithCount;
  readonly notifications: NotificationSettings;
  readonly isDamaged: boolean;
  readonly deletedFlag: unknown;
  readonly ownedTanks: number;
};

export type TankRow = {
  readonly tank: Tank;
  readonly isDamaged: boolean;
  readonly deletedFlag: unknown;
  readonly hasOwner: boolean;
  /** JSON. */
  readonly shape: string | null;
  readonly alerts: TankAlertSettings;
  /** `inBlocks`: where the engine stores how many readings are in blocks. */
  readonly head: (HeadRow & { readonly inBlocks: number | null }) | undefined;
  readonly fleet:
    | (FleetRow & { readonly threshold: number; readonly activeConditions: number; readonly evaluateAt: Instant | null })
    | undefined;
  /** The latest reading as stored beside the head, where the engine does so for deleted tanks, too. */
  readonly latest: Pick<FleetRow, "at" | "fill"> | undefined;
  /** Its sort keys in the fleet orders, and its forecast. */
  readonly forecast: (ForecastRow & { readonly isReadable: boolean }) | undefined;
  /** The tank that the tank's device says it is assigned to; undefined if the device is unknown. */
  readonly deviceTank: string | null | undefined;
  /** That tank is live and names the device as well. */
  readonly isDeviceElsewhere: boolean;
};

/** `tankDevice` is null unless its tank is live. */
export type DeviceRow = {
  readonly id: string;
  readonly tank: string | null;
  readonly tankDevice: string | null;
  readonly pending: number;
  readonly counted: number;
  /** JSON. */
  readonly profile: string | null;
  readonly isDamaged: boolean;
  readonly since: Instant;
};

const MAX_OBJECTS = 500;
const BATCH = 2000;
function customerRow([ownedTanks, ...columns]: Row): CustomerRow {
  const { customer, notifications, damage } = storedCustomer(columns);
  const isDamaged = damage !== undefined;
  return { customer, notifications, isDamaged, deletedFlag: columns.at(-2), ownedTanks: Number(ownedTanks) };
}

function tankRow(row: Row): TankRow {
  const [
    total,
    inBlocks,
    start,
    data,
    checksum,
    latestAt,
    latestFill,
    threshold,
    at,
    fill,
    activeConditions,
    evaluateAt,
    ...forecastAndOthers
  ] = row;
  const [forecastColumns, others] = [forecastAndOthers.slice(0, FORECAST_FIELDS), forecastAndOthers.slice(FORECAST_FIELDS)];
  const [device, deviceTank, isElsewhere, hasOwner, ...columns] = others;
  const { tank, alerts, damage } = storedTank(columns);
  return {
    tank,
    isDamaged: damage !== undefined,
    deletedFlag: columns.at(-2),
    hasOwner: Number(hasOwner) === 1,
    shape: columns.at(-8) as string | null,
    alerts,
    head: start === null ? undefined : ({ total, inBlocks, start, data, checksum } as TankRow["head"]),
    latest: latestAt === null ? undefined : ({ at: latestAt, fill: latestFill } as TankRow["latest"]),
    fleet: threshold === null ? undefined : ({ threshold, at, fill, activeConditions, evaluateAt } as TankRow["fleet"]),
    forecast: storedForecastRow(forecastColumns),
    deviceTank: device === null ? undefined : (deviceTank as string | null),
    isDeviceElsewhere: Number(isElsewhere) === 1,
  };
}

const FORECAST_FIELDS = FORECAST_COLUMNS.split(", ").length;

function storedForecastRow(columns: Row): TankRow["forecast"] {
  const row = forecastRowOf(columns);
  return row && { ...row, isReadable: columns.at(-1) === null || row.forecast !== null };
}

export type CheckOperations = ReturnType<typeof checkOperationsOn>;

export function checkOperationsOn(engine: CheckEngine) {
  const { storedGroups, databaseErrors, rebuildDatabaseIndexes, missingIndexes, createIndex } = engine;
  return {
    storedGroups,
    databaseErrors,
    rebuildDatabaseIndexes,
    missingIndexes,
    createIndex,
    ...referenceChecks(engine),
    ...objectChecks(engine),
    ...deviceChecks(engine),
    ...otherChecks(engine),
    ...alertOperations(engine),
    ...accountOperations(engine),
    ...notificationOperations(engine),
    ...serviceStateOperations(engine),
  };
}

function referenceChecks({ rows, tablesOfTanks }: CheckEngine) {
  const tables = [...tablesOfTanks, ...FORECAST_TABLES];
  /** Each value of the column, which is the first of an index, one lookup each. */
  const unknownTanks = ({ table, column = "tank", key }: TableOfTanks): string => `
    WITH RECURSIVE own (id) AS (
      SELECT min(${column}) FROM ${table}
      UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${column} > own.id) FROM own WHERE own.id IS NOT NULL
    )
    SELECT id FROM own WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM tank WHERE ${key} = own.id)`;
  return {
    /** Tables with rows of tanks that do not exist. */
    async danglingRows() {
      const found: { readonly table: string; readonly isDerived: boolean; readonly tanks: number; readonly first: unknown }[] =
        [];
      for (const table of tables) {
        const [[tanks, first] = []] = await rows(`SELECT count(*), min(id) FROM (${unknownTanks(table)}) AS found`);
        if (Number(tanks) > 0) found.push({ table: table.table, isDerived: table.isDerived, tanks: Number(tanks), first });
      }
      return found;
    },
    async removeDanglingRows(): Promise<void> {
      for (const one of tables.filter(({ isDerived }) => isDerived)) {
        await rows(`DELETE FROM ${one.table} WHERE ${one.column ?? "tank"} IN (${unknownTanks(one)})`);
      }
    },
  };
}

function objectChecks(engine: CheckEngine) {
  const { rows, tankKey, headColumns, headJoins, blocks } = engine;
  const { isLive, deviceKeyOf } = engine.dialect;
  const ownedTanks = `(SELECT count(*) FROM tank WHERE ${isLive("tank")} AND tank.owner_id = customer.id)`; // tank_by_owner
  const customers = `SELECT ${ownedTanks}, ${STORED_CUSTOMER_COLUMNS} FROM customer`;
  // All by primary keys. Joined: PostgreSQL might run EXISTS here by reading a whole table.
  const tanks = `
    SELECT ${headColumns}, ${FORECAST_COLUMNS}, device.id, device.tank, assigned.id IS NOT NULL, customer.id IS NOT NULL,
      ${prefixed("tank", STORED_TANK_COLUMNS)}
    FROM tank ${headJoins} LEFT JOIN forecast ON forecast.id = tank.id
    LEFT JOIN device ON device.id = ${deviceKeyOf("tank.assigned_device_id")}
    LEFT JOIN tank AS assigned ON ${isAssignedTank(engine.dialect)}
    LEFT JOIN customer ON customer.id = tank.owner_id`;
  const after = (table: string): string => `WHERE ${table}.id > $1 ORDER BY ${table}.id LIMIT ${MAX_OBJECTS}`;
  return {
    async objectCount(): Promise<number> {
      return Number((await rows("SELECT (SELECT count(*) FROM customer) + (SELECT count(*) FROM tank)"))[0]?.[0]);
    },
    /** The next few by id; none at the end. */
    customersAfter: async (id: string) => (await rows(`${customers} ${after("customer")}`, id)).map(customerRow),
    /** One, or none. */
    customer: async (id: string) => (await rows(`${customers} WHERE customer.id = $1`, id)).map(customerRow),
    tanksAfter: async (id: string) => (await rows(`${tanks} ${after("tank")}`, id)).map(tankRow),
    tank: async (id: string) => (await rows(`${tanks} WHERE tank.id = $1`, id)).map(tankRow),
    /** The blocks of each tank that has some, by start. */
    async blocksOf(first: string, last: string): Promise<Map<string, BlockRow[]>> {
      const found = (await rows(blocks, first, last)) as readonly (readonly [string, number, Uint8Array, number])[];
      const byTank = Map.groupBy(found, ([tankId]) => tankId);
      const blockOf = ([, start, data, checksum]: (typeof found)[number]): BlockRow => ({ start, data, checksum });
      return new Map(Array.from(byTank, ([tankId, own]) => [tankId, own.map(blockOf)]));
    },
    async recountTanks(customerId: string): Promise<void> {
      await rows(`UPDATE customer SET tank_count = ${ownedTanks} WHERE id = $1`, customerId);
    },
    async ensureHead(tankId: string): Promise<void> {
      const add = `INSERT INTO head (tank, checksum) SELECT ${tankKey}, $2 FROM tank WHERE tank.id = $1 ON CONFLICT DO NOTHING`;
      await rows(add, tankId, headChecksum(tankId, EMPTY_HEAD));
    },
    async removeBlocks(tankId: string): Promise<void> {
      await rows(`DELETE FROM block WHERE tank = (SELECT ${tankKey} FROM tank WHERE tank.id = $1)`, tankId);
    },
  };
}

/** The tank that the device says it is assigned to is live and names the device. */
const isAssignedTank = ({ isLive, deviceKeyOf }: Dialect): string =>
  `assigned.id = device.tank AND ${isLive("assigned")} AND ${deviceKeyOf("assigned.assigned_device_id")} = device.id`;

function deviceChecks(engine: CheckEngine) {
  const { rows } = engine;
  const { isLive, deviceKeyOf } = engine.dialect;
  const counted = "(SELECT count(*) FROM pending_reading WHERE pending_reading.device = device.id)";
  const isAssigned = `EXISTS (SELECT 1 FROM tank AS assigned WHERE ${isAssignedTank(engine.dialect)})`;
  return {
    /** Live tanks that name a device which an older live tank names, too. */
    async sharedDevices() {
      // Compared with true, so that SQLite uses no index: one that is damaged may be why there are two.
      const found = await rows(`
        SELECT device_key, oldest, id FROM (
          SELECT device_key, id, first_value(id) OVER same AS oldest, row_number() OVER same AS place
          FROM (
            SELECT ${deviceKeyOf("assigned_device_id")} AS device_key, created_at, id FROM tank WHERE (${isLive("tank")}) = true
          ) AS live
          WINDOW same AS (PARTITION BY device_key ORDER BY created_at, id)
        ) AS named WHERE place > 1`);
      return found.map(([device, oldest, other]) => ({ device: String(device), tanks: `${oldest} and ${other}` }));
    },
    async *devices(): AsyncGenerator<DeviceRow> {
      const all = `
        SELECT ${prefixed("device", STORED_DEVICE_COLUMNS)}, tank.assigned_device_id, ${counted}
        FROM device LEFT JOIN tank ON tank.id = device.tank AND ${isLive("tank")}
        WHERE device.id > $1 ORDER BY device.id`;
      for await (const row of inBatches(engine, all, "")) {
        const [id, tank, since, profile, pending] = row;
        const isDamaged = storedDevice(row.slice(0, -2)).damage !== undefined;
        const count = Number(row.at(-1));
        yield { id, tank, tankDevice: row.at(-2), pending, counted: count, profile, isDamaged, since } as DeviceRow;
      }
    },
    /** Returns pending readings, and whether their device is known. */
    async *pendingReadings(): AsyncGenerator<{ readonly reading: MaybeDamaged<PendingReading>; readonly isKnown: boolean }> {
      const all = `
        SELECT ${prefixed("pending_reading", STORED_PENDING_COLUMNS)}, device.id
        FROM pending_reading LEFT JOIN device ON device.id = pending_reading.device
        WHERE (pending_reading.device, created_at) > ($1, $2) ORDER BY pending_reading.device, created_at`;
      for await (const row of inBatches(engine, all, "", EARLIEST))
        yield { reading: storedPending(row), isKnown: row.at(-1) !== null };
    },
    /** Returns assignments, and whether their tank exists. */
    async *assignments(): AsyncGenerator<{ readonly assignment: MaybeDamaged<DeviceAssignment>; readonly hasTank: boolean }> {
      const all = `
        SELECT ${prefixed("device_assignment", STORED_ASSIGNMENT_COLUMNS)}, tank.id
        FROM device_assignment LEFT JOIN tank ON tank.id = device_assignment.tank
        WHERE (device, until) > ($1, $2) ORDER BY device, until`;
      for await (const row of inBatches(engine, all, "", EARLIEST))
        yield { assignment: storedAssignment(row), hasTank: row.at(-1) !== null };
    },
    /** Unless another live tank names the device, too. */
    async assignDevice(deviceKey: string, tankId: string): Promise<void> {
      const assign = `
        INSERT INTO device (id, tank, checksum) VALUES ($1, $2, $3)
        ON CONFLICT (id) DO UPDATE SET tank = excluded.tank WHERE NOT ${isAssigned}`;
      await rows(assign, deviceKey, tankId, deviceChecksum(unknownDevice(deviceKey), 0));
    },
    async releaseDevice(id: string): Promise<void> {
      await rows("UPDATE device SET tank = NULL WHERE id = $1", id);
    },
    /** Removes the assignments that end at `from` or later. */
    async removeAssignments(device: string, from: Instant): Promise<void> {
      await rows("DELETE FROM device_assignment WHERE device = $1 AND until >= $2", device, from);
    },
    /** Adds unknown devices that have pending readings, and counts these. */
    async recountPending(): Promise<void> {
      const unknown = await rows(`
        SELECT DISTINCT device FROM pending_reading
        WHERE NOT EXISTS (SELECT 1 FROM device WHERE device.id = pending_reading.device)`);
      for (const [device] of unknown) {
        const id = String(device);
        await rows("INSERT INTO device (id, checksum) VALUES ($1, $2)", id, deviceChecksum(unknownDevice(id), 0));
      }
      await rows(`UPDATE device SET pending = ${counted} WHERE pending <> ${counted}`);
    },
  };
}

function otherChecks(engine: CheckEngine) {
  const { rows } = engine;
  return {
    /** Returns keys, and whether their customer exists. */
    async allKeys(): Promise<{ readonly key: StoredKey; readonly hasCustomer: boolean }[]> {
      const found = await rows(`SELECT ${KEY_COLUMNS}, c.id FROM ${KEY_TABLES}`);
      return found.map((row) => {
        const key = keyOf(row);
        return { key, hasCustomer: key.customer_id === null || row.at(-1) !== null };
      });
    },
    async auditNumbers() {
      const [row = []] = await rows("SELECT count(*), coalesce(min(number), 1), coalesce(max(number), 0) FROM audit");
      const [count = 0, first = 1, last = 0] = row.map(Number);
      return { count, first, last };
    },
    /** Numbers and JSON. */
    auditChanges: () =>
      inBatches<readonly [number, string]>(engine, "SELECT number, changes FROM audit WHERE number > $1 ORDER BY number", 0),
    /** Lists that have a rank index, or should. */
    async indexedLists(): Promise<Set<string>> {
      const names = new Set<string>();
      for (const kind of Object.values(LISTS) as ListKind[]) {
        const { table, column } = kind;
        const long = `SELECT ${column} FROM ${table} WHERE ${isListed(engine.dialect, table)} GROUP BY ${column} HAVING count(*) > ${SEGMENT_MAX}`;
        const keys = column === null ? [null] : (await rows(long)).map(([key]) => String(key));
        for (const key of keys) names.add(listName(kind, key));
      }
      for (const [stored] of await rows("SELECT DISTINCT list FROM list_index")) names.add(String(stored));
      return names;
    },
    /** The number of entries from each position to the next, the last one to the end. */
    async segmentCounts(kind: ListKind, key: string | null, starts: readonly Position[]): Promise<number[]> {
      const entries = entriesOf(engine.dialect, kind, "$5");
      const own = `(${kind.position}, id)`;
      const count = `SELECT count(*) ${entries} AND ${own} >= ($1, $2) AND ${own} < ($3, $4)`;
      const counts: number[] = [];
      for (const [i, start] of starts.entries()) {
        const range = [...start, ...(starts[i + 1] ?? LIST_END)];
        const [row] = await rows(count, ...range, ...listKey(kind, key));
        counts.push(Number(row?.[0]));
      }
      return counts;
    },
  };
}

/** Each batch begins after the first columns of the last row. */
async function* inBatches<R extends Row>({ rows }: CheckEngine, sql: string, ...start: PositionValue[]): AsyncGenerator<R> {
  for (let after = start; ; ) {
    const batch = await rows(`${sql} LIMIT ${BATCH}`, ...after);
    yield* batch as readonly R[];
    if (batch.length < BATCH) return;
    after = (batch.at(-1) as R).slice(0, start.length) as PositionValue[];
  }
}
