// Devices as records say they are. Which tank each serves follows from the tanks, and stays.

import type { Occasion } from "../../domain/audit.ts";
import type { DeviceRecord } from "../../domain/device-line.ts";
import { decideDevices } from "../../domain/device-records.ts";
import { settleLater } from "../../domain/inquiry.ts";
import type { RecordOutcome } from "../../domain/record.ts";
import { answersOn } from "./answers.ts";
import { drain } from "./arrivals.ts";
import { note } from "./audit.ts";
import type { Transaction } from "./connection.ts";
import { lockDevices } from "./devices.ts";
import { lockLists } from "./lists.ts";
import { columnsOf, putStatement } from "./put.ts";

const PUT = putStatement("device", ["id", "since", "profile", "dropped"]);
const SERVICES = putStatement("service", ["device", "until", "tank"], 2);

export async function putDevices(
  db: Transaction,
  records: readonly DeviceRecord[],
  occasion: Occasion,
): Promise<RecordOutcome[]> {
  await lockLists(db);
  await lockDevices(db);
  const { outcomes, devices, deeds } = await settleLater(decideDevices(records), answersOn(db));
  const rows = devices.map(({ device: { id, since, profile }, dropped }) => [
    id,
    since,
    profile === null ? null : JSON.stringify(profile),
    dropped,
  ]);
  if (rows.length > 0) await db.rows(PUT, columnsOf(rows));
  const services = devices.flatMap((kept) => kept.services.map(({ device, until, tankId }) => [device, until, tankId]));
  if (services.length > 0) await db.rows(SERVICES, columnsOf(services));
  await note(db, deeds, occasion);
  await drain(
    db,
    devices.map(({ device }) => device.id),
  );
  return outcomes;
}
