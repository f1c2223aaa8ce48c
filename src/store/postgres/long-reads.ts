// Searches, the device list, the audit log and the fleet, each in one statement.

import type { ManagementEngine } from "../core/management-reads.ts";
import { longReadsOn } from "../core/reads-and-tables.ts";
import { type Db, statement } from "./connection.ts";
import { LIVE_TANKS, listPagesOn } from "./list-pages.ts";
import { DIALECT } from "./schema.ts";

export function longReads(db: Db) {
  const engine: ManagementEngine = {
    dialect: DIALECT,
    rows: (sql, values) => db.rows(statement(sql), values),
    unpreparedRows: (sql, values) => db.rows({ name: "", text: sql }, values),
    listPages: listPagesOn(db),
    liveTanks: () => ({ query: `WITH RECURSIVE ${LIVE_TANKS.query}`, count: LIVE_TANKS.count }),
  };
  return longReadsOn(engine);
}
