// Searches, the device list, the fleet and the audit log.

import type { AuditEntry } from "../../domain/audit.ts";
import type { TankWithShape } from "../../domain/changes.ts";
import { deviceKey } from "../../domain/id.ts";
import type {
  AuditQuery,
  CustomerSearch,
  DeviceSearch,
  FleetEntry,
  FleetQuery,
  TankSearch,
} from "../../domain/management-reads.ts";
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
  tankOf,
  tankWithShape,
} from "../columns.ts";
import type { RowPage } from "../core/reads.ts";
import { LISTS } from "../series/lists.ts";
import { EARLIEST, LATEST } from "../series/rank-index.ts";
import { type Db, type Row, type Statement, statement } from "./connection.ts";
import { type Condition, filteredPage, isEqual, Parameters, pageOf, startsWith } from "./filter.ts";
import { fleetSql } from "./fleet-page.ts";
import { LIVE_TANKS, listPagesOn } from "./list-pages.ts";
import { deviceKeyOf } from "./schema.ts";

export function managementReads(db: Db) {
  return { ...searches(db), ...deviceReads(db), ...auditReads(db), ...fleetReads(db) };
}

function searches(db: Db) {
  const listPages = listPagesOn(db);
  const customerPages = listPages(LISTS.customers, CUSTOMER_COLUMNS);
  const tankPages = listPages(LISTS.tanks, TANK_WITH_SHAPE_COLUMNS);
  const tanksOfOwner = listPages(LISTS.tanksOfOwner, TANK_WITH_SHAPE_COLUMNS);
  return {
    async customerSearch(search: CustomerSearch): Promise<Page<ManagedCustomer>> {
      const parameters = new Parameters();
      const conditions = customerConditions(search, parameters);
      if (!search.deleted && conditions.length === 0) return listed(await customerPages(null, search), customerState);
      const rows = await matching(db, { table: "customer", columns: CUSTOMER_COLUMNS }, parameters, conditions, search);
      return pageOf(rows, customerState);
    },

    async tankSearch(search: TankSearch): Promise<Page<TankWithShape>> {
      const { owner_id, deleted } = search;
      const parameters = new Parameters();
      const conditions = tankConditions(search, parameters);
      if (!deleted && conditions.length === 0) return listed(await tankPages(null, search), tankWithShape);
      if (!deleted && conditions.length === 1 && owner_id !== undefined) {
        return listed(await tanksOfOwner(owner_id, search), tankWithShape);
      }
      const rows = await matching(db, { table: "tank", columns: TANK_WITH_SHAPE_COLUMNS }, parameters, conditions, search);
      return pageOf(rows, tankWithShape);
    },
  };
}

function listed<T>({ rows, totalItems }: RowPage, toObject: (row: Row) => T): Page<T> {
  return { data: rows.map(toObject), totalItems };
}

/** The most selective condition comes first: it is looked up. */
function customerConditions({ email, name }: CustomerSearch, parameters: Parameters): Condition[] {
  const conditions: Condition[] = [];
  if (email !== undefined) conditions.push(startsWith(parameters, "lower(email)", email)); // customer_by_any_case_email
  if (name !== undefined) conditions.push(startsWith(parameters, `lower(name COLLATE "C")`, name)); // customer_by_name
  return conditions;
}

function tankConditions(search: TankSearch, parameters: Parameters): Condition[] {
  const { device_id, custom_id, owner_id, name, city, deleted } = search;
  const conditions: Condition[] = [];
  if (device_id !== undefined) {
    const key = parameters.add(deviceKey(device_id), "text");
    const tank = `(SELECT device.tank FROM device WHERE device.id = ${key})`;
    conditions.push(deleted ? isEqual(deviceKeyOf("assigned_device_id"), key) : isEqual("id", tank));
  }
  const prefix = (column: string, text: string) => conditions.push(startsWith(parameters, `lower(${column} COLLATE "C")`, text));
  if (custom_id !== undefined) prefix("custom_id", custom_id); // tank_by_custom_id
  if (owner_id !== undefined) conditions.push(isEqual("owner_id", parameters.add(owner_id, "text"))); // tank_by_owner
  if (name !== undefined) prefix("name", name); // tank_by_name
  if (city !== undefined) prefix("city", city); // tank_by_city
  return conditions;
}

/** Among deleted objects the range is looked up, by customer_deleted or tank_deleted. */
function matching(
  db: Db,
  list: { readonly table: string; readonly columns: string },
  parameters: Parameters,
  conditions: readonly Condition[],
  search: PageQuery & { readonly deleted: boolean },
): Promise<Row[]> {
  const { from = EARLIEST, to = LATEST, deleted } = search;
  const holds = `created_at >= ${parameters.add(from, "bigint")} AND created_at <= ${parameters.add(to, "bigint")}`;
  const isInRange = { holds, order: "created_at" };
  const [lookup = isInRange, ...others] = deleted ? [isInRange, ...conditions] : [...conditions, isInRange];
  const base = deleted ? "deleted" : "NOT deleted";
  return filteredPage(db, parameters, { ...list, key: "id", order: ["created_at", "id"], base, lookup, others }, search);
}

/** Every live tank has one device: only the other devices are counted. */
const ALL_DEVICES = `${LIVE_TANKS.count} + (SELECT count(*) FROM device WHERE tank IS NULL)`; // device_free
const DEVICES_WITH_PENDING = "(SELECT count(*) FROM device WHERE pending > 0)"; // device_pending

/** $1 devices wanted, $2 skipped. */
const deviceSearch = (count: string, condition: string): Statement =>
  statement(`
    WITH RECURSIVE ${LIVE_TANKS.query}
    SELECT counted.total, entry.* FROM (SELECT ${count} AS total) AS counted LEFT JOIN (
      (SELECT id FROM device ${condition} ORDER BY id LIMIT $1 OFFSET $2) AS page
      CROSS JOIN LATERAL (SELECT ${DEVICE_COLUMNS} FROM device WHERE id = page.id OFFSET 0) AS entry
    ) ON true ORDER BY page.id`);

const DEVICE_SEARCHES = {
  all: deviceSearch(ALL_DEVICES, ""),
  withPending: deviceSearch(DEVICES_WITH_PENDING, "WHERE pending > 0"),
  withoutPending: deviceSearch(`${ALL_DEVICES} - ${DEVICES_WITH_PENDING}`, "WHERE pending = 0"),
};

function deviceReads(db: Db) {
  return {
    async deviceSearch({ waiting, page, size }: DeviceSearch): Promise<Page<ManagedDevice>> {
      const kind = waiting === undefined ? "all" : waiting ? "withPending" : "withoutPending";
      return pageOf(await db.rows(DEVICE_SEARCHES[kind], [size, (page - 1) * size]), managedDevice);
    },
  };
}

function fleetReads(db: Db) {
  return {
    async fleetPage(request: FleetQuery): Promise<Page<FleetEntry>> {
      const parameters = new Parameters();
      return pageOf(await parameters.rows(db, fleetSql(request, parameters)), fleetEntryOf);
    },
  };
}

function fleetEntryOf(row: Row): FleetEntry {
  const [at, fill] = row.slice(-2);
  return { tank: tankOf(row), latest: fill === null ? null : { created_at: Number(at), fill_percentage: Number(fill) } };
}

/** The first or last number of the entries of one instant. */
const auditNumberAt = (which: "min" | "max", instant: string): string =>
  `(SELECT ${which}(number) FROM (SELECT number FROM audit WHERE at = (${instant}) OFFSET 0) AS entry)`; // audit_by_time

/** $1 and $2 the bounds, inclusive, $3 entries skipped, $4 wanted. Instants ascend with numbers. */
const AUDIT_PAGE = statement(`
  WITH bounds AS MATERIALIZED (
    SELECT
      CASE WHEN $1::bigint = ${EARLIEST} THEN 1
        ELSE ${auditNumberAt("min", "SELECT at FROM audit WHERE at >= $1 ORDER BY at LIMIT 1")} END AS lower,
      CASE WHEN $2::bigint = ${LATEST} THEN (SELECT number FROM audit ORDER BY number DESC LIMIT 1)
        ELSE ${auditNumberAt("max", "SELECT at FROM audit WHERE at <= $2 ORDER BY at DESC LIMIT 1")} END AS upper
  )
  SELECT greatest(0, bounds.upper - bounds.lower + 1), entry.* FROM bounds LEFT JOIN LATERAL (
    SELECT ${AUDIT_COLUMNS} FROM audit
    WHERE number <= bounds.upper - $3::bigint AND number > bounds.upper - $3::bigint - $4::bigint AND number >= bounds.lower
    ORDER BY number DESC LIMIT $4
  ) AS entry ON true`);

function auditReads(db: Db) {
  async function filtered(request: AuditQuery): Promise<Page<AuditEntry>> {
    const { from = EARLIEST, to = LATEST, by, object, id } = request;
    const parameters = new Parameters();
    const range = `at >= ${parameters.add(from, "bigint")} AND at <= ${parameters.add(to, "bigint")}`;
    const isInRange = { holds: range, order: "at" };
    const conditions: Condition[] = [];
    if (id !== undefined) conditions.push(isEqual("id", parameters.add(id, "text"))); // audit_by_id
    if (by !== undefined) conditions.push(isEqual("who", parameters.add(by, "text"))); // audit_by_who
    if (object !== undefined) conditions.push(isEqual("object", parameters.add(object, "text"))); // audit_by_object
    const [lookup = isInRange, ...others] = conditions;
    const list = { table: "audit", key: "number", order: ["number"], columns: AUDIT_COLUMNS };
    return pageOf(await filteredPage(db, parameters, { ...list, lookup, others: [...others, isInRange] }, request), auditEntryOf);
  }

  return {
    async auditPage(request: AuditQuery): Promise<Page<AuditEntry>> {
      const { by, object, id, from = EARLIEST, to = LATEST, page, size } = request;
      if (by !== undefined || object !== undefined || id !== undefined) return filtered(request);
      return pageOf(await db.rows(AUDIT_PAGE, [from, to, (page - 1) * size, size]), auditEntryOf);
    },
  };
}
