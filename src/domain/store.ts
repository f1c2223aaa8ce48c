// The interface to the database, implemented by each engine in `src/store`. For every engine:
// - a read sees one snapshot, except that the counts of the fleet for metrics, and the map and its towns, may be of different ones;
// - a write is durable when its promise resolves, and is stored completely or not at all;
// - while the database cannot be reached, calls fail with a `store_unavailable` error;
// - counts, the fleet, the audit log and device assignments are updated in the transaction that changes what they follow from,
//   and pending readings are released in the transaction that makes them storable.

import type { ComposeReads, ComposeWrites } from "./alerts/compose.ts";
import type { NotificationQueueReads, NotificationQueueWrites } from "./alerts/notification-queue.ts";
import type { AlertReads } from "./alerts/reads.ts";
import type { SweepWrites } from "./alerts/sweep.ts";
import type { AuditContext } from "./audit.ts";
import type { TankState } from "./changes.ts";
import type { Command, CommandResult, IdempotencyKey } from "./commands/command.ts";
import type { CustomerWithCount } from "./customer.ts";
import type { FleetReads } from "./fleet.ts";
import type { FleetMapReads } from "./fleet-map.ts";
import type { FleetOrderReads, FleetOrderWrites } from "./fleet-order.ts";
import type { ForecastReads, ForecastWrites } from "./forecast/stored.ts";
import type { Instant } from "./instant.ts";
import type { Scope, StoredKey } from "./key.ts";
import type { ManagementReads } from "./management-reads.ts";
import type { Page, PageQuery } from "./page.ts";
import type { PendingReading } from "./placement.ts";
import type { IncomingBatch, IngestResult, InstantRange, Reading, ReadingColumns } from "./reading.ts";
import type { CustomerRecord, DeviceRecord, DeviceWithHistory, RecordOutcome, TankRecord } from "./records.ts";
import type { ManagedCustomer } from "./resource.ts";
import type { SessionReads } from "./session.ts";
import type { Tank } from "./tank.ts";

/** `undefined`: there is no such object, or it is out of scope. */
export type Found<T> = T | "deleted" | undefined;

export type CustomerQuery = PageQuery & { readonly email: string | undefined };

export interface Reads
  extends FleetReads,
    FleetMapReads,
    AlertReads,
    ForecastReads,
    SessionReads,
    Pick<FleetOrderReads, "fleetOrderState"> {
  customerById(id: string, scope: Scope): Promise<Found<CustomerWithCount>>;
  customerPage(query: CustomerQuery, scope: Scope): Promise<Page<CustomerWithCount>>;
  tankById(id: string, scope: Scope): Promise<Found<Tank>>;
  tankPage(query: PageQuery, scope: Scope): Promise<Page<Tank>>;
  telemetryPage(tankId: string, query: PageQuery, scope: Scope): Promise<Found<Page<Reading>>>;
  /** Some thousand readings of the range, from its beginning. */
  readingColumns(tankId: string, range: InstantRange, scope: Scope): Promise<Found<ReadingColumns>>;
  keyByHash(hash: string): Promise<StoredKey | undefined>;
  /** Resolves if the database responds. */
  ping(): Promise<void>;
}

/** Pending readings of one device; the newest are kept. */
export const MAX_PENDING_PER_DEVICE = 1000;

export interface Writes {
  /** Each record replaces the object with its id, or creates it. `last_seen_at` never goes back. */
  importCustomers(records: readonly CustomerRecord[], context?: AuditContext): Promise<RecordOutcome[]>;
  importTanks(records: readonly TankRecord[], context?: AuditContext): Promise<RecordOutcome[]>;
  /** Replaces the fields that are given; past assignments are only added to. */
  importDevices(records: readonly DeviceRecord[], context?: AuditContext): Promise<RecordOutcome[]>;
  ingest(batch: IncomingBatch): Promise<IngestResult>;
  /** With an idempotency key, a command of the same caller is executed once within 24 hours. */
  execute(command: Command, context: AuditContext, key?: IdempotencyKey): Promise<CommandResult>;
  updateLastSeen(seen: ReadonlyMap<string, Instant>): Promise<void>;
}

/** One inconsistency: where it is, and what was expected and found. */
export type Finding = {
  readonly where: string;
  readonly what: string;
  /** It can be rebuilt from other data. */
  readonly isRepairable: boolean;
  readonly repaired: boolean;
};
/** What was checked. */
export type CheckTotals = { readonly customers: number; readonly tanks: number; readonly readings: number };
export type ExportRecord =
  | ({ readonly kind: "customer" } & ManagedCustomer)
  | ({ readonly kind: "tank" } & TankState)
  | ({ readonly kind: "device" } & DeviceWithHistory)
  | { readonly kind: "readings"; readonly tankId: string; readonly readings: readonly Reading[] }
  | { readonly kind: "pending"; readonly reading: PendingReading }
  /** Something that is damaged, and left out. */
  | { readonly kind: "damaged"; readonly what: string };

export type Progress = (done: number, total: number) => void;

export type RestoreOptions = {
  /** Replaces a database that is not empty. */
  readonly force: boolean;
  readonly progress: Progress;
  /** Gets each error of the backup, which is then not restored. */
  readonly onFinding: (finding: Finding) => void;
};
/** `kept`: the names under which the previous data is kept. */
export type Restored = { readonly totals: CheckTotals; readonly kept: readonly string[] };

/** Methods for the command line. */
export interface Maintenance {
  isEmpty(): Promise<boolean>;
  /** A complete copy in `file`; others can read and write meanwhile. */
  backup(file: string, progress: Progress): Promise<void>;
  /**
   * All objects and readings of one snapshot: customers, tanks, devices, the readings of each tank, oldest first, and pending
   * readings. Without keys, users, sessions, channels, alerts, events, notifications, audit log and idempotency keys.
   */
  exportRecords(): AsyncIterable<ExportRecord>;
  /**
   * Compares every count, index and rule with the data, in short snapshots, while others read and write. With `repair`,
   * derived data is rebuilt, in a write that checks again first.
   */
  check(repair: boolean, progress: Progress): AsyncGenerator<Finding, CheckTotals, void>;
  /** A temporary copy of the database; `close` removes it. */
  scratchCopy(progress: Progress): Promise<Store>;
}

type AlertJobs = SweepWrites & ComposeReads & ComposeWrites & NotificationQueueReads & NotificationQueueWrites;

type ForecastJobs = FleetOrderReads & FleetOrderWrites & ForecastWrites;

export interface Store extends Reads, ManagementReads, Writes, AlertJobs, ForecastJobs, Maintenance {
  close(): Promise<void>;
}
