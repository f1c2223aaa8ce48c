// Lookups for the rules: each id is looked up once, and impossible ids are not looked up. Damaged
// objects are errors, so that nothing is decided on them or written with a new checksum.

import { DamageError } from "../../domain/errors.ts";
import { isPossibleId } from "../../domain/id.ts";
import type { Lookups, MaybeDamaged } from "../../domain/lookups.ts";
import { lockedAlerts } from "./alerts.ts";
import type { StoreTransaction } from "./transaction.ts";

function requireIntact<T extends { values(): Iterable<MaybeDamaged<object>> }>(found: T): T {
  for (const { damage } of found.values()) if (damage !== undefined) throw new DamageError(damage);
  return found;
}

/** `withDamaged`: for imports, which replace damaged objects. */
export function lookupsOn(tx: StoreTransaction, withDamaged = false): Lookups {
  const checkedLookup =
    <T extends { values(): Iterable<MaybeDamaged<object>> }>(lookup: (ids: readonly string[]) => Promise<T>) =>
    async (ids: readonly string[]): Promise<T> => {
      const found = await lookup([...new Set(ids)].filter(isPossibleId));
      return withDamaged ? found : requireIntact(found);
    };
  return {
    ...tx,
    customers: checkedLookup(tx.customers),
    tanks: checkedLookup(tx.tanks),
    tanksOfOwner: async (...query) => requireIntact(await tx.tanksOfOwner(...query)),
    tanksDeletedAt: async (...query) => requireIntact(await tx.tanksDeletedAt(...query)),
    tanksDeletedWithDeviceInUse: async (...query) => requireIntact(await tx.tanksDeletedWithDeviceInUse(...query)),
    devices: checkedLookup(tx.devices),
    assignments: checkedLookup(tx.assignments),
    keys: checkedLookup(tx.keys),
    alerts: checkedLookup((ids) => lockedAlerts(tx, ids)),
    channelsById: checkedLookup(async (ids) => {
      // No channel is deleted while a notification for it is created.
      await tx.lockAlerts();
      return tx.channelsById(ids);
    }),
    notifications: checkedLookup(tx.notifications),
    sessions: checkedLookup(tx.sessions),
  };
}
