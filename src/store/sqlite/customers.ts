// Customers: questions for the serving thread, and the writes of the writing thread.

import type { DatabaseSync } from "node:sqlite";
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
import { auditWrites } from "./audit.ts";
import { ListKeeper } from "./lists.ts";
import { List } from "./paging.ts";
import { arrayRow, arrayStatement } from "./rows.ts";

/** By `customer`'s unique index on id. */
const BY_ID = `SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE id = ?`;
export const ALL_CUSTOMERS = `SELECT ${CUSTOMER_COLUMNS} FROM customer ORDER BY pk`;

export function customerQuestions(db: DatabaseSync) {
  const byId = arrayStatement(db, BY_ID);
  const all = new List(db, LISTS.customers, CUSTOMER_COLUMNS);
  const byEmail = new List(db, LISTS.customersByEmail, CUSTOMER_COLUMNS);

  return {
    customerById(id: string, sight: Scope): Found<CustomerWithCount> {
      if (sight.customerId !== null && sight.customerId !== id) return undefined;
      const row = arrayRow(byId.get(id));
      if (row === undefined) return undefined;
      return isDeleted(row) ? "deleted" : customerOf(row);
    },

    managedCustomer(id: string): ManagedCustomer | undefined {
      const row = arrayRow(byId.get(id));
      return row === undefined ? undefined : customerState(row);
    },

    customerPage(question: CustomerQuery, sight: Scope): Page<CustomerWithCount> {
      const { email } = question;
      if (sight.customerId !== null) return ownPage(arrayRow(byId.get(sight.customerId)), question);
      const { rows, totalItems } = email === undefined ? all.page(null, question) : byEmail.page(email, question);
      return { data: rows.map(customerOf), totalItems };
    },
  };
}

export function customerWrites(db: DatabaseSync) {
  const byId = arrayStatement(db, BY_ID);
  const columns = ["id", ...CUSTOMER_FIELDS, "deleted", "deleted_at"];
  const put = db.prepare(
    `INSERT INTO customer (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
     ON CONFLICT (id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`,
  );
  const deletedAt = arrayStatement(db, "SELECT deleted_at FROM customer WHERE id = ?");
  const touch = db.prepare("UPDATE customer SET last_seen_at = max(coalesce(last_seen_at, ?1), ?1) WHERE id = ?2");
  const lists = [LISTS.customers, LISTS.customersByEmail].map((kind) => ({ kind, keeper: new ListKeeper(db, kind) }));
  const { note } = auditWrites(db);

  function write(changes: readonly Change<CustomerState>[], occasion: AuditContext): void {
    for (const { id, before, after } of changes) {
      const known = before?.deleted === true ? arrayRow(deletedAt.get(id))?.[0] : undefined;
      put.run(id, ...customerValues(after.customer), after.deleted ? 1 : 0, after.deleted ? (known ?? occasion.at) : null);
    }
    for (const { kind, keeper } of lists) keeper.move(changes.map((change) => customerMove(kind, change)));
    note(auditCustomers(changes), occasion);
  }

  return {
    write,

    importCustomers(records: readonly CustomerRecord[], occasion: AuditContext): RecordOutcome[] {
      const known = new Map<string, CustomerState>();
      for (const id of recordIds(records)) {
        const row = arrayRow(byId.get(id));
        if (row !== undefined) known.set(id, customerState(row));
      }
      const { outcomes, changes } = planCustomerImport(records, known);
      write(changes, occasion);
      return outcomes;
    },

    updateLastSeen(seen: ReadonlyMap<string, Instant>): void {
      for (const [id, at] of seen) touch.run(at, id);
    },
  };
}
