// Reads of the serving thread, which cost little whatever the size of the database.

import type { DatabaseSync } from "node:sqlite";
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
import { listPages } from "./list-pages.ts";
import { query } from "./statements.ts";
import { telemetryReads } from "./telemetry-reads.ts";

export function readsOn(db: DatabaseSync) {
  const customerById = query(db, `SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE id = ?`);
  const customers = listPages(db, LISTS.customers, CUSTOMER_COLUMNS);
  const customersByEmail = listPages(db, LISTS.customersByEmail, CUSTOMER_COLUMNS);
  const tankById = query(db, `SELECT ${TANK_COLUMNS} FROM tank WHERE id = ?`);
  const tankWithShapeById = query(db, `SELECT ${TANK_WITH_SHAPE_COLUMNS} FROM tank WHERE id = ?`);
  const tanks = listPages(db, LISTS.tanks, TANK_COLUMNS);
  const tanksOfOwner = listPages(db, LISTS.tanksOfOwner, TANK_COLUMNS);
  const keyByHash = query(db, `SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES} WHERE k.hash = ?`); // unique index on hash
  const keys = query(db, `SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES} ORDER BY k.created_at DESC, k.id DESC`);
  const deviceById = query(db, `SELECT ${DEVICE_COLUMNS} FROM device WHERE id = ?`);
  const newestPending = query(
    db,
    `SELECT ${PENDING_COLUMNS} FROM pending_reading WHERE device = ? ORDER BY created_at DESC LIMIT 1`,
  );
  const isAnything = query(db, "SELECT EXISTS (SELECT 1 FROM customer) OR EXISTS (SELECT 1 FROM api_key)");
  // Unlike SELECT 1, this reads a page of the file.
  const ping = query(db, "SELECT id FROM customer ORDER BY pk DESC LIMIT 1");

  return {
    ...telemetryReads(db),

    customerById(id: string, { customerId }: Scope): Found<CustomerWithCount> {
      const row = customerId === null || customerId === id ? customerById.get(id) : undefined;
      if (row === undefined) return undefined;
      return isDeleted(row) ? "deleted" : customerOf(row);
    },

    customerPage(request: CustomerQuery, { customerId }: Scope): Page<CustomerWithCount> {
      if (customerId !== null) return ownPage(customerById.get(customerId), request);
      const { email } = request;
      const { rows, totalItems } = email === undefined ? customers.page(null, request) : customersByEmail.page(email, request);
      return { data: rows.map(customerOf), totalItems };
    },

    managedCustomer(id: string): ManagedCustomer | undefined {
      const row = customerById.get(id);
      return row && customerState(row);
    },

    tankById(id: string, { customerId }: Scope): Found<Tank> {
      const row = tankById.get(id);
      if (row === undefined) return undefined;
      const tank = tankOf(row);
      if (customerId !== null && customerId !== tank.owner_id) return undefined;
      return isDeleted(row) ? "deleted" : tank;
    },

    tankPage(request: PageQuery, { customerId }: Scope): Page<Tank> {
      const { rows, totalItems } = customerId === null ? tanks.page(null, request) : tanksOfOwner.page(customerId, request);
      return { data: rows.map(tankOf), totalItems };
    },

    managedTank(id: string): TankWithShape | undefined {
      const row = tankWithShapeById.get(id);
      return row && tankWithShape(row);
    },

    keyByHash(hash: string): StoredKey | undefined {
      const row = keyByHash.get(hash);
      return row && keyOf(row);
    },

    keyList: (): StoredKey[] => keys.all().map(keyOf),

    managedDevice(id: string): ManagedDevice | undefined {
      const row = deviceById.get(id);
      return row && managedDevice(row);
    },

    newestPending(deviceId: string): PendingReading | undefined {
      const row = newestPending.get(deviceId);
      return row && pendingOf(row);
    },

    isEmpty: (): boolean => isAnything.get()?.[0] === 0,
    ping: (): void => void ping.get(),
  };
}
