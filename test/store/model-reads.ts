// The data of the model, and all reads of it.

import type { AuditEntry } from "../../src/domain/audit.ts";
import type { CustomerState, TankState } from "../../src/domain/changes.ts";
import type { Customer, CustomerWithCount } from "../../src/domain/customer.ts";
import { type Device, type DeviceAssignment, unknownDevice } from "../../src/domain/device.ts";
import type { FleetCounts, FleetEntry, FleetQuery } from "../../src/domain/fleet.ts";
import type { Instant } from "../../src/domain/instant.ts";
import type { Key, Scope, StoredKey } from "../../src/domain/key.ts";
import type { AuditQuery, CustomerSearch, DeviceSearch, TankSearch } from "../../src/domain/management-reads.ts";
import type { Page, PageQuery } from "../../src/domain/page.ts";
import type { PendingReading } from "../../src/domain/placement.ts";
import type { InstantRange, Reading, ReadingColumns } from "../../src/domain/reading.ts";
import type { ManagedCustomer, ManagedDevice } from "../../src/domain/resource.ts";
import type { CustomerQuery, ExportRecord, Found } from "../../src/domain/store.ts";
import type { Tank } from "../../src/domain/tank.ts";
import {
  cached,
  matchingAudit,
  matchingCustomers,
  matchingDevices,
  matchingFleet,
  matchingTanks,
  newestFirst,
  pageOf,
} from "./model-lists.ts";

export type StoredDevice = { readonly device: Device; readonly dropped: number };

/** What is stored. */
class ModelData {
  readonly customers = new Map<string, CustomerState>();
  readonly tanks = new Map<string, TankState>();
  readonly readings = new Map<string, Map<Instant, number>>();
  readonly devices = new Map<string, StoredDevice>();
  readonly assignments = new Map<string, DeviceAssignment[]>();
  readonly pending = new Map<string, Map<Instant, PendingReading>>();
  readonly keys = new Map<string, { readonly key: Key; readonly hash: string }>();
  readonly audit: AuditEntry[] = [];
  /** Results of sorting, until the next write. */
  readonly sortedObjects = new Map<string, readonly (Customer | Tank)[]>();
  readonly sortedReadings = new Map<string, Reading[]>();
}

export class ModelReads {
  protected readonly data = new ModelData();

  // Reads of /v1

  async customerById(id: string, { customerId }: Scope): Promise<Found<CustomerWithCount>> {
    const known = this.customerState(id);
    if (known === undefined || (customerId !== null && customerId !== id)) return undefined;
    return known.deleted ? "deleted" : known.customer;
  }

  async customerPage(query: CustomerQuery, { customerId }: Scope): Promise<Page<CustomerWithCount>> {
    const inScope = this.customers(query.email).filter(({ id }) => customerId === null || customerId === id);
    const { data, totalItems } = pageOf(inScope, query);
    return { data: data.map((customer) => this.#counted(customer)), totalItems };
  }

  async tankById(id: string, { customerId }: Scope): Promise<Found<Tank>> {
    const known = this.data.tanks.get(id);
    if (known === undefined || (customerId !== null && customerId !== known.tank.owner_id)) return undefined;
    return known.deleted ? "deleted" : known.tank;
  }

  async tankPage(query: PageQuery, { customerId }: Scope): Promise<Page<Tank>> {
    return pageOf(this.tanks(customerId ?? undefined), query);
  }

  async telemetryPage(tankId: string, query: PageQuery, scope: Scope): Promise<Found<Page<Reading>>> {
    const tank = await this.tankById(tankId, scope);
    return typeof tank === "object" ? pageOf(this.readings(tankId), query) : tank;
  }

  async readingColumns(tankId: string, { from, to }: InstantRange, scope: Scope): Promise<Found<ReadingColumns>> {
    const tank = await this.tankById(tankId, scope);
    if (typeof tank !== "object") return tank;
    const readings = this.readings(tankId)
      .filter(({ created_at }) => created_at >= from && created_at < to)
      .toReversed();
    return {
      instants: Float64Array.from(readings, ({ created_at }) => created_at),
      fills: Float64Array.from(readings, ({ fill_percentage }) => fill_percentage),
      next: undefined,
    };
  }

  /** All live customers, newest first. */
  customers(email?: string): readonly Customer[] {
    return cached(this.data.sortedObjects, `customers ${JSON.stringify(email)}`, () => {
      if (email !== undefined) return this.customers().filter((customer) => customer.email === email);
      return newestFirst([...this.data.customers.values()].filter(({ deleted }) => !deleted).map(({ customer }) => customer));
    }) as readonly Customer[];
  }

  tanks(owner?: string): readonly Tank[] {
    return cached(this.data.sortedObjects, `tanks ${JSON.stringify(owner)}`, () => {
      if (owner !== undefined) return this.tanks().filter(({ owner_id }) => owner_id === owner);
      return newestFirst([...this.data.tanks.values()].filter(({ deleted }) => !deleted).map(({ tank }) => tank));
    }) as readonly Tank[];
  }

  /** Newest first, whether or not the tank is deleted. */
  readings(tankId: string): readonly Reading[] {
    return cached(this.data.sortedReadings, tankId, () =>
      [...(this.data.readings.get(tankId) ?? [])]
        .sort(([a], [b]) => b - a)
        .map(([created_at, fill_percentage]) => ({ created_at, fill_percentage })),
    );
  }

  deletedCustomers(): Customer[] {
    return [...this.data.customers.values()].filter(({ deleted }) => deleted).map(({ customer }) => customer);
  }

  deletedTanks(): Tank[] {
    return [...this.data.tanks.values()].filter(({ deleted }) => deleted).map(({ tank }) => tank);
  }

  // Management reads

  async managedCustomer(id: string): Promise<ManagedCustomer | undefined> {
    return this.customerState(id);
  }

  async customerSearch(search: CustomerSearch): Promise<Page<ManagedCustomer>> {
    const { data, totalItems } = matchingCustomers([...this.data.customers.values()], search);
    return { data: data.map(({ id }) => this.customerState(id) as ManagedCustomer), totalItems };
  }

  async managedTank(id: string): Promise<TankState | undefined> {
    return this.data.tanks.get(id);
  }

  async tankSearch(search: TankSearch): Promise<Page<TankState>> {
    const { data, totalItems } = matchingTanks([...this.data.tanks.values()], search);
    return { data: data.map(({ id }) => this.data.tanks.get(id) as TankState), totalItems };
  }

  async managedDevice(key: string): Promise<ManagedDevice | undefined> {
    return this.deviceState(key);
  }

  async newestPending(key: string): Promise<PendingReading | undefined> {
    return [...(this.data.pending.get(key)?.values() ?? [])].sort((a, b) => b.created_at - a.created_at)[0];
  }

  async deviceSearch(search: DeviceSearch): Promise<Page<ManagedDevice>> {
    const devices = [...this.data.devices.keys()].map((id) => this.deviceState(id) as ManagedDevice);
    return matchingDevices(devices, search);
  }

  async fleetPage(query: FleetQuery): Promise<Page<FleetEntry>> {
    const entries = this.tanks().map((tank) => this.#fleetEntry(tank));
    return matchingFleet(entries, query);
  }

  async fleetCounts(silentSince: Instant): Promise<FleetCounts> {
    const tanks = { low: 0, ok: 0, silent: 0, unknown: 0 };
    for (const tank of this.tanks()) {
      const [latest] = this.readings(tank.id);
      if (latest === undefined) tanks.unknown++;
      else if (latest.fill_percentage <= tank.min_fill_alert_percentage) tanks.low++;
      else if (latest.created_at < silentSince) tanks.silent++;
      else tanks.ok++;
    }
    return { tanks, pendingReadings: [...this.data.pending.values()].reduce((sum, { size }) => sum + size, 0) };
  }

  async fleetEntry(id: string, scope: Scope): Promise<Found<FleetEntry>> {
    const tank = await this.tankById(id, scope);
    return typeof tank === "object" ? this.#fleetEntry(tank) : tank;
  }

  #fleetEntry(tank: Tank): FleetEntry {
    const { name = "", phone = null } = this.data.customers.get(tank.owner_id)?.customer ?? {};
    const { paused_until: pausedUntil = null, silent_after: silentAfter = null } = this.data.tanks.get(tank.id)?.alerts ?? {};
    return {
      tank,
      customer: { name, phone },
      latest: this.readings(tank.id)[0] ?? null,
      forecast: null,
      pausedUntil,
      silentAfter,
    };
  }

  async auditPage(query: AuditQuery): Promise<Page<AuditEntry>> {
    return matchingAudit(this.data.audit, query);
  }

  async keyByHash(hash: string): Promise<StoredKey | undefined> {
    const found = [...this.data.keys.values()].find((stored) => stored.hash === hash);
    return found && this.keyState(found.key.id);
  }

  async keyList(): Promise<StoredKey[]> {
    return newestFirst([...this.data.keys.values()].map(({ key }) => key)).map(({ id }) => this.keyState(id) as StoredKey);
  }

  /** In any order; all readings of a tank are one record. */
  exportRecords(): ExportRecord[] {
    const removed = [...this.data.assignments].filter(([id, past]) => past.length > 0 && !this.data.devices.has(id));
    return [
      ...Array.from(this.data.customers.keys(), (id): ExportRecord => {
        return { kind: "customer", ...(this.customerState(id) as ManagedCustomer) };
      }),
      ...Array.from(this.data.tanks.values(), (tank): ExportRecord => {
        return { kind: "tank", ...tank };
      }),
      ...Array.from(this.data.devices.values(), ({ device, dropped }): ExportRecord => {
        return { kind: "device", device, dropped, assignments: this.data.assignments.get(device.id) ?? [] };
      }),
      ...removed.map(([id, assignments]): ExportRecord => {
        const device = { ...unknownDevice(id), since: assignments.at(-1)?.until ?? unknownDevice(id).since };
        return { kind: "device", device, dropped: 0, assignments };
      }),
      ...Array.from(this.data.readings.keys(), (tankId): ExportRecord => {
        return { kind: "readings", tankId, readings: this.readings(tankId).toReversed() };
      }),
      ...[...this.data.pending.values()].flatMap((pending) =>
        Array.from(pending.values(), (reading): ExportRecord => ({ kind: "pending", reading })),
      ),
    ];
  }

  protected customerState(id: string): ManagedCustomer | undefined {
    const known = this.data.customers.get(id);
    return known && { ...known, customer: this.#counted(known.customer) };
  }

  protected deviceState(id: string): ManagedDevice | undefined {
    const known = this.data.devices.get(id);
    return known && { device: known.device, pending: this.data.pending.get(id)?.size ?? 0, dropped: known.dropped };
  }

  protected keyState(id: string): StoredKey | undefined {
    const known = this.data.keys.get(id)?.key;
    return known && { ...known, customer_deleted: this.data.customers.get(known.customer_id ?? "")?.deleted ?? false };
  }

  #counted(customer: Customer): CustomerWithCount {
    return { ...customer, tank_count: this.tanks(customer.id).length };
  }
}
