// Devices: how one is known, how its payloads are read, and which tank it served when.

import type { Instant } from "./instant.ts";
import type { Profile } from "./profile.ts";

/** An EUI-64 is written in either case, by network servers and by people: it counts in lower case. */
export function deviceKey(id: string): string {
  return EUI_64.test(id) ? id.toLowerCase() : id;
}

const EUI_64 = /^[0-9A-Fa-f]{16}$/;

/** Before every instant. */
export const EARLIEST: Instant = Number.MIN_SAFE_INTEGER;

export type Device = {
  /** As `deviceKey` has it. */
  readonly id: string;
  /** The live tank it serves now. */
  readonly tank_id: string | null;
  /** Since when it serves its tank, or none; `EARLIEST` for a device that never moved. */
  readonly since: Instant;
  readonly profile: ProfileChoice | null;
};

/** The name of a profile that comes with the program, or one of the operator's own. */
export type ProfileChoice = string | Profile;

/** Where a device was before: until then, not included, it served this tank. */
export type DeviceAssignment = { readonly device: string; readonly until: Instant; readonly tankId: string };

export const unknownDevice = (id: string): Device => ({ id, tank_id: null, since: EARLIEST, profile: null });

/** The tank that had the device at the instant; `past` are its earlier services, in order. */
export function tankAt({ tank_id, since }: Device, past: readonly DeviceAssignment[], at: Instant): string | null {
  if (at >= since) return tank_id;
  return past.find(({ until }) => at < until)?.tankId ?? tank_id;
}

export type DeviceMove = { readonly device: Device; readonly ended: DeviceAssignment | undefined };

/**
 * The device serves another tank from now on, or none. What it measured while it served none is taken to be of the tank it
 * serves next: it was put there before somebody said so.
 */
export function moveDevice(device: Device, tankId: string | null, at: Instant): DeviceMove {
  const { id, tank_id, since } = device;
  if (tank_id === null || tank_id === tankId || at <= since) return { device: { ...device, tank_id: tankId }, ended: undefined };
  return { device: { ...device, tank_id: tankId, since: at }, ended: { device: id, until: at, tankId: tank_id } };
}
