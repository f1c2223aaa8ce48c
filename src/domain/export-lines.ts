// What the store holds, for an export, and its lines: newline-delimited JSON that an import takes.

import { type CountedCustomer, customerObject } from "./customer.ts";
import { deviceLine, type KeptDevice } from "./device-line.ts";
import { formatInstant } from "./instant.ts";
import type { Waiting } from "./placement.ts";
import { type Reading, telemetryObject } from "./reading.ts";
import type { Shape } from "./shape.ts";
import { type Tank, tankObject } from "./tank.ts";

export type StoredRecord =
  | { readonly kind: "customer"; readonly customer: CountedCustomer; readonly deleted: boolean }
  | { readonly kind: "tank"; readonly tank: Tank; readonly deleted: boolean; readonly shape: Shape | null }
  | ({ readonly kind: "device" } & KeptDevice)
  | { readonly kind: "readings"; readonly tankId: string; readonly readings: readonly Reading[] }
  | { readonly kind: "waiting"; readonly waiting: Waiting };

export function* jsonLines(record: StoredRecord): Generator<string> {
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
      yield waitingLine(record.waiting);
  }
}

/** The payload is JSON already, as it was kept. */
function waitingLine({ device, created_at, fill, payload, customer_id }: Waiting): string {
  const bound = customer_id === null ? {} : { customer_id };
  const line = { object: "telemetry", device_id: device, ...bound, created_at: formatInstant(created_at) };
  if (payload === null) return JSON.stringify({ ...line, fill_percentage: fill });
  return `${JSON.stringify(line).slice(0, -1)},"payload":${payload}}`;
}
