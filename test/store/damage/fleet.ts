// A fleet large enough for every kind of number that is kept beside the data, and the answers that depend on them.

import type { Store } from "../../../src/domain/store.ts";
import { putReadings } from "../../support/records.ts";
import {
  customer,
  customersOf,
  key,
  putCustomers,
  putTanks,
  readingsOf,
  sightOf,
  tank,
  tankCounts,
  tanksOf,
} from "../conformance/objects.ts";

export const EMAIL = "many@customers.example";
/** Of the tank "long": enough for two levels of milestones. */
export const READINGS = 70_000;
/** Of the customer "c0": the lists of tanks then have one level of milestones, or two. */
export const TANKS = { narrow: 300, wide: 17_000 } as const;
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** The tank "short" has a head and no blocks. */
export async function fill(store: Store, tanks: number): Promise<void> {
  await putCustomers(store, ...times(400, (i) => customer(`c${i}`, { email: EMAIL, created_at: i })));
  await putTanks(store, tank("long", "c1", { created_at: 1 }), tank("short", "c2", { created_at: 2 }));
  await putTanks(store, ...times(tanks, (i) => tank(`t${i}`, "c0", { created_at: i })));
  await putReadings(
    store,
    "long",
    times(READINGS, (i) => [i * 1000, i % 101]),
  );
  await putReadings(
    store,
    "short",
    times(50, (i) => [i * 1000, i % 101]),
  );
  await store.addKey(key("k", { customer_id: "c1" }), "hash");
  await store.addKey(key("other"), "other hash");
}

/** Pages and totals from all over the lists: what a wrong number would make wrong. */
export async function answers(store: Store): Promise<unknown> {
  const found: unknown[] = [await tankCounts(store, "c0", "c1", "c2")];
  for (const page of [1, 2, 20, 45]) {
    for (const range of [{}, { from: 130, to: 4000 }]) {
      found.push(
        await customersOf(store, { page: Math.min(page, 4), ...range }),
        await customersOf(store, { page: Math.min(page, 4), ...range, email: EMAIL }),
        await tanksOf(store, { page, ...range }),
        await tanksOf(store, { page, ...range }, sightOf("c0")),
      );
    }
  }
  for (const page of [1, 2, 3, 350, 699, 700]) found.push(await readingsOf(store, "long", { page }));
  for (const from of [0, 500, 127_000, 128_000, 30_000_000, 69_900_000]) {
    found.push(await readingsOf(store, "long", { from, page: 2 }), await readingsOf(store, "long", { to: from, size: 7 }));
  }
  found.push(await readingsOf(store, "short"), await readingsOf(store, "short", { from: 5000, to: 9000 }));
  return found;
}
