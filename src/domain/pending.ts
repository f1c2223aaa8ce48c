// What waits of a device, as the operator sees it: the newest reading, and what it waits for.

import type { TankWithShape } from "./changes.ts";
import type { Device } from "./device.ts";
import { formatInstant } from "./instant.ts";
import { interpretPayload, type PendingReading } from "./placement.ts";

/** Enough to see what a device sends. */
const MAX_PAYLOAD_SHOWN = 1000;

export function pendingFields(device: Device, tank: TankWithShape | undefined, newest: PendingReading | undefined) {
  if (newest === undefined) return { waits_because: null, newest_waiting: null };
  const { created_at, fill, payload } = newest;
  const text =
    payload !== null && payload.length > MAX_PAYLOAD_SHOWN ? `${payload.slice(0, MAX_PAYLOAD_SHOWN).toWellFormed()}…` : payload;
  const newest_waiting = { created_at: formatInstant(created_at), fill_percentage: fill, payload: text };
  return { waits_because: reasonOf(device, tank, payload), newest_waiting };
}

/** Null where it waits for something of a tank that the device served before. */
function reasonOf(device: Device, tank: TankWithShape | undefined, payload: string | null): string | null {
  if (device.tank_id === null || tank === undefined) return "the device serves no tank";
  if (payload === null) return null;
  const end = interpretPayload(payload, device, tank);
  if ("rejected" in end) return `the device's profile does not read it (${end.rejected})`;
  return "waits" in end ? end.waits : null;
}
