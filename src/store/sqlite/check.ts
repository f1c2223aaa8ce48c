// The check of everything, on a connection of its own: a little at a time, each bit in a snapshot that is soon let go, so
// that the log can be emptied beside it. Repairs go through the writing thread, like every write, and look again first.

import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { Census, Finding } from "../../domain/store.ts";
import { type Fault, findingsOf } from "../series/fault.ts";
import { customerLooks, customerRepairs } from "./check-customers.ts";
import { fileRepairs, lookAtDevices, lookAtFile, lookAtKeys, lookAtReferences } from "./check-file.ts";
import { listLooks, listRepairs } from "./check-lists.ts";
import { tankLooks, tankRepairs } from "./check-tanks.ts";
import { asRefusal, openReader } from "./connection.ts";
import { arrayRow, arrayStatement } from "./rows.ts";

export function repairs(db: DatabaseSync) {
  return { ...fileRepairs(db), ...customerRepairs(db), ...tankRepairs(db), ...listRepairs(db) };
}

type RepairTable = ReturnType<typeof repairs>;
export type Repairs = { readonly [N in keyof RepairTable]: (...args: Parameters<RepairTable[N]>) => Promise<Finding[]> };

type Look = { readonly where: string; readonly faults: readonly Fault[] };
type Numbered = Look & { readonly pk: number };
type Mend = (repairs: Repairs) => Promise<Finding[]>;
type Progress = (done: number, total: number) => void;

/** A snapshot takes on no further object after this long. */
const SNAPSHOT_MS = 50;
const OBJECTS = "SELECT (SELECT count(*) FROM customer) + (SELECT count(*) FROM tank)";

/** Without `repairs` nothing is changed. */
export async function* check(
  file: string,
  repairs: Repairs | undefined,
  progress: Progress,
): AsyncGenerator<Finding, Census, void> {
  let db: DatabaseSync | undefined;
  try {
    db = openReader(file);
    return yield* new Check(db, repairs, progress).all();
  } catch (error) {
    throw asRefusal(error);
  } finally {
    db?.close();
  }
}

class Check {
  readonly #db: DatabaseSync;
  readonly #repairs: Repairs | undefined;
  readonly #progress: Progress;
  readonly #census = { customers: 0, tanks: 0, readings: 0 };

  constructor(db: DatabaseSync, repairs: Repairs | undefined, progress: Progress) {
    this.#db = db;
    this.#repairs = repairs;
    this.#progress = progress;
  }

  async *all(): AsyncGenerator<Finding, Census, void> {
    const db = this.#db;
    const file = lookAtFile(db);
    // What else is seen in a damaged file says nothing, and nothing should be written to it.
    const isDamaged = file.faults.some(({ isDerived }) => !isDerived);
    yield* await this.#told([file], isDamaged ? undefined : (repairs) => repairs.repairIndexes());
    if (isDamaged) return this.#census;
    const references = this.#inSnapshot(() => lookAtReferences(db));
    yield* await this.#told(references, (repairs) => repairs.repairReferences());
    yield* this.#customersAndTanks();
    yield* await this.#told([...lookAtDevices(db), ...lookAtKeys(db)], undefined);
    const { everySeries, list } = listLooks(db);
    for (const series of this.#inSnapshot(everySeries)) {
      const look = this.#inSnapshot(() => list(series));
      yield* await this.#told([look], (repairs) => repairs.repairList(series));
      await setImmediate();
    }
    return this.#census;
  }

  async *#customersAndTanks(): AsyncGenerator<Finding, void, void> {
    const census = this.#census;
    const total = Number(arrayRow(arrayStatement(this.#db, OBJECTS).get())?.[0]);
    for await (const look of this.#oneByOne(customerLooks(this.#db).nextCustomer)) {
      census.customers++;
      yield* await this.#told([look], (repairs) => repairs.repairCustomer(look.pk));
      this.#progress(census.customers, total);
    }
    for await (const look of this.#oneByOne(tankLooks(this.#db).nextTank)) {
      census.tanks++;
      census.readings += look.readings.total;
      yield* await this.#told([look], (repairs) => repairs.repairTank(look.pk));
      this.#progress(census.customers + census.tanks, total);
    }
  }

  async *#oneByOne<T extends Numbered>(next: (after: number) => T | undefined): AsyncGenerator<T, void, void> {
    for (let last: T | undefined, isDone = false; !isDone; ) {
      const looks = this.#inSnapshot(() => {
        const some: T[] = [];
        for (const end = performance.now() + SNAPSHOT_MS; performance.now() < end; some.push(last)) {
          const look = next(last?.pk ?? Number.MIN_SAFE_INTEGER);
          if (look === undefined) {
            isDone = true;
            break;
          }
          last = look;
        }
        return some;
      });
      yield* looks;
      // Signals are heard in between.
      await setImmediate();
    }
  }

  /** What is found, or what a repair has made of it. */
  async #told(looks: readonly Look[], mend: Mend | undefined): Promise<Finding[]> {
    const faults = looks.flatMap((look) => look.faults);
    if (faults.length === 0) return [];
    const isDerived = faults.some((fault) => fault.isDerived);
    if (isDerived && mend !== undefined && this.#repairs !== undefined) return mend(this.#repairs);
    return looks.flatMap((look) => findingsOf(look.where, look.faults));
  }

  #inSnapshot<T>(work: () => T): T {
    this.#db.exec("BEGIN");
    try {
      return work();
    } finally {
      if (this.#db.isTransaction) this.#db.exec("COMMIT");
    }
  }
}
