// Random reads, for a store and the model alike.

import { FLEET_SORTS, FLEET_STATES } from "../../../src/domain/fleet.ts";
import { deviceKey } from "../../../src/domain/id.ts";
import { EARLIEST, LAST_INSTANT } from "../../../src/domain/instant.ts";
import { NO_ACCESS, type Scope, UNRESTRICTED } from "../../../src/domain/key.ts";
import { PAGE_NUMBER, type PageQuery } from "../../../src/domain/page.ts";
import type { ReadingColumns } from "../../../src/domain/reading.ts";
import type { Found } from "../../../src/domain/store.ts";
import type { Random } from "../../../src/simulate/random.ts";
import { scopeOf, WHOLE, WHOLE_FLEET, WHOLE_LOG } from "../conformance/objects.ts";
import type { ModelledStore, ModelStore } from "../model.ts";
import { CUSTOMERS, DEVICES, EMAILS, NAMES, TANKS } from "./commands.ts";
import { BUSY_TANK, CALLERS } from "./steps.ts";

export type Query = { readonly description: string; readonly run: (store: ModelledStore) => Promise<unknown> };

const query = (name: string, parameters: unknown, run: Query["run"]): Query => ({
  description: `${name} ${JSON.stringify(parameters)}`,
  run,
});

/** A range whose ends are on, just before or just after entries; any page of it, the last, or one past it. */
function randomPage(random: Random, entries: readonly { readonly created_at: number }[]): PageQuery {
  const bound = (): number | undefined => {
    if (random.chance(0.4)) return undefined;
    if (entries.length === 0 || random.chance(0.1)) return random.pick([0, -1e15, 1e15]);
    return random.pick(entries).created_at + random.whole(-1, 1);
  };
  const [from = -1e16, to = 1e16] = [bound(), bound()];
  const size = random.pick([1, 3, 10, 100, random.whole(1, 100)]);
  const total = entries.filter(({ created_at: at }) => at >= from && at <= to).length;
  const last = Math.max(1, Math.ceil(total / size));
  const page = random.pick([1, 2, last, last + 1, random.whole(1, last), PAGE_NUMBER.maximum]);
  return { from: from === -1e16 ? undefined : from, to: to === 1e16 ? undefined : to, page, size };
}

/** Prefixes of names, in other cases too; the empty one matches all. */
const PREFIXES = [
  "",
  "a",
  "AL",
  "alp",
  "Ä",
  "ä",
  "b",
  "B%",
  "b_",
  "b\\",
  "z\u{10ffff}",
  "Zoo",
  "TANK",
  "Tank",
  "nothing",
  ...NAMES,
];

export function randomQueries(random: Random, model: ModelStore, now: number): Query[] {
  const maybe = <T>(value: () => T): T | undefined => (random.chance(0.35) ? value() : undefined);
  const scopes: Scope[] = [UNRESTRICTED, UNRESTRICTED, scopeOf(random.pick(CUSTOMERS)), NO_ACCESS];
  const scope = random.pick(scopes);
  const page = () => ({ page: random.pick([1, 1, 2, 3, 50]), size: random.pick([1, 7, 100]) });
  const range = () => ({ from: maybe(() => now - random.whole(0, 1e8)), to: maybe(() => now - random.whole(0, 1e7)), ...page() });
  const prefix = () => random.pick(PREFIXES);

  const tankId = random.pick([BUSY_TANK, ...TANKS, "nobody"]);
  const customerId = random.pick([...CUSTOMERS, "nobody"]);
  const deviceId = deviceKey(random.pick([...DEVICES, "nobody"]));
  const email = maybe(() => random.pick([...EMAILS, "nobody@x.example"]));
  const customerPage = { ...randomPage(random, model.customers(email)), email };
  const tankPage = randomPage(random, model.tanks(scope.customerId ?? undefined));
  const telemetryPage = randomPage(random, model.readings(tankId));
  const customers = {
    ...randomPage(random, model.customers()),
    deleted: random.chance(0.3),
    name: maybe(prefix),
    email: maybe(prefix),
    search: maybe(prefix),
  };
  const tanks = {
    ...randomPage(random, model.tanks()),
    deleted: random.chance(0.3),
    name: maybe(prefix),
    city: maybe(prefix),
    custom_id: maybe(prefix),
    owner_id: maybe(() => customerId),
    device_id: maybe(() => random.pick(DEVICES)),
  };
  const silentSince = now - random.whole(0, 1e8);
  const fleet = {
    ...page(),
    sort: random.pick(FLEET_SORTS),
    state: maybe(() => random.pick(FLEET_STATES)),
    silentSince: maybe(() => now - random.whole(0, 1e8)),
    owner_id: maybe(() => customerId),
    city: maybe(prefix),
    alert: undefined,
    search: maybe(prefix),
    area: undefined,
  };
  const devices = { ...page(), pending: maybe(() => random.chance(0.5)) };
  const audit = {
    ...range(),
    by: maybe(() => random.pick([...CALLERS, "nobody"])),
    object: maybe(() => random.pick(["customer", "tank", "device", "key"] as const)),
    id: maybe(() => random.pick([tankId, deviceId, customerId])),
  };
  return [
    query("customerPage", [customerPage, scope], (store) => store.customerPage(customerPage, scope)),
    query("tankPage", [tankPage, scope], (store) => store.tankPage(tankPage, scope)),
    query("telemetryPage", [tankId, telemetryPage, scope], (store) => store.telemetryPage(tankId, telemetryPage, scope)),
    query("readingColumns", [tankId, telemetryPage, scope], (store) => readingsIn(store, tankId, telemetryPage, scope)),
    query("customerById", [customerId, scope], (store) => store.customerById(customerId, scope)),
    query("tankById", [tankId, scope], (store) => store.tankById(tankId, scope)),
    query("customerSearch", customers, (store) => store.customerSearch(customers)),
    query("tankSearch", tanks, (store) => store.tankSearch(tanks)),
    query("fleetEntry", tankId, (store) => store.fleetEntry(tankId, scope)),
    query("fleetCounts", silentSince, (store) => store.fleetCounts(silentSince)),
    query("fleetPage", fleet, (store) => store.fleetPage(fleet)),
    query("deviceSearch", devices, (store) => store.deviceSearch(devices)),
    query("auditPage", audit, (store) => store.auditPage(audit)),
    query("newestPending", deviceId, (store) => store.newestPending(deviceId)),
  ];
}

/** All parts of the range. */
async function readingsIn(store: ModelledStore, tankId: string, { from = EARLIEST, to = LAST_INSTANT }: PageQuery, scope: Scope) {
  const readings: [number, number][] = [];
  for (let next: number | undefined = from; next !== undefined; ) {
    const part: Found<ReadingColumns> = await store.readingColumns(tankId, { from: next, to }, scope);
    if (typeof part !== "object") return part;
    for (const [i, instant] of part.instants.entries()) readings.push([instant, part.fills[i] as number]);
    next = part.next;
  }
  return readings;
}

/** All that can be read of the objects that commands refer to, and every page of the lists and of the telemetry. */
export function allQueries(model: ModelStore): Query[] {
  const everyPage = (name: string, entries: number, run: (store: ModelledStore, page: PageQuery) => Promise<unknown>): Query[] =>
    Array.from({ length: Math.ceil(entries / 100) + 1 }, (_, i) => {
      const page = { ...WHOLE, page: i + 1 };
      return query(name, page, (store) => run(store, page));
    });
  const withEmail = (email: string | undefined) =>
    everyPage(`customers of ${email}`, model.customers(email).length, (store, page) =>
      store.customerPage({ ...page, email }, UNRESTRICTED),
    );
  const ofOwner = (owner: string | undefined) =>
    everyPage(`tanks of ${owner}`, model.tanks(owner).length, (store, page) =>
      store.tankPage(page, owner === undefined ? UNRESTRICTED : scopeOf(owner)),
    );
  const ofTank = (id: string) =>
    everyPage(`telemetry of ${id}`, model.readings(id).length, (store, page) => store.telemetryPage(id, page, UNRESTRICTED));
  return [
    ...[undefined, ...EMAILS].flatMap(withEmail),
    ...[undefined, ...CUSTOMERS].flatMap(ofOwner),
    ...[...TANKS, "nobody"].flatMap(ofTank),
    ...CUSTOMERS.map((id) => query("managedCustomer", id, (store) => store.managedCustomer(id))),
    ...TANKS.map((id) => query("managedTank", id, (store) => store.managedTank(id))),
    ...DEVICES.map((id) => query("managedDevice", id, (store) => store.managedDevice(deviceKey(id)))),
    ...everyPage("fleet", model.tanks().length, (store, { page, size }) => store.fleetPage({ ...WHOLE_FLEET, page, size })),
    query("audit", {}, (store) => store.auditPage(WHOLE_LOG)),
    query("keys", {}, (store) => store.keyList()),
    query("key by hash", {}, async (store) => {
      const keys = await store.keyList();
      return Promise.all(keys.slice(0, 20).map(({ id }) => store.keyByHash(`hash ${id.slice("key-".length)}`)));
    }),
  ];
}
