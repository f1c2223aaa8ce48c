// Reads that cost little whatever the size of the database: one statement each, hence one snapshot.

import type { TankWithShape } from "../../domain/changes.ts";
import type { CustomerWithCount } from "../../domain/customer.ts";
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
  ownPage,
  PENDING_COLUMNS,
  pendingOf,
  TANK_COLUMNS,
  TANK_WITH_SHAPE_COLUMNS,
  tankOf,
  tankWithShape,
} from "../columns.ts";
import { LISTS } from "../series/lists.ts";
import { type Db, statement } from "./connection.ts";
import { listPages } from "./list-pages.ts";
import { telemetryReads } from "./telemetry-reads.ts";

const CUSTOMER = statement(`SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE id = $1`);
const customerPages = listPages(LISTS.customers, CUSTOMER_COLUMNS);
const customersByEmail = listPages(LISTS.customersByEmail, CUSTOMER_COLUMNS);
const TANK = statement(`SELECT ${TANK_COLUMNS} FROM tank WHERE id = $1`);
const tankPages = listPages(LISTS.tanks, TANK_COLUMNS);
const tanksOfOwner = listPages(LISTS.tanksOfOwner, TANK_COLUMNS);

/** Reads that may come from a replica. */
export function publicReads(db: Db) {
  return {
    ...telemetryReads(db),

    async customerById(id: string, { customerId }: Scope): Promise<Found<CustomerWithCount>> {
      if (customerId !== null && customerId !== id) return undefined;
      const [row] = await db.rows(CUSTOMER, [id]);
      if (row === undefined) return undefined;
      return isDeleted(row) ? "deleted" : customerOf(row);
    },

    async customerPage(request: CustomerQuery, { customerId }: Scope): Promise<Page<CustomerWithCount>> {
      if (customerId !== null) return ownPage((await db.rows(CUSTOMER, [customerId]))[0], request);
      const { email } = request;
      const page = email === undefined ? customerPages(db, null, request) : customersByEmail(db, email, request);
      const { rows, totalItems } = await page;
      return { data: rows.map(customerOf), totalItems };
    },

    async tankById(id: string, { customerId }: Scope): Promise<Found<Tank>> {
      const [row] = await db.rows(TANK, [id]);
      if (row === undefined) return undefined;
      const tank = tankOf(row);
      if (customerId !== null && customerId !== tank.owner_id) return undefined;
      return isDeleted(row) ? "deleted" : tank;
    },

    async tankPage(request: PageQuery, { customerId }: Scope): Promise<Page<Tank>> {
      const page = customerId === null ? tankPages(db, null, request) : tanksOfOwner(db, customerId, request);
      const { rows, totalItems } = await page;
      return { data: rows.map(tankOf), totalItems };
    },
  };
}

const TANK_WITH_SHAPE = statement(`SELECT ${TANK_WITH_SHAPE_COLUMNS} FROM tank WHERE id = $1`);
const KEY_BY_HASH = statement(`SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES} WHERE k.hash = $1`); // unique index on hash
const ALL_KEYS = statement(`SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES} ORDER BY k.created_at DESC, k.id DESC`);
const DEVICE = statement(`SELECT ${DEVICE_COLUMNS} FROM device WHERE id = $1`);
const NEWEST_PENDING = statement(`
  SELECT ${PENDING_COLUMNS} FROM pending_reading WHERE device = $1 ORDER BY created_at DESC LIMIT 1`);
const IS_ANYTHING = statement(
  "SELECT EXISTS (SELECT FROM customer) OR EXISTS (SELECT FROM api_key) OR EXISTS (SELECT FROM device)",
);
const PING = statement("SELECT fingerprint FROM tank_monitor");

/** Reads that must not be a moment old: of keys, and of what an operator has just changed. */
export function primaryReads(db: Db) {
  return {
    async keyByHash(hash: string): Promise<StoredKey | undefined> {
      return (await db.rows(KEY_BY_HASH, [hash])).map(keyOf)[0];
    },
    async keyList(): Promise<StoredKey[]> {
      return (await db.rows(ALL_KEYS)).map(keyOf);
    },
    async managedCustomer(id: string): Promise<ManagedCustomer | undefined> {
      return (await db.rows(CUSTOMER, [id])).map(customerState)[0];
    },
    async managedTank(id: string): Promise<TankWithShape | undefined> {
      return (await db.rows(TANK_WITH_SHAPE, [id])).map(tankWithShape)[0];
    },
    async managedDevice(id: string): Promise<ManagedDevice | undefined> {
      return (await db.rows(DEVICE, [id])).map(managedDevice)[0];
    },
    async newestPending(deviceId: string): Promise<PendingReading | undefined> {
      return (await db.rows(NEWEST_PENDING, [deviceId])).map(pendingOf)[0];
    },
    async isEmpty(): Promise<boolean> {
      return (await db.rows(IS_ANYTHING))[0]?.[0] === false;
    },
    async ping(): Promise<void> {
      await db.rows(PING);
    },
  };
}
