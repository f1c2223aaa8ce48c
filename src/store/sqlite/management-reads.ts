// Searches, the device list and the audit log: they may read very many rows, so they run in a thread of their own.

import type { DatabaseSync } from "node:sqlite";
import type { AuditEntry } from "../../domain/audit.ts";
import type { TankWithShape } from "../../domain/changes.ts";
import { deviceKey } from "../../domain/id.ts";
import type { AuditQuery, CustomerSearch, DeviceSearch, TankSearch } from "../../domain/management-reads.ts";
import type { Page, PageQuery } from "../../domain/page.ts";
import type { ManagedCustomer, ManagedDevice } from "../../domain/resource.ts";
import {
  AUDIT_COLUMNS,
  auditEntryOf,
  CUSTOMER_COLUMNS,
  customerState,
  DEVICE_COLUMNS,
  managedDevice,
  TANK_WITH_SHAPE_COLUMNS,
  tankWithShape,
} from "../columns.ts";
import type { RowPage } from "../core/reads.ts";
import { LISTS } from "../series/lists.ts";
import { EARLIEST, LATEST } from "../series/rank-index.ts";
import { fleetReads } from "./fleet-page.ts";
import { listPages } from "./list-pages.ts";
import { deviceKeyOf } from "./schema.ts";
import { type Condition, QueryCache, query, startsWith } from "./statements.ts";

export function managementReads(db: DatabaseSync) {
  const queries = new QueryCache(db);
  return { ...searches(db, queries), ...deviceReads(db, queries), ...auditReads(db, queries), ...fleetReads(db, queries) };
}

function searches(db: DatabaseSync, queries: QueryCache) {
  const customers = listPages(db, LISTS.customers, CUSTOMER_COLUMNS);
  const tanks = listPages(db, LISTS.tanks, TANK_WITH_SHAPE_COLUMNS);
  const tanksOfOwner = listPages(db, LISTS.tanksOfOwner, TANK_WITH_SHAPE_COLUMNS);

  /** Live objects by the index of one of the conditions; deleted ones by customer_deleted and tank_deleted. */
  function find(table: string, columns: string, deleted: boolean, conditions: readonly Condition[], request: PageQuery): RowPage {
    const { from = EARLIEST, to = LATEST, page, size } = request;
    const values = [...conditions.flatMap(([, ...given]) => given), from, to];
    const all = [`deleted = ${deleted ? 1 : 0}`, ...conditions.map(([sql]) => sql), "created_at BETWEEN ? AND ?"];
    const entries = `FROM ${table} WHERE ${all.join(" AND ")}`;
    const totalItems = queries.number(`SELECT count(*) ${entries}`, values);
    const skipped = (page - 1) * size;
    if (skipped >= totalItems) return { rows: [], totalItems };
    const sql = `SELECT ${columns} ${entries} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`;
    return { rows: queries.rows(sql, [...values, size, skipped]), totalItems };
  }

  return {
    customerSearch(search: CustomerSearch): Page<ManagedCustomer> {
      const { name, email, deleted } = search;
      const conditions = [
        ...(name === undefined ? [] : [startsWith("name", name)]),
        ...(email === undefined ? [] : [startsWith("email", email)]),
      ];
      const isUnfiltered = conditions.length === 0 && !deleted;
      const page = isUnfiltered ? customers.page(null, search) : find("customer", CUSTOMER_COLUMNS, deleted, conditions, search);
      return pageOf(page, customerState);
    },

    tankSearch(search: TankSearch): Page<TankWithShape> {
      const { deleted, owner_id } = search;
      const conditions = tankConditions(search);
      if (conditions.length === 0 && !deleted) return pageOf(tanks.page(null, search), tankWithShape);
      const isByOwner = conditions.length === 1 && owner_id !== undefined && !deleted;
      if (isByOwner) return pageOf(tanksOfOwner.page(owner_id, search), tankWithShape);
      return pageOf(find("tank", TANK_WITH_SHAPE_COLUMNS, deleted, conditions, search), tankWithShape);
    },
  };
}

function tankConditions({ name, city, custom_id, owner_id, device_id, deleted }: TankSearch): Condition[] {
  return [
    ...(name === undefined ? [] : [startsWith("name", name)]),
    ...(city === undefined ? [] : [startsWith("city", city)]),
    ...(custom_id === undefined ? [] : [startsWith("custom_id", custom_id)]),
    ...(owner_id === undefined ? [] : [["owner_id = ?", owner_id] as const]),
    ...(device_id === undefined ? [] : [hasDevice(device_id, deleted)]),
  ];
}

/** A live tank by the device that serves it, a deleted one by the device it had. */
function hasDevice(device: string, deleted: boolean): Condition {
  const key = deviceKey(device);
  return deleted
    ? [`${deviceKeyOf("assigned_device_id")} = ?`, key]
    : ["id = (SELECT tank FROM device WHERE device.id = ?)", key];
}

function pageOf<T>({ rows, totalItems }: RowPage, toObject: (row: RowPage["rows"][number]) => T): Page<T> {
  return { data: rows.map(toObject), totalItems };
}

function deviceReads(db: DatabaseSync, queries: QueryCache) {
  const tanks = listPages(db, LISTS.tanks, "id");

  /** Every live tank has one device: only the other devices are counted. */
  function total(waiting: boolean | undefined): number {
    const count = (condition: string): number => queries.number(`SELECT count(*) FROM device WHERE ${condition}`, []);
    const pending = waiting === undefined ? 0 : count("pending > 0"); // device_pending
    if (waiting === true) return pending;
    return tanks.total(null) + count("tank IS NULL") - pending; // device_free
  }

  return {
    deviceSearch({ waiting, page, size }: DeviceSearch): Page<ManagedDevice> {
      const where = waiting === undefined ? "" : `WHERE ${waiting ? "pending > 0" : "pending = 0"}`;
      const sql = `SELECT ${DEVICE_COLUMNS} FROM device ${where} ORDER BY id LIMIT ? OFFSET ?`;
      return { data: queries.rows(sql, [size, (page - 1) * size]).map(managedDevice), totalItems: total(waiting) };
    },
  };
}

/** Entries are numbered without gaps and never go back in time: a page without filters is found by its number. */
function auditReads(db: DatabaseSync, queries: QueryCache) {
  const firstFrom = query(db, "SELECT number FROM audit WHERE at >= ? ORDER BY at, number LIMIT 1"); // audit_by_time
  const last = query(db, "SELECT number FROM audit ORDER BY number DESC LIMIT 1");
  const between = query(db, `SELECT ${AUDIT_COLUMNS} FROM audit WHERE number BETWEEN ? AND ? ORDER BY number DESC`);

  function unfiltered({ from = EARLIEST, to = LATEST, page, size }: AuditQuery): Page<AuditEntry> {
    const end = Number(last.get()?.[0] ?? 0) + 1;
    const numberAt = (instant: number): number => Number(firstFrom.get(instant)?.[0] ?? end);
    const lower = from === EARLIEST ? 1 : numberAt(from);
    const upper = to === LATEST ? end : numberAt(to + 1);
    const newest = upper - 1 - (page - 1) * size;
    const rows = between.all(Math.max(lower, newest - size + 1), newest);
    return { data: rows.map(auditEntryOf), totalItems: Math.max(0, upper - lower) };
  }

  return {
    auditPage(request: AuditQuery): Page<AuditEntry> {
      const { by, object, id, from = EARLIEST, to = LATEST, page, size } = request;
      const conditions: Condition[] = [
        ...(by === undefined ? [] : [["who = ?", by] as const]), // audit_by_who
        ...(object === undefined ? [] : [["object = ?", object] as const]), // audit_by_object
        ...(id === undefined ? [] : [["id = ?", id] as const]), // audit_by_id
      ];
      if (conditions.length === 0) return unfiltered(request);
      const entries = `FROM audit WHERE ${conditions.map(([sql]) => sql).join(" AND ")} AND at BETWEEN ? AND ?`;
      const values = [...conditions.flatMap(([, ...given]) => given), from, to];
      const totalItems = queries.number(`SELECT count(*) ${entries}`, values);
      const sql = `SELECT ${AUDIT_COLUMNS} ${entries} ORDER BY number DESC LIMIT ? OFFSET ?`;
      return { data: queries.rows(sql, [...values, size, (page - 1) * size]).map(auditEntryOf), totalItems };
    },
  };
}
