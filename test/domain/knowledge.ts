// What a store would know, in memory, for decisions that ask for it.

import type { TankWithShape } from "../../src/domain/changes.ts";
import type { Device, DeviceAssignment } from "../../src/domain/device.ts";
import type { Answering } from "../../src/domain/inquiry.ts";
import type { StoredKey } from "../../src/domain/key.ts";
import type { ManagedCustomer } from "../../src/domain/resource.ts";

export type Knowledge = {
  readonly customers?: readonly ManagedCustomer[];
  readonly tanks?: readonly TankWithShape[];
  /** The ids of tanks that were deleted together with their owners. */
  readonly deletedAlong?: readonly string[];
  readonly devices?: readonly Device[];
  readonly services?: readonly DeviceAssignment[];
  readonly waiting?: Readonly<Record<string, number>>;
  readonly keys?: readonly StoredKey[];
};

export function answering(known: Knowledge): Answering {
  const { customers = [], tanks = [], deletedAlong = [], devices = [], services = [], waiting = {}, keys = [] } = known;
  const ofOwners = (ids: readonly string[]) => tanks.filter(({ tank }) => ids.includes(tank.owner_id));
  return {
    customers: (ids) => chosen(customers, ids, ({ customer }) => customer.id),
    tanks: (ids) => chosen(tanks, ids, ({ tank }) => tank.id),
    tanksOfOwners: (ids) => ofOwners(ids).filter(({ deleted }) => !deleted),
    tanksDeletedWith: (ids) => ofOwners(ids).filter(({ tank }) => deletedAlong.includes(tank.id)),
    devices: (ids) => chosen(devices, ids, ({ id }) => id),
    services: (ids) => services.filter(({ device }) => ids.includes(device)),
    waiting: (ids) => new Map(Object.entries(waiting).filter(([id]) => ids.includes(id))),
    dropped: () => new Map(),
    keys: (ids) => chosen(keys, ids, ({ id }) => id),
  };
}

function chosen<T>(all: readonly T[], ids: readonly string[], idOf: (one: T) => string): Map<string, T> {
  return new Map(all.filter((one) => ids.includes(idOf(one))).map((one) => [idOf(one), one]));
}
