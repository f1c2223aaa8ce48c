// The check of a customer: its fields, and the number of its tanks.

import type { DatabaseSync } from "node:sqlite";
import type { Finding } from "../../domain/store.ts";
import { faultInCustomer } from "../../domain/stored.ts";
import { type Fault, findingsOf } from "../series/fault.ts";
import { CUSTOMER_COLUMNS, customerOf } from "./customers.ts";
import { arrayRow, arrayStatement, type Row } from "./rows.ts";

/** By tank_by_owner. */
const COUNTED = "(SELECT count(*) FROM tank WHERE deleted = 0 AND owner_id = customer.id)";
/** By rowid, so that all can be gone through one by one. */
const NEXT = `SELECT pk, ${COUNTED}, ${CUSTOMER_COLUMNS} FROM customer WHERE pk > ? ORDER BY pk LIMIT 1`;

type CustomerLook = { readonly pk: number; readonly where: string; readonly faults: readonly Fault[] };

export function customerLooks(db: DatabaseSync) {
  const next = arrayStatement(db, NEXT);
  return {
    /** The first customer whose number is above `after`. */
    nextCustomer(after: number): CustomerLook | undefined {
      const row = arrayRow(next.get(after));
      if (row === undefined) return undefined;
      const [pk, tanks, ...columns] = row as readonly [number, number, ...typeof row];
      const customer = customerOf(columns);
      const faults = objectFaults(faultInCustomer(customer), columns);
      if (customer.tank_count !== tanks) {
        faults.push({ isDerived: true, what: `there are ${tanks} tanks, tank_count says ${customer.tank_count}` });
      }
      return { pk, where: `customer ${customer.id}`, faults };
    },
  };
}

export function customerRepairs(db: DatabaseSync) {
  const { nextCustomer } = customerLooks(db);
  const count = db.prepare(`UPDATE customer SET tank_count = ${COUNTED} WHERE pk = ?`);
  return {
    repairCustomer(pk: number): Finding[] {
      const before = nextCustomer(pk - 1);
      if (before === undefined || before.pk !== pk) return [];
      count.run(pk);
      return findingsOf(before.where, before.faults, nextCustomer(pk - 1)?.faults);
    },
  };
}

/** What the rules say of an object, and of the mark in its last column that says whether it is deleted. */
export function objectFaults(fault: string | undefined, columns: Row): Fault[] {
  const faults: Fault[] = [];
  if (fault !== undefined) faults.push({ isDerived: false, what: `${fault}; import it again, put right` });
  const mark = columns.at(-1);
  if (mark !== 0 && mark !== 1) {
    faults.push({ isDerived: false, what: `its mark of deletion should be 0 or 1, it is ${mark}; import it again` });
  }
  return faults;
}
