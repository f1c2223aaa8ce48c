// What rules may look up while they decide, within the transaction that stores their decision. Unknown ids are left out.

import type { Alert } from "./alerts/alert.ts";
import type { TankState } from "./changes.ts";
import type { DeviceAssignment } from "./device.ts";
import type { StoredKey } from "./key.ts";
import type { ManagedCustomer, ManagedDevice } from "./resource.ts";

/** `damage` says that what is stored is not what was written. A shape or profile is then left out. */
export type Stored<T> = T & { readonly damage?: string | undefined };

export interface Lookups {
  customers(ids: readonly string[]): Promise<ReadonlyMap<string, Stored<ManagedCustomer>>>;
  tanks(ids: readonly string[]): Promise<ReadonlyMap<string, Stored<TankState>>>;
  /** The live tanks of these customers. */
  tanksOfOwners(ids: readonly string[]): Promise<readonly Stored<TankState>[]>;
  /** The tanks that were deleted together with these customers. */
  tanksDeletedWith(ids: readonly string[]): Promise<readonly Stored<TankState>[]>;
  devices(ids: readonly string[]): Promise<ReadonlyMap<string, Stored<ManagedDevice>>>;
  /** Past assignments of these devices, oldest first. */
  assignments(deviceIds: readonly string[]): Promise<readonly Stored<DeviceAssignment>[]>;
  /** How many devices have pending readings, counted up to `limit`. Nobody else adds one until the transaction ends. */
  devicesWithPending(limit: number): Promise<number>;
  keys(ids: readonly string[]): Promise<ReadonlyMap<string, StoredKey>>;
  alerts(ids: readonly string[]): Promise<ReadonlyMap<string, Alert>>;
}

/** One object of a lookup, or undefined. */
export async function findOne<T>(
  lookup: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  id: string,
): Promise<T | undefined> {
  return (await lookup([id])).get(id);
}
