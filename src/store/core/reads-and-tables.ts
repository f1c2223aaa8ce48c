// The reads and tables that are written once for both engines.

import { accountReads, accountTables } from "./account-tables.ts";
import { alertLists, alertReads } from "./alert-reads.ts";
import { alertTables } from "./alert-tables.ts";
import { channelReads, notificationReads } from "./channel-reads.ts";
import { channelTables } from "./channel-tables.ts";
import { deferredTables, mailReads } from "./deferred-tables.ts";
import type { Dialect } from "./dialect.ts";
import { fleetMapOn } from "./fleet-map.ts";
import { fleetReadsOn, forecastReads } from "./fleet-reads.ts";
import { forecastTables } from "./forecast-tables.ts";
import { lookupTables } from "./lookup-tables.ts";
import { type LongReadEngine, managementReadsOn } from "./management-reads.ts";
import { notificationQueueTables, pendingDestinationsOn } from "./notification-queue-tables.ts";
import { notificationTables } from "./notification-tables.ts";
import { objectTables } from "./object-tables.ts";
import { managedObjectReads } from "./reads.ts";
import { serviceStateTable } from "./service-state.ts";
import type { SqlRunner } from "./sql-runner.ts";
import { verificationTables } from "./verification-tables.ts";

/** Reads whose cost does not depend on the size of the database, and that must see the latest commit: never from a replica. */
export function primaryOnlyReads(sql: Pick<SqlRunner, "prepare" | "runForIds">, dialect: Dialect, columns: readonly string[]) {
  const { prepare } = sql;
  return {
    ...managedObjectReads(prepare, columns),
    pendingDestinations: pendingDestinationsOn(prepare, dialect),
    ...alertReads(sql),
    ...channelReads(prepare),
    ...mailReads(prepare),
    ...accountReads(prepare, dialect),
    ...forecastReads(prepare),
  };
}

/** Reads of very many rows. */
export function longReadsOn(engine: LongReadEngine) {
  return {
    ...managementReadsOn(engine),
    ...alertLists(engine),
    ...notificationReads(engine),
    ...fleetReadsOn(engine),
    ...fleetMapOn(engine),
  };
}

/** Operations of a transaction. `addHeads` adds the empty heads of new tanks. */
export function sharedTables(sql: SqlRunner, dialect: Dialect, addHeads: (tankIds: readonly string[]) => Promise<void>) {
  const { prepare } = sql;
  return {
    ...lookupTables(sql, dialect),
    ...objectTables(sql, addHeads),
    ...alertTables(sql),
    ...channelTables(sql, dialect),
    ...notificationTables(sql, dialect),
    ...notificationQueueTables(sql, dialect),
    ...forecastTables(sql),
    ...deferredTables(sql),
    ...verificationTables(prepare),
    ...accountTables(sql, dialect),
    ...serviceStateTable(prepare),
  };
}
