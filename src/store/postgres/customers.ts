// Customers: questions, and the writes, which take many at a time.

import type { CountedCustomer, Customer } from "../../domain/customer.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Sight } from "../../domain/key.ts";
import type { Page } from "../../domain/page.ts";
import type { CustomerRecord, RecordOutcome } from "../../domain/record.ts";
import type { CustomerQuestion, Found } from "../../domain/store.ts";
import { EARLIEST, LATEST } from "../series/levels.ts";
import { type Db, type Row, statement, type Value } from "./connection.ts";
import { LISTS, type Listed, ListKeeper, listChanges, lockLists } from "./lists.ts";
import { List, type RowPage } from "./paging.ts";

export const CUSTOMER_COLUMNS = "id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count, deleted";

export function customerOf(row: Row): CountedCustomer {
  const [id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count] = row;
  return { id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count } as CountedCustomer;
}

export const isDeletedCustomer = (row: Row): boolean => row[9] === true;

const BY_ID = statement(`SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE id = $1`);
export const ALL_CUSTOMERS = `SELECT ${CUSTOMER_COLUMNS} FROM customer ORDER BY id`;

const all = new List(LISTS.customers, CUSTOMER_COLUMNS);
const byEmail = new List(LISTS.customersByEmail, CUSTOMER_COLUMNS);

export function customerQuestions(db: Db) {
  /** Of all customers a customer's key sees one: itself. */
  async function ownPage(id: string, { email, from, to, page }: CustomerQuestion): Promise<RowPage> {
    const [row] = await db.rows(BY_ID, [id]);
    const customer = row === undefined || isDeletedCustomer(row) ? undefined : customerOf(row);
    const isListed =
      customer !== undefined &&
      (email === undefined || customer.email === email) &&
      customer.created_at >= (from ?? EARLIEST) &&
      customer.created_at <= (to ?? LATEST);
    return { rows: isListed && page === 1 ? [row as Row] : [], totalItems: isListed ? 1 : 0 };
  }

  return {
    async customerById(id: string, sight: Sight): Promise<Found<CountedCustomer>> {
      if (sight.customerId !== null && sight.customerId !== id) return undefined;
      const [row] = await db.rows(BY_ID, [id]);
      if (row === undefined) return undefined;
      return isDeletedCustomer(row) ? "deleted" : customerOf(row);
    },

    async customerPage(question: CustomerQuestion, sight: Sight): Promise<Page<CountedCustomer>> {
      const { email } = question;
      const { rows, totalItems } =
        sight.customerId !== null
          ? await ownPage(sight.customerId, question)
          : email === undefined
            ? await all.page(db, null, question)
            : await byEmail.page(db, email, question);
      return { data: rows.map(customerOf), totalItems };
    },
  };
}

const KNOWN = statement(`SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE id = ANY ($1::text[]) FOR NO KEY UPDATE`);
const PUT = statement(`
  INSERT INTO customer (id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, deleted)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
    $9::boolean[])
  ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, email = excluded.email,
    last_seen_at = excluded.last_seen_at, name = excluded.name, phone = excluded.phone, updated_at = excluded.updated_at,
    verified_at = excluded.verified_at, deleted = excluded.deleted`);
const TOUCH = statement(`
  UPDATE customer SET last_seen_at = greatest(last_seen_at, seen.at)
  FROM (SELECT * FROM unnest($1::text[], $2::bigint[]) AS seen (id, at) ORDER BY id) AS seen WHERE customer.id = seen.id`);

const keepers = [LISTS.customers, LISTS.customersByEmail].map((kind) => new ListKeeper(kind));

type State = { readonly customer: Customer; readonly deleted: boolean };

/** Decides each record on what the ones before it left, then writes what has changed in the end. */
export async function putCustomers(db: Db, records: readonly CustomerRecord[]): Promise<RecordOutcome[]> {
  await lockLists(db);
  const ids = records.map((record) => ("remove" in record ? record.remove : record.customer.id));
  const before = new Map<string, State>();
  for (const row of await db.rows(KNOWN, [[...new Set(ids)]])) {
    before.set(row[0] as string, { customer: customerOf(row), deleted: isDeletedCustomer(row) });
  }
  const now = new Map(before);
  const outcomes = records.map((record, i) => put(now, ids[i] as string, record));
  const changed = [...now].filter(([id, state]) => before.get(id) !== state);
  if (changed.length === 0) return outcomes;
  const rows = changed.map(([, { customer, deleted }]) => valuesOf(customer, deleted));
  await db.rows(PUT, [changed.map(([id]) => id), ...columnsOf(rows)]);
  const moves = changed.map(([id, state]) => [listed(before.get(id)), listed(state)] as const);
  for (const [i, keeper] of keepers.entries()) await keeper.change(db, listChanges(moves, i));
  return outcomes;
}

function put(now: Map<string, State>, id: string, record: CustomerRecord): RecordOutcome {
  const known = now.get(id);
  if ("remove" in record) {
    if (known === undefined) return { rejected: "id: there is no customer with this id to delete" };
    if (known.deleted) return "unchanged";
    now.set(id, { ...known, deleted: true });
    return "changed";
  }
  const last_seen_at = later(record.customer.last_seen_at, known?.customer.last_seen_at ?? null);
  const state = { customer: { ...record.customer, last_seen_at }, deleted: record.deleted };
  if (known !== undefined) {
    const [values, old] = [valuesOf(state.customer, state.deleted), valuesOf(known.customer, known.deleted)];
    if (values.every((value, i) => value === old[i])) return "unchanged";
  }
  now.set(id, state);
  return known === undefined ? "new" : "changed";
}

export async function touchCustomers(db: Db, seen: ReadonlyMap<string, Instant>): Promise<void> {
  await db.rows(TOUCH, [[...seen.keys()], [...seen.values()]]);
}

function listed(state: State | undefined): Listed {
  if (state === undefined || state.deleted) return null;
  const { created_at, id, email } = state.customer;
  return { position: [created_at, id], keys: [null, email] };
}

type Scalar = string | number | boolean | null;

function valuesOf(customer: Customer, deleted: boolean): Scalar[] {
  const { created_at, email, last_seen_at, name, phone, updated_at, verified_at } = customer;
  return [created_at, email, last_seen_at, name, phone, updated_at, verified_at, deleted];
}

/** Rows as columns: one array each. */
export function columnsOf(rows: readonly (readonly Scalar[])[]): Value[] {
  return (rows[0] ?? []).map((_, i) => rows.map((row) => row[i] as Scalar));
}

function later(a: Instant | null, b: Instant | null): Instant | null {
  return a === null || (b !== null && b > a) ? b : a;
}
