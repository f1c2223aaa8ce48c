// Searches, the device list, the fleet and the audit log.

import type { FleetEntry, FleetQuery } from "../../domain/management-reads.ts";
import type { Page } from "../../domain/page.ts";
import { type Row, tankOf } from "../columns.ts";
import { Parameters } from "../core/dialect.ts";
import { managementReadsOn, pageOf } from "../core/management-reads.ts";
import { type Db, statementOf } from "./connection.ts";
import { fleetSql } from "./fleet-page.ts";
import { LIVE_TANKS, listPagesOn } from "./list-pages.ts";
import { DIALECT } from "./schema.ts";

export function managementReads(db: Db) {
  return {
    ...managementReadsOn({
      dialect: DIALECT,
      rows: (sql, values) => db.rows(statementOf(sql), values),
      listPages: listPagesOn(db),
      liveTanks: () => ({ query: `WITH RECURSIVE ${LIVE_TANKS.query}`, count: LIVE_TANKS.count }),
    }),

    async fleetPage(request: FleetQuery): Promise<Page<FleetEntry>> {
      const parameters = new Parameters();
      return pageOf(await db.rows(statementOf(fleetSql(request, parameters)), parameters.values), fleetEntryOf);
    },
  };
}

function fleetEntryOf(row: Row): FleetEntry {
  const [at, fill] = row.slice(-2);
  return { tank: tankOf(row), latest: fill === null ? null : { created_at: Number(at), fill_percentage: Number(fill) } };
}
