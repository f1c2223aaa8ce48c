// What a check sees in PostgreSQL: short transactions that only read, on the primary.

import type pg from "pg";
import type { CheckTotals, Finding } from "../../domain/store.ts";
import { checkWith, type Repairs } from "../check.ts";
import { someCustomers } from "./check-customers.ts";
import { lookAtDevices } from "./check-devices.ts";
import { lookAtKeys, lookAtReferences } from "./check-file.ts";
import { everySeries, lookAtList } from "./check-lists.ts";
import { someTanks } from "./check-tanks.ts";
import { lookAtAudit } from "./check-texts.ts";
import { asRefusal, type Db, statement, transaction } from "./connection.ts";

const OBJECTS = statement("SELECT (SELECT count(*) FROM customer) + (SELECT count(*) FROM tank)");

/** Without `repairs` nothing is changed. */
export async function* check(
  pool: pg.Pool,
  repairs: Repairs<string> | undefined,
  progress: (done: number, total: number) => void,
): AsyncGenerator<Finding, CheckTotals, void> {
  function inSnapshot<A extends unknown[], T>(look: (db: Db, ...args: A) => Promise<T>): (...args: A) => Promise<T> {
    return (...args) => transaction(pool, (db) => look(db, ...args), "REPEATABLE READ READ ONLY");
  }
  const looks = {
    // Its pages are PostgreSQL's own care: checksums, and the extension amcheck.
    whole: () => ({ where: "the database", faults: [] }),
    references: inSnapshot(lookAtReferences),
    objects: inSnapshot(async (db) => Number((await db.rows(OBJECTS))[0]?.[0])),
    customers: inSnapshot(someCustomers),
    tanks: inSnapshot(someTanks),
    devices: inSnapshot(lookAtDevices),
    keysAndAudit: inSnapshot(async (db) => [...(await lookAtKeys(db)), ...(await lookAtAudit(db))]),
    everySeries: inSnapshot(everySeries),
    list: inSnapshot(lookAtList),
  };
  try {
    return yield* checkWith(looks, repairs, progress);
  } catch (error) {
    throw asRefusal(error);
  }
}
