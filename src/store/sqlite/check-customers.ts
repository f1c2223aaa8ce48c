// The check of a customer: its fields, and the number of its tanks.

import type { DatabaseSync } from "node:sqlite";
import { errorInCustomer } from "../../domain/customer.ts";
import type { Finding } from "../../domain/store.ts";
import type { ObjectLook } from "../check.ts";
import { CUSTOMER_COLUMNS, customerOf } from "../columns.ts";
import { countFaults, type Fault, findingsOf, ruleFaults } from "../series/fault.ts";
import { arrayRow, arrayStatement, type Row } from "./rows.ts";

/** By tank_by_owner. */
const COUNTED = "(SELECT count(*) FROM tank WHERE deleted = 0 AND owner_id = customer.id)";
/** By rowid, so that all can be gone through one by one. */
const NEXT = `SELECT pk, ${COUNTED}, ${CUSTOMER_COLUMNS} FROM customer WHERE pk > ? ORDER BY pk LIMIT 1`;

export function customerLooks(db: DatabaseSync) {
  const next = arrayStatement(db, NEXT);
  return {
    /** The first customer whose number is above `after`. */
    nextCustomer(after: number): ObjectLook<number> | undefined {
      const row = arrayRow(next.get(after));
      if (row === undefined) return undefined;
      const [pk, tanks, ...columns] = row as readonly [number, number, ...typeof row];
      const customer = customerOf(columns);
      const faults = objectFaults(errorInCustomer(customer), columns);
      faults.push(...countFaults(customer.tank_count, tanks));
      return { key: pk, where: `customer ${customer.id}`, faults, readings: 0 };
    },
  };
}

export function customerRepairs(db: DatabaseSync) {
  const { nextCustomer } = customerLooks(db);
  const count = db.prepare(`UPDATE customer SET tank_count = ${COUNTED} WHERE pk = ?`);
  return {
    repairCustomer(pk: number): Finding[] {
      const before = nextCustomer(pk - 1);
      if (before === undefined || before.key !== pk) return [];
      count.run(pk);
      return findingsOf(before.where, before.faults, nextCustomer(pk - 1)?.faults);
    },
  };
}

/** What the rules say of an object, and of the mark in its last column that says whether it is deleted. */
export function objectFaults(fault: string | undefined, columns: Row): Fault[] {
  const mark = columns.at(-1);
  const isMark = mark === 0 || mark === 1;
  return [...ruleFaults(fault), ...ruleFaults(isMark ? undefined : `its mark of deletion should be 0 or 1, it is ${mark}`)];
}
