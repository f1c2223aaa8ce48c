// Searches, the device list, the fleet and the audit log: they may read very many rows, so they run in a thread of their own.

import type { DatabaseSync } from "node:sqlite";
import { managementReadsOn } from "../core/management-reads.ts";
import { LISTS } from "../series/lists.ts";
import { fleetReads } from "./fleet-page.ts";
import { listPages } from "./list-pages.ts";
import { DIALECT } from "./schema.ts";
import { QueryCache } from "./statements.ts";

export function managementReads(db: DatabaseSync) {
  const queries = new QueryCache(db);
  const tanks = listPages(db, LISTS.tanks, "id");
  const reads = managementReadsOn({
    dialect: DIALECT,
    rows: async (sql, values) => queries.rows(sql, values),
    listPages(kind, columns) {
      const { page } = listPages(db, kind, columns);
      return async (key, request) => page(key, request);
    },
    liveTanks: (parameters) => ({ query: "", count: parameters.add(tanks.total(null)) }),
  });
  return { ...reads, ...fleetReads(db, queries) };
}
