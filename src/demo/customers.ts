// The customers of the demo fleet: households, businesses, works and housing companies, at home in one town each.

import type { Customer } from "../domain/customer.ts";
import type { Instant } from "../domain/instant.ts";
import { DAY, YEAR } from "../simulate/durations.ts";
import type { Random } from "../simulate/random.ts";
import { type Country, countryOf } from "./countries.ts";
import { PLACES, type Place } from "./places.ts";

export type CustomerKind = "household" | "business" | "works" | "housing";

export type DemoCustomer = {
  readonly customer: Customer;
  readonly deleted: boolean;
  readonly kind: CustomerKind;
  readonly home: Place;
};

const DELETED = 6;
const OLDEST = 3 * YEAR;
/** Thirteen months: a month more than the year of readings. */
const YOUNGEST = YEAR + 31 * DAY;

/** Oldest first, so that ids and creation dates run the same way. */
export function makeCustomers(count: number, random: Random, now: Instant): DemoCustomer[] {
  const dates = Array.from({ length: count }, () => Math.floor(now - random.between(YOUNGEST, OLDEST)));
  dates.sort((a, b) => a - b);
  const drafts = dates.map((created_at) => ({ created_at, kind: kindOf(random) }));
  const deleted = deletedAmong(drafts, random);
  const taken = new Set<string>();
  return drafts.map(({ created_at, kind }, i) => {
    const home = random.pick(PLACES);
    const customer: Customer = {
      id: `cus_demo${String(i + 1).padStart(3, "0")}`,
      ...callingCard(kind, home, taken, random),
      phone: random.chance(0.85) ? home.phone.replace(/#/g, () => String(random.whole(0, 9))) : null,
      ...customerDates(created_at, random, now),
    };
    return { customer, deleted: deleted.has(i), kind, home };
  });
}

function kindOf(random: Random): CustomerKind {
  const draw = random.next();
  if (draw < 0.62) return "household";
  if (draw < 0.86) return "business";
  return draw < 0.95 ? "works" : "housing";
}

/** Households leave; the very first customer stays, since examples name it. */
function deletedAmong(drafts: readonly { readonly kind: CustomerKind }[], random: Random): Set<number> {
  const candidates = drafts.flatMap(({ kind }, i) => (kind === "household" && i > 0 ? [i] : []));
  const deleted = new Set<number>();
  while (deleted.size < Math.min(DELETED, candidates.length)) deleted.add(random.pick(candidates));
  return deleted;
}

function callingCard(kind: CustomerKind, home: Place, taken: Set<string>, random: Random): { name: string; email: string } {
  const country = countryOf(home.country);
  for (;;) {
    const family = random.pick(country.families);
    const first = random.pick(country.language.firstNames);
    const name = kind === "household" ? `${first} ${family}` : firmName(kind, family, home, country, random);
    if (taken.has(name)) continue;
    taken.add(name);
    const email =
      kind === "household"
        ? `${mailName(first)}.${mailName(family)}@${random.pick(["mail", "post", "home"])}.example`
        : `${random.pick(country.language.mailboxes)}@${mailName(name)}.example`;
    return { name, email };
  }
}

function firmName(
  kind: Exclude<CustomerKind, "household">,
  family: string,
  home: Place,
  country: Country,
  random: Random,
): string {
  const patterns = { business: country.businesses, works: country.works, housing: country.housing };
  return random.pick(patterns[kind]).replace("{family}", family).replace("{city}", home.city);
}

const UMLAUTS: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ß: "ss" };

function mailName(name: string): string {
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
  const changed = random.chance(0.5) ? Math.floor(random.between(since, now)) : since;
  const seen = random.chance(verified_at === null ? 0.2 : 0.92);
  // Most were here lately: the cube draws the age of the last visit towards zero.
  const last_seen_at = seen ? Math.floor(now - random.next() ** 3 * (now - since)) : null;
  return { created_at, verified_at, last_seen_at, updated_at: changed };
}
