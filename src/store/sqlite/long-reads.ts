// Searches, the device list, the audit log and the fleet: they may read very many rows, so they run in a thread of their own.

import type { DatabaseSync } from "node:sqlite";
import { longReadsOn } from "../core/reads-and-tables.ts";
import { LISTS } from "../packed/lists.ts";
import { listPages } from "./list-pages.ts";
import { DIALECT } from "./schema.ts";
import { QueryCache, query } from "./statements.ts";

export function longReads(db: DatabaseSync) {
  const queries = new QueryCache(db);
  const tanks = listPages(db, LISTS.tanks, "id");
  const first = { from: undefined, to: undefined, page: 1, size: 1 };
  return longReadsOn({
    dialect: DIALECT,
    rows: async (sql, values) => queries.rows(sql, values),
    unpreparedRows: async (sql, values) => query(db, sql).all(...values),
    listPages(kind, columns, joins) {
      const { page } = listPages(db, kind, columns, joins);
      return async (key, request) => page(key, request);
    },
    liveTanks: (parameters) => ({ query: "", count: parameters.add(tanks.page(null, first).totalItems) }),
  });
}
