// What the store holds, for an export, and its lines: newline-delimited JSON that an import takes.

import { type CustomerWithCount, customerObject } from "./customer.ts";
import { type DeviceWithHistory, deviceLine } from "./device-record.ts";
import { formatInstant } from "./instant.ts";
import type { PendingReading } from "./placement.ts";
import { type Reading, telemetryObject } from "./reading.ts";
import type { Shape } from "./shape.ts";
import { type Tank, tankObject } from "./tank.ts";

export type ExportRecord =
  | { readonly kind: "customer"; readonly customer: CustomerWithCount; readonly deleted: boolean }
  | { readonly kind: "tank"; readonly tank: Tank; readonly deleted: boolean; readonly shape: Shape | null }
  | ({ readonly kind: "device" } & DeviceWithHistory)
  | { readonly kind: "readings"; readonly tankId: string; readonly readings: readonly Reading[] }
  | { readonly kind: "waiting"; readonly waiting: PendingReading };

export function* exportLines(record: ExportRecord): Generator<string> {
  switch (record.kind) {
    case "customer":
      yield JSON.stringify({ ...customerObject(record.customer), ...(record.deleted ? { deleted: true } : {}) });
      return;
    case "tank":
      yield JSON.stringify({ ...tankObject(record.tank), shape: record.shape, ...(record.deleted ? { deleted: true } : {}) });
      return;
    case "device":
      yield JSON.stringify(deviceLine(record));
      return;
    case "readings":
      for (const reading of record.readings) {
        const { object, ...rest } = telemetryObject(reading);
        yield JSON.stringify({ object, tank_id: record.tankId, ...rest });
      }
      return;
    case "waiting":
      yield pendingLine(record.waiting);
  }
}

/** The payload is JSON already, as it was kept. */
function pendingLine({ device, created_at, fill, payload, customer_id }: PendingReading): string {
  const bound = customer_id === null ? {} : { customer_id };
  const line = { object: "telemetry", device_id: device, ...bound, created_at: formatInstant(created_at) };
  if (payload === null) return JSON.stringify({ ...line, fill_percentage: fill });
  return `${JSON.stringify(line).slice(0, -1)},"payload":${payload}}`;
}
