// Reads and writes for checks and repairs. A check reads on a connection of its own; repairs run in the writer thread.

import type { DatabaseSync } from "node:sqlite";
import type { CheckTotals, Finding, Progress } from "../../domain/store.ts";
import { checkAll, type Repair } from "../check/check.ts";
import { repairable, unrepairable } from "../check/inconsistency.ts";
import { type CheckOperations, checkOperationsOn } from "../check/operations.ts";
import { isConstraintError, isDamaged, withReader } from "./connection.ts";
import { storedGroups } from "./rank-index.ts";
import { DIALECT, INDEXES } from "./schema.ts";
import { QueryCache, query, tolerantQuery } from "./statements.ts";
import type { StoreThread } from "./thread.ts";

/** Without `writer` nothing is repaired. */
export function checkFile(
  file: string,
  writer: StoreThread | undefined,
  progress: Progress,
): AsyncGenerator<Finding, CheckTotals, void> {
  return withReader(file, (db) => {
    const operations = checkOperations(db);
    const repair: Repair | undefined = writer && ((name, ...id) => writer.call(name, id) as Promise<Finding[]>);
    return checkAll(
      async (work) => {
        db.exec("BEGIN");
        try {
          return await work(operations);
        } finally {
          // In a damaged file COMMIT may fail.
          if (db.isTransaction) db.exec("ROLLBACK");
        }
      },
      repair,
      progress,
    );
  });
}

const MAX_MESSAGES = 10;
/** Indexes can be rebuilt from their tables, unless a table breaks a unique index. */
const INDEX_MESSAGE = /^(row \d+ missing from index|wrong # of entries in index)/;

export function checkOperations(db: DatabaseSync): CheckOperations {
  const queries = new QueryCache(db, tolerantQuery);

  function integrityMessages(): string[] {
    try {
      const rows = query(db, `PRAGMA integrity_check(${MAX_MESSAGES})`).all();
      return rows.map(([message]) => String(message).replaceAll("\n", " ")).filter((message) => message !== "ok");
    } catch (error) {
      if (!isDamaged(error)) throw error;
      return [(error as Error).message];
    }
  }

  return checkOperationsOn({
    rows: async (sql, ...values) => queries.rows(sql, values),
    runForIds: async (...args) => queries.rowsForIds(...args),
    dialect: DIALECT,
    tankKey: "tank.pk",
    headColumns: `head.total, NULL, head.start, head.data, head.checksum, NULL, NULL,
      fleet.threshold, fleet.at, fleet.fill, fleet.active_conditions, fleet.evaluate_at`,
    headJoins: "LEFT JOIN head ON head.tank = tank.pk LEFT JOIN fleet ON fleet.tank = tank.id",
    // By sqlite_autoindex_tank_1 and block_by_start.
    blocks: `SELECT tank.id, block.start, block.data, block.checksum FROM tank CROSS JOIN block ON block.tank = tank.pk
      WHERE tank.id >= $1 AND tank.id <= $2 ORDER BY tank.id, start`,
    tablesOfTanks: [
      { table: "head", key: "tank.pk", isDerived: false },
      { table: "block", key: "tank.pk", isDerived: false },
      { table: "reading_index", key: "tank.pk", isDerived: true },
      { table: "fleet", key: "tank.id", isDerived: true },
    ],
    storedGroups: async (table, indexes) => new Map(indexes.map((name) => [name, storedGroups(queries, table, name)])),

    async missingIndexes() {
      const rows = queries.rows("SELECT name FROM sqlite_schema WHERE type = 'index'", []);
      const stored = new Set(rows.map(([name]) => name));
      return [...INDEXES.keys()].filter((name) => !stored.has(name));
    },

    async createIndex(name) {
      try {
        db.exec(INDEXES.get(name) ?? "");
      } catch (error) {
        if (!isConstraintError(error)) throw error;
      }
    },

    databaseErrors: async () =>
      integrityMessages().flatMap((message) =>
        INDEX_MESSAGE.test(message) ? repairable(message) : unrepairable(`${message}: restore a backup`),
      ),

    async rebuildDatabaseIndexes() {
      try {
        db.exec("REINDEX");
      } catch (error) {
        // Rows that break a unique index are found by their own check.
        if (!isConstraintError(error)) throw error;
      }
    },
  });
}
