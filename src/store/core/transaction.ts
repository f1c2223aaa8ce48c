// What an engine does within one transaction: lookups and batch operations, without rules. The use cases of this folder are
// written over it, once for both engines. SQLite has one writer, so that its locks do nothing.

import type { Alert } from "../../domain/alerts/alert.ts";
import type { Channel } from "../../domain/alerts/channel.ts";
import {
  type AlertSettings,
  type Evaluation,
  type EvaluationInput,
  type EvaluationMode,
  ON_READING,
} from "../../domain/alerts/evaluate.ts";
import type { AlertChange, StoredEvent } from "../../domain/alerts/event.ts";
import type { NewNotification, Notification, NotificationEvent } from "../../domain/alerts/notification.ts";
import type { AttemptRecord, ClaimedNotification, ClaimRequest, SendingChannel } from "../../domain/alerts/notification-queue.ts";
import type { Reevaluation } from "../../domain/alerts/sweep.ts";
import type { AuditContext, AuditedChange } from "../../domain/audit.ts";
import type { Change, CustomerState, TankState } from "../../domain/changes.ts";
import type { ChangeSet, ChannelChange, IdempotencyKey, KeyChange, UserChange } from "../../domain/commands/command.ts";
import type { CustomerWithCount } from "../../domain/customer.ts";
import type { DeviceAssignment } from "../../domain/device.ts";
import type { Refill } from "../../domain/forecast/refills.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Lookups } from "../../domain/lookups.ts";
import type { PendingReading, ResolvedReading } from "../../domain/placement.ts";
import type { ReadingSource } from "../../domain/reading.ts";
import type { ManagedCustomer, ManagedDevice, Resource } from "../../domain/resource.ts";
import type { SignIn } from "../../domain/sign-in.ts";
import type { Tank } from "../../domain/tank.ts";
import type { EmailVerification } from "../../domain/verification.ts";
import type { BlockRow, HeadRow } from "../series/checksum.ts";
import type { ListKind } from "../series/lists.ts";
import type { Append, BatchColumns, HeadUpdate, StoredBlock } from "../series/merge.ts";
import type { Group, Position } from "../series/rank-index.ts";
import type { FleetTank, ForecastRow } from "./forecast-tables.ts";
import type { ServiceStateName } from "./service-state.ts";

/** The two tables of rank index groups: by tank, and by name of a list. */
export type RankTable = "readings" | "lists";
export type SeriesPosition = { readonly series: string; readonly at: Position };
export type SeriesGroup = { readonly series: string; readonly group: Group };
export type ListSegment = { readonly key: string | null; readonly at: Position; readonly end: Position };

export interface StoreTransaction extends Lookups {
  /** What is done to alerts before the transaction is committed. */
  readonly alertWork: PendingAlertWork;
  readonly alertSettings: AlertSettings;
  /** Tanks whose heads this process has found damaged: see `damaged-tanks.ts`. */
  readonly damagedTanks: Set<string>;

  // Locks. Everyone takes them in this order: lists, devices, heads by tank id, device rows by id, alerts.

  /** Held by all who change customers, tanks or the audit log. */
  lockLists(): Promise<void>;
  /** Shared while readings of devices are placed, exclusive while assignments, profiles or shapes change. */
  lockDevices(mode: "shared" | "exclusive"): Promise<void>;

  // Customers, tanks, keys

  putCustomers(changes: readonly Change<CustomerState>[], at: Instant): Promise<void>;
  /** New tanks get an empty head. */
  putTanks(changes: readonly Change<TankState>[], at: Instant): Promise<void>;
  addTankCounts(deltas: ReadonlyMap<string, number>): Promise<void>;
  /** The thresholds that the fleet is sorted by; null removes a tank from the fleet. */
  setThresholds(thresholds: ReadonlyMap<string, number | null>): Promise<void>;
  putKeys(changes: readonly KeyChange[]): Promise<void>;
  updateLastSeen(seen: ReadonlyMap<string, Instant>): Promise<void>;

  // Devices and pending readings

  putDevices(devices: readonly CountedDevice[]): Promise<void>;
  putAssignments(assignments: readonly DeviceAssignment[]): Promise<void>;
  removeDevices(ids: readonly string[]): Promise<void>;
  /** Devices with pending readings that may belong to one of these tanks. */
  devicesWithPendingFor(tankIds: readonly string[]): Promise<string[]>;
  /** The pending readings of these devices, by device and instant. */
  pendingReadings(deviceIds: readonly string[]): Promise<PendingReading[]>;
  /** Replaces pending readings of the same device and instant; removes the oldest ones over the limit. */
  addPending(readings: readonly PendingReading[]): Promise<void>;
  resolvePending(readings: readonly ResolvedReading[]): Promise<void>;
  removePending(deviceIds: readonly string[]): Promise<void>;

  // Telemetry

  /**
   * Appends to heads that have room and end before the readings, without reading them. Readings of a device go to the tank
   * to which it has been assigned since the first of them or earlier, if it has no pending readings. Nothing is appended to tanks of
   * `except`.
   */
  append(
    by: ReadingSource["kind"],
    batch: BatchColumns,
    appends: readonly Append[],
    except: ReadonlySet<string>,
  ): Promise<AppendResult>;
  /** "busy": another transaction holds one of them, and `wait` is false. */
  lockHeads(tankIds: readonly string[], wait: boolean): Promise<ReadonlyMap<string, HeadRow> | "busy">;
  blocks(wanted: readonly BlockKey[]): Promise<{ readonly get: (key: BlockKey) => BlockRow }>;
  /** Updates the latest reading of each tank, too. */
  writeHeads(heads: ReadonlyMap<string, HeadUpdate>): Promise<void>;
  writeBlocks(blocks: readonly (StoredBlock & { readonly tankId: string })[]): Promise<void>;

  // Rank indexes

  /** All groups on the paths to these positions. */
  rankGroups(table: RankTable, positions: readonly SeriesPosition[]): Promise<readonly SeriesGroup[]>;
  putRankGroups(table: RankTable, groups: readonly SeriesGroup[]): Promise<void>;
  removeRankGroups(table: RankTable, groups: readonly SeriesGroup[]): Promise<void>;
  removeRankIndex(table: RankTable, series: string): Promise<void>;
  /** Which of these segments of a list have more than `SEGMENT_MAX` entries. */
  oversizedSegments<S extends ListSegment>(kind: ListKind, segments: readonly S[]): Promise<S[]>;
  /** Every `SEGMENT_SIZE`th entry of a segment, from the first, and the number of all. */
  segmentStarts(kind: ListKind, segment: ListSegment): Promise<{ readonly starts: Position[]; readonly total: number }>;

  // Forecasts, and the order of the fleet

  /** Unknown tanks are left out. Reads without locks. */
  fleetTanks(tankIds: readonly string[]): Promise<readonly FleetTank[]>;
  putForecasts(forecasts: readonly ForecastRow[]): Promise<void>;
  removeForecasts(tankIds: readonly string[]): Promise<void>;
  refillsOf(tankIds: readonly string[]): Promise<ReadonlyMap<string, readonly Refill[]>>;
  addRefills(refills: readonly (Refill & { readonly tankId: string })[]): Promise<void>;
  removeRefills(tankIds: readonly string[]): Promise<void>;

  // Alerts

  /** Held by all who write alerts, events or planned notifications, and by commands on channels. The sender does not take it. */
  lockAlerts(): Promise<void>;
  /** `medianInterval` is undefined: only the head has it. Unknown tanks are left out. */
  evaluationInputs(tankIds: readonly string[]): Promise<readonly EvaluationInput[]>;
  setEvaluations(states: ReadonlyMap<string, StoredEvaluation>): Promise<void>;
  /** Tanks whose alerts must be evaluated again by then, at most `limit`. Their heads are not locked. */
  tanksToEvaluate(now: Instant, limit: number): Promise<readonly string[]>;
  /** The next live tanks by id, at most `limit`. */
  fleetAfter(reevaluation: Reevaluation, limit: number): Promise<readonly string[]>;
  alertsNotClosed(tankIds: readonly string[]): Promise<readonly Alert[]>;
  /** Deleted ones, too. Reads without locks. */
  tanksWithOwners(tankIds: readonly string[]): Promise<ReadonlyMap<string, TankWithOwner>>;
  putAlerts(alerts: readonly Alert[]): Promise<void>;
  /** Alerts follow their tank to another owner. */
  moveAlerts(ownerOf: ReadonlyMap<string, string>): Promise<void>;
  /** The time, by a clock that all processes on the database share. */
  now(): Promise<Instant>;
  serviceState(name: ServiceStateName): Promise<string | undefined>;
  /** False if it is not `before` any more. Holds it until the transaction ends. */
  replaceServiceState(name: ServiceStateName, before: string | undefined, after: string): Promise<boolean>;
  /** The sequence number of the newest event, which may have been removed since; 0 before the first. */
  lastSequence(): Promise<number>;
  /** Events must be in the order of their sequence numbers. */
  addEvents(events: readonly StoredEvent[]): Promise<void>;

  // Channels and notifications

  /** All that are not disabled. */
  channels(): Promise<readonly Channel[]>;
  addNotifications(notifications: readonly NewNotification[]): Promise<void>;
  planNotifications(planned: readonly PlannedNotification[]): Promise<void>;
  /** Due ones, oldest first; nobody else gets them until the lease ends. */
  claimDue(requests: readonly ClaimRequest[], now: Instant): Promise<readonly ClaimedNotification[]>;
  sendingChannels(ids: readonly string[]): Promise<ReadonlyMap<string, SendingChannel>>;
  /** Returns the ids of those whose lease was still that of the record. */
  putAttempts(records: readonly AttemptRecord[], now: Instant): Promise<ReadonlySet<string>>;
  setWorking(channelIds: readonly string[]): Promise<void>;
  /** Returns since when the channel fails, and the time; undefined if it is not active. */
  setFailing(channelId: string, now: Instant): Promise<{ readonly since: Instant; readonly now: Instant } | undefined>;
  disableChannel(channelId: string, reason: string, failedAt: Instant, now: Instant): Promise<boolean>;
  /** Pending ones that nobody is sending; a limited number, which is returned. */
  endPending(destination: string, now: Instant): Promise<number>;
  expireMail(now: Instant): Promise<readonly Pick<ClaimedNotification, "destination" | "channel_id">[]>;
  /** Attempts that were planned by a clock that was ahead become due. */
  advanceDue(destinations: readonly string[], now: Instant): Promise<void>;
  /** A limited number, which is returned. */
  removeOldEvents(now: Instant): Promise<number>;
  removeEndedNotifications(now: Instant): Promise<number>;
  /** Also removes the planned notifications of deleted channels. */
  putChannels(changes: readonly ChannelChange[]): Promise<void>;
  /** Makes notifications pending again, and due at once. */
  retryNotifications(ids: readonly string[], at: Instant): Promise<void>;
  /** Marks pending notifications as failed, because their channel was deleted. */
  endNotifications(ids: readonly string[], at: Instant): Promise<void>;

  // Planned notifications

  /** Returns them in the order in which they are due. */
  plannedFor(recipient: string, dueBy: Instant, limit: number): Promise<readonly PlannedNotification[]>;
  removePlanned(ids: readonly string[]): Promise<void>;
  postponePlanned(ids: readonly string[], until: Instant): Promise<void>;
  advancePlanned(now: Instant): Promise<void>;
  /** Both read without locks. */
  recipientCustomer(id: string): Promise<ManagedCustomer | undefined>;
  recipientChannel(id: string): Promise<Channel | undefined>;
  /** When the newest mail about alerts to this recipient was created. */
  lastMailAt(recipient: Pick<PlannedNotification, "channel_id" | "customer_id">, now: Instant): Promise<Instant | undefined>;
  /** Keyed by sequence number. */
  eventPayloads(sequences: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Returns the alerts that the customer was sent a mail about, except those whose mails have all failed. */
  alertsNotifiedTo(customerId: string, alertIds: readonly string[]): Promise<ReadonlySet<string>>;
  setAlertsNotified(customerId: string, alertIds: readonly string[]): Promise<void>;
  /** Returns the tanks whose alerts are paused, and until when. */
  pausedTanks(tankIds: readonly string[], now: Instant): Promise<ReadonlyMap<string, Instant>>;
  digestDraft(recipient: string): Promise<DigestDraft | undefined>;
  putDigestDraft(recipient: string, draft: DigestDraft): Promise<void>;
  removeDigestDraft(recipient: string): Promise<void>;
  /** Created when it is first needed. */
  unsubscribeSecret(): Promise<string>;

  /** Replaces all links that verify the address of the customer. */
  putVerification(customerId: string, link: EmailVerification | null): Promise<void>;

  // Users, sessions, links to sign in

  putUsers(changes: readonly UserChange[]): Promise<void>;
  /** Also removes old sign-ins. */
  putSignIns(signIns: readonly SignIn[], at: Instant): Promise<void>;
  startSessions(sessions: ChangeSet["sessionsStarted"], at: Instant): Promise<void>;
  endSessions(ids: readonly string[]): Promise<void>;
  endSessionsOfCustomers(ids: readonly string[]): Promise<void>;

  // Audit log, idempotency keys

  appendAudit(changes: readonly AuditedChange[], context: AuditContext): Promise<void>;
  /** Results saved after `since`. */
  savedResult(by: string, key: string, since: Instant): Promise<SavedResult | undefined>;
  /** Also removes some of the results saved before `expired`. */
  saveResult(key: IdempotencyKey, context: AuditContext, resource: Resource, expired: Instant): Promise<void>;
}

/** What is stored of an evaluation beside the latest reading of the tank. */
export type StoredEvaluation = Pick<Evaluation, "activeConditions" | "evaluateAt">;
export type TankWithOwner = { readonly tank: Tank; readonly customer: CustomerWithCount };

/** What is sent later: mail, which is grouped by recipient, and what a channel wants only after a delay. */
export type PlannedNotification = Pick<Notification, "id" | "channel_id" | "customer_id" | "created_at"> & {
  /** The id of the channel or of the customer. */
  readonly recipient: string;
  readonly event: NotificationEvent;
  readonly sequence: number | null;
  /** Null: it is about a refill. */
  readonly alert_id: string | null;
  readonly tank_id: string;
  readonly due_at: Instant;
};

/** How many there are of a group, and the most urgent of them, most urgent first. */
export type DraftedGroup = {
  readonly total: number;
  readonly top: readonly { readonly id: string; readonly urgency: number }[];
};
/** Alerts by kind and update: `low opened`. Refills: `tank.refilled`, by the numbers of their events. */
export type DigestDraft = Readonly<Record<string, DraftedGroup>>;

type AlertWork = {
  readonly tanks: ReadonlyMap<string, EvaluationMode>;
  readonly owners: ReadonlyMap<string, string>;
  readonly changes: readonly AlertChange[];
  readonly at: Instant;
  readonly dueNotifications: number;
};

/**
 * Collects what a transaction does to alerts at its end: tanks to evaluate, tanks with a new owner, changes that a command has
 * planned, the time at which it does, and how many notifications it has made due itself.
 */
export class PendingAlertWork {
  readonly #tanks = new Map<string, EvaluationMode>();
  readonly #owners = new Map<string, string>();
  #changes: AlertChange[] = [];
  #at: Instant | undefined;
  #dueNotifications = 0;

  /** If several writes share the transaction, the latest time counts. */
  setTime(at: Instant): void {
    this.#at = Math.max(at, this.#at ?? at);
  }

  add(tankIds: Iterable<string>, mode = ON_READING): void {
    for (const id of tankIds) if (mode !== ON_READING || !this.#tanks.has(id)) this.#tanks.set(id, mode);
  }

  /** New owners, keyed by tank. */
  addOwners(ownerOf: ReadonlyMap<string, string>): void {
    for (const [tankId, ownerId] of ownerOf) this.#owners.set(tankId, ownerId);
  }

  /** Adds changes to alerts of tanks that the transaction has locked and does not evaluate. */
  addChanges(changes: readonly AlertChange[]): void {
    this.#changes.push(...changes);
  }

  /** Notifications that the transaction has created or is sending again: after its commit they are sent. */
  addDueNotifications(count: number): void {
    this.#dueNotifications += count;
  }

  /** Returns the collected work and resets it. Tanks are sorted by id, the order in which heads are locked. */
  drain(): AlertWork {
    const work = {
      tanks: new Map([...this.#tanks].sort(([a], [b]) => (a < b ? -1 : 1))),
      owners: new Map(this.#owners),
      changes: this.#changes,
      at: this.#at ?? Date.now(),
      dueNotifications: this.#dueNotifications,
    };
    this.clear();
    return work;
  }

  clear(): void {
    this.#tanks.clear();
    this.#owners.clear();
    this.#changes = [];
    this.#at = undefined;
    this.#dueNotifications = 0;
  }
}

/** The number of its pending readings is kept with them. */
export type CountedDevice = Pick<ManagedDevice, "device" | "dropped">;
export type BlockKey = { readonly tankId: string; readonly start: number };
/** `longHeads`: tanks whose heads should be split soon. `toEvaluate`: those whose alerts the readings may open or close. */
export type AppendResult = {
  readonly appended: readonly Append[];
  readonly longHeads: readonly string[];
  readonly toEvaluate: readonly string[];
};
export type SavedResult = { readonly fingerprint: string; readonly resource: Resource };
