// The check of a customer: its fields, and the number of its tanks.

import { errorInCustomer } from "../../domain/customer.ts";
import type { Finding } from "../../domain/store.ts";
import type { ObjectLook } from "../check.ts";
import { CUSTOMER_COLUMNS, customerOf } from "../columns.ts";
import { countFaults, findingsOf, ruleFaults } from "../series/fault.ts";
import { type Db, type Row, statement } from "./connection.ts";
import { lockLists } from "./lists.ts";

const A_STEP = 500;

/** By tank_by_owner. */
const COUNTED = "(SELECT count(*) FROM tank WHERE NOT tank.deleted AND tank.owner_id = customer.id)";
/** By primary key. No id is empty. */
const SOME = statement(`SELECT ${COUNTED}, ${CUSTOMER_COLUMNS} FROM customer WHERE id > $1 ORDER BY id LIMIT ${A_STEP}`);
const ONE = statement(`SELECT ${COUNTED}, ${CUSTOMER_COLUMNS} FROM customer WHERE id = $1`);
const COUNT = statement(`UPDATE customer SET tank_count = ${COUNTED} WHERE id = $1`);

export async function someCustomers(db: Db, after: string | undefined): Promise<ObjectLook<string>[]> {
  return (await db.rows(SOME, [after ?? ""])).map(lookOf);
}

/** Whoever changes tanks takes the lock of the lists first: what is counted under it stays. */
export async function repairCustomer(db: Db, id: string): Promise<Finding[]> {
  await lockLists(db);
  const [before] = (await db.rows(ONE, [id])).map(lookOf);
  if (before === undefined) return [];
  await db.rows(COUNT, [id]);
  const [after] = (await db.rows(ONE, [id])).map(lookOf);
  return findingsOf(before.where, before.faults, after?.faults);
}

function lookOf([tanks, ...columns]: Row): ObjectLook<string> {
  const customer = customerOf(columns);
  const faults = [...ruleFaults(errorInCustomer(customer)), ...countFaults(customer.tank_count, Number(tanks))];
  return { key: customer.id, where: `customer ${customer.id}`, faults, readings: 0 };
}
