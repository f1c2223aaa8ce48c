// A fleet large enough for every kind of number that is kept beside the data, and the answers that depend on them.

import type { Store } from "../../../src/domain/store.ts";
import { at, command, createKey, executed } from "../../support/commands.ts";
import { ingest, ingestFills } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import {
  customer,
  customersOf,
  key,
  putCustomers,
  putTanks,
  readingsOf,
  scopeOf,
  tank,
  tankCounts,
  tanksOf,
  WHOLE_FLEET,
} from "../conformance/objects.ts";

export const EMAIL = "many@customers.example";
/** Of the tank "long": enough for two levels of the rank index. */
export const READINGS = 70_000;
/** Of the customer "c0": the lists of tanks then have a rank index of one level, or two. */
export const TANKS = { narrow: 300, wide: 17_000 } as const;
/** Tanks and readings where it is about what is kept beside them. */
export const SMALL = [3, 200] as const;
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** The tank "short" has a head and no blocks. */
export async function fill(store: Store, tanks: number, readings: number = READINGS): Promise<void> {
  await putCustomers(store, ...times(400, (i) => customer(`c${i}`, { email: EMAIL, created_at: i })));
  await putTanks(store, tank("long", "c1", { created_at: 1 }), tank("short", "c2", { created_at: 2 }));
  await putTanks(store, ...times(tanks, (i) => tank(`t${i}`, "c0", { created_at: i })));
  await putReadings(
    store,
    "long",
    times(readings, (i) => [i * 1000, i % 101]),
  );
  await putReadings(
    store,
    "short",
    times(50, (i) => [i * 1000, i % 101]),
  );
  await createKey(store, key("k", { customer_id: "c1" }), "hash");
  await createKey(store, key("other"), "other hash");
  await fillBeside(store);
}

/** The tank "gone" is deleted; "waits" and "strange" serve none; "moved" has served "t1", and serves "short". */
async function fillBeside(store: Store): Promise<void> {
  const now = at(Date.now());
  await store.importTanks([{ tank: tank("gone", "c1", { created_at: 3 }), deleted: true }], now);
  await ingestFills(store, "waits", [
    [1, 10],
    [2, 20],
  ]);
  await ingest(store, { device: "waits", at: 3, payload: { distance: 5 } }, { device: "strange", at: 1, fill: 5 });
  await executed(store, command.putDevice("waits", { profile: "elsys" }), now);
  await executed(store, command.putDevice("moved", { tank_id: "t1" }), now);
  await executed(store, command.putDevice("moved", { tank_id: "short", shape: SHAPE }, { swap: true }), at(now.at + 1));
}

const SHAPE = { kind: "upright", height: 2, unit: "m" };

/** Pages and totals from all over the lists: what a wrong number would make wrong. */
export async function answers(store: Store): Promise<unknown> {
  const found: unknown[] = [await tankCounts(store, "c0", "c1", "c2")];
  for (const page of [1, 2, 20, 45]) {
    for (const range of [{}, { from: 130, to: 4000 }]) {
      found.push(
        await customersOf(store, { page: Math.min(page, 4), ...range }),
        await customersOf(store, { page: Math.min(page, 4), ...range, email: EMAIL }),
        await tanksOf(store, { page, ...range }),
        await tanksOf(store, { page, ...range }, scopeOf("c0")),
      );
    }
  }
  for (const page of [1, 2, 3, 350, 699, 700]) found.push(await readingsOf(store, "long", { page }));
  for (const from of [0, 500, 127_000, 128_000, 30_000_000, 69_900_000]) {
    found.push(await readingsOf(store, "long", { from, page: 2 }), await readingsOf(store, "long", { to: from, size: 7 }));
  }
  found.push(await readingsOf(store, "short"), await readingsOf(store, "short", { from: 5000, to: 9000 }));
  found.push(...(await answersBeside(store)));
  return found;
}

async function answersBeside(store: Store): Promise<unknown[]> {
  return [
    await store.fleetPage(WHOLE_FLEET),
    await store.fleetPage({ ...WHOLE_FLEET, state: "low" }),
    await store.fleetPage({ ...WHOLE_FLEET, silentSince: 1e12, owner_id: "c1" }),
    await store.deviceSearch({ page: 1, size: 100, waiting: undefined }),
    await store.deviceSearch({ page: 1, size: 100, waiting: true }),
    await store.managedDevice("device of long"),
    await store.managedDevice("waits"),
  ];
}
