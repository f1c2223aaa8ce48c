// The reads and tables that are written once for both engines.

import { accountReads, accountTables } from "./account-tables.ts";
import { alertLists, alertReads } from "./alert-reads.ts";
import { alertTables } from "./alert-tables.ts";
import { channelReads, notificationReads } from "./channel-reads.ts";
import { channelTables } from "./channel-tables.ts";
import type { Dialect } from "./dialect.ts";
import { fleetMapOn } from "./fleet-map.ts";
import { fleetReadsOn, forecastReads } from "./fleet-reads.ts";
import { forecastTables } from "./forecast-tables.ts";
import { type ManagementEngine, managementReadsOn } from "./management-reads.ts";
import type { InsertRows } from "./many-rows.ts";
import { notificationQueueTables, pendingDestinationsOn } from "./notification-queue-tables.ts";
import { notificationTables } from "./notification-tables.ts";
import { objectTables } from "./object-tables.ts";
import { plannedTables, recipientReads } from "./planned-tables.ts";
import { managedObjectReads, type Prepare } from "./reads.ts";
import { serviceStateTable } from "./service-state.ts";
import { verificationTables } from "./verification-tables.ts";

/** Reads whose cost does not depend on the size of the database, and that must see the latest commit: never from a replica. */
export function primaryOnlyReads(prepare: Prepare, dialect: Dialect, tables: readonly string[]) {
  return {
    ...managedObjectReads(prepare, tables),
    pendingDestinations: pendingDestinationsOn(prepare, dialect),
    ...alertReads(prepare),
    ...channelReads(prepare),
    ...recipientReads(prepare),
    ...accountReads(prepare, dialect),
    ...forecastReads(prepare),
  };
}

/** Reads of very many rows. Up to `maxSorted` matches of a filter of the fleet are sorted. */
export function longReadsOn(engine: ManagementEngine, maxSorted?: number) {
  return {
    ...managementReadsOn(engine),
    ...alertLists(engine),
    ...notificationReads(engine),
    ...fleetReadsOn(engine, maxSorted),
    ...fleetMapOn(engine),
  };
}

/** Operations of a transaction. `addHeads` adds the empty heads of new tanks. */
export function sharedTables(
  prepare: Prepare,
  insert: InsertRows,
  dialect: Dialect,
  addHeads: (tankIds: readonly string[]) => Promise<void>,
) {
  return {
    ...objectTables(prepare, insert, addHeads),
    ...alertTables(prepare, insert),
    ...channelTables(prepare, dialect),
    ...notificationTables(prepare, insert),
    ...notificationQueueTables(prepare, dialect),
    ...forecastTables(prepare, insert),
    ...plannedTables(prepare, insert),
    ...verificationTables(prepare),
    ...accountTables(prepare, dialect),
    ...serviceStateTable(prepare),
  };
}
