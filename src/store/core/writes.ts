// All writes by name, except for readings, which engines combine. SQLite runs them in its writer thread, PostgreSQL in a
// transaction of its own.

import { ACTORS } from "../../domain/actor.ts";
import type { AuditContext } from "../../domain/audit.ts";
import { planCustomerImport, planDeviceImport, planTankImport } from "../../domain/import-plans.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CustomerRecord, DeviceRecord, RecordOutcome, TankRecord } from "../../domain/records.ts";
import { type EngineTransaction, REPAIRS } from "../check/check.ts";
import { executeCommand } from "./commands.ts";
import { composeNotifications, postponeNotifications } from "./compose.ts";
import { putFleetOrderState, updateSortKeys } from "./fleet-order.ts";
import { storeForecasts } from "./forecasts.ts";
import { releasePending } from "./ingest.ts";
import { lookupsOn } from "./lookups.ts";
import { claimNotifications, expireAndReschedule, recordAttempts, removeOldNotifications } from "./notification-queue.ts";
import { writeCustomers, writeDevices, writeTanks } from "./objects.ts";
import { evaluateTank, sweepAlerts, tanksDue } from "./sweep.ts";
import type { StoreTransaction } from "./transaction.ts";

const WRITES = {
  importCustomers,
  importTanks,
  importDevices,
  execute: executeCommand,
  updateLastSeen,
  claimNotifications,
  recordAttempts,
  endPending: (tx: EngineTransaction, destination: string, now: Instant) => tx.endPending(destination, now),
  expireAndReschedule,
  removeOldNotifications,
  sweepAlerts,
  tanksDue,
  evaluateTank,
  composeNotifications,
  postponeNotifications,
  updateSortKeys,
  storeForecasts,
  putFleetOrderState,
  ...REPAIRS,
};

type WriteTable = typeof WRITES;
export type WriteName = keyof WriteTable;
export type WriteArgs<N extends WriteName> = Parameters<WriteTable[N]> extends [unknown, ...infer A] ? A : never;
export type WriteResult<N extends WriteName> = Awaited<ReturnType<WriteTable[N]>>;

/** Calls a write that is only known by its name. */
export function runWrite<N extends WriteName>(tx: EngineTransaction, name: N, args: WriteArgs<N>): Promise<WriteResult<N>> {
  const write = WRITES[name] as unknown as (tx: EngineTransaction, ...args: WriteArgs<N>) => Promise<WriteResult<N>>;
  return write(tx, ...args);
}

const importContext = (): AuditContext => ({ by: ACTORS.import, at: Date.now() });

/** Commands and imports change customers, too. Without their lock, two transactions could each wait for a customer that the other holds. */
async function updateLastSeen(tx: EngineTransaction, seen: ReadonlyMap<string, number>): Promise<void> {
  await tx.lockLists();
  await tx.updateLastSeen(seen);
}

async function importCustomers(
  tx: StoreTransaction,
  records: readonly CustomerRecord[],
  context = importContext(),
): Promise<RecordOutcome[]> {
  await tx.lockLists();
  const { outcomes, changes } = await planCustomerImport(lookupsOn(tx, true), records, context.at);
  await writeCustomers(tx, changes, context);
  return outcomes;
}

async function importTanks(
  tx: StoreTransaction,
  records: readonly TankRecord[],
  context = importContext(),
): Promise<RecordOutcome[]> {
  tx.alertWork.setTime(context.at);
  await tx.lockLists();
  await tx.lockDevices("exclusive");
  const { outcomes, changes } = await planTankImport(lookupsOn(tx, true), records, context.at);
  await releasePending(tx, await writeTanks(tx, changes, context));
  return outcomes;
}

async function importDevices(
  tx: StoreTransaction,
  records: readonly DeviceRecord[],
  context = importContext(),
): Promise<RecordOutcome[]> {
  tx.alertWork.setTime(context.at);
  await tx.lockLists();
  await tx.lockDevices("exclusive");
  const { outcomes, devices, audit } = await planDeviceImport(lookupsOn(tx, true), records);
  await writeDevices(
    tx,
    devices,
    devices.flatMap(({ assignments }) => assignments),
  );
  await tx.appendAudit(audit, context);
  await releasePending(
    tx,
    devices.map(({ device }) => device.id),
  );
  return outcomes;
}
