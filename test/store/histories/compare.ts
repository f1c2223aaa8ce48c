// What a store answers, beside what the naive model does.

import assert from "node:assert/strict";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import { PAGE_NUMBER, type Page, type PageQuery } from "../../../src/domain/page.ts";
import type { ExportRecord, Found, Reads, Store } from "../../../src/domain/store.ts";
import type { Random } from "../../../src/simulate/random.ts";
import type { NaiveStore } from "../conformance/model.ts";
import { everything, sightOf, WHOLE } from "../conformance/objects.ts";

type Asked = Reads | NaiveStore;
type Row = { readonly created_at: number };
/** One list of the interface, asked of either. */
type Series = { readonly name: string; readonly ask: (of: Asked, question: PageQuery) => Promise<Found<Page<Row>>> };

export const customersOf = (email: string | undefined): Series => ({
  name: `customers of ${email}`,
  ask: async (of, question) => of.customerPage({ ...question, email }, UNRESTRICTED),
});
export const tanksOf = (owner: string | undefined): Series => ({
  name: `tanks of ${owner}`,
  ask: async (of, question) => of.tankPage(question, owner === undefined ? UNRESTRICTED : sightOf(owner)),
});
export const telemetryOf = (tankId: string): Series => ({
  name: `telemetry of ${tankId}`,
  ask: async (of, question) => of.telemetryPage(tankId, question, UNRESTRICTED),
});

async function compare({ name, ask }: Series, question: PageQuery, store: Reads, model: NaiveStore): Promise<void> {
  const [found, expected] = [await ask(store, question), await ask(model, question)];
  assert.deepEqual(found, expected, `${name}, ${JSON.stringify(question)}: the store differs from the model`);
}

/** A page of a range whose ends are on, just before or just after entries; any page, the first, the last, or past it. */
export async function compareAnyPage(random: Random, series: Series, store: Reads, model: NaiveStore): Promise<void> {
  const total = totalOf(await series.ask(model, WHOLE));
  const bound = async (): Promise<number | undefined> => {
    if (random.chance(0.3)) return undefined;
    if (total === 0 || random.chance(0.1)) return random.pick([0, -1e15, 1e15]);
    const page = await series.ask(model, { ...WHOLE, page: random.whole(1, total), size: 1 });
    return typeof page === "object" ? (page.data[0]?.created_at ?? 0) + random.whole(-1, 1) : undefined;
  };
  const [from, to] = [await bound(), await bound()];
  const size = random.pick([1, 10, 100, random.whole(1, 100)]);
  const last = Math.max(1, Math.ceil(totalOf(await series.ask(model, { ...WHOLE, from, to })) / size));
  const page = random.pick([1, 2, last, last + 1, random.whole(1, last), random.whole(1, last), PAGE_NUMBER.maximum]);
  await compare(series, { from, to, page, size }, store, model);
}

export async function compareEveryPage(series: Series, store: Reads, model: NaiveStore, size = 100): Promise<void> {
  const pages = Math.ceil(totalOf(await series.ask(model, WHOLE)) / size);
  for (let page = 1; page <= pages + 1; page++) await compare(series, { ...WHOLE, page, size }, store, model);
}

export async function compareObjects(random: Random, store: Reads, model: NaiveStore): Promise<void> {
  const { id: customerId } = random.pick(model.everyCustomer()).customer;
  const { id: tankId, owner_id } = random.pick(model.everyTank()).tank;
  assert.deepEqual(await store.customerById(customerId, UNRESTRICTED), model.customerById(customerId, UNRESTRICTED));
  assert.deepEqual(await store.customerById(owner_id, UNRESTRICTED), model.customerById(owner_id, UNRESTRICTED));
  for (const sight of [UNRESTRICTED, sightOf(customerId), sightOf(owner_id)]) {
    assert.deepEqual(await store.tankById(tankId, sight), model.tankById(tankId, sight));
    assert.deepEqual(await store.telemetryPage(tankId, WHOLE, sight), model.telemetryPage(tankId, WHOLE, sight));
  }
}

/** All objects and readings of the export, whatever the order they were made in. */
export async function compareExport(store: Store, model: NaiveStore): Promise<void> {
  const found = (await everything(store)).filter(isOfInterface).toSorted(byName);
  const customers = model.everyCustomer().map(({ customer, deleted }): OfInterface => {
    return { kind: "customer", customer: { ...customer, tank_count: model.tanks(customer.id).length }, deleted };
  });
  const tanks = model.everyTank().map(({ tank, deleted }): OfInterface => ({ kind: "tank", tank, deleted, shape: null }));
  const readings = model.everyTank().flatMap(({ tank: { id } }): OfInterface[] => {
    const all = model.readings(id).toReversed();
    return all.length === 0 ? [] : [{ kind: "readings", tankId: id, readings: all }];
  });
  const expected = [...customers, ...tanks, ...readings].toSorted(byName);
  assert.equal(found.length, expected.length, "the number of records of the export");
  found.forEach((record, i) => {
    assert.deepEqual(record, expected[i]);
  });
}

type OfInterface = Extract<ExportRecord, { readonly kind: "customer" | "tank" | "readings" }>;
const isOfInterface = (record: ExportRecord): record is OfInterface => record.kind !== "device" && record.kind !== "waiting";

const nameOf = (record: OfInterface): string =>
  `${record.kind} ${record.kind === "customer" ? record.customer.id : record.kind === "tank" ? record.tank.id : record.tankId}`;
const byName = (a: OfInterface, b: OfInterface): number => (nameOf(a) < nameOf(b) ? -1 : 1);

const totalOf = (page: Found<Page<Row>>): number => (typeof page === "object" ? page.totalItems : 0);
