// A store in memory, written to be obviously right: maps and arrays, filtered and sorted again for each query. What a command or
// a record changes is decided by the pure rules of src/domain; everything that follows from it is done here in the simplest way.

import type { ChannelReads } from "../../src/domain/alerts/channel-reads.ts";
import type { ComposeReads, ComposeWrites } from "../../src/domain/alerts/compose.ts";
import type { DeliveryReads, DeliveryWrites } from "../../src/domain/alerts/delivery.ts";
import type { AlertReads } from "../../src/domain/alerts/reads.ts";
import type { SweepWrites } from "../../src/domain/alerts/sweep.ts";
import { type AuditContext, type AuditEntry, auditCustomers, auditTanks } from "../../src/domain/audit.ts";
import { type Change, type CustomerState, deviceMoves, isReshaped, type TankState } from "../../src/domain/changes.ts";
import {
  type Command,
  type CommandResult,
  commandError,
  IDEMPOTENCY_MS,
  type IdempotencyKey,
  isCommandError,
  ReleasedReadings,
  withReleased,
} from "../../src/domain/commands/command.ts";
import { planCommand } from "../../src/domain/commands/plan.ts";
import type { Customer, CustomerWithCount } from "../../src/domain/customer.ts";
import { type Device, type DeviceAssignment, unknownDevice } from "../../src/domain/device.ts";
import type { FleetCounts, FleetEntry, FleetQuery } from "../../src/domain/fleet.ts";
import { planCustomerImport, planDeviceImport, planTankImport } from "../../src/domain/import-plans.ts";
import type { Instant } from "../../src/domain/instant.ts";
import type { Key, Scope, StoredKey } from "../../src/domain/key.ts";
import type { Lookups } from "../../src/domain/lookups.ts";
import type { AuditQuery, CustomerSearch, DeviceSearch, TankSearch } from "../../src/domain/management-reads.ts";
import type { Page, PageQuery } from "../../src/domain/page.ts";
import {
  batchOfPending,
  type PendingReading,
  placeReadings,
  resolvedReadings,
  setStoreOutcomes,
} from "../../src/domain/placement.ts";
import {
  type IncomingBatch,
  type IngestResult,
  type InstantRange,
  READING_OUTCOMES,
  type Reading,
  type ReadingBatch,
  type ReadingColumns,
} from "../../src/domain/reading.ts";
import type { CustomerRecord, DeviceRecord, RecordOutcome, TankRecord } from "../../src/domain/records.ts";
import type { ManagedCustomer, ManagedDevice, Resource } from "../../src/domain/resource.ts";
import type { CustomerQuery, ExportRecord, Found, Store } from "../../src/domain/store.ts";
import { MAX_PENDING } from "../../src/domain/store.ts";
import type { Tank } from "../../src/domain/tank.ts";
import type { RecipientReads } from "../../src/domain/verification.ts";
import {
  asJson,
  cached,
  found,
  matchingAudit,
  matchingCustomers,
  matchingDevices,
  matchingFleet,
  matchingTanks,
  newestFirst,
  pageOf,
} from "./model-lists.ts";

type Stored<S> = S & { readonly deletedAt: Instant | null };
type StoredDevice = { readonly device: Device; readonly dropped: number };
type SavedResult = { readonly fingerprint: string; readonly resource: Resource; readonly at: Instant };

/** What a random run calls. */
export type ModelledStore = Omit<
  Store,
  | keyof DeliveryReads
  | keyof DeliveryWrites
  | "checkProvision"
  | "ping"
  | "isEmpty"
  | "backup"
  | "check"
  | "scratchCopy"
  | "close"
  | "exportRecords"
  | keyof AlertReads
  | keyof SweepWrites
  | keyof ChannelReads
  | keyof ComposeReads
  | keyof RecipientReads
  | keyof ComposeWrites
>;

export class ModelStore implements ModelledStore {
  readonly #customers = new Map<string, Stored<CustomerState>>();
  readonly #tanks = new Map<string, Stored<TankState>>();
  readonly #readings = new Map<string, Map<Instant, number>>();
  readonly #devices = new Map<string, StoredDevice>();
  readonly #assignments = new Map<string, DeviceAssignment[]>();
  readonly #pending = new Map<string, Map<Instant, PendingReading>>();
  readonly #keys = new Map<string, { readonly key: Key; readonly hash: string }>();
  readonly #audit: AuditEntry[] = [];
  readonly #results = new Map<string, SavedResult>();
  /** Results of sorting, until the next write. */
  readonly #sortedObjects = new Map<string, readonly (Customer | Tank)[]>();
  readonly #sortedReadings = new Map<string, Reading[]>();

  readonly #lookups: Lookups = {
    customers: async (ids) => found(ids, (id) => this.#managedCustomer(id)),
    tanks: async (ids) => found(ids, (id) => this.#tanks.get(id)),
    tanksOfOwners: async (ids) => this.#tanksOf(ids, ({ deleted }) => !deleted),
    tanksDeletedWith: async (ids) =>
      this.#tanksOf(ids, ({ deletedAt, tank }) => {
        return deletedAt !== null && deletedAt === this.#customers.get(tank.owner_id)?.deletedAt;
      }),
    devices: async (ids) => found(ids, (id) => this.#managedDevice(id)),
    assignments: async (ids) => [...new Set(ids)].flatMap((id) => this.#assignments.get(id) ?? []),
    devicesWithPending: async (limit) =>
      Math.min(limit, [...this.#pending.values()].filter((readings) => readings.size > 0).length),
    keys: async (ids) => found(ids, (id) => this.#storedKey(id)),
    alerts: async () => new Map(),
    channelsById: async () => new Map(),
    channelCount: async () => 0,
    notifications: async () => new Map(),
    failedNotifications: async () => [],
    pendingNotifications: async () => [],
    verification: async () => undefined,
    verificationsSince: async () => [],
  };

  // Writes

  async importCustomers(records: readonly CustomerRecord[], context: AuditContext = IMPORT): Promise<RecordOutcome[]> {
    const { outcomes, changes } = await planCustomerImport(this.#lookups, records);
    this.#putCustomers(changes, context);
    return outcomes;
  }

  async importTanks(records: readonly TankRecord[], context: AuditContext = IMPORT): Promise<RecordOutcome[]> {
    const { outcomes, changes } = await planTankImport(this.#lookups, records);
    await this.#release(this.#putTanks(changes, context));
    return outcomes;
  }

  async importDevices(records: readonly DeviceRecord[], context: AuditContext = IMPORT): Promise<RecordOutcome[]> {
    const { outcomes, devices, audit } = await planDeviceImport(this.#lookups, records);
    for (const { device, dropped, assignments } of devices) {
      this.#devices.set(device.id, { device, dropped });
      this.#assignments.set(device.id, [...assignments]);
    }
    this.#log(audit, context);
    await this.#release(devices.map(({ device }) => device.id));
    return outcomes;
  }

  async updateLastSeen(seen: ReadonlyMap<string, Instant>): Promise<void> {
    for (const [id, at] of seen) {
      const known = this.#customers.get(id);
      if (known === undefined) continue;
      const last_seen_at = Math.max(known.customer.last_seen_at ?? at, at);
      this.#customers.set(id, { ...known, customer: { ...known.customer, last_seen_at } });
    }
    this.#sortedObjects.clear();
  }

  async ingest(batch: IncomingBatch): Promise<IngestResult> {
    const placement = await placeReadings(this.#lookups, batch);
    const stored = this.#storeReadings(placement.readings);
    for (const { device, created_at } of placement.superseded) this.#pending.get(device)?.delete(created_at);
    for (const reading of placement.pending) {
      this.#pendingOf(reading.device).set(reading.created_at, reading);
      if (!this.#devices.has(reading.device)) {
        this.#devices.set(reading.device, { device: unknownDevice(reading.device), dropped: 0 });
      }
    }
    for (const device of new Set(placement.pending.map((reading) => reading.device))) {
      const kept = [...this.#pendingOf(device).keys()].sort((a, b) => b - a);
      for (const at of kept.slice(MAX_PENDING)) this.#drop(device, at);
    }
    return { outcomes: setStoreOutcomes(placement, stored), reasons: placement.reasons };
  }

  async execute(command: Command, context: AuditContext, key?: IdempotencyKey): Promise<CommandResult> {
    const name = JSON.stringify([context.by, key?.key]);
    const saved = key && this.#results.get(name);
    if (saved !== undefined && saved.at > context.at - IDEMPOTENCY_MS) {
      if (saved.fingerprint === key?.fingerprint) return { resource: saved.resource, replayed: true };
      return commandError(
        "idempotency_key_reused",
        "This Idempotency-Key was used for another request within the last 24 hours.",
      );
    }
    const plan = await planCommand(this.#lookups, command, context.at);
    if (isCommandError(plan)) return plan;
    this.#putCustomers(plan.customers, context);
    const releasable = this.#putTanks(plan.tanks, context);
    for (const { id, profile } of plan.profiles) {
      const known = this.#devices.get(id) ?? { device: unknownDevice(id), dropped: 0 };
      this.#devices.set(id, { ...known, device: { ...known.device, profile: asJson(profile) } });
    }
    for (const id of plan.pendingRemoved) {
      this.#pending.delete(id);
      const known = this.#devices.get(id);
      if (known !== undefined) this.#devices.set(id, { ...known, dropped: 0 });
    }
    for (const id of plan.devicesRemoved) this.#devices.delete(id);
    for (const { after, hash } of plan.keys) {
      this.#keys.set(after.id, { key: after, hash: hash ?? this.#keys.get(after.id)?.hash ?? "" });
    }
    this.#log(plan.audit, context);
    const released = await this.#release([...releasable, ...plan.profiles.map(({ id }) => id)]);
    const resource = withReleased(plan.resource, released);
    if (key !== undefined) this.#results.set(name, { fingerprint: key.fingerprint, resource, at: context.at });
    return { resource, replayed: false };
  }

  #putCustomers(changes: readonly Change<CustomerState>[], context: AuditContext): void {
    for (const { id, after } of changes) {
      const deletedAt = after.deleted ? (this.#customers.get(id)?.deletedAt ?? context.at) : null;
      const { customer, deleted, notifications } = after;
      this.#customers.set(id, { customer, deleted, notifications, deletedAt });
    }
    this.#sortedObjects.clear();
    this.#log(auditCustomers(changes), context);
  }

  /** Returns the devices that serve another tank now, and those of tanks with another shape. */
  #putTanks(changes: readonly Change<TankState>[], context: AuditContext): string[] {
    for (const { id, after } of changes) {
      const deletedAt = after.deleted ? (this.#tanks.get(id)?.deletedAt ?? context.at) : null;
      this.#tanks.set(id, {
        tank: after.tank,
        deleted: after.deleted,
        shape: asJson(after.shape),
        alerts: after.alerts,
        deletedAt,
      });
    }
    this.#sortedObjects.clear();
    const moves = deviceMoves(changes, this.#devices, context.at);
    for (const { device, ended } of moves) {
      this.#devices.set(device.id, { device, dropped: this.#devices.get(device.id)?.dropped ?? 0 });
      if (ended === undefined) continue;
      const others = (this.#assignments.get(device.id) ?? []).filter(({ until }) => until !== ended.until);
      this.#assignments.set(
        device.id,
        [...others, ended].sort((a, b) => a.until - b.until),
      );
    }
    this.#log(auditTanks(changes), context);
    const moved = moves.filter(({ device }) => device.tank_id !== null).map(({ device }) => device.id);
    return [...moved, ...this.#devicesOf(changes.filter(isReshaped).map(({ id }) => id))];
  }

  #log(changes: readonly Omit<AuditEntry, "number" | "by" | "at">[], { by, at }: AuditContext): void {
    for (const change of changes) {
      const last = this.#audit.at(-1);
      this.#audit.push({ ...change, number: this.#audit.length + 1, by, at: Math.max(at, last?.at ?? at) });
    }
  }

  #storeReadings({ tankIds, tank, createdAt, fill }: ReadingBatch): Uint8Array {
    return Uint8Array.from(tank, (index, i) => {
      const [id, at, value] = [tankIds[index] as string, createdAt[i] as number, fill[i] as number];
      if (!this.#tanks.has(id)) return READING_OUTCOMES.indexOf("tank_unknown");
      const series = this.#readings.get(id) ?? new Map<Instant, number>();
      this.#readings.set(id, series);
      const known = series.get(at);
      series.set(at, value);
      if (known !== value) this.#sortedReadings.delete(id);
      return READING_OUTCOMES.indexOf(known === undefined ? "new" : known === value ? "unchanged" : "changed");
    });
  }

  async #release(deviceIds: readonly string[]): Promise<ReleasedReadings> {
    const released = new ReleasedReadings();
    for (const id of new Set(deviceIds)) {
      const pending = [...(this.#pending.get(id)?.values() ?? [])].sort((a, b) => a.created_at - b.created_at);
      const placement = await placeReadings(this.#lookups, batchOfPending(pending));
      const outcomes = setStoreOutcomes(placement, this.#storeReadings(placement.readings));
      for (const { created_at, isRejected } of resolvedReadings(pending, outcomes)) {
        if (isRejected) this.#drop(id, created_at);
        else this.#pending.get(id)?.delete(created_at);
        released.add(created_at, isRejected);
      }
    }
    return released;
  }

  #drop(id: string, at: Instant): void {
    this.#pending.get(id)?.delete(at);
    const known = this.#devices.get(id) as StoredDevice;
    this.#devices.set(id, { ...known, dropped: known.dropped + 1 });
  }

  #pendingOf(device: string): Map<Instant, PendingReading> {
    return cached(this.#pending, device, () => new Map<Instant, PendingReading>());
  }

  /** The devices that serve one of these tanks, or did. */
  #devicesOf(tankIds: readonly string[]): string[] {
    return [...this.#devices.values()].flatMap(({ device: { id, tank_id } }) => {
      const served = [tank_id, ...(this.#assignments.get(id) ?? []).map(({ tankId }) => tankId)];
      return served.some((tank) => tank !== null && tankIds.includes(tank)) ? [id] : [];
    });
  }

  // Reads of /v1

  async customerById(id: string, { customerId }: Scope): Promise<Found<CustomerWithCount>> {
    const known = this.#managedCustomer(id);
    if (known === undefined || (customerId !== null && customerId !== id)) return undefined;
    return known.deleted ? "deleted" : known.customer;
  }

  async customerPage(query: CustomerQuery, { customerId }: Scope): Promise<Page<CustomerWithCount>> {
    const inScope = this.customers(query.email).filter(({ id }) => customerId === null || customerId === id);
    const { data, totalItems } = pageOf(inScope, query);
    return { data: data.map((customer) => this.#counted(customer)), totalItems };
  }

  async tankById(id: string, { customerId }: Scope): Promise<Found<Tank>> {
    const known = this.#tanks.get(id);
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
    return cached(this.#sortedObjects, `customers ${JSON.stringify(email)}`, () => {
      if (email !== undefined) return this.customers().filter((customer) => customer.email === email);
      return newestFirst([...this.#customers.values()].filter(({ deleted }) => !deleted).map(({ customer }) => customer));
    }) as readonly Customer[];
  }

  tanks(owner?: string): readonly Tank[] {
    return cached(this.#sortedObjects, `tanks ${JSON.stringify(owner)}`, () => {
      if (owner !== undefined) return this.tanks().filter(({ owner_id }) => owner_id === owner);
      return newestFirst([...this.#tanks.values()].filter(({ deleted }) => !deleted).map(({ tank }) => tank));
    }) as readonly Tank[];
  }

  /** Newest first, whether or not the tank is deleted. */
  readings(tankId: string): readonly Reading[] {
    return cached(this.#sortedReadings, tankId, () =>
      [...(this.#readings.get(tankId) ?? [])]
        .sort(([a], [b]) => b - a)
        .map(([created_at, fill_percentage]) => ({ created_at, fill_percentage })),
    );
  }

  deletedCustomers(): Customer[] {
    return [...this.#customers.values()].filter(({ deleted }) => deleted).map(({ customer }) => customer);
  }

  deletedTanks(): Tank[] {
    return [...this.#tanks.values()].filter(({ deleted }) => deleted).map(({ tank }) => tank);
  }

  // Management reads

  async managedCustomer(id: string): Promise<ManagedCustomer | undefined> {
    return this.#managedCustomer(id);
  }

  async customerSearch(search: CustomerSearch): Promise<Page<ManagedCustomer>> {
    const { data, totalItems } = matchingCustomers([...this.#customers.values()], search);
    return { data: data.map(({ id }) => this.#managedCustomer(id) as ManagedCustomer), totalItems };
  }

  async managedTank(id: string): Promise<TankState | undefined> {
    return withoutDeletedAt(this.#tanks.get(id));
  }

  async tankSearch(search: TankSearch): Promise<Page<TankState>> {
    const { data, totalItems } = matchingTanks([...this.#tanks.values()], search);
    return { data: data.map(({ id }) => withoutDeletedAt(this.#tanks.get(id)) as TankState), totalItems };
  }

  async managedDevice(key: string): Promise<ManagedDevice | undefined> {
    return this.#managedDevice(key);
  }

  async newestPending(key: string): Promise<PendingReading | undefined> {
    return [...(this.#pending.get(key)?.values() ?? [])].sort((a, b) => b.created_at - a.created_at)[0];
  }

  async deviceSearch(search: DeviceSearch): Promise<Page<ManagedDevice>> {
    const devices = [...this.#devices.keys()].map((id) => this.#managedDevice(id) as ManagedDevice);
    return matchingDevices(devices, search);
  }

  async fleetPage(query: FleetQuery): Promise<Page<FleetEntry>> {
    const entries = this.tanks().map((tank): FleetEntry => ({ tank, latest: this.readings(tank.id)[0] ?? null }));
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
    return { tanks, pendingReadings: [...this.#pending.values()].reduce((sum, { size }) => sum + size, 0) };
  }

  async fleetEntry(id: string, scope: Scope): Promise<Found<FleetEntry>> {
    const tank = await this.tankById(id, scope);
    return typeof tank === "object" ? { tank, latest: this.readings(id)[0] ?? null } : tank;
  }

  async auditPage(query: AuditQuery): Promise<Page<AuditEntry>> {
    return matchingAudit(this.#audit, query);
  }

  async keyByHash(hash: string): Promise<StoredKey | undefined> {
    const found = [...this.#keys.values()].find((stored) => stored.hash === hash);
    return found && this.#storedKey(found.key.id);
  }

  async keyList(): Promise<StoredKey[]> {
    return newestFirst([...this.#keys.values()].map(({ key }) => key)).map(({ id }) => this.#storedKey(id) as StoredKey);
  }

  /** In any order; all readings of a tank are one record. */
  exportRecords(): ExportRecord[] {
    const removed = [...this.#assignments].filter(([id, past]) => past.length > 0 && !this.#devices.has(id));
    return [
      ...Array.from(this.#customers.keys(), (id): ExportRecord => {
        return { kind: "customer", ...(this.#managedCustomer(id) as ManagedCustomer) };
      }),
      ...Array.from(this.#tanks.values(), (tank): ExportRecord => {
        return { kind: "tank", ...(withoutDeletedAt(tank) as TankState) };
      }),
      ...Array.from(this.#devices.values(), ({ device, dropped }): ExportRecord => {
        return { kind: "device", device, dropped, assignments: this.#assignments.get(device.id) ?? [] };
      }),
      ...removed.map(([id, assignments]): ExportRecord => {
        const device = { ...unknownDevice(id), since: assignments.at(-1)?.until ?? unknownDevice(id).since };
        return { kind: "device", device, dropped: 0, assignments };
      }),
      ...Array.from(this.#readings.keys(), (tankId): ExportRecord => {
        return { kind: "readings", tankId, readings: this.readings(tankId).toReversed() };
      }),
      ...[...this.#pending.values()].flatMap((pending) =>
        Array.from(pending.values(), (waiting): ExportRecord => ({ kind: "waiting", waiting })),
      ),
    ];
  }

  #managedCustomer(id: string): ManagedCustomer | undefined {
    const known = this.#customers.get(id);
    return known && { customer: this.#counted(known.customer), deleted: known.deleted, notifications: known.notifications };
  }

  #managedDevice(id: string): ManagedDevice | undefined {
    const known = this.#devices.get(id);
    return known && { device: known.device, waiting: this.#pending.get(id)?.size ?? 0, dropped: known.dropped };
  }

  #storedKey(id: string): StoredKey | undefined {
    const known = this.#keys.get(id)?.key;
    return known && { ...known, customer_deleted: this.#customers.get(known.customer_id ?? "")?.deleted ?? false };
  }

  #tanksOf(owners: readonly string[], matches: (tank: Stored<TankState>) => boolean): TankState[] {
    const own = [...this.#tanks.values()].filter((state) => owners.includes(state.tank.owner_id) && matches(state));
    return newestFirst(own.map(({ tank }) => tank))
      .reverse()
      .map(({ id }) => withoutDeletedAt(this.#tanks.get(id)) as TankState);
  }

  #counted(customer: Customer): CustomerWithCount {
    return { ...customer, tank_count: this.tanks(customer.id).length };
  }
}

const IMPORT: AuditContext = { by: "import", at: 0 };

function withoutDeletedAt(stored: Stored<TankState> | undefined): TankState | undefined {
  return stored && { tank: stored.tank, deleted: stored.deleted, shape: stored.shape, alerts: stored.alerts };
}
