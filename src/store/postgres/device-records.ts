// Devices as records say they are. Which tank each serves follows from the tanks, and stays.

import type { AuditContext } from "../../domain/audit.ts";
import { planDeviceImport } from "../../domain/import-devices.ts";
import { settleLater } from "../../domain/inquiry.ts";
import type { DeviceRecord, RecordOutcome } from "../../domain/records.ts";
import { answersOn } from "./answers.ts";
import { drain } from "./arrivals.ts";
import { note } from "./audit.ts";
import type { Transaction } from "./connection.ts";
import { lockDevices } from "./devices.ts";
import { lockLists } from "./lists.ts";
import { columnsOf, putStatement } from "./put.ts";

const PUT = putStatement("device", ["id", "since", "profile", "dropped"]);
const SERVICES = putStatement("service", ["device", "until", "tank"], 2);

export async function importDevices(
  db: Transaction,
  records: readonly DeviceRecord[],
  occasion: AuditContext,
): Promise<RecordOutcome[]> {
  await lockLists(db);
  await lockDevices(db);
  const { outcomes, devices, audit: deeds } = await settleLater(planDeviceImport(records), answersOn(db));
  const rows = devices.map(({ device: { id, since, profile }, dropped }) => [
    id,
    since,
    profile === null ? null : JSON.stringify(profile),
    dropped,
  ]);
  if (rows.length > 0) await db.rows(PUT, columnsOf(rows));
  const services = devices.flatMap((kept) => kept.assignments.map(({ device, until, tankId }) => [device, until, tankId]));
  if (services.length > 0) await db.rows(SERVICES, columnsOf(services));
  await note(db, deeds, occasion);
  await drain(
    db,
    devices.map(({ device }) => device.id),
  );
  return outcomes;
}
