// The port to the database: named questions, answered by each engine in `src/store`. What holds for every engine:
// - an answer is of one snapshot; a write is durable when its promise resolves, and whole or not at all;
// - a database that cannot be reached is a `store_unavailable` refusal, nothing else is thrown for it;
// - `tank_count`, the number of readings of a tank, the fleet, the audit log, and which device serves which tank are kept in
//   the transaction that changes them; what waited for a change is taken in with it.

import type { AuditContext } from "./audit.ts";
import type { Command, CommandResult, IdempotencyKey } from "./commands/command.ts";
import type { CustomerWithCount } from "./customer.ts";
import type { Instant } from "./instant.ts";
import type { Scope, StoredKey } from "./key.ts";
import type { ManagementReads } from "./management-reads.ts";
import type { Page, PageQuery } from "./page.ts";
import type { PendingReading } from "./placement.ts";
import type { IncomingBatch, IngestResult, Reading } from "./reading.ts";
import type { CustomerRecord, DeviceRecord, DeviceWithHistory, RecordOutcome, TankRecord } from "./records.ts";
import type { Shape } from "./shape.ts";
import type { Tank } from "./tank.ts";

/** `undefined`: there is no such object, or it is out of sight; `deleted`: it was there once. */
export type Found<T> = T | "deleted" | undefined;

export type CustomerQuery = PageQuery & { readonly email: string | undefined };

export interface Reads {
  customerById(id: string, sight: Scope): Promise<Found<CustomerWithCount>>;
  customerPage(question: CustomerQuery, sight: Scope): Promise<Page<CustomerWithCount>>;
  tankById(id: string, sight: Scope): Promise<Found<Tank>>;
  tankPage(question: PageQuery, sight: Scope): Promise<Page<Tank>>;
  telemetryPage(tankId: string, question: PageQuery, sight: Scope): Promise<Found<Page<Reading>>>;
  keyByHash(hash: string): Promise<StoredKey | undefined>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
}

/** How many readings of one device may wait; the newest stay. */
export const MAX_PENDING = 1000;

export interface Writes {
  /** Each record replaces the object of its id, or makes it. `last_seen_at` alone never moves back. */
  importCustomers(records: readonly CustomerRecord[], occasion?: AuditContext): Promise<RecordOutcome[]>;
  importTanks(records: readonly TankRecord[], occasion?: AuditContext): Promise<RecordOutcome[]>;
  /** What is named of a device is replaced; `since`, `dropped` and where it served before never lose what is known. */
  importDevices(records: readonly DeviceRecord[], occasion?: AuditContext): Promise<RecordOutcome[]>;
  /** Readings go to the tank that had their device at their instant; what has none yet waits. */
  ingest(batch: IncomingBatch): Promise<IngestResult>;
  /** What was ordered once under the same key of the same sender within a day is not done again, but answered as it was. */
  execute(order: Command, occasion: AuditContext, once?: IdempotencyKey): Promise<CommandResult>;
  updateLastSeen(seen: ReadonlyMap<string, Instant>): Promise<void>;
}

/** Something that is not as it must be: what it is about, and one sentence that says what was expected and what was found. */
export type Finding = { readonly where: string; readonly what: string; readonly repaired: boolean };
/** How much was looked at. */
export type CheckTotals = { readonly customers: number; readonly tanks: number; readonly readings: number };

export type ExportRecord =
  | { readonly kind: "customer"; readonly customer: CustomerWithCount; readonly deleted: boolean }
  | { readonly kind: "tank"; readonly tank: Tank; readonly deleted: boolean; readonly shape: Shape | null }
  | ({ readonly kind: "device" } & DeviceWithHistory)
  | { readonly kind: "readings"; readonly tankId: string; readonly readings: readonly Reading[] }
  | { readonly kind: "waiting"; readonly waiting: PendingReading };

/** What only the command line asks. */
interface Maintenance {
  isEmpty(): Promise<boolean>;
  /** A whole copy at `file`, made while others read and write. */
  backup(file: string, progress: (done: number, total: number) => void): Promise<void>;
  /**
   * Every object and reading, of one snapshot: customers, tanks, devices, then the readings of each tank, oldest first, and
   * what waits. Keys, the audit log, and what was ordered once are not in it.
   */
  exportRecords(): AsyncIterable<ExportRecord>;
  /**
   * Holds every count, milestone and rule against the data, while others read and write; a little at a time, each bit of one
   * snapshot. With `repair`, what can be derived is made anew, in a write that looks again first.
   */
  check(repair: boolean, progress: (done: number, total: number) => void): AsyncGenerator<Finding, CheckTotals, void>;
  /** A copy for trying a change on; `close` removes it. */
  scratchCopy(progress: (done: number, total: number) => void): Promise<Store>;
}

export interface Store extends Reads, ManagementReads, Writes, Maintenance {
  close(): Promise<void>;
}
