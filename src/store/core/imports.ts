// Imports records of customers, tanks and devices, many in one transaction.

import { type AuditContext, auditShapes } from "../../domain/audit.ts";
import { changedShapes } from "../../domain/changes.ts";
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
  const moved = await writeTanks(tx, changes, context);
  const shapes = changedShapes(changes);
  if (shapes.size > 0) await tx.setShapes(shapes);
  await tx.appendAudit(auditShapes(changes), context);
  const reshaped = shapes.size === 0 ? [] : await tx.devicesWithPendingFor([...shapes.keys()]);
  await releasePending(tx, [...moved, ...reshaped]);
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
