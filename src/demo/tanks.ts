// The tanks of the demo fleet: who owns how many, where they stand, what they are called and how much they hold.

import type { Instant } from "../domain/instant.ts";
import type { CapacityUnit, Tank, UseCase } from "../domain/tank.ts";
import { DAY, YEAR } from "../simulate/durations.ts";
import type { Random } from "../simulate/random.ts";
import { countryOf } from "./countries.ts";
import type { CustomerKind, DemoCustomer } from "./customers.ts";
import { gapsIn, locationNear } from "./location.ts";
import { PLACES, type Place } from "./places.ts";

type DemoTank = { readonly tank: Tank; readonly deleted: boolean };

const DELETED = 15;
/** A day more than the year of readings. */
const SETTLED = YEAR + DAY;

export function makeTanks(count: number, customers: readonly DemoCustomer[], random: Random, now: Instant): DemoTank[] {
  const drafts = ownersOf(count, customers, random).map((owner) => ({ owner, created_at: builtAt(owner, random, now) }));
  drafts.sort((a, b) => a.created_at - b.created_at);
  const deleted = deletedAmong(drafts, random);
  const devices = new Set<string>();
  const names = new Set<string>();
  return drafts.map(({ owner, created_at }, i) => {
    const place = placeOf(owner, random);
    const country = countryOf(place.country);
    const useCase = useCaseOf(owner.kind, random);
    const location = locationNear(place, random);
    const address = country.numberFirst ? [location.street_number, location.street] : [location.street, location.street_number];
    const name = owner.kind === "housing" ? address.join(" ") : random.pick(country.language.tankNames[useCase]);
    const tank: Tank = {
      id: `tank_demo${String(i + 1).padStart(3, "0")}`,
      assigned_device_id: newDevice(devices, random),
      capacity: random.pick(CAPACITIES[country.unit][useCase]),
      capacity_unit: country.unit,
      created_at,
      custom_id: random.chance(0.4) ? `${random.pick(["T", "GT", "LPG"])}-${random.whole(1000, 9999)}` : null,
      location: gapsIn(location, random),
      min_fill_alert_percentage: random.chance(0.7) ? random.pick([15, 20, 25, 30]) : random.whole(10, 35),
      name: unusedName(name, owner.customer.id, names),
      owner_id: owner.customer.id,
      updated_at: random.chance(0.4) ? Math.floor(random.between(created_at, now)) : created_at,
      use_case: random.chance(0.92) ? useCase : null,
    };
    return { tank, deleted: deleted.has(i) };
  });
}

/** Tanks beyond the first go to the big ones, by these tickets. */
const TICKETS: Readonly<Record<CustomerKind, number>> = { household: 1, business: 6, works: 15, housing: 60 };

function ownersOf(count: number, customers: readonly DemoCustomer[], random: Random): DemoCustomer[] {
  const owners = customers.filter((customer) => customer.kind === "housing" || !random.chance(0.07));
  const wheel = owners.flatMap((owner) => (owner.deleted ? [] : Array.from({ length: TICKETS[owner.kind] }, () => owner)));
  while (owners.length < count) owners.push(random.pick(wheel));
  return owners;
}

function builtAt(owner: DemoCustomer, random: Random, now: Instant): Instant {
  const { created_at } = owner.customer;
  const isNew = !owner.deleted && random.chance(0.05);
  return Math.floor(isNew ? random.between(now - 340 * DAY, now - 20 * DAY) : random.between(created_at, now - SETTLED));
}

/** The very first tank stays, since examples name it. */
function deletedAmong(drafts: readonly { readonly owner: DemoCustomer }[], random: Random): Set<number> {
  const deleted = new Set(drafts.flatMap(({ owner }, i) => (owner.deleted ? [i] : [])));
  while (deleted.size < DELETED) deleted.add(random.whole(1, drafts.length - 1));
  return deleted;
}

function placeOf(owner: DemoCustomer, random: Random): Place {
  if (owner.kind === "household" || random.chance(0.75)) return owner.home;
  return random.pick(PLACES.filter((place) => place.country === owner.home.country));
}

function useCaseOf(kind: CustomerKind, random: Random): UseCase {
  if (kind === "household") return "residential";
  if (kind === "business") return "commercial";
  if (kind === "works") return random.chance(0.85) ? "industrial" : "commercial";
  return random.chance(0.85) ? "residential" : "commercial";
}

const CAPACITIES: Readonly<Record<CapacityUnit, Readonly<Record<UseCase, readonly number[]>>>> = {
  liters: {
    residential: [1200, 1775, 2700, 2700, 4850, 4850, 6400],
    commercial: [4850, 6400, 6400, 9100, 12_500],
    industrial: [20_000, 30_000, 33_000, 50_000, 65_000, 120_000],
  },
  gallons: {
    residential: [120, 250, 320, 500, 500, 1000],
    commercial: [500, 1000, 1000, 1450, 1990],
    industrial: [6500, 12_000, 18_000, 30_000],
  },
};

/** An EUI-64, under the maker's own first digits. */
function newDevice(taken: Set<string>, random: Random): string {
  for (;;) {
    const digits = Array.from({ length: 10 }, () => random.whole(0, 15).toString(16)).join("");
    const device = random.pick(["a84041", "70b3d5", "0004a3"]) + digits;
    if (taken.has(device)) continue;
    taken.add(device);
    return device;
  }
}

/** Two tanks of one owner are told apart by a number. */
function unusedName(name: string, ownerId: string, taken: Set<string>): string {
  for (let i = 1; ; i++) {
    const candidate = i === 1 ? name : `${name} (${i})`;
    const key = `${ownerId} ${candidate}`;
    if (taken.has(key)) continue;
    taken.add(key);
    return candidate;
  }
}
