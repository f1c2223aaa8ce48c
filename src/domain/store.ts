// The port to the database: named questions, answered by each engine in `src/store`. What holds for every engine:
// - an answer is of one snapshot; a write is durable when its promise resolves, and whole or not at all;
// - a database that cannot be reached is a `store_unavailable` refusal, nothing else is thrown for it;
// - `tank_count`, the number of readings of a tank, the fleet, the audit log, and which device serves which tank are kept in
//   the transaction that changes them; what waited for a change is taken in with it.

import type { Occasion } from "./audit.ts";
import type { CountedCustomer } from "./customer.ts";
import type { DeviceRecord } from "./device-line.ts";
import type { StoredRecord } from "./export-lines.ts";
import type { Instant } from "./instant.ts";
import type { KnownKey, Sight } from "./key.ts";
import type { Carried, Once, Order } from "./orders/order.ts";
import type { Overview } from "./overview.ts";
import type { Page, PageQuestion } from "./page.ts";
import type { Acceptance, ArrivalBatch, Reading } from "./reading.ts";
import type { CustomerRecord, RecordOutcome, TankRecord } from "./record.ts";
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

/** How many readings of one device may wait; the newest stay. */
export const WAITING_MOST = 1000;

export interface Writes {
  /** Each record replaces the object of its id, or makes it. `last_seen_at` alone never moves back. */
  putCustomers(records: readonly CustomerRecord[], occasion?: Occasion): Promise<RecordOutcome[]>;
  putTanks(records: readonly TankRecord[], occasion?: Occasion): Promise<RecordOutcome[]>;
  /** What is named of a device is replaced; `since`, `dropped` and where it served before never lose what is known. */
  putDevices(records: readonly DeviceRecord[], occasion?: Occasion): Promise<RecordOutcome[]>;
  /** Readings go to the tank that had their device at their instant; what has none yet waits. */
  acceptReadings(batch: ArrivalBatch): Promise<Acceptance>;
  /** What was ordered once under the same key of the same sender within a day is not done again, but answered as it was. */
  carryOut(order: Order, occasion: Occasion, once?: Once): Promise<Carried>;
  touchCustomers(seen: ReadonlyMap<string, Instant>): Promise<void>;
}

/** Something that is not as it must be: what it is about, and one sentence that says what was expected and what was found. */
export type Finding = { readonly where: string; readonly what: string; readonly repaired: boolean };
/** How much was looked at. */
export type Census = { readonly customers: number; readonly tanks: number; readonly readings: number };

/** What only the command line asks. */
interface Upkeep {
  isEmpty(): Promise<boolean>;
  /** A whole copy at `file`, made while others read and write. */
  backup(file: string, progress: (done: number, total: number) => void): Promise<void>;
  /**
   * Every object and reading, of one snapshot: customers, tanks, devices, then the readings of each tank, oldest first, and
   * what waits. Keys, the audit log, and what was ordered once are not in it.
   */
  records(): AsyncIterable<StoredRecord>;
  /**
   * Holds every count, milestone and rule against the data, while others read and write; a little at a time, each bit of one
   * snapshot. With `repair`, what can be derived is made anew, in a write that looks again first.
   */
  check(repair: boolean, progress: (done: number, total: number) => void): AsyncGenerator<Finding, Census, void>;
  /** A copy for trying a change on; `close` removes it. */
  rehearsal(progress: (done: number, total: number) => void): Promise<Store>;
}

export interface Store extends Reads, Overview, Writes, Upkeep {
  close(): Promise<void>;
}
