// The pending readings of a device, as the management API shows them: the newest one, and what it needs.

import type { TankState } from "./changes.ts";
import type { Device } from "./device.ts";
import { formatInstant } from "./instant.ts";
import { interpretPayload, type PendingReading } from "./placement.ts";

const MAX_PAYLOAD_LENGTH = 1000;

export function pendingFields(device: Device, tank: TankState | undefined, newest: PendingReading | undefined) {
  if (newest === undefined) return { pending_reason: null, newest_pending: null };
  const { created_at, fill, payload } = newest;
  const isLong = payload !== null && payload.length > MAX_PAYLOAD_LENGTH;
  const shown = isLong ? `${payload.slice(0, MAX_PAYLOAD_LENGTH).toWellFormed()}…` : payload;
  const newest_pending = { created_at: formatInstant(created_at), fill_percentage: fill, payload: shown };
  return { pending_reason: pendingReason(device, tank, payload), newest_pending };
}

/** Null if the reason lies with a tank that the device was assigned to before. */
function pendingReason(device: Device, tank: TankState | undefined, payload: string | null): string | null {
  if (device.tank_id === null || tank === undefined) return "the device is not assigned to a tank";
  if (payload === null) return null;
  const result = interpretPayload(payload, device, tank);
  if ("rejected" in result) return `the device's profile does not match the payload (${result.rejected})`;
  return "pending" in result ? result.pending : null;
}
