// The demo: a fleet that never was, made from a seed, with a past and a present. It knows the domain and nothing of
// stores, doors or commands; whoever runs a demo carries what is made here to a store.

import type { Customer } from "../domain/customer.ts";
import type { Instant } from "../domain/instant.ts";
import type { Tank } from "../domain/tank.ts";
import { type Seed, seeded } from "../simulate/random.ts";
import { makeCustomers } from "./customers.ts";
import { makeTanks } from "./tanks.ts";

const CUSTOMERS = 200;
const TANKS = 500;

type Fleet = {
  readonly customers: { readonly customer: Customer; readonly deleted: boolean }[];
  readonly tanks: { readonly tank: Tank; readonly deleted: boolean }[];
};

/** Both lists are oldest first. */
export function makeFleet(seed: Seed, now: Instant): Fleet {
  const customers = makeCustomers(CUSTOMERS, seeded(`${seed}/customers`), now);
  const tanks = makeTanks(TANKS, customers, seeded(`${seed}/tanks`), now);
  return { customers: customers.map(({ customer, deleted }) => ({ customer, deleted })), tanks };
}
