// The customers and tanks of the demo, derived from a seed. This folder fills a store; it knows neither HTTP nor commands.

import type { Customer } from "../domain/customer.ts";
import { DAY, type Instant } from "../domain/instant.ts";
import type { CapacityUnit, Location, Tank, UseCase } from "../domain/tank.ts";
import { type Random, type Seed, seeded } from "../simulate/random.ts";
import { type Country, countryOf, type DemoTown, TOWNS } from "./countries.ts";
import { YEAR } from "./tank-model.ts";

const CUSTOMERS = 200;
const TANKS = 500;
const DELETED_CUSTOMERS = 6;
const DELETED_TANKS = 15;
/** Customers are older than the year of readings. */
const CUSTOMER_AGE = { min: YEAR + 31 * DAY, max: 3 * YEAR };
const MIN_AGE_OF_FULL_HISTORY = YEAR + DAY;
/** About two kilometres, in degrees. */
const DISTANCE_FROM_TOWN = 0.02;

type Kind = "household" | "business" | "factory" | "housing";
type DemoCustomer = { readonly customer: Customer; deleted: boolean; readonly kind: Kind; readonly home: DemoTown };
type DemoFleet = {
  readonly customers: { readonly customer: Customer; readonly deleted: boolean }[];
  readonly tanks: { readonly tank: Tank; readonly deleted: boolean }[];
};

/** Relative chances of owning more than one tank. */
const MORE_TANKS_WEIGHT: Readonly<Record<Kind, number>> = { household: 1, business: 6, factory: 15, housing: 60 };
/** What the tanks of a kind are mostly and sometimes used for. */
const USE_CASES: Readonly<Record<Kind, readonly [UseCase, UseCase]>> = {
  household: ["residential", "residential"],
  business: ["commercial", "commercial"],
  factory: ["industrial", "commercial"],
  housing: ["residential", "commercial"],
};
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

/** Both lists are oldest first. */
export function createFleet(seed: Seed, now: Instant): DemoFleet {
  const customers = createCustomers(seeded(`${seed}/customers`), now);
  const tanks = createTanks(customers, seeded(`${seed}/tanks`), now);
  return { customers: customers.map(({ customer, deleted }) => ({ customer, deleted })), tanks };
}

/** Sorted by date before ids are given, so that ids rise with creation dates. */
function createCustomers(random: Random, now: Instant): DemoCustomer[] {
  const { min, max } = CUSTOMER_AGE;
  const dates = Array.from({ length: CUSTOMERS }, () => Math.floor(now - random.between(min, max)));
  const usedNames = new Set<string>();
  const customers = dates
    .sort((a, b) => a - b)
    .map((created_at, i): DemoCustomer => {
      const home = random.pick(TOWNS);
      const kind = customerKind(random);
      const customer = {
        id: `cus_demo${String(i + 1).padStart(3, "0")}`,
        ...nameAndEmail(kind, home, usedNames, random),
        phone: random.chance(0.85) ? home.phone.replace(/#/g, () => String(random.whole(0, 9))) : null,
        ...customerDates(created_at, random, now),
      };
      return { customer, deleted: false, kind, home };
    });
  // Never the first, which examples use.
  const households = customers.filter(({ kind }, i) => kind === "household" && i > 0);
  for (let deleted = 0; deleted < DELETED_CUSTOMERS; ) {
    const chosen = random.pick(households);
    if (!chosen.deleted) deleted++;
    chosen.deleted = true;
  }
  return customers;
}

function customerKind(random: Random): Kind {
  const draw = random.next();
  if (draw < 0.62) return "household";
  if (draw < 0.86) return "business";
  return draw < 0.95 ? "factory" : "housing";
}

function nameAndEmail(kind: Kind, home: DemoTown, used: Set<string>, random: Random): { name: string; email: string } {
  const { families, firstNames, mailboxes, businesses, factories, housing } = countryOf(home.country);
  const companies = { business: businesses, factory: factories, housing };
  let [family, first] = ["", ""];
  const name = unused(used, () => {
    [family, first] = [random.pick(families), random.pick(firstNames)];
    const pattern = kind === "household" ? "{first} {family}" : random.pick(companies[kind]);
    return pattern.replace("{first}", first).replace("{family}", family).replace("{city}", home.city);
  });
  const email =
    kind === "household"
      ? `${emailPart(first)}.${emailPart(family)}@${random.pick(["mail", "post", "home"])}.example`
      : `${random.pick(mailboxes)}@${emailPart(name)}.example`;
  return { name, email };
}

/** The first result that is not in the set, which it is added to. */
function unused(used: Set<string>, create: (attempt: number) => string): string {
  for (let attempt = 1; ; attempt++) {
    const created = create(attempt);
    if (used.has(created)) continue;
    used.add(created);
    return created;
  }
}

const UMLAUTS: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ß: "ss" };

function emailPart(name: string): string {
  return name
    .toLowerCase()
    .replace(/[äöüß]/g, (letter) => UMLAUTS[letter] ?? letter)
    .normalize("NFD")
    .replace(/[\p{M}.']/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

type CustomerDates = Pick<Customer, "created_at" | "verified_at" | "last_seen_at" | "updated_at">;

function customerDates(created_at: Instant, random: Random, now: Instant): CustomerDates {
  const verified_at = random.chance(0.9) ? Math.floor(created_at + random.between(0.001, 1) ** 4 * 5 * DAY) : null;
  const since = verified_at ?? created_at;
  const updated_at = random.chance(0.5) ? Math.floor(random.between(since, now)) : since;
  const isSeen = random.chance(verified_at === null ? 0.2 : 0.92);
  // The cube makes recent visits more likely.
  const last_seen_at = isSeen ? Math.floor(now - random.next() ** 3 * (now - since)) : null;
  return { created_at, verified_at, last_seen_at, updated_at };
}

function createTanks(customers: readonly DemoCustomer[], random: Random, now: Instant): DemoFleet["tanks"] {
  const drafts = ownersOf(customers, random).map((owner) => ({ owner, created_at: createdAt(owner, random, now) }));
  drafts.sort((a, b) => a.created_at - b.created_at);
  const deleted = new Set(drafts.flatMap(({ owner }, i) => (owner.deleted ? [i] : [])));
  // Never the first, which examples use.
  while (deleted.size < DELETED_TANKS) deleted.add(random.whole(1, TANKS - 1));
  const usedDevices = new Set<string>();
  const usedNames = new Map(customers.map((owner) => [owner, new Set<string>()]));
  return drafts.map(({ owner, created_at }, i) => {
    const town = townOf(owner, random);
    const country = countryOf(town.country);
    const useCase = USE_CASES[owner.kind][random.chance(0.85) ? 0 : 1];
    const address = addressIn(country, random);
    const name = owner.kind === "housing" ? addressLine(address, country) : random.pick(country.tankNames[useCase]);
    const tank: Tank = {
      id: `tank_demo${String(i + 1).padStart(3, "0")}`,
      assigned_device_id: unused(usedDevices, () => deviceId(random)),
      capacity: random.pick(CAPACITIES[country.unit][useCase]),
      capacity_unit: country.unit,
      created_at,
      custom_id: random.chance(0.4) ? `${random.pick(["T", "GT", "LPG"])}-${random.whole(1000, 9999)}` : null,
      location: locationNear(town, address, random),
      min_fill_alert_percentage: random.chance(0.7) ? random.pick([15, 20, 25, 30]) : random.whole(10, 35),
      name: unused(usedNames.get(owner) ?? new Set(), (attempt) => (attempt === 1 ? name : `${name} (${attempt})`)),
      owner_id: owner.customer.id,
      updated_at: random.chance(0.4) ? Math.floor(random.between(created_at, now)) : created_at,
      use_case: random.chance(0.92) ? useCase : null,
    };
    return { tank, deleted: deleted.has(i) };
  });
}

function ownersOf(customers: readonly DemoCustomer[], random: Random): DemoCustomer[] {
  const owners = customers.filter((customer) => customer.kind === "housing" || !random.chance(0.07));
  const weighted = owners.flatMap((owner) =>
    owner.deleted ? [] : Array.from({ length: MORE_TANKS_WEIGHT[owner.kind] }, () => owner),
  );
  while (owners.length < TANKS) owners.push(random.pick(weighted));
  return owners;
}

function createdAt(owner: DemoCustomer, random: Random, now: Instant): Instant {
  const { created_at } = owner.customer;
  const isNew = !owner.deleted && random.chance(0.05);
  const [from, to] = isNew ? [now - 340 * DAY, now - 20 * DAY] : [created_at, now - MIN_AGE_OF_FULL_HISTORY];
  return Math.floor(random.between(from, to));
}

function townOf(owner: DemoCustomer, random: Random): DemoTown {
  if (owner.kind === "household" || random.chance(0.75)) return owner.home;
  return random.pick(TOWNS.filter((town) => town.country === owner.home.country));
}

type Address = { readonly street: string; readonly street_number: string };

function addressIn({ streets }: Country, random: Random): Address {
  const street_number = `${random.whole(1, 140)}${random.chance(0.1) ? random.pick(["a", "b", "c"]) : ""}`;
  return { street: random.pick(streets), street_number };
}

const addressLine = ({ street, street_number }: Address, { numberFirst }: Country): string =>
  numberFirst ? `${street_number} ${street}` : `${street} ${street_number}`;

/** Real records are rarely complete. */
function locationNear(town: DemoTown, address: Address, random: Random): Location {
  const sometimes = <T>(probability: number, value: T): T | null => (random.chance(probability) ? value : null);
  const degrees = (center: number): number => Math.round(random.normal(center, DISTANCE_FROM_TOWN) * 100_000) / 100_000;
  const coordinates = { latitude: degrees(town.latitude), longitude: degrees(town.longitude) };
  return {
    city: sometimes(0.98, town.city),
    country: sometimes(0.99, town.country),
    district: sometimes(0.6, random.pick(town.districts)),
    ...(sometimes(0.94, coordinates) ?? { latitude: null, longitude: null }),
    postal_code: sometimes(0.96, random.pick(town.postalCodes)),
    region: sometimes(0.9, town.region),
    ...(sometimes(0.93, address) ?? { street: null, street_number: null }),
  };
}

/** An EUI-64 with the prefix of a radio module that many makers use. */
function deviceId(random: Random): string {
  return `0004a3${random.whole(0, 0xff_ffff_ffff).toString(16).padStart(10, "0")}`;
}
