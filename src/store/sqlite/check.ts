// Reads and writes for checks and repairs. A check reads on a connection of its own; repairs run in the writer thread.

import type { DatabaseSync } from "node:sqlite";
import { deviceKey } from "../../domain/id.ts";
import type { CheckTotals, Finding, Progress } from "../../domain/store.ts";
import { checkAll, type RepairArgs, type RepairName } from "../check/check.ts";
import type { CheckResult, Inconsistency } from "../check/inconsistency.ts";
import { repairable, unrepairable } from "../check/inconsistency.ts";
import type { CustomerRow, RepairOperations, TankRow } from "../check/operations.ts";
import {
  ASSIGNMENT_COLUMNS,
  assignmentOf,
  CUSTOMER_COLUMNS,
  customerOf,
  KEY_COLUMNS,
  KEY_TABLES,
  keyOf,
  PENDING_COLUMNS,
  pendingOf,
  TANK_COLUMNS,
  tankOf,
} from "../columns.ts";
import type { RankTable } from "../core/transaction.ts";
import { LIST_END, LISTS, type ListKind, seriesOf } from "../series/lists.ts";
import { type Position, SEGMENT_MAX } from "../series/rank-index.ts";
import { isConstraintError, isDamaged, openReader, translateError } from "./connection.ts";
import { entriesOf, listKey } from "./list-writes.ts";
import { storedGroups } from "./rank-index.ts";
import { DEVICE_KEY } from "./schema.ts";
import { promised, query, type Row, type Synchronous } from "./statements.ts";
import type { StoreThread } from "./thread.ts";

/** Without `writer` nothing is repaired. */
export async function* checkFile(
  file: string,
  writer: StoreThread | undefined,
  progress: Progress,
): AsyncGenerator<Finding, CheckTotals, void> {
  let db: DatabaseSync | undefined;
  try {
    const reader = openReader(file);
    db = reader;
    const operations = checkOperations(reader);
    const repair =
      writer && (<N extends RepairName>(name: N, ...args: RepairArgs<N>) => writer.call(name, args) as Promise<Finding[]>);
    return yield* checkAll(
      async (work) => {
        reader.exec("BEGIN");
        try {
          return await work(operations);
        } finally {
          // In a damaged file COMMIT may fail.
          if (reader.isTransaction) reader.exec("ROLLBACK");
        }
      },
      repair,
      progress,
    );
  } catch (error) {
    throw translateError(error);
  } finally {
    db?.close();
  }
}

export function checkOperations(db: DatabaseSync): RepairOperations {
  return promised<RepairOperations>({
    ...fileChecks(db),
    ...customerChecks(db),
    ...tankChecks(db),
    ...deviceChecks(db),
    ...listChecks(db),
  });
}

const MAX_MESSAGES = 10;
/** Indexes can be rebuilt from their tables, unless a table breaks a unique index. */
const INDEX_MESSAGE = /^(row \d+ missing from index|wrong # of entries in index)/;
const DANGLING_FLEET = "FROM fleet WHERE tank NOT IN (SELECT id FROM tank)";

function fileChecks(db: DatabaseSync) {
  function integrityMessages(): string[] {
    try {
      const rows = query(db, `PRAGMA integrity_check(${MAX_MESSAGES})`).all();
      return rows.map(([message]) => String(message).replaceAll("\n", " ")).filter((message) => message !== "ok");
    } catch (error) {
      if (!isDamaged(error)) throw error;
      return [(error as Error).message];
    }
  }

  function foreignKeyErrors(): CheckResult[] {
    const rows = query(db, "PRAGMA foreign_key_check").all();
    const byTable = Map.groupBy(rows, ([table]) => String(table));
    return [...byTable].flatMap(([table, found]): CheckResult[] => {
      if (table === "tank" || table === "api_key") return found.map(([, pk]) => missingCustomer(table, Number(pk)));
      const message = `${found.length} rows belong to no tank`;
      const hint = "restore a backup, or export what can be read into a new database";
      return [
        { where: `table ${table}`, found: table === "reading_index" ? repairable(message) : unrepairable(`${message}: ${hint}`) },
      ];
    });
  }

  function missingCustomer(table: "tank" | "api_key", pk: number): CheckResult {
    const column = table === "tank" ? "owner_id" : "customer_id";
    const [id, customer] = query(db, `SELECT id, ${column} FROM ${table} WHERE pk = ?`).get(pk) ?? [];
    const hint = table === "tank" ? "import that customer, or restore a backup" : "import that customer, or revoke the key";
    return {
      where: `${table === "tank" ? "tank" : "key"} ${id}`,
      found: unrepairable(`${column}: there is no customer ${customer}: ${hint}`),
    };
  }

  return {
    databaseErrors: (): Inconsistency[] =>
      integrityMessages().flatMap((message) =>
        INDEX_MESSAGE.test(message) ? repairable(message) : unrepairable(`${message}: restore a backup`),
      ),

    rebuildDatabaseIndexes(): void {
      try {
        db.exec("REINDEX");
      } catch (error) {
        // Rows that break a unique index are found by their own check.
        if (!isConstraintError(error)) throw error;
      }
    },

    danglingRows(): CheckResult[] {
      const [count, first] = query(db, `SELECT count(*), min(tank) ${DANGLING_FLEET}`).get() ?? [];
      const fleet = { where: "table fleet", found: repairable(`${count} rows belong to no tank (${first})`) };
      return [...foreignKeyErrors(), ...(Number(count) === 0 ? [] : [fleet])];
    },

    removeDanglingRows(): void {
      db.exec(`DELETE FROM reading_index WHERE tank NOT IN (SELECT pk FROM tank); DELETE ${DANGLING_FLEET}`);
    },

    objectCount: (): number =>
      Number(query(db, "SELECT (SELECT count(*) FROM customer) + (SELECT count(*) FROM tank)").get()?.[0]),
    allKeys: () => query(db, `SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES}`).all().map(keyOf),

    auditNumbers() {
      const [count = 0, first = 1, last = 0] = query(db, "SELECT count(*), min(number), max(number) FROM audit").get() ?? [];
      return { count: Number(count), first: Number(first), last: Number(last) };
    },

    auditChanges: () => rowsOf<readonly [number, string]>(db, "SELECT number, changes FROM audit ORDER BY number"),
  } satisfies Partial<Synchronous<RepairOperations>>;
}

const MAX_OBJECTS = 500;
const OWNED_TANKS = "(SELECT count(*) FROM tank WHERE deleted = 0 AND owner_id = customer.id)"; // tank_by_owner

function customerChecks(db: DatabaseSync) {
  const select = `SELECT ${OWNED_TANKS}, ${CUSTOMER_COLUMNS} FROM customer`;
  const after = query(db, `${select} WHERE id > ? ORDER BY id LIMIT ${MAX_OBJECTS}`);
  const one = query(db, `${select} WHERE id = ?`);
  const recount = db.prepare(`UPDATE customer SET tank_count = ${OWNED_TANKS} WHERE id = ?`);
  const toRow = ([ownedTanks, ...columns]: Row): CustomerRow => ({
    customer: customerOf(columns),
    deletedFlag: columns.at(-1),
    ownedTanks: Number(ownedTanks),
  });
  return {
    customersAfter: (id: string) => after.all(id).map(toRow),
    customer: (id: string) => one.all(id).map(toRow)[0],
    recountTanks: (id: string): void => void recount.run(id),
  };
}

function tankChecks(db: DatabaseSync) {
  const select = `
    SELECT h.total, h.start, h.data, f.threshold, f.at, f.fill, f.urgency, f.heard, d.id, d.tank, t.shape,
      EXISTS (SELECT 1 FROM tank WHERE id = d.tank AND deleted = 0 AND ${DEVICE_KEY} = d.id), t.*
    FROM (SELECT ${DEVICE_KEY} AS device_key, shape, pk, ${TANK_COLUMNS} FROM tank) AS t
    LEFT JOIN head h ON h.tank = t.pk LEFT JOIN fleet f ON f.tank = t.id LEFT JOIN device d ON d.id = t.device_key`;
  const after = query(db, `${select} WHERE t.id > ? ORDER BY t.id LIMIT ${MAX_OBJECTS}`);
  const one = query(db, `${select} WHERE t.id = ?`);
  const key = query(db, "SELECT pk FROM tank WHERE id = ?");
  const keyOfTank = (id: string) => key.get(id)?.[0] ?? null;
  const blocks = query(db, "SELECT start, data FROM block WHERE tank = ? ORDER BY start"); // block_by_start
  const groups = { readings: storedGroups(db, "readings"), lists: storedGroups(db, "lists") };
  const ensureHead = db.prepare("INSERT OR IGNORE INTO head (tank) VALUES (?)");
  const removeBlocks = db.prepare("DELETE FROM block WHERE tank = ?");

  function toRow(row: Row): TankRow {
    const [total, start, data, threshold, at, fill, urgency, heard, device, deviceTank, shape, isElsewhere, , , , ...columns] =
      row;
    return {
      tank: tankOf(columns),
      deletedFlag: columns.at(-1),
      shape: shape as string | null,
      head: start === null ? undefined : { total: Number(total), start: Number(start), data: data as Uint8Array },
      fleet: threshold === null ? undefined : ({ threshold, at, fill, urgency, heard } as TankRow["fleet"]),
      deviceTank: device === null ? undefined : (deviceTank as string | null),
      isDeviceElsewhere: isElsewhere === 1,
    };
  }

  return {
    tanksAfter: (id: string) => after.all(id).map(toRow),
    tank: (id: string) => one.all(id).map(toRow)[0],
    blocksOf: (ids: readonly string[]) =>
      new Map(
        ids.map((id) => [
          id,
          blocks.all(keyOfTank(id)).map(([start, data]) => ({ start: Number(start), data: data as Uint8Array })),
        ]),
      ),
    storedGroups: (table: RankTable, series: readonly string[]) =>
      new Map(series.map((name) => [name, table === "readings" ? groups.readings(keyOfTank(name)) : groups.lists(name)])),
    ensureHead: (id: string): void => void ensureHead.run(keyOfTank(id)),
    removeBlocks: (id: string): void => void removeBlocks.run(keyOfTank(id)),
  };
}

function deviceChecks(db: DatabaseSync) {
  const assign = db.prepare(
    `INSERT INTO device (id, tank) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET tank = excluded.tank
     WHERE NOT EXISTS (SELECT 1 FROM tank t WHERE t.id = device.tank AND t.deleted = 0 AND ${DEVICE_KEY} = ?1)`,
  );
  const unassign = db.prepare("UPDATE device SET tank = NULL WHERE id = ?");
  const add = db.prepare("INSERT INTO device (id) VALUES (?)");
  const recount = db.prepare(
    "UPDATE device SET pending = (SELECT count(*) FROM pending_reading WHERE device = device.id) WHERE id = ?",
  );

  return {
    sharedDevices() {
      // Without tank_by_device, which may be what is damaged.
      const rows = query(
        db,
        "SELECT assigned_device_id, id FROM tank NOT INDEXED WHERE deleted = 0 ORDER BY created_at, id",
      ).iterate();
      const first = new Map<string, string>();
      const shared: { device: string; tanks: [string, string] }[] = [];
      for (const [id, tank] of rows) {
        const device = deviceKey(String(id));
        const other = first.get(device);
        if (other === undefined) first.set(device, String(tank));
        else shared.push({ device, tanks: [other, String(tank)] });
      }
      return shared;
    },

    misassignedDevices: () =>
      query(
        db,
        `SELECT d.id, d.tank, t.assigned_device_id FROM device d LEFT JOIN tank t ON t.id = d.tank AND t.deleted = 0
         WHERE d.tank IS NOT NULL`,
      )
        .all()
        .map(([id, tank, device]) => ({ id: String(id), tank: String(tank), tankDevice: device as string | null }))
        .filter(({ id, tankDevice }) => tankDevice === null || deviceKey(tankDevice) !== id),

    wrongPendingCounts: () =>
      query(
        db,
        `SELECT d.id, d.pending, (SELECT count(*) FROM pending_reading p WHERE p.device = d.id) AS counted FROM device d
         WHERE d.pending <> counted`,
      )
        .all()
        .map(([id, stored, counted]) => ({ id: String(id), stored: Number(stored), counted: Number(counted) })),

    unknownPendingDevices: () =>
      query(db, "SELECT DISTINCT device FROM pending_reading WHERE device NOT IN (SELECT id FROM device)")
        .all()
        .map(([id]) => String(id)),

    assignmentsOfUnknownTanks: () =>
      query(
        db,
        `SELECT ${ASSIGNMENT_COLUMNS} FROM device_assignment WHERE tank NOT IN (SELECT id FROM tank) ORDER BY device, until`,
      )
        .all()
        .map(assignmentOf),

    profiles: () => rowsOf<readonly [string, string]>(db, "SELECT id, profile FROM device WHERE profile IS NOT NULL"),
    async *allPending() {
      for (const row of query(db, `SELECT ${PENDING_COLUMNS} FROM pending_reading`).iterate()) yield pendingOf(row);
    },
    assignDevice: (device: string, tankId: string): void => void assign.run(device, tankId),
    unassignDevices: (ids: readonly string[]): void => ids.forEach((id) => void unassign.run(id)),
    addDevices: (ids: readonly string[]): void => ids.forEach((id) => void add.run(id)),
    recountPending: (ids: readonly string[]): void => ids.forEach((id) => void recount.run(id)),
  };
}

function listChecks(db: DatabaseSync) {
  const kinds: readonly ListKind[] = Object.values(LISTS);
  return {
    indexedLists(): string[] {
      const long = kinds.flatMap((kind) => {
        const { table, column } = kind;
        if (column === null) return [seriesOf(kind, null)];
        const sql = `SELECT ${column} FROM ${table} WHERE deleted = 0 GROUP BY ${column} HAVING count(*) > ${SEGMENT_MAX}`;
        return query(db, sql)
          .all()
          .map(([key]) => seriesOf(kind, String(key)));
      });
      const stored = query(db, "SELECT DISTINCT series FROM list_index")
        .all()
        .map(([series]) => String(series));
      return [...new Set([...long, ...stored])];
    },

    segmentCounts(kind: ListKind, key: string | null, starts: readonly Position[]): number[] {
      const count = query(db, `SELECT count(*) ${entriesOf(kind)} AND (created_at, id) >= (?, ?) AND (created_at, id) < (?, ?)`);
      return starts.map((start, i) => {
        const end = starts[i + 1] ?? LIST_END;
        return Number(count.get(...listKey(kind, key), ...(start as Row), ...(end as Row))?.[0]);
      });
    },
  };
}

async function* rowsOf<T>(db: DatabaseSync, sql: string): AsyncGenerator<T> {
  for (const row of query(db, sql).iterate()) yield row as unknown as T;
}
