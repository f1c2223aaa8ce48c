// The port to the database: named questions, answered by each engine in `src/store`. What holds for every engine:
// - an answer is of one snapshot; a write is durable when its promise resolves, and whole or not at all;
// - a database that cannot be reached is a `store_unavailable` refusal, nothing else is thrown for it;
// - `tank_count` and the number of readings of a tank are kept in the transaction that changes them.

import type { CountedCustomer } from "./customer.ts";
import type { Instant } from "./instant.ts";
import type { Key, KnownKey, Sight } from "./key.ts";
import type { Page, PageQuestion } from "./page.ts";
import type { Reading, ReadingBatch } from "./reading.ts";
import type { CustomerRecord, RecordOutcome, StoredRecord, TankRecord } from "./record.ts";
import type { Tank } from "./tank.ts";

/** `undefined`: there is no such object, or it is out of sight; `deleted`: it was there once. */
export type Found<T> = T | "deleted" | undefined;

export type CustomerQuestion = PageQuestion & { readonly email: string | undefined };

export interface Reads {
  customerById(id: string, sight: Sight): Promise<Found<CountedCustomer>>;
  customerPage(question: CustomerQuestion, sight: Sight): Promise<Page<CountedCustomer>>;
  tankById(id: string, sight: Sight): Promise<Found<Tank>>;
  tankPage(question: PageQuestion, sight: Sight): Promise<Page<Tank>>;
  telemetryPage(tankId: string, question: PageQuestion, sight: Sight): Promise<Found<Page<Reading>>>;
  keyByHash(hash: string): Promise<KnownKey | undefined>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
}

/** One entry of a batch of readings, by its place in the batch. */
export const READING_OUTCOMES = ["new", "changed", "unchanged", "tank_unknown"] as const;

export interface Writes {
  /** Each record replaces the object of its id, or makes it. `last_seen_at` alone never moves back. */
  putCustomers(records: readonly CustomerRecord[]): Promise<RecordOutcome[]>;
  putTanks(records: readonly TankRecord[]): Promise<RecordOutcome[]>;
  /** Outcome i is an index into `READING_OUTCOMES`. */
  acceptReadings(batch: ReadingBatch): Promise<Uint8Array>;
  addKey(key: Key, hash: string): Promise<void>;
  /** Adds the successor and lets the old key end at `oldExpiresAt`, in one step; false if the old one is revoked or replaced. */
  replaceKey(oldId: string, oldExpiresAt: Instant, key: Key, hash: string): Promise<boolean>;
  revokeKey(id: string, at: Instant): Promise<void>;
  touchCustomers(seen: ReadonlyMap<string, Instant>): Promise<void>;
}

/** Something that is not as it must be: what it is about, and one sentence that says what was expected and what was found. */
export type Finding = { readonly where: string; readonly what: string; readonly repaired: boolean };
/** How much was looked at. */
export type Census = { readonly customers: number; readonly tanks: number; readonly readings: number };

/** What only the command line asks. */
interface Upkeep {
  keyList(): Promise<KnownKey[]>;
  isEmpty(): Promise<boolean>;
  /** A whole copy at `file`, made while others read and write. */
  backup(file: string, progress: (done: number, total: number) => void): Promise<void>;
  /** Every object and reading, of one snapshot: customers, then tanks, then the readings of each tank, oldest first. */
  records(): AsyncIterable<StoredRecord>;
  /**
   * Holds every count, milestone and rule against the data, while others read and write; a little at a time, each bit of one
   * snapshot. With `repair`, what can be derived is made anew, in a write that looks again first.
   */
  check(repair: boolean, progress: (done: number, total: number) => void): AsyncGenerator<Finding, Census, void>;
  /** A copy for trying a change on; `close` removes it. */
  rehearsal(progress: (done: number, total: number) => void): Promise<Store>;
}

export interface Store extends Reads, Writes, Upkeep {
  close(): Promise<void>;
}
