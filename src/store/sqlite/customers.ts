// Customers: questions for the serving thread, and the write of the writing thread.

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { CountedCustomer, Customer } from "../../domain/customer.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Sight } from "../../domain/key.ts";
import type { Page } from "../../domain/page.ts";
import type { CustomerRecord, RecordOutcome } from "../../domain/record.ts";
import type { CustomerQuestion, Found } from "../../domain/store.ts";
import { EARLIEST, LATEST } from "../series/levels.ts";
import { LISTS, type Listed, ListKeeper, relist } from "./lists.ts";
import { List, type RowPage } from "./paging.ts";
import { arrayRow, arrayStatement, type Row } from "./rows.ts";

export const CUSTOMER_COLUMNS = "id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count, deleted";
const DELETED = 9;

export function customerOf(row: Row): CountedCustomer {
  const [id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count] = row;
  return { id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count } as CountedCustomer;
}

/** By `customer`'s unique index on id. */
const BY_ID = `SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE id = ?`;
export const ALL_CUSTOMERS = `SELECT ${CUSTOMER_COLUMNS} FROM customer ORDER BY pk`;
export const isDeletedCustomer = (row: Row): boolean => row[DELETED] === 1;

export function customerQuestions(db: DatabaseSync) {
  const byId = arrayStatement(db, BY_ID);
  const all = new List(db, LISTS.customers, CUSTOMER_COLUMNS);
  const byEmail = new List(db, LISTS.customersByEmail, CUSTOMER_COLUMNS);

  /** Of all customers a customer's key sees one: itself. */
  function ownPage(id: string, { email, from, to, page }: CustomerQuestion): RowPage {
    const row = arrayRow(byId.get(id));
    const customer = row === undefined || isDeletedCustomer(row) ? undefined : customerOf(row);
    const isListed =
      customer !== undefined &&
      (email === undefined || customer.email === email) &&
      customer.created_at >= (from ?? EARLIEST) &&
      customer.created_at <= (to ?? LATEST);
    return { rows: isListed && page === 1 ? [row as Row] : [], totalItems: isListed ? 1 : 0 };
  }

  return {
    customerById(id: string, sight: Sight): Found<CountedCustomer> {
      if (sight.customerId !== null && sight.customerId !== id) return undefined;
      const row = arrayRow(byId.get(id));
      if (row === undefined) return undefined;
      return isDeletedCustomer(row) ? "deleted" : customerOf(row);
    },

    customerPage(question: CustomerQuestion, sight: Sight): Page<CountedCustomer> {
      const { email } = question;
      const { rows, totalItems } =
        sight.customerId !== null
          ? ownPage(sight.customerId, question)
          : email === undefined
            ? all.page(null, question)
            : byEmail.page(email, question);
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
  const keepers = [LISTS.customers, LISTS.customersByEmail].map((kind) => new ListKeeper(db, kind));
  const touch = db.prepare("UPDATE customer SET last_seen_at = max(coalesce(last_seen_at, ?1), ?1) WHERE id = ?2");

  function put(record: CustomerRecord): RecordOutcome {
    const id = "remove" in record ? record.remove : record.customer.id;
    const row = arrayRow(byId.get(id));
    if ("remove" in record) {
      if (row === undefined) return { rejected: "id: there is no customer with this id to delete" };
      if (isDeletedCustomer(row)) return "unchanged";
      remove.run(id);
      relist(keepers, listedCustomer(customerOf(row), false), null);
      return "changed";
    }
    const known = row === undefined ? undefined : customerOf(row);
    const after = listedCustomer(record.customer, record.deleted);
    const values = valuesOf(record.customer, known?.last_seen_at ?? null, record.deleted);
    if (row === undefined || known === undefined) {
      insert.run(id, ...values);
      relist(keepers, null, after);
      return "new";
    }
    const before = valuesOf(known, known.last_seen_at, isDeletedCustomer(row));
    if (values.every((value, i) => value === before[i])) return "unchanged";
    update.run(...values, id);
    relist(keepers, listedCustomer(known, isDeletedCustomer(row)), after);
    return "changed";
  }

  return {
    putCustomers: (records: readonly CustomerRecord[]): RecordOutcome[] => records.map(put),

    touchCustomers(seen: ReadonlyMap<string, Instant>): void {
      for (const [id, at] of seen) touch.run(at, id);
    },
  };
}

function listedCustomer({ created_at, id, email }: Customer, deleted: boolean): Listed {
  return deleted ? null : { position: [created_at, id], keys: [null, email] };
}

function valuesOf(customer: Customer, seenBefore: Instant | null, deleted: boolean): SQLInputValue[] {
  const { created_at, email, name, phone, updated_at, verified_at } = customer;
  const seen = later(customer.last_seen_at, seenBefore);
  return [created_at, email, seen, name, phone, updated_at, verified_at, deleted ? 1 : 0];
}

function later(a: Instant | null, b: Instant | null): Instant | null {
  return a === null || (b !== null && b > a) ? b : a;
}
