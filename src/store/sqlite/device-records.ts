// Devices as records say they are. Which tank each serves follows from the tanks, and stays.

import type { DatabaseSync } from "node:sqlite";
import type { AuditContext } from "../../domain/audit.ts";
import { planDeviceImport } from "../../domain/import-devices.ts";
import { type Answering, settle } from "../../domain/inquiry.ts";
import type { DeviceRecord, RecordOutcome } from "../../domain/records.ts";
import type { arrivalWrites } from "./arrivals.ts";
import { auditWrites } from "./audit.ts";

type Arrivals = Pick<ReturnType<typeof arrivalWrites>, "drain">;

export function deviceRecordWrites(db: DatabaseSync, answers: Answering, { drain }: Arrivals) {
  const put = db.prepare(
    `INSERT INTO device (id, since, profile, dropped) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET since = excluded.since, profile = excluded.profile, dropped = excluded.dropped`,
  );
  const putService = db.prepare("INSERT OR REPLACE INTO service (device, until, tank) VALUES (?, ?, ?)");
  const { note } = auditWrites(db);

  return {
    importDevices(records: readonly DeviceRecord[], occasion: AuditContext): RecordOutcome[] {
      const { outcomes, devices, audit: deeds } = settle(planDeviceImport(records), answers);
      for (const { device, dropped, assignments: services } of devices) {
        const { id, since, profile } = device;
        put.run(id, since, profile === null ? null : JSON.stringify(profile), dropped);
        for (const { until, tankId } of services) putService.run(id, until, tankId);
      }
      note(deeds, occasion);
      drain(devices.map(({ device }) => device.id));
      return outcomes;
    },
  };
}
