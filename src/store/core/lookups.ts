// Lookups for the rules: repeated ids are asked for once, and ids that no object can have are not asked for at all.

import { isPossibleId } from "../../domain/id.ts";
import type { Lookups } from "../../domain/lookups.ts";

export function lookupsOn(tx: Lookups): Lookups {
  const cleaned =
    <T>(lookup: (ids: readonly string[]) => Promise<T>) =>
    (ids: readonly string[]): Promise<T> =>
      lookup([...new Set(ids)].filter(isPossibleId));
  return {
    customers: cleaned(tx.customers),
    tanks: cleaned(tx.tanks),
    tanksOfOwners: cleaned(tx.tanksOfOwners),
    tanksDeletedWith: cleaned(tx.tanksDeletedWith),
    devices: cleaned(tx.devices),
    assignments: cleaned(tx.assignments),
    devicesWithPending: tx.devicesWithPending,
    keys: cleaned(tx.keys),
  };
}
