// Devices as records say they are. Which tank each serves follows from the tanks, and stays.

import type { DatabaseSync } from "node:sqlite";
import type { Occasion } from "../../domain/audit.ts";
import type { DeviceRecord } from "../../domain/device-line.ts";
import { decideDevices } from "../../domain/device-records.ts";
import { type Answering, settle } from "../../domain/inquiry.ts";
import type { RecordOutcome } from "../../domain/record.ts";
import type { arrivalWrites } from "./arrivals.ts";
import { auditWrites } from "./audit.ts";
import { deviceWrites, waitingWrites } from "./devices.ts";

type Arrivals = Pick<ReturnType<typeof arrivalWrites>, "drain">;

export function deviceRecordWrites(db: DatabaseSync, answers: Answering, { drain }: Arrivals) {
  const put = db.prepare(
    `INSERT INTO device (id, since, profile, dropped) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET since = excluded.since, profile = excluded.profile, dropped = excluded.dropped`,
  );
  const putService = db.prepare("INSERT OR REPLACE INTO service (device, until, tank) VALUES (?, ?, ?)");
  const { forget } = deviceWrites(db);
  const { forgetWaiting } = waitingWrites(db);
  const { note } = auditWrites(db);

  return {
    putDevices(records: readonly DeviceRecord[], occasion: Occasion): RecordOutcome[] {
      const { outcomes, devices, services, forgotten, deeds } = settle(decideDevices(records), answers);
      for (const { device, dropped } of devices) {
        const { id, since, profile } = device;
        put.run(id, since, profile === null ? null : JSON.stringify(profile), dropped);
      }
      for (const { device, until, tankId } of services) putService.run(device, until, tankId);
      forgetWaiting(forgotten);
      forget(forgotten);
      note(deeds, occasion);
      drain(devices.map(({ device }) => device.id));
      return outcomes;
    },
  };
}
