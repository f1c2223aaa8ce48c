// What an engine does within one transaction: lookups and batch operations, without rules. The use cases of this folder are
// written over it, once for both engines. SQLite has one writer, so that its locks do nothing.
//
// Calls that do not need each other's results are made at once, with `Promise.all`: an engine may send them together. They are
// executed in the order in which they are made.

import {
  type AlertSettings,
  bothTriggers,
  type Evaluation,
  type EvaluationTrigger,
  ON_READING,
} from "../../domain/alerts/evaluate.ts";
import type { AlertChange } from "../../domain/alerts/event.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Lookups } from "../../domain/lookups.ts";
import type { PendingReading, ResolvedReading } from "../../domain/placement.ts";
import type { ReadingSource } from "../../domain/reading.ts";
import type { BlockRow, HeadRow } from "../packed/checksum.ts";
import type { ListKind } from "../packed/lists.ts";
import type { Append, BatchColumns, HeadUpdate, StoredBlock } from "../packed/merge.ts";
import type { Group, Position } from "../packed/rank-index.ts";
import type { sharedTables } from "./reads-and-tables.ts";

/** The two tables of rank index groups. An index has the id of its tank, or the name of its list. */
export type RankTable = "readings" | "lists";
export type IndexPosition = { readonly index: string; readonly at: Position };
export type IndexGroup = { readonly index: string; readonly group: Group };
export type ListSegment = { readonly key: string | null; readonly at: Position; readonly end: Position };

/** The tables that both engines share, and below what each engine implements itself. */
export interface StoreTransaction extends Lookups, Omit<ReturnType<typeof sharedTables>, keyof Lookups> {
  /** What is done to alerts before the transaction is committed. */
  readonly alertWork: PendingAlertWork;
  readonly alertSettings: AlertSettings;
  /**
   * Tanks whose heads this process has found damaged. Their readings are merged, which reads the head, and so are not acknowledged
   * while it has to be restored.
   */
  readonly damagedTanks: Set<string>;

  // Locks. Everyone takes them in this order: lists, devices, the number of unknown devices (PostgreSQL), heads by tank id,
  // device rows by id, alerts.

  /** Held by all who change customers, tanks or the audit log. */
  lockLists(): Promise<void>;
  /** Shared while readings of devices are placed, exclusive while assignments, profiles or shapes change. */
  lockDevices(mode: "shared" | "exclusive"): Promise<void>;

  // Tanks

  /** The thresholds that the fleet is sorted by; null removes a tank from the fleet. */
  setThresholds(thresholds: ReadonlyMap<string, number | null>): Promise<void>;

  // Pending readings

  /** Replaces pending readings of the same device and instant; removes the oldest ones over the limit. */
  addPending(readings: readonly PendingReading[]): Promise<void>;
  resolvePending(readings: readonly ResolvedReading[]): Promise<void>;

  // Telemetry

  /**
   * Appends to heads that have room and end before the readings, without reading them. Readings of a device go to the tank
   * to which it has been assigned since the first of them or earlier, if it has no pending readings. Nothing is appended to
   * `damagedTanks`.
   */
  append(by: ReadingSource["kind"], batch: BatchColumns, appends: readonly Append[]): Promise<AppendResult>;
  lockHeads(tankIds: readonly string[]): Promise<ReadonlyMap<string, HeadRow>>;
  /** Does not wait. "busy": another transaction holds one of them. */
  tryLockHeads(tankIds: readonly string[]): Promise<ReadonlyMap<string, HeadRow> | "busy">;
  blocks(wanted: readonly BlockKey[]): Promise<{ readonly get: (key: BlockKey) => BlockRow }>;
  /** Updates the latest reading of each tank, too. */
  writeHeads(heads: ReadonlyMap<string, HeadUpdate>): Promise<void>;
  writeBlocks(blocks: readonly (StoredBlock & { readonly tankId: string })[]): Promise<void>;

  // Rank indexes

  /** All groups on the paths to these positions. */
  rankGroups(table: RankTable, positions: readonly IndexPosition[]): Promise<readonly IndexGroup[]>;
  putRankGroups(table: RankTable, groups: readonly IndexGroup[]): Promise<void>;
  removeRankGroups(table: RankTable, groups: readonly IndexGroup[]): Promise<void>;
  removeRankIndex(table: RankTable, index: string): Promise<void>;
  /** Which of these segments of a list have more than `SEGMENT_MAX` entries. */
  oversizedSegments<S extends ListSegment>(kind: ListKind, segments: readonly S[]): Promise<S[]>;
  /** Every `SEGMENT_SIZE`th entry of a segment, from the first, and the number of all. */
  segmentStarts(kind: ListKind, segment: ListSegment): Promise<{ readonly starts: Position[]; readonly total: number }>;

  // Alerts

  /** Held by all who write alerts, events or deferred notifications, and by commands on channels. The sender does not take it. */
  lockAlerts(): Promise<void>;
  setEvaluations(states: ReadonlyMap<string, StoredEvaluation>): Promise<void>;
  /** The time, by a clock that all processes on the database share. */
  now(): Promise<Instant>;
}

/** What is stored of an evaluation beside the latest reading of the tank. */
export type StoredEvaluation = Pick<Evaluation, "activeConditions" | "evaluateAt">;

type AlertWork = {
  readonly tanks: ReadonlyMap<string, EvaluationTrigger>;
  readonly owners: ReadonlyMap<string, string>;
  readonly changes: readonly AlertChange[];
  readonly at: Instant;
  readonly dueNotifications: number;
};

/**
 * Collects what a transaction does to alerts at its end, and at which time: tanks to evaluate, tanks with a new owner, changes that a
 * command has planned. Also counts the notifications that it has created or is sending again.
 */
export class PendingAlertWork {
  readonly #tanks = new Map<string, EvaluationTrigger>();
  readonly #owners = new Map<string, string>();
  #changes: AlertChange[] = [];
  #at: Instant | undefined;
  #dueNotifications = 0;

  /** If several writes share the transaction, the latest time counts. */
  setTime(at: Instant): void {
    this.#at = Math.max(at, this.#at ?? at);
  }

  addTanks(tankIds: Iterable<string>, trigger = ON_READING): void {
    for (const id of tankIds) {
      const other = this.#tanks.get(id);
      this.#tanks.set(id, other === undefined ? trigger : bothTriggers(other, trigger));
    }
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

export type BlockKey = { readonly tankId: string; readonly start: number };
/** `longHeads`: tanks whose heads should be split soon. `toEvaluate`: those whose alerts the readings may open or close. */
export type AppendResult = {
  readonly appended: readonly Append[];
  readonly longHeads: readonly string[];
  readonly toEvaluate: readonly string[];
};
