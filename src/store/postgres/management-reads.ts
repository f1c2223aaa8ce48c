// Searches, the device list, the audit log and the fleet, each in one statement.

import { alertLists } from "../core/alert-reads.ts";
import { notificationReads } from "../core/channel-reads.ts";
import { fleetMapOn } from "../core/fleet-map.ts";
import { fleetReadsOn } from "../core/fleet-reads.ts";
import { type ManagementEngine, managementReadsOn } from "../core/management-reads.ts";
import { type Db, statementOf } from "./connection.ts";
import { LIVE_TANKS, listPagesOn } from "./list-pages.ts";
import { DIALECT } from "./schema.ts";

/** Up to `maxSorted` matches of a filter of the fleet are sorted. */
export function managementReads(db: Db, maxSorted?: number) {
  const engine: ManagementEngine = {
    dialect: DIALECT,
    rows: (sql, values) => db.rows(statementOf(sql), values),
    unpreparedRows: (sql, values) => db.rows({ name: "", text: sql }, values),
    listPages: listPagesOn(db),
    liveTanks: () => ({ query: `WITH RECURSIVE ${LIVE_TANKS.query}`, count: LIVE_TANKS.count }),
  };
  return {
    ...managementReadsOn(engine),
    ...alertLists(engine),
    ...notificationReads(engine),
    ...fleetReadsOn(engine, maxSorted),
    ...fleetMapOn(engine),
  };
}
