// What an operator may ask, in many ways: everything, and pages of searches by chance.

import { FLEET_STATES } from "../../../src/domain/management-reads.ts";
import type { Store } from "../../../src/domain/store.ts";
import type { Random } from "../../../src/simulate/random.ts";
import { CUSTOMERS, DEVICES, TANKS } from "./orders.ts";
import { BY } from "./steps.ts";

const ALL = { from: undefined, to: undefined, page: 1, size: 100 };

export async function everythingAsked(store: Store): Promise<Readonly<Record<string, unknown>>> {
  return {
    customers: await Promise.all(CUSTOMERS.map((id) => store.managedCustomer(id))),
    tanks: await Promise.all(TANKS.map((id) => store.managedTank(id))),
    devices: await store.deviceSearch({ ...ALL, waiting: undefined }),
    device: await Promise.all(DEVICES.map((id) => store.managedDevice(id))),
    fleet: await store.fleetPage({ ...ALL, state: undefined, silentSince: undefined, owner_id: undefined, city: undefined }),
    audit: await store.auditPage({ ...ALL, by: undefined, object: undefined, id: undefined }),
    keys: await store.keyList(),
  };
}

type Question = { readonly told: string; readonly ask: (store: Store) => Promise<unknown> };

/** The beginnings of names, in other cases too; none is that of all. */
const STARTS = ["", "a", "AL", "alp", "Ä", "ä", "b", "B%", "b_", "z\u{10ffff}", "Zoo", "TANK", "nothing"];

export function someQuestions(random: Random, now: number): Question[] {
  const maybe = <T>(some: () => T): T | undefined => (random.chance(0.35) ? some() : undefined);
  const page = () => ({ page: random.whole(1, 3), size: random.pick([1, 3, 100]) });
  const range = () => ({ from: maybe(() => now - random.whole(0, 1e8)), to: maybe(() => now - random.whole(0, 1e7)), ...page() });
  const start = () => random.pick(STARTS);
  const customers = {
    ...range(),
    deleted: random.chance(0.3),
    name: maybe(start),
    email: maybe(() => random.pick(["A@", "b", ""])),
  };
  const tanks = {
    ...range(),
    deleted: random.chance(0.3),
    name: maybe(start),
    city: maybe(start),
    custom_id: maybe(start),
    owner_id: maybe(() => random.pick(CUSTOMERS)),
    device_id: maybe(() => random.pick(DEVICES)),
  };
  const fleet = {
    ...page(),
    state: maybe(() => random.pick(FLEET_STATES)),
    silentSince: maybe(() => now - random.whole(0, 1e8)),
    owner_id: maybe(() => random.pick(CUSTOMERS)),
    city: maybe(start),
  };
  const devices = { ...page(), waiting: maybe(() => random.chance(0.5)) };
  const audit = {
    ...range(),
    by: maybe(() => random.pick([...BY, "nobody"])),
    object: maybe(() => random.pick(["customer", "tank", "device", "key"] as const)),
    id: maybe(() => random.pick([...TANKS, ...DEVICES])),
  };
  const question = (name: string, asked: object, ask: Question["ask"]) => ({ told: `${name} ${JSON.stringify(asked)}`, ask });
  return [
    question("customerSearch", customers, (store) => store.customerSearch(customers)),
    question("tankSearch", tanks, (store) => store.tankSearch(tanks)),
    question("fleetPage", fleet, (store) => store.fleetPage(fleet)),
    question("deviceSearch", devices, (store) => store.deviceSearch(devices)),
    question("auditPage", audit, (store) => store.auditPage(audit)),
  ];
}
