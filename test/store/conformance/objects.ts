// Objects with all fields, and calls with all parameters: each test gives only those that matter to it.

import assert from "node:assert/strict";
import type { AlertQuery, NotificationQuery } from "../../../src/domain/alerts/reads.ts";
import type { Customer } from "../../../src/domain/customer.ts";
import type { FleetQuery } from "../../../src/domain/fleet.ts";
import { type Key, type Scope, UNRESTRICTED } from "../../../src/domain/key.ts";
import type { AuditQuery, TankSearch } from "../../../src/domain/management-reads.ts";
import type { PageQuery } from "../../../src/domain/page.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import type { CustomerRecord, TankRecord } from "../../../src/domain/records.ts";
import type { CheckTotals, CustomerQuery, ExportRecord, Finding, Store, Writes } from "../../../src/domain/store.ts";
import type { Tank } from "../../../src/domain/tank.ts";
import { updateWholeOrder } from "../../support/fleet-order.ts";

export const DAY = 86_400_000;
export const NEW_YEAR = Date.parse("2026-01-01T00:00:00Z");

export function customer(id: string, fields: Partial<Customer> = {}): Customer {
  return {
    id,
    created_at: NEW_YEAR,
    email: "office@customers.example",
    last_seen_at: null,
    name: `Customer ${id}`,
    phone: null,
    updated_at: fields.created_at ?? NEW_YEAR,
    verified_at: null,
    ...fields,
  };
}

export function tank(id: string, owner: string, fields: Partial<Tank> = {}): Tank {
  return {
    id,
    assigned_device_id: `device of ${id}`,
    capacity: 2700,
    capacity_unit: "liters",
    created_at: NEW_YEAR,
    custom_id: null,
    location: {
      city: null,
      country: null,
      district: null,
      latitude: null,
      longitude: null,
      postal_code: null,
      region: null,
      street: null,
      street_number: null,
    },
    min_fill_alert_percentage: 20,
    name: `Tank ${id}`,
    owner_id: owner,
    updated_at: fields.created_at ?? NEW_YEAR,
    use_case: null,
    ...fields,
  };
}

export function key(id: string, fields: Partial<Key> = {}): Key {
  return {
    id,
    name: `Key ${id}`,
    role: "read",
    customer_id: null,
    device_id: null,
    rate: null,
    created_at: NEW_YEAR,
    expires_at: null,
    revoked_at: null,
    replaced_by: null,
    ...fields,
  };
}

export const putCustomers = (store: Writes, ...customers: Customer[]) => store.importCustomers(customers.map(live));
export const putTanks = (store: Writes, ...tanks: Tank[]) =>
  store.importTanks(tanks.map((one): TankRecord => ({ tank: one, deleted: false })));

const live = (one: Customer): CustomerRecord => ({ customer: one, deleted: false });

export const WHOLE: PageQuery = { from: undefined, to: undefined, page: 1, size: 100 };
export const scopeOf = (customerId: string): Scope => ({ customerId });

export const customersOf = (store: Store, query: Partial<CustomerQuery> = {}, scope: Scope = UNRESTRICTED) =>
  store.customerPage({ ...WHOLE, email: undefined, ...query }, scope);

export const tanksOf = (store: Store, query: Partial<PageQuery> = {}, scope: Scope = UNRESTRICTED) =>
  store.tankPage({ ...WHOLE, ...query }, scope);

/** Every management read, with each of its filters. */
export const managementQueries = (store: Store): Readonly<Record<string, () => Promise<unknown>>> => ({
  managedCustomer: () => store.managedCustomer("a"),
  customerSearch: () => store.customerSearch({ ...WHOLE, deleted: false, name: "c", email: undefined, search: undefined }),
  deletedCustomerSearch: () => store.customerSearch({ ...WHOLE, deleted: true, name: undefined, email: "o", search: undefined }),
  managedTank: () => store.managedTank("one"),
  tankSearch: () => store.tankSearch({ ...NO_TANK_SEARCH, name: "t", city: "u", custom_id: "x" }),
  tanksOfOwnerSearch: () => store.tankSearch({ ...NO_TANK_SEARCH, owner_id: "a" }),
  tanksOfDeviceSearch: () => store.tankSearch({ ...NO_TANK_SEARCH, device_id: "device of one" }),
  deletedTankSearch: () => store.tankSearch({ ...NO_TANK_SEARCH, deleted: true }),
  managedDevice: () => store.managedDevice("device of one"),
  deviceSearch: () => store.deviceSearch({ page: 1, size: 10, pending: undefined }),
  devicesWithPending: () => store.deviceSearch({ page: 1, size: 10, pending: true }),
  fleetPage: () => store.fleetPage(WHOLE_FLEET),
  lowFleet: () => store.fleetPage({ ...WHOLE_FLEET, state: "low" }),
  silentFleet: () => store.fleetPage({ ...WHOLE_FLEET, silentSince: 5 }),
  fleetBySilence: () => store.fleetPage({ ...WHOLE_FLEET, sort: "silent" }),
  fleetOfOwner: () => store.fleetPage({ ...WHOLE_FLEET, owner_id: "a", state: "ok" }),
  fleetWithAlert: () => store.fleetPage({ ...WHOLE_FLEET, alert: "low" }),
  ownFleetWithAlert: () => store.fleetPage({ ...WHOLE_FLEET, owner_id: "a", alert: "low" }),
  ownFleetOfArea: () => store.fleetPage({ ...WHOLE_FLEET, owner_id: "a", area: { west: 7, south: 47, east: 8, north: 48 } }),
  ownFleetSearch: () => store.fleetPage({ ...WHOLE_FLEET, owner_id: "a", search: "b 030" }),
  alertCounts: () => store.alertCounts(UNRESTRICTED),
  ownAlertCounts: () => store.alertCounts({ customerId: "a" }),
  fleetOfCity: () => store.fleetPage({ ...WHOLE_FLEET, city: "u" }),
  fleetOfArea: () => store.fleetPage({ ...WHOLE_FLEET, area: { west: 7, south: 47, east: 8, north: 48 } }),
  fleetWithoutPosition: () => store.fleetPage({ ...WHOLE_FLEET, area: "none" }),
  fleetMap: () => store.fleetMap({ now: 5, soonBy: 5, silentAfter: 5 }, UNRESTRICTED),
  ownFleetMap: () => store.fleetMap({ now: 5, soonBy: 5, silentAfter: 5 }, scopeOf("a")),
  scanFleet: () => store.scanFleet("", 5),
  dueForecasts: () => store.dueForecasts(5, 5),
  fleetOrderState: () => store.fleetOrderState(),
  fleetCounts: () => store.fleetCounts(5),
  fleetEntry: () => store.fleetEntry("one", UNRESTRICTED),
  alertById: () => store.alertById("alr", UNRESTRICTED),
  alertsNotClosed: () => store.alertsNotClosed(["one", "two"]),
  alertPage: () => store.alertPage(ALL_ALERTS, UNRESTRICTED),
  alertsByState: () => store.alertPage({ ...ALL_ALERTS, state: "closed" }, UNRESTRICTED),
  alertsOfKind: () => store.alertPage({ ...ALL_ALERTS, kind: "low" }, UNRESTRICTED),
  alertsOfTank: () => store.alertPage({ ...ALL_ALERTS, tank_id: "one", from: 5 }, UNRESTRICTED),
  ownAlerts: () => store.alertPage(ALL_ALERTS, scopeOf("a")),
  eventFeed: () => store.eventFeed({ after: 1, size: 10 }, UNRESTRICTED),
  ownEventFeed: () => store.eventFeed({ after: 1, size: 10 }, scopeOf("a")),
  auditPage: () => store.auditPage(WHOLE_LOG),
  auditOfObject: () => store.auditPage({ ...WHOLE_LOG, object: "tank", id: "one", from: 0 }),
  auditBy: () => store.auditPage({ ...WHOLE_LOG, by: "import" }),
  channelList: () => store.channelList(),
  channelStatus: () => store.channelStatus({ id: "chn", type: "webhook" }),
  notificationById: () => store.notificationById("msg"),
  notificationPage: () => store.notificationPage(ALL_NOTIFICATIONS),
  notificationsOfChannel: () => store.notificationPage({ ...ALL_NOTIFICATIONS, channel_id: "chn" }),
  notificationsOfCustomer: () => store.notificationPage({ ...ALL_NOTIFICATIONS, customer_id: "a", state: "failed" }),
  notificationsInState: () => store.notificationPage({ ...ALL_NOTIFICATIONS, state: "pending", from: 0 }),
  notificationsOfAlert: () => store.notificationPage({ ...ALL_NOTIFICATIONS, alert_id: "alr", channel_id: "chn" }),
});

export const NO_TANK_SEARCH: TankSearch = {
  ...WHOLE,
  deleted: false,
  name: undefined,
  city: undefined,
  custom_id: undefined,
  owner_id: undefined,
  device_id: undefined,
};
export const ALL_ALERTS: AlertQuery = { ...WHOLE, state: undefined, kind: undefined, tank_id: undefined, owner_id: undefined };
export const ALL_NOTIFICATIONS: NotificationQuery = {
  ...WHOLE,
  channel_id: undefined,
  customer_id: undefined,
  alert_id: undefined,
  state: undefined,
};
export const WHOLE_LOG: AuditQuery = { ...WHOLE, by: undefined, object: undefined, id: undefined };
export const WHOLE_FLEET: FleetQuery = {
  page: 1,
  size: 100,
  sort: "urgency",
  state: undefined,
  silentSince: undefined,
  owner_id: undefined,
  city: undefined,
  alert: undefined,
  search: undefined,
  area: undefined,
};

/** A page of the fleet in the order of the latest readings. */
export async function fleetOf(store: Store, query: Partial<FleetQuery> = {}) {
  await updateWholeOrder(store, Date.now());
  return store.fleetPage({ ...WHOLE_FLEET, ...query });
}

/** Of a tank in scope. */
export async function readingsOf(store: Store, tankId: string, query: Partial<PageQuery> = {}, scope = UNRESTRICTED) {
  const page = await store.telemetryPage(tankId, { ...WHOLE, ...query }, scope);
  assert.ok(typeof page === "object", `the telemetry of ${tankId} is ${page}`);
  return page;
}

/** The instants and fills of a tank's readings, oldest first. */
export async function fillsOf(store: Store, tankId: string): Promise<[at: number, fill: number][]> {
  const { data } = await readingsOf(store, tankId);
  return data.map(({ created_at, fill_percentage }): [number, number] => [created_at, fill_percentage]).reverse();
}

/** The pending and the dropped readings of a device; undefined for an unknown device. */
export async function pendingCounts(store: Store, device: string): Promise<[pending: number, dropped: number] | undefined> {
  const found = await store.managedDevice(device);
  return found && [found.pending, found.dropped];
}

export async function tankCounts(store: Store, ...ids: string[]): Promise<(number | "deleted" | undefined)[]> {
  const found = await Promise.all(ids.map((id) => store.customerById(id, UNRESTRICTED)));
  return found.map((one) => (typeof one === "object" ? one.tank_count : one));
}

/** The whole export, with all readings of a tank in one record. */
export async function everything(store: Store): Promise<ExportRecord[]> {
  const found: ExportRecord[] = [];
  for await (const record of store.exportRecords()) {
    const last = found.at(-1);
    if (record.kind === "readings" && last?.kind === "readings" && last.tankId === record.tankId) {
      found[found.length - 1] = { ...last, readings: [...last.readings, ...record.readings] };
    } else found.push(record);
  }
  return found;
}

/** What a check reports. */
export async function checked(
  store: Store,
  repair = false,
  progress: (done: number, total: number) => void = () => {},
): Promise<{ findings: Finding[]; census: CheckTotals }> {
  const findings: Finding[] = [];
  const run = store.check(repair, progress);
  for (;;) {
    const { done, value } = await run.next();
    if (done === true) return { findings, census: value };
    findings.push(value);
  }
}

export const reading = (created_at: number, fill_percentage: number): Reading => ({ created_at, fill_percentage });
