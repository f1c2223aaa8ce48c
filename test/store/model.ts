// A store in memory, written to be obviously right: maps and arrays, filtered and sorted again for each query. What a command or
// a record changes is decided by the pure rules of src/domain; everything that follows from it is done here in the simplest way.

import type { ComposeReads, ComposeWrites } from "../../src/domain/alerts/compose.ts";
import type { NotificationQueueReads, NotificationQueueWrites } from "../../src/domain/alerts/notification-queue.ts";
import type { AlertReads, ChannelReads } from "../../src/domain/alerts/reads.ts";
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
import { unknownDevice } from "../../src/domain/device.ts";
import type { FleetMapReads } from "../../src/domain/fleet-map.ts";
import type { FleetOrderReads, FleetOrderWrites } from "../../src/domain/fleet-order.ts";
import type { ForecastReads, ForecastWrites } from "../../src/domain/forecast/stored.ts";
import { planCustomerImport, planDeviceImport, planTankImport } from "../../src/domain/import-plans.ts";
import type { Instant } from "../../src/domain/instant.ts";
import type { Lookups } from "../../src/domain/lookups.ts";
import {
  batchOfPending,
  type PendingReading,
  placeReadings,
  resolvedReadings,
  setStoreOutcomes,
} from "../../src/domain/placement.ts";
import { type IncomingBatch, type IngestResult, OUTCOME, type ReadingBatch } from "../../src/domain/reading.ts";
import type { CustomerRecord, DeviceRecord, RecordOutcome, TankRecord } from "../../src/domain/records.ts";
import type { Resource } from "../../src/domain/resource.ts";
import type { SessionReads } from "../../src/domain/session.ts";
import type { AccountReads } from "../../src/domain/sign-in.ts";
import type { Store } from "../../src/domain/store.ts";
import { MAX_PENDING_PER_DEVICE } from "../../src/domain/store.ts";
import type { MailLinkReads } from "../../src/domain/verification.ts";
import { asJson, cached, found, newestFirst } from "./model-lists.ts";
import { ModelReads, type StoredDevice } from "./model-reads.ts";

type SavedResult = { readonly fingerprint: string; readonly resource: Resource; readonly at: Instant };

/** What a random run calls. */
export type ModelledStore = Omit<
  Store,
  | keyof NotificationQueueReads
  | keyof NotificationQueueWrites
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
  | keyof MailLinkReads
  | keyof AccountReads
  | keyof SessionReads
  | keyof ComposeWrites
  | keyof FleetMapReads
  | keyof FleetOrderReads
  | keyof FleetOrderWrites
  | keyof ForecastReads
  | keyof ForecastWrites
>;

export class ModelStore extends ModelReads implements ModelledStore {
  readonly #results = new Map<string, SavedResult>();

  readonly #lookups: Lookups = {
    customers: async (ids) => found(ids, (id) => this.customerState(id)),
    tanks: async (ids) => found(ids, (id) => this.data.tanks.get(id)),
    tanksOfOwner: async (id, limit) => this.#tanksOf(id, ({ deleted }) => !deleted).slice(0, limit),
    tanksDeletedAt: async (id, at, limit) => this.#tanksOf(id, ({ deletedAt }) => deletedAt === at).slice(0, limit),
    // Only for more tanks than the model has.
    tanksDeletedWithDeviceInUse: async () => [],
    devices: async (ids) => found(ids, (id) => this.deviceState(id)),
    assignments: async (ids) => [...new Set(ids)].flatMap((id) => this.data.assignments.get(id) ?? []),
    devicesWithPending: async (limit) =>
      Math.min(limit, [...this.data.pending.values()].filter((readings) => readings.size > 0).length),
    keys: async (ids) => found(ids, (id) => this.keyState(id)),
    alerts: async () => new Map(),
    channelsById: async () => new Map(),
    channelCount: async () => 0,
    notifications: async () => new Map(),
    failedNotifications: async () => [],
    failedMail: async () => [],
    pendingNotifications: async () => [],
    verification: async () => undefined,
    verificationMailSince: async () => [],
    userList: async () => [],
    countryOf: async () => null,
    customersWithEmail: async () => [],
    signInByHash: async () => undefined,
    signInsOf: async () => [],
    signInsBetween: async () => 0,
    sessions: async () => new Map(),
    sessionsOf: async () => [],
  };

  // Writes

  async importCustomers(records: readonly CustomerRecord[], context: AuditContext = IMPORT): Promise<RecordOutcome[]> {
    const { outcomes, changes } = await planCustomerImport(this.#lookups, records, context.at);
    this.#putCustomers(changes, context);
    return outcomes;
  }

  async importTanks(records: readonly TankRecord[], context: AuditContext = IMPORT): Promise<RecordOutcome[]> {
    const { outcomes, changes } = await planTankImport(this.#lookups, records, context.at);
    await this.#release(this.#putTanks(changes, context));
    return outcomes;
  }

  async importDevices(records: readonly DeviceRecord[], context: AuditContext = IMPORT): Promise<RecordOutcome[]> {
    const { outcomes, devices, audit } = await planDeviceImport(this.#lookups, records);
    for (const { device, dropped, assignments } of devices) {
      this.data.devices.set(device.id, { device, dropped });
      this.data.assignments.set(device.id, [...assignments]);
    }
    this.#log(audit, context);
    await this.#release(devices.map(({ device }) => device.id));
    return outcomes;
  }

  async updateLastSeen(seen: ReadonlyMap<string, Instant>): Promise<void> {
    for (const [id, at] of seen) {
      const known = this.data.customers.get(id);
      if (known === undefined) continue;
      const last_seen_at = Math.max(known.customer.last_seen_at ?? at, at);
      this.data.customers.set(id, { ...known, customer: { ...known.customer, last_seen_at } });
    }
    this.data.sortedObjects.clear();
  }

  async ingest(batch: IncomingBatch): Promise<IngestResult> {
    const placement = await placeReadings(this.#lookups, batch);
    const stored = this.#storeReadings(placement.readings);
    for (const { device, created_at } of placement.superseded) this.data.pending.get(device)?.delete(created_at);
    for (const reading of placement.pending) {
      this.#pendingOf(reading.device).set(reading.created_at, reading);
      if (!this.data.devices.has(reading.device)) {
        this.data.devices.set(reading.device, { device: unknownDevice(reading.device), dropped: 0 });
      }
    }
    for (const device of new Set(placement.pending.map((reading) => reading.device))) {
      const kept = [...this.#pendingOf(device).keys()].sort((a, b) => b - a);
      for (const at of kept.slice(MAX_PENDING_PER_DEVICE)) this.#drop(device, at);
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
      const known = this.data.devices.get(id) ?? { device: unknownDevice(id), dropped: 0 };
      this.data.devices.set(id, { ...known, device: { ...known.device, profile: asJson(profile) } });
    }
    for (const id of plan.pendingRemoved) {
      this.data.pending.delete(id);
      const known = this.data.devices.get(id);
      if (known !== undefined) this.data.devices.set(id, { ...known, dropped: 0 });
    }
    for (const id of plan.devicesRemoved) this.data.devices.delete(id);
    for (const { after, hash } of plan.keys) {
      this.data.keys.set(after.id, { key: after, hash: hash ?? this.data.keys.get(after.id)?.hash ?? "" });
    }
    this.#log(plan.audit, context);
    const released = await this.#release([...releasable, ...plan.profiles.map(({ id }) => id)]);
    const resource = withReleased(plan.resource, released);
    if (key !== undefined) this.#results.set(name, { fingerprint: key.fingerprint, resource, at: context.at });
    return { resource, replayed: false };
  }

  #putCustomers(changes: readonly Change<CustomerState>[], context: AuditContext): void {
    for (const { id, after } of changes) {
      const { customer, deleted, deletedAt, notifications } = after;
      this.data.customers.set(id, { customer, deleted, deletedAt, notifications });
    }
    this.data.sortedObjects.clear();
    this.#log(auditCustomers(changes), context);
  }

  /** Returns the devices that are assigned to another tank now, and those of tanks with another shape. */
  #putTanks(changes: readonly Change<TankState>[], context: AuditContext): string[] {
    for (const { id, after } of changes) {
      const { tank, deleted, deletedAt, shape, alerts } = after;
      this.data.tanks.set(id, { tank, deleted, deletedAt, shape: asJson(shape), alerts });
    }
    this.data.sortedObjects.clear();
    const moves = deviceMoves(changes, this.data.devices, context.at);
    for (const { device, ended } of moves) {
      this.data.devices.set(device.id, { device, dropped: this.data.devices.get(device.id)?.dropped ?? 0 });
      if (ended === undefined) continue;
      const others = (this.data.assignments.get(device.id) ?? []).filter(({ until }) => until !== ended.until);
      this.data.assignments.set(
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
      const last = this.data.audit.at(-1);
      this.data.audit.push({ ...change, number: this.data.audit.length + 1, by, at: Math.max(at, last?.at ?? at) });
    }
  }

  #storeReadings({ tankIds, tank, createdAt, fill }: ReadingBatch): Uint8Array {
    return Uint8Array.from(tank, (index, i) => {
      const [id, at, value] = [tankIds[index] as string, createdAt[i] as number, fill[i] as number];
      if (!this.data.tanks.has(id)) return OUTCOME.tank_unknown;
      const readings = this.data.readings.get(id) ?? new Map<Instant, number>();
      this.data.readings.set(id, readings);
      const known = readings.get(at);
      readings.set(at, value);
      if (known !== value) this.data.sortedReadings.delete(id);
      return OUTCOME[known === undefined ? "stored" : known === value ? "duplicate" : "replaced"];
    });
  }

  async #release(deviceIds: readonly string[]): Promise<ReleasedReadings> {
    const released = new ReleasedReadings();
    for (const id of new Set(deviceIds)) {
      const pending = [...(this.data.pending.get(id)?.values() ?? [])].sort((a, b) => a.created_at - b.created_at);
      const placement = await placeReadings(this.#lookups, batchOfPending(pending));
      const outcomes = setStoreOutcomes(placement, this.#storeReadings(placement.readings));
      for (const { created_at, isRejected } of resolvedReadings(pending, outcomes)) {
        if (isRejected) this.#drop(id, created_at);
        else this.data.pending.get(id)?.delete(created_at);
        released.add(created_at, isRejected);
      }
    }
    return released;
  }

  #drop(id: string, at: Instant): void {
    this.data.pending.get(id)?.delete(at);
    const known = this.data.devices.get(id) as StoredDevice;
    this.data.devices.set(id, { ...known, dropped: known.dropped + 1 });
  }

  #pendingOf(device: string): Map<Instant, PendingReading> {
    return cached(this.data.pending, device, () => new Map<Instant, PendingReading>());
  }

  /** The devices that are or were assigned to one of these tanks. */
  #devicesOf(tankIds: readonly string[]): string[] {
    return [...this.data.devices.values()].flatMap(({ device: { id, tank_id } }) => {
      const tanks = [tank_id, ...(this.data.assignments.get(id) ?? []).map(({ tankId }) => tankId)];
      return tanks.some((tank) => tank !== null && tankIds.includes(tank)) ? [id] : [];
    });
  }

  #tanksOf(owner: string, matches: (tank: TankState) => boolean): TankState[] {
    const own = [...this.data.tanks.values()].filter((state) => state.tank.owner_id === owner && matches(state));
    return newestFirst(own.map(({ tank }) => tank))
      .reverse()
      .map(({ id }) => this.data.tanks.get(id) as TankState);
  }
}

const IMPORT: AuditContext = { by: "import", at: 0 };
