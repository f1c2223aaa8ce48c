// Customers and tanks before and after a change, and how devices follow the tanks that name them.

import { isDeepStrictEqual } from "node:util";
import type { TankAlertSettings } from "./alerts/tank-alert-settings.ts";
import type { Customer, NotificationSettings } from "./customer.ts";
import { type Device, type DeviceMove, moveDevice, unknownDevice } from "./device.ts";
import { deviceKey } from "./id.ts";
import type { Instant } from "./instant.ts";
import type { Shape } from "./shape.ts";
import type { Tank } from "./tank.ts";

/**
 * The mail settings are not part of `/v1`. `deletedAt`: when it was deleted; the tanks that were deleted with it have the same. Of a
 * live customer it is null, unless many tanks are being deleted or restored with it, in parts.
 */
export type CustomerState = {
  readonly customer: Customer;
  readonly deleted: boolean;
  readonly deletedAt: Instant | null;
  readonly notifications: NotificationSettings;
};
/** The shape and the settings for alerts are not part of `/v1`. */
export type TankState = {
  readonly tank: Tank;
  readonly deleted: boolean;
  /** Null if it is live. */
  readonly deletedAt: Instant | null;
  readonly shape: Shape | null;
  readonly alerts: TankAlertSettings;
};

/** `before` is undefined for an object that is created. */
export type Change<S> = { readonly id: string; readonly before: S | undefined; readonly after: S };

/** The differences between two states of a set of objects. */
export function changesBetween<S>(before: ReadonlyMap<string, S>, after: ReadonlyMap<string, S>): Change<S>[] {
  return [...after]
    .filter(([id, state]) => before.get(id) !== state)
    .map(([id, state]) => ({ id, before: before.get(id), after: state }));
}

/** Not a new tank: only the devices that it gets can have readings for it. */
export function isReshaped({ before, after }: Change<TankState>): boolean {
  return before !== undefined && !isDeepStrictEqual(before.shape, after.shape);
}

/** The live tank gives up its device. Devices are released before any is assigned, so that tanks can swap them. */
export function releasesDevice({ before, after }: Change<TankState>): boolean {
  if (before === undefined || before.deleted) return false;
  return after.deleted || before.tank.assigned_device_id !== after.tank.assigned_device_id;
}

/** The key of the device that is assigned to the tank; a deleted tank has none. */
function deviceOf(state: TankState | undefined): string | undefined {
  return state === undefined || state.deleted ? undefined : deviceKey(state.tank.assigned_device_id);
}

/** The keys of all devices that these changes release or assign. */
export function affectedDevices(changes: readonly Change<TankState>[]): string[] {
  const keys = changes.flatMap(({ before, after }) => [deviceOf(before), deviceOf(after)]);
  return [...new Set(keys)].filter((key) => key !== undefined);
}

export function deviceMoves(
  changes: readonly Change<TankState>[],
  devices: ReadonlyMap<string, { readonly device: Device }>,
  at: Instant,
): DeviceMove[] {
  const tankOf = new Map<string, string | null>();
  for (const { id, before } of changes) {
    const key = deviceOf(before);
    // In a damaged database two tanks may name one device: it stays where it is.
    if (key !== undefined && (devices.get(key)?.device.tank_id ?? id) === id) tankOf.set(key, null);
  }
  for (const { id, after } of changes) {
    const key = deviceOf(after);
    if (key !== undefined) tankOf.set(key, id);
  }
  return [...tankOf].flatMap(([key, tankId]) => {
    const known = devices.get(key)?.device;
    return known !== undefined && known.tank_id === tankId ? [] : [moveDevice(known ?? unknownDevice(key), tankId, at)];
  });
}

/**
 * The tanks that get another device, in groups that may be stored one after the other: a tank that releases a device comes before
 * the one that gets it, and tanks that swap devices are one group.
 */
export function deviceChangeGroups(
  changes: readonly Change<TankState>[],
  devices: ReadonlyMap<string, { readonly device: Device }>,
): string[][] {
  const newDevices = new Map(
    changes.filter(releasesDevice).map(({ id, after }) => [id, deviceKey(after.tank.assigned_device_id)]),
  );
  const groups: string[][] = [];
  const grouped = new Set<string>();
  for (const first of newDevices.keys()) {
    if (grouped.has(first)) continue;
    // Follow the tanks that must release a device first, to a device that is free, to a tank in a group, or back to the first: a swap.
    const waiting: string[] = [];
    let next: string | null | undefined = first;
    while (typeof next === "string" && newDevices.has(next) && !grouped.has(next)) {
      grouped.add(next);
      waiting.push(next);
      next = devices.get(newDevices.get(next) ?? "")?.device.tank_id;
    }
    if (next === first) groups.push(waiting);
    else for (const id of waiting.reverse()) groups.push([id]);
  }
  return groups;
}

/** Whether every field of `one` has the same value in `other`. */
export function hasSameFields(one: object, other: object): boolean {
  return Object.entries(one).every(([name, value]) => {
    const known = (other as Record<string, unknown>)[name];
    if (value === known || Array.isArray(value)) return isDeepStrictEqual(value, known);
    return (
      typeof value === "object" && value !== null && typeof known === "object" && known !== null && hasSameFields(value, known)
    );
  });
}
