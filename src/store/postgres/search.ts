// Searches of customers and tanks: all of them by their milestones, what a filter leaves counted and sorted.

import type { TankWithShape } from "../../domain/changes.ts";
import { deviceKey } from "../../domain/device.ts";
import type { CustomerSearch, TankSearch } from "../../domain/management-reads.ts";
import type { Page, PageQuery } from "../../domain/page.ts";
import type { ManagedCustomer } from "../../domain/resource.ts";
import { CUSTOMER_COLUMNS, customerState, SHAPED_TANK_COLUMNS, shapedTank } from "../columns.ts";
import { EARLIEST, LATEST } from "../series/levels.ts";
import { LISTS } from "../series/lists.ts";
import type { Db, Row } from "./connection.ts";
import { keyOfDevice } from "./devices.ts";
import { beginsWith, type Condition, Filtering, filteredPage, isEqual, pageOf } from "./filter.ts";
import { List } from "./paging.ts";

const customers = new List(LISTS.customers, CUSTOMER_COLUMNS);
const tanks = new List(LISTS.tanks, SHAPED_TANK_COLUMNS);
const tanksOfOwner = new List(LISTS.tanksOfOwner, SHAPED_TANK_COLUMNS);

export function searchQuestions(db: Db) {
  return {
    async customerSearch(search: CustomerSearch): Promise<Page<ManagedCustomer>> {
      const filtering = new Filtering();
      const conditions = customerConditions(search, filtering);
      if (!search.deleted && conditions.length === 0) return listed(await customers.page(db, null, search), customerState);
      const rows = await found(db, { table: "customer", columns: CUSTOMER_COLUMNS }, filtering, conditions, search);
      return pageOf(rows, customerState);
    },

    async tankSearch(search: TankSearch): Promise<Page<TankWithShape>> {
      const { owner_id, deleted } = search;
      const filtering = new Filtering();
      const conditions = tankConditions(search, filtering);
      if (!deleted && conditions.length === 0) return listed(await tanks.page(db, null, search), shapedTank);
      if (!deleted && conditions.length === 1 && owner_id !== undefined) {
        return listed(await tanksOfOwner.page(db, owner_id, search), shapedTank);
      }
      const rows = await found(db, { table: "tank", columns: SHAPED_TANK_COLUMNS }, filtering, conditions, search);
      return pageOf(rows, shapedTank);
    },
  };
}

function listed<T>({ rows, totalItems }: { readonly rows: Row[]; readonly totalItems: number }, of: (row: Row) => T): Page<T> {
  return { data: rows.map(of), totalItems };
}

/** What is asked for, in the order of how little it leaves. */
function customerConditions({ email, name }: CustomerSearch, filtering: Filtering): Condition[] {
  const conditions: Condition[] = [];
  if (email !== undefined) conditions.push(beginsWith(filtering, "lower(email)", email)); // customer_by_any_case_email
  if (name !== undefined) conditions.push(beginsWith(filtering, `lower(name COLLATE "C")`, name)); // customer_by_name
  return conditions;
}

function tankConditions(search: TankSearch, filtering: Filtering): Condition[] {
  const { device_id, custom_id, owner_id, name, city, deleted } = search;
  const conditions: Condition[] = [];
  if (device_id !== undefined) {
    const key = filtering.value(deviceKey(device_id), "text");
    const served = `(SELECT device.tank FROM device WHERE device.id = ${key})`;
    conditions.push(deleted ? isEqual(keyOfDevice("assigned_device_id"), key) : isEqual("id", served));
  }
  const begins = (column: string, start: string) => conditions.push(beginsWith(filtering, `lower(${column} COLLATE "C")`, start));
  if (custom_id !== undefined) begins("custom_id", custom_id); // tank_by_custom_id
  if (owner_id !== undefined) conditions.push(isEqual("owner_id", filtering.value(owner_id, "text"))); // tank_by_owner
  if (name !== undefined) begins("name", name); // tank_by_name
  if (city !== undefined) begins("city", city); // tank_by_city
  return conditions;
}

/** The first condition is looked up; among what is deleted, the range, by customer_deleted or tank_deleted. */
function found(
  db: Db,
  list: { readonly table: string; readonly columns: string },
  filtering: Filtering,
  conditions: readonly Condition[],
  search: PageQuery & { readonly deleted: boolean },
): Promise<Row[]> {
  const { from = EARLIEST, to = LATEST, deleted } = search;
  const holds = `created_at >= ${filtering.value(from, "bigint")} AND created_at <= ${filtering.value(to, "bigint")}`;
  const isInRange = { holds, order: "created_at" };
  const [looked = isInRange, ...others] = deleted ? [isInRange, ...conditions] : [...conditions, isInRange];
  const base = deleted ? "deleted" : "NOT deleted";
  return filteredPage(db, filtering, { ...list, key: "id", order: ["created_at", "id"], base, looked, others }, search);
}
