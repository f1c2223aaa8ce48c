// Imports records of customers, tanks and devices, many in one transaction.

import type { AuditContext } from "../../domain/audit.ts";
import { planCustomerImport, planDeviceImport, planTankImport } from "../../domain/import-plans.ts";
import type { CustomerRecord, DeviceRecord, RecordOutcome, TankRecord } from "../../domain/records.ts";
import { releasePending } from "./ingest.ts";
import { lookupsOn } from "./lookups.ts";
import { writeCustomers, writeTanks } from "./objects.ts";
import type { StoreTransaction } from "./transaction.ts";

export async function importCustomers(
  tx: StoreTransaction,
  records: readonly CustomerRecord[],
  context: AuditContext,
): Promise<RecordOutcome[]> {
  await tx.lockLists();
  const { outcomes, changes } = await planCustomerImport(lookupsOn(tx), records);
  await writeCustomers(tx, changes, context);
  return outcomes;
}

export async function importTanks(
  tx: StoreTransaction,
  records: readonly TankRecord[],
  context: AuditContext,
): Promise<RecordOutcome[]> {
  await tx.lockLists();
  await tx.lockDevices("exclusive");
  const { outcomes, changes } = await planTankImport(lookupsOn(tx), records);
  await releasePending(tx, await writeTanks(tx, changes, context));
  return outcomes;
}

export async function importDevices(
  tx: StoreTransaction,
  records: readonly DeviceRecord[],
  context: AuditContext,
): Promise<RecordOutcome[]> {
  await tx.lockLists();
  await tx.lockDevices("exclusive");
  const { outcomes, devices, audit } = await planDeviceImport(lookupsOn(tx), records);
  if (devices.length > 0) await tx.putDevices(devices);
  await tx.appendAudit(audit, context);
  await releasePending(
    tx,
    devices.map(({ device }) => device.id),
  );
  return outcomes;
}
