// Customers and tanks as they may change: few instants, e-mails and owners, so that lists grow long and ties abound; one at
// a time and by the thousand; deleted, restored, moved, renamed, sent again.

import type { CustomerRecord, TankRecord } from "../../../src/domain/records.ts";
import type { Random } from "../../../src/simulate/random.ts";
import type { NaiveStore } from "../conformance/model.ts";
import { customer, NEW_YEAR, tank } from "../conformance/objects.ts";
import { shuffled, TELLING, WITNESS, weighted } from "./some-readings.ts";
import type { Write } from "./write.ts";

export const EMAILS = ["many@customers.example", "few@customers.example", "é@customers.example"];
export const OWNERS = ["owner", "other owner", "Owner", "third"];
const STARTS = ["", "a", "A", "z", "é", "\ufffd", "😀", "\u{10000}"];
const INSTANTS = [NEW_YEAR, NEW_YEAR, NEW_YEAR + 1, NEW_YEAR - 1, 0, Date.parse("0000-01-01T00:00:00Z")];

const instant = (random: Random): number => (random.chance(0.7) ? random.pick(INSTANTS) : random.whole(-1e12, NEW_YEAR));
const often = <T>(random: Random, [first, ...others]: readonly [T, ...T[]]): T =>
  random.chance(0.6) ? first : random.pick(others);
const email = (random: Random): string => often(random, EMAILS as [string, ...string[]]);
const owner = (random: Random): string => often(random, OWNERS as [string, ...string[]]);

/** Bounds the lists: above `most` entries more go than come. */
export type Size = { readonly most: number; readonly bulk: number };

/** How many: one, a few, or a bulk. */
const howMany = (random: Random, { bulk }: Size): number =>
  weighted(random, [
    [6, 1],
    [3, random.whole(2, 5)],
    [1, random.whole(1, bulk)],
  ]);

/** Some of a list: neighbours, or any. */
function some<T>(random: Random, list: readonly T[], count: number): readonly T[] {
  if (list.length === 0) return [];
  if (random.chance(0.3)) return shuffled(random, list).slice(0, count);
  const from = random.whole(0, Math.max(0, list.length - count));
  return list.slice(from, from + count);
}

const newNames = (random: Random, known: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${random.pick(STARTS)}${known + i}`);

export function newCustomers(random: Random, model: NaiveStore, count: number): Write {
  const shared = random.chance(0.5) ? { email: email(random), created_at: instant(random) } : undefined;
  const records = newNames(random, model.everyCustomer().length, count).map((id): CustomerRecord => {
    return { customer: customer(id, shared ?? { email: email(random), created_at: instant(random) }), deleted: false };
  });
  return { kind: "customers", records };
}

export function newTanks(random: Random, model: NaiveStore, count: number): Write {
  const shared = random.chance(0.5) ? { owner: owner(random), created_at: instant(random) } : undefined;
  const records = newNames(random, model.everyTank().length, count).map((id): TankRecord => {
    const { owner: of, created_at } = shared ?? { owner: owner(random), created_at: instant(random) };
    return { tank: tank(id, of, { created_at }), deleted: false };
  });
  return { kind: "tanks", records };
}

function redated<T extends { readonly updated_at: number }>(one: T, created_at: number): T {
  return { ...one, created_at, updated_at: Math.max(one.updated_at, created_at) };
}

type Change = "new" | "remove" | "restore" | "move" | "redate" | "again";
const CHANGES: readonly (readonly [number, Change])[] = [
  [4, "new"],
  [3, "remove"],
  [3, "restore"],
  [3, "move"],
  [3, "redate"],
  [1, "again"],
];

const changeFor = (random: Random, entries: number, { most }: Size): Change =>
  entries > most ? "remove" : weighted(random, CHANGES);

/** The owners of tanks may come and go; the tanks stay theirs. */
export function someCustomers(random: Random, model: NaiveStore, size: Size): Write {
  const live = model.customers();
  const change = changeFor(random, live.length, size);
  const count = live.length > size.most ? random.whole(live.length >> 1, live.length) : howMany(random, size);
  if (change === "new") return newCustomers(random, model, count);
  if (change === "remove") {
    return { kind: "customers", records: [...some(random, live, count).map(({ id }) => ({ remove: id })), { remove: "nobody" }] };
  }
  if (change === "restore") {
    const gone = model.everyCustomer().filter(({ deleted }) => deleted);
    return { kind: "customers", records: some(random, gone, count).map(({ customer }) => ({ customer, deleted: false })) };
  }
  const to = email(random);
  const changed = some(random, live, count).map((one) => {
    if (change === "move") return { ...one, email: random.chance(0.7) ? to : email(random) };
    return change === "redate" ? redated(one, instant(random)) : one;
  });
  return { kind: "customers", records: changed.map((one) => ({ customer: one, deleted: random.chance(0.02) })) };
}

export function someTanks(random: Random, model: NaiveStore, size: Size): Write {
  const live = model.tanks().filter(({ id }) => id !== WITNESS);
  const change = changeFor(random, live.length, size);
  const count = live.length > size.most ? random.whole(live.length >> 1, live.length) : howMany(random, size);
  if (change === "new") return newTanks(random, model, count);
  if (change === "remove") {
    return { kind: "tanks", records: [...some(random, live, count).map(({ id }) => ({ remove: id })), { remove: "nobody" }] };
  }
  if (change === "restore") {
    const gone = model.everyTank().filter(({ deleted }) => deleted);
    const telling = gone.filter(({ tank }) => TELLING.includes(tank.id));
    return { kind: "tanks", records: [...telling, ...some(random, gone, count)].map(({ tank }) => ({ tank, deleted: false })) };
  }
  const to = random.chance(0.05) ? "nobody" : owner(random);
  const changed = some(random, live, count).map((one) => {
    if (change === "move") return { ...one, owner_id: random.chance(0.7) ? to : owner(random) };
    return change === "redate" ? redated(one, instant(random)) : one;
  });
  return { kind: "tanks", records: changed.map((one) => ({ tank: one, deleted: random.chance(0.02) })) };
}
