// Reads that cost little whatever the size of the database, in SQL for both engines.

import type { TankState } from "../../domain/changes.ts";
import type { CustomerWithCount } from "../../domain/customer.ts";
import { EARLIEST, LATEST } from "../../domain/instant.ts";
import type { Scope, StoredKey } from "../../domain/key.ts";
import type { Page, PageQuery } from "../../domain/page.ts";
import type { PendingReading } from "../../domain/placement.ts";
import type { ManagedCustomer, ManagedDevice } from "../../domain/resource.ts";
import type { CustomerQuery, Found } from "../../domain/store.ts";
import type { Tank } from "../../domain/tank.ts";
import {
  CUSTOMER_COLUMNS,
  customerOf,
  customerState,
  DEVICE_COLUMNS,
  isDeleted,
  KEY_COLUMNS,
  KEY_TABLES,
  keyOf,
  managedDevice,
  PENDING_COLUMNS,
  pendingOf,
  type Row,
  TANK_COLUMNS,
  TANK_STATE_COLUMNS,
  tankOf,
  tankState,
} from "../columns.ts";
import { LISTS, type ListKind } from "../packed/lists.ts";
import type { Prepare } from "./sql-runner.ts";

export type RowPage = { readonly rows: readonly Row[]; readonly totalItems: number };

export const toPage = <T>({ rows, totalItems }: RowPage, toObject: (row: Row) => T): Page<T> => ({
  data: rows.map(toObject),
  totalItems,
});
/** Prepares the pages of a list. With `joins`, which refer to the entries as `entry`, `columns` may be of other tables, too. */
export type ListPages = (
  kind: ListKind,
  columns: string,
  joins?: string,
) => (key: string | null, request: PageQuery) => Promise<RowPage>;

/** What is not in scope costs as little as what does not exist, so that nobody can tell them apart by the time they take. */
const IN_SCOPE = "owner_id = coalesce($2, owner_id)";

const CUSTOMER = `SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE id = $1`;

/** Whether anybody has created or imported something. */
export const HAS_DATA =
  "SELECT EXISTS (SELECT 1 FROM customer) OR EXISTS (SELECT 1 FROM api_key) OR EXISTS (SELECT 1 FROM device) OR EXISTS (SELECT 1 FROM app_user)";

/** Reads that may come from a replica. */
export function replicaReads(prepare: Prepare, listPages: ListPages) {
  const customer = prepare(CUSTOMER);
  const customers = listPages(LISTS.customers, CUSTOMER_COLUMNS);
  const customersByEmail = listPages(LISTS.customersByEmail, CUSTOMER_COLUMNS);
  const tank = prepare(`SELECT ${TANK_COLUMNS} FROM tank WHERE id = $1 AND ${IN_SCOPE}`);
  const tanks = listPages(LISTS.tanks, TANK_COLUMNS);
  const tanksOfOwner = listPages(LISTS.tanksOfOwner, TANK_COLUMNS);
  return {
    async customerById(id: string, { customerId }: Scope): Promise<Found<CustomerWithCount>> {
      if (customerId !== null && customerId !== id) return undefined;
      const [row] = await customer(id);
      if (row === undefined) return undefined;
      return isDeleted(row) ? "deleted" : customerOf(row);
    },

    async customerPage(request: CustomerQuery, { customerId }: Scope): Promise<Page<CustomerWithCount>> {
      if (customerId !== null) return ownPage((await customer(customerId))[0], request);
      const { email } = request;
      return toPage(await (email === undefined ? customers(null, request) : customersByEmail(email, request)), customerOf);
    },

    async tankById(id: string, { customerId }: Scope): Promise<Found<Tank>> {
      const [row] = await tank(id, customerId);
      if (row === undefined) return undefined;
      return isDeleted(row) ? "deleted" : tankOf(row);
    },

    async tankPage(request: PageQuery, { customerId }: Scope): Promise<Page<Tank>> {
      return toPage(await (customerId === null ? tanks(null, request) : tanksOfOwner(customerId, request)), tankOf);
    },
  };
}

/** The customer list of a key that is bound to a customer: that customer, if the filters include it. */
function ownPage(row: Row | undefined, { email, from, to, page }: CustomerQuery): Page<CustomerWithCount> {
  const customer = row === undefined || isDeleted(row) ? undefined : customerOf(row);
  if (customer === undefined || (email !== undefined && customer.email !== email)) return { data: [], totalItems: 0 };
  if (customer.created_at < (from ?? EARLIEST) || customer.created_at > (to ?? LATEST)) return { data: [], totalItems: 0 };
  return { data: page === 1 ? [customer] : [], totalItems: 1 };
}

/** Without a lock. */
export const managedCustomerOn =
  (prepare: Prepare) =>
  async (id: string): Promise<ManagedCustomer | undefined> =>
    (await prepare(CUSTOMER)(id)).map(customerState)[0];

/**
 * Reads of keys and of what operators manage, which must see the latest commit: never from a replica. `columns`: all of the
 * database, with their tables.
 */
export function managedObjectReads(prepare: Prepare, columns: readonly string[]) {
  const tank = prepare(`SELECT ${TANK_STATE_COLUMNS} FROM tank WHERE id = $1`);
  const keyByHash = prepare(`SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES} WHERE k.hash = $1`); // unique index on hash
  const keys = prepare(`SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES} ORDER BY k.created_at DESC, k.id DESC`);
  const device = prepare(`SELECT ${DEVICE_COLUMNS} FROM device WHERE id = $1`);
  const newestPending = prepare(
    `SELECT ${PENDING_COLUMNS} FROM pending_reading WHERE device = $1 ORDER BY created_at DESC LIMIT 1`,
  );
  const hasData = prepare(HAS_DATA);
  const tables = new Set(columns.map((column) => column.replace(/\..*/, "")));
  // Unlike SELECT 1, this reads a page of the database, and fails if a table or a column is missing.
  const ping = prepare(
    `SELECT id FROM customer WHERE NOT EXISTS (SELECT ${columns.join(", ")} FROM ${[...tables].join(", ")} WHERE 1 = 0)
     ORDER BY id LIMIT 1`,
  );
  return {
    keyByHash: async (hash: string): Promise<StoredKey | undefined> => (await keyByHash(hash)).map(keyOf)[0],
    keyList: async (): Promise<StoredKey[]> => (await keys()).map(keyOf),
    managedCustomer: managedCustomerOn(prepare),
    managedTank: async (id: string): Promise<TankState | undefined> => (await tank(id)).map(tankState)[0],
    managedDevice: async (id: string): Promise<ManagedDevice | undefined> => (await device(id)).map(managedDevice)[0],
    newestPending: async (id: string): Promise<PendingReading | undefined> => (await newestPending(id)).map(pendingOf)[0],
    isEmpty: async (): Promise<boolean> => Number((await hasData())[0]?.[0]) === 0,
    async ping(): Promise<void> {
      await ping();
    },
  };
}
