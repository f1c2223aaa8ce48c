// What a check sees and repairs in SQLite: it looks on a connection of its own, and repairs in the writing thread.

import type { DatabaseSync } from "node:sqlite";
import type { CheckTotals, Finding } from "../../domain/store.ts";
import { checkWith, type Looks, type ObjectLook, type Repairs } from "../check.ts";
import { customerLooks, customerRepairs } from "./check-customers.ts";
import { deviceRepairs, lookAtAudit, lookAtDevices } from "./check-devices.ts";
import { fileRepairs, lookAtFile, lookAtKeys, lookAtReferences } from "./check-file.ts";
import { listLooks, listRepairs } from "./check-lists.ts";
import { tankLooks, tankRepairs } from "./check-tanks.ts";
import { asRefusal, openReader } from "./connection.ts";
import { arrayRow, arrayStatement } from "./rows.ts";

export function repairs(db: DatabaseSync) {
  return { ...fileRepairs(db), ...customerRepairs(db), ...tankRepairs(db), ...deviceRepairs(db), ...listRepairs(db) };
}

/** A snapshot takes on no further object after this long. */
const SNAPSHOT_MS = 50;
const OBJECTS = "SELECT (SELECT count(*) FROM customer) + (SELECT count(*) FROM tank)";

/** Without `repairs` nothing is changed. */
export async function* check(
  file: string,
  repairs: Repairs<number> | undefined,
  progress: (done: number, total: number) => void,
): AsyncGenerator<Finding, CheckTotals, void> {
  let db: DatabaseSync | undefined;
  try {
    db = openReader(file);
    return yield* checkWith(looksOn(db), repairs, progress);
  } catch (error) {
    throw asRefusal(error);
  } finally {
    db?.close();
  }
}

function looksOn(db: DatabaseSync): Looks<number> {
  const { nextCustomer } = customerLooks(db);
  const { nextTank } = tankLooks(db);
  const { everySeries, list } = listLooks(db);
  const objects = arrayStatement(db, OBJECTS);

  function inSnapshot<A extends unknown[], T>(work: (...args: A) => T): (...args: A) => T {
    return (...args) => {
      db.exec("BEGIN");
      try {
        return work(...args);
      } finally {
        if (db.isTransaction) db.exec("COMMIT");
      }
    };
  }

  /** As many as a snapshot may take. */
  function some(next: (after: number) => ObjectLook<number> | undefined) {
    return inSnapshot((after: number | undefined): ObjectLook<number>[] => {
      const end = performance.now() + SNAPSHOT_MS;
      const looks: ObjectLook<number>[] = [];
      for (let last = after ?? Number.MIN_SAFE_INTEGER; performance.now() < end; ) {
        const look = next(last);
        if (look === undefined) break;
        looks.push(look);
        last = look.key;
      }
      return looks;
    });
  }

  return {
    whole: () => lookAtFile(db),
    references: inSnapshot(() => lookAtReferences(db)),
    objects: () => Number(arrayRow(objects.get())?.[0]),
    customers: some(nextCustomer),
    tanks: some(nextTank),
    devices: inSnapshot(() => lookAtDevices(db)),
    keysAndAudit: inSnapshot(() => [...lookAtKeys(db), ...lookAtAudit(db)]),
    everySeries: inSnapshot(everySeries),
    list: inSnapshot(list),
  };
}
