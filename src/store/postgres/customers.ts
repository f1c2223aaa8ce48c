// Customers: questions, and the writes, which take many at a time.

import { type AuditContext, auditCustomers } from "../../domain/audit.ts";
import { type Change, type CustomerState, planCustomerImport, recordIds } from "../../domain/changes.ts";
import type { CustomerWithCount } from "../../domain/customer.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Scope } from "../../domain/key.ts";
import type { Page } from "../../domain/page.ts";
import type { CustomerRecord, RecordOutcome } from "../../domain/records.ts";
import type { ManagedCustomer } from "../../domain/resource.ts";
import type { CustomerQuery, Found } from "../../domain/store.ts";
import { CUSTOMER_COLUMNS, CUSTOMER_FIELDS, customerOf, customerState, customerValues, isDeleted, ownPage } from "../columns.ts";
import { customerMove, LISTS } from "../series/lists.ts";
import { note } from "./audit.ts";
import { type Db, statement } from "./connection.ts";
import { ListKeeper, lockLists } from "./lists.ts";
import { List } from "./paging.ts";
import { byId, columnsOf, deletedAt, putStatement } from "./put.ts";

const BY_ID = statement(`SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE id = $1`);
export const ALL_CUSTOMERS = `SELECT ${CUSTOMER_COLUMNS} FROM customer ORDER BY id`;

const all = new List(LISTS.customers, CUSTOMER_COLUMNS);
const byEmail = new List(LISTS.customersByEmail, CUSTOMER_COLUMNS);

export function customerQuestions(db: Db) {
  return {
    async customerById(id: string, sight: Scope): Promise<Found<CustomerWithCount>> {
      if (sight.customerId !== null && sight.customerId !== id) return undefined;
      const [row] = await db.rows(BY_ID, [id]);
      if (row === undefined) return undefined;
      return isDeleted(row) ? "deleted" : customerOf(row);
    },

    async managedCustomer(id: string): Promise<ManagedCustomer | undefined> {
      return (await db.rows(BY_ID, [id])).map(customerState)[0];
    },

    async customerPage(question: CustomerQuery, sight: Scope): Promise<Page<CustomerWithCount>> {
      const { email } = question;
      if (sight.customerId !== null) return ownPage((await db.rows(BY_ID, [sight.customerId]))[0], question);
      const { rows, totalItems } =
        email === undefined ? await all.page(db, null, question) : await byEmail.page(db, email, question);
      return { data: rows.map(customerOf), totalItems };
    },
  };
}

/** Locked: who was seen is noted without the lock of the lists. */
const KNOWN = statement(`SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE`);
const PUT = putStatement("customer", ["id", ...CUSTOMER_FIELDS, "deleted", "deleted_at"]);
const TOUCH = statement(`
  UPDATE customer SET last_seen_at = greatest(last_seen_at, seen.at)
  FROM (SELECT * FROM unnest($1::text[], $2::bigint[]) AS seen (id, at) ORDER BY id) AS seen WHERE customer.id = seen.id`);

const lists = [LISTS.customers, LISTS.customersByEmail].map((kind) => ({ kind, keeper: new ListKeeper(kind) }));

/** For a write. */
export async function knownCustomers(db: Db, ids: readonly string[]): Promise<Map<string, ManagedCustomer>> {
  return byId(ids, await db.rows(KNOWN, [ids]), customerState);
}

export async function importCustomers(
  db: Db,
  records: readonly CustomerRecord[],
  occasion: AuditContext,
): Promise<RecordOutcome[]> {
  await lockLists(db);
  const { outcomes, changes } = planCustomerImport(records, await knownCustomers(db, [...new Set(recordIds(records))]));
  await writeCustomers(db, changes, occasion);
  return outcomes;
}

/** Under the lock of the lists. */
export async function writeCustomers(db: Db, changes: readonly Change<CustomerState>[], occasion: AuditContext): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ id, before, after }) => [
    id,
    ...customerValues(after.customer),
    after.deleted,
    deletedAt(before, after, occasion.at),
  ]);
  await db.rows(PUT, columnsOf(rows));
  for (const { kind, keeper } of lists)
    await keeper.move(
      db,
      changes.map((change) => customerMove(kind, change)),
    );
  await note(db, auditCustomers(changes), occasion);
}

export async function updateLastSeen(db: Db, seen: ReadonlyMap<string, Instant>): Promise<void> {
  await db.rows(TOUCH, [[...seen.keys()], [...seen.values()]]);
}
