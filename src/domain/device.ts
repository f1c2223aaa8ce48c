// Devices: their profiles, and which tank each was assigned to when.

import { deviceKey } from "./id.ts";
import { EARLIEST, formatInstant, type Instant, MAX_AHEAD_MS } from "./instant.ts";
import type { Profile } from "./profile.ts";

export type Device = {
  /** As returned by `deviceKey`. */
  readonly id: string;
  /** The tank it is assigned to; never a deleted one. */
  readonly tank_id: string | null;
  /** Start of the current assignment; `EARLIEST` if there was none before it. */
  readonly since: Instant;
  readonly profile: ProfileChoice | null;
};

/** The name of a built-in profile, or one of the operator's own. */
export type ProfileChoice = string | Profile;

/** A past assignment, to this tank until (and not including) that instant. */
export type DeviceAssignment = { readonly device: string; readonly until: Instant; readonly tankId: string };

export const unknownDevice = (id: string): Device => ({ id, tank_id: null, since: EARLIEST, profile: null });

/**
 * The tank that the device was assigned to at an instant; `past` is in order. If the clock was ahead when the device was moved, the
 * recorded instant of the move is still to come: what was measured just before it is received belongs to the current tank.
 */
export function tankAt(
  { tank_id, since }: Device,
  past: readonly DeviceAssignment[],
  at: Instant,
  receivedAt: Instant = Number.POSITIVE_INFINITY,
): string | null {
  if (at >= since || (isAhead(since, receivedAt) && at >= receivedAt - MAX_AHEAD_MS)) return tank_id;
  return past.find(({ until }) => at < until)?.tankId ?? tank_id;
}

/** Whether an instant at which a device was moved cannot be right. */
export const isAhead = (since: Instant, now: Instant): boolean => since > now + MAX_AHEAD_MS;

export type DeviceMove = { readonly device: Device; readonly ended: DeviceAssignment | undefined };

/**
 * Assigns the device to another tank, or to none. Readings measured while it was assigned to none belong to the tank it is
 * assigned to next: devices are usually mounted before they are registered.
 */
export function moveDevice(device: Device, tankId: string | null, at: Instant): DeviceMove {
  const { id, tank_id, since } = device;
  if (tank_id === null || tank_id === tankId || at <= since) return { device: { ...device, tank_id: tankId }, ended: undefined };
  return { device: { ...device, tank_id: tankId, since: at }, ended: { device: id, until: at, tankId: tank_id } };
}

/** A device as in responses and exports. */
export function deviceObject({ id, tank_id, since, profile }: Device) {
  return { id, object: "device", tank_id, since: since === EARLIEST ? null : formatInstant(since), profile };
}

export function assignmentObjects(assignments: readonly DeviceAssignment[]) {
  return assignments.map(({ tankId, until }) => ({ tank_id: tankId, until: formatInstant(until) }));
}

type AssignedTank = { readonly id: string; readonly assigned_device_id: string };

/**
 * A device is assigned to one live tank at a time. This is the only place that knows the rule; whoever plans changes of several tanks
 * keeps one `DeviceUse` and reports each change to it.
 */
export class DeviceUse {
  readonly #tankOf = new Map<string, string | null>();

  /** `devices` are those that the planned changes name. */
  constructor(devices: ReadonlyMap<string, { readonly device: Device }>) {
    for (const [key, { device }] of devices) this.#tankOf.set(key, device.tank_id);
  }

  /** The other live tank that uses the tank's device, or undefined. */
  conflictOf({ id, assigned_device_id }: AssignedTank): string | undefined {
    const tankId = this.#tankOf.get(deviceKey(assigned_device_id)) ?? null;
    return tankId === null || tankId === id ? undefined : tankId;
  }

  release({ id, assigned_device_id }: AssignedTank): void {
    const key = deviceKey(assigned_device_id);
    if (this.#tankOf.get(key) === id) this.#tankOf.set(key, null);
  }

  assign({ id, assigned_device_id }: AssignedTank): void {
    this.#tankOf.set(deviceKey(assigned_device_id), id);
  }
}
