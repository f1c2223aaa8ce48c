// Reads and writes for checks and repairs.

import type pg from "pg";
import type { CheckTotals, Finding, Progress } from "../../domain/store.ts";
import { checkAll, type Repair } from "../check/check.ts";
import { type CheckOperations, checkOperationsOn } from "../check/operations.ts";
import { runForIdsOn } from "./batch.ts";
import { type Db, isUniqueViolation, statement, transaction, translateError } from "./connection.ts";
import { storedGroups } from "./rank-index.ts";
import { DIALECT, INDEXES } from "./schema.ts";

const MISSING_INDEXES = statement("SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL");
const SAVEPOINT = statement("SAVEPOINT create_index");
const RELEASE = statement("RELEASE create_index");
const ROLL_BACK = statement("ROLLBACK TO create_index");

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

export function checkOperations(db: Db): CheckOperations {
  return checkOperationsOn({
    rows: (sql, ...values) => db.rows(statement(sql), values),
    runForIds: runForIdsOn(db),
    dialect: DIALECT,
    tankKey: "tank.id",
    headColumns: `head.total, head.in_blocks, head.start, head.data, head.checksum, head.at, head.fill,
      head.threshold, head.at, head.fill, head.active_conditions, head.evaluate_at`,
    headJoins: "LEFT JOIN head ON head.tank = tank.id",
    blocks: "SELECT tank, start, data, checksum FROM block WHERE tank >= $1 AND tank <= $2 ORDER BY tank, start",
    // A head has a foreign key.
    tablesOfTanks: [
      { table: "block", key: "tank.id", isDerived: false },
      { table: "reading_index", key: "tank.id", isDerived: true },
    ],
    storedGroups: (table, indexes) => storedGroups(db, table, indexes),
    missingIndexes: async () => (await db.rows(MISSING_INDEXES, [[...INDEXES.keys()]])).map(([name]) => String(name)),
    async createIndex(name) {
      await db.rows(SAVEPOINT);
      try {
        await db.rows(statement(INDEXES.get(name) ?? ""));
        await db.rows(RELEASE);
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        await db.rows(ROLL_BACK);
      }
    },
    // PostgreSQL checks its own pages: checksums, and the extension amcheck.
    databaseErrors: async () => [],
    rebuildDatabaseIndexes: async () => {},
  });
}
