// Customers: questions for the serving thread, and the write of the writing thread.

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { CountedCustomer, Customer } from "../../domain/customer.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Sight } from "../../domain/key.ts";
import type { Page } from "../../domain/page.ts";
import type { CustomerRecord, RecordOutcome } from "../../domain/record.ts";
import type { CustomerQuestion, Found } from "../../domain/store.ts";
import { arrayRow, arrayStatement, type Row, Series } from "./paging.ts";

const COLUMNS = "id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count, deleted";
const DELETED = 9;

export function customerOf(row: Row): CountedCustomer {
  const [id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count] = row;
  return { id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count } as CountedCustomer;
}

/** By `customer`'s unique index on id. */
const BY_ID = `SELECT ${COLUMNS} FROM customer WHERE id = ?`;
export const ALL_CUSTOMERS = `SELECT ${COLUMNS} FROM customer ORDER BY pk`;
export const isDeletedCustomer = (row: Row): boolean => row[DELETED] === 1;

/** A live-only partial index stands behind each selection. */
function series(db: DatabaseSync, selection: string): Series {
  return new Series(db, { columns: COLUMNS, from: `customer WHERE deleted = 0 ${selection}`, order: "created_at DESC, id DESC" });
}

export function customerQuestions(db: DatabaseSync) {
  const byId = arrayStatement(db, BY_ID);
  const all = series(db, ""); // customer_by_creation
  const byEmail = series(db, "AND email = ?"); // customer_by_email
  const own = series(db, "AND id = ?"); // the unique index on id
  const ownByEmail = series(db, "AND id = ? AND email = ?");

  function seriesFor(email: string | undefined, sight: Sight): [Series, string[]] {
    if (sight.customerId === null) return email === undefined ? [all, []] : [byEmail, [email]];
    return email === undefined ? [own, [sight.customerId]] : [ownByEmail, [sight.customerId, email]];
  }

  return {
    customerById(id: string, sight: Sight): Found<CountedCustomer> {
      if (sight.customerId !== null && sight.customerId !== id) return undefined;
      const row = arrayRow(byId.get(id));
      if (row === undefined) return undefined;
      return isDeletedCustomer(row) ? "deleted" : customerOf(row);
    },

    customerPage(question: CustomerQuestion, sight: Sight): Page<CountedCustomer> {
      const [list, key] = seriesFor(question.email, sight);
      const { rows, totalItems } = list.page(key, question);
      return { data: rows.map(customerOf), totalItems };
    },
  };
}

export function customerWrites(db: DatabaseSync) {
  const byId = arrayStatement(db, BY_ID);
  const insert = db.prepare(
    `INSERT INTO customer (id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, deleted)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const update = db.prepare(
    `UPDATE customer SET created_at = ?, email = ?, last_seen_at = ?, name = ?, phone = ?, updated_at = ?, verified_at = ?,
     deleted = ? WHERE id = ?`,
  );
  const remove = db.prepare("UPDATE customer SET deleted = 1 WHERE id = ?");
  const touch = db.prepare("UPDATE customer SET last_seen_at = max(coalesce(last_seen_at, ?1), ?1) WHERE id = ?2");

  function put(record: CustomerRecord): RecordOutcome {
    const id = "remove" in record ? record.remove : record.customer.id;
    const row = arrayRow(byId.get(id));
    if ("remove" in record) {
      if (row === undefined) return { rejected: "id: there is no customer with this id to delete" };
      if (isDeletedCustomer(row)) return "unchanged";
      remove.run(id);
      return "changed";
    }
    const known = row === undefined ? undefined : customerOf(row);
    const values = valuesOf(record.customer, known?.last_seen_at ?? null, record.deleted);
    if (row === undefined || known === undefined) {
      insert.run(id, ...values);
      return "new";
    }
    const before = valuesOf(known, known.last_seen_at, isDeletedCustomer(row));
    if (values.every((value, i) => value === before[i])) return "unchanged";
    update.run(...values, id);
    return "changed";
  }

  return {
    putCustomers: (records: readonly CustomerRecord[]): RecordOutcome[] => records.map(put),

    touchCustomers(seen: ReadonlyMap<string, Instant>): void {
      for (const [id, at] of seen) touch.run(at, id);
    },
  };
}

function valuesOf(customer: Customer, seenBefore: Instant | null, deleted: boolean): SQLInputValue[] {
  const { created_at, email, name, phone, updated_at, verified_at } = customer;
  const seen = later(customer.last_seen_at, seenBefore);
  return [created_at, email, seen, name, phone, updated_at, verified_at, deleted ? 1 : 0];
}

function later(a: Instant | null, b: Instant | null): Instant | null {
  return a === null || (b !== null && b > a) ? b : a;
}
