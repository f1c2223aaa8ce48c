// Searches: customers and tanks by the beginning of what they are called, newest first.

import type { DatabaseSync } from "node:sqlite";
import type { TankWithShape } from "../../domain/changes.ts";
import { deviceKey } from "../../domain/device.ts";
import type { CustomerSearch, TankSearch } from "../../domain/management-reads.ts";
import type { Page, PageQuery } from "../../domain/page.ts";
import type { ManagedCustomer } from "../../domain/resource.ts";
import { rangeOf } from "../beginning.ts";
import { CUSTOMER_COLUMNS, customerState, SHAPED_TANK_COLUMNS, shapedTank } from "../columns.ts";
import { EARLIEST, LATEST } from "../series/levels.ts";
import { LISTS } from "../series/lists.ts";
import { List, type RowPage } from "./paging.ts";
import { type Row, Statements } from "./rows.ts";
import { KEY_OF_DEVICE } from "./schema.ts";

type Condition = readonly [sql: string, ...values: string[]];

/** By an index on lower(column). */
export function startingWith(column: string, text: string): Condition {
  const { from, to } = rangeOf(text);
  return [`lower(${column}) >= ? AND lower(${column}) < ?`, from, to];
}

export function searchQuestions(db: DatabaseSync) {
  const statements = new Statements(db);
  const customers = new List(db, LISTS.customers, CUSTOMER_COLUMNS);
  const tanks = new List(db, LISTS.tanks, SHAPED_TANK_COLUMNS);
  const tanksOfOwner = new List(db, LISTS.tanksOfOwner, SHAPED_TANK_COLUMNS);

  /** The deleted by customer_deleted and tank_deleted; the others by the index of one of the conditions. */
  function find(table: string, columns: string, deleted: boolean, conditions: readonly Condition[], of: PageQuery): RowPage {
    const { from = EARLIEST, to = LATEST, page, size } = of;
    const values = [...conditions.flatMap(([, ...given]) => given), from, to];
    const all = [`deleted = ${deleted ? 1 : 0}`, ...conditions.map(([sql]) => sql), "created_at BETWEEN ? AND ?"];
    const entries = `FROM ${table} WHERE ${all.join(" AND ")}`;
    const totalItems = statements.number(`SELECT count(*) ${entries}`, values);
    const skipped = (page - 1) * size;
    if (skipped >= totalItems) return { rows: [], totalItems };
    const sql = `SELECT ${columns} ${entries} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`;
    return { rows: statements.rows(sql, [...values, size, skipped]), totalItems };
  }

  return {
    customerSearch(search: CustomerSearch): Page<ManagedCustomer> {
      const { name, email, deleted } = search;
      const conditions = [
        ...(name === undefined ? [] : [startingWith("name", name)]),
        ...(email === undefined ? [] : [startingWith("email", email)]),
      ];
      const isPlain = conditions.length === 0 && !deleted;
      return pageOf(
        isPlain ? customers.page(null, search) : find("customer", CUSTOMER_COLUMNS, deleted, conditions, search),
        customerState,
      );
    },

    tankSearch(search: TankSearch): Page<TankWithShape> {
      const { deleted, owner_id } = search;
      const conditions = tankConditions(search);
      if (conditions.length === 0 && !deleted) return pageOf(tanks.page(null, search), shapedTank);
      const isOfOwner = conditions.length === 1 && owner_id !== undefined && !deleted;
      if (isOfOwner) return pageOf(tanksOfOwner.page(owner_id, search), shapedTank);
      return pageOf(find("tank", SHAPED_TANK_COLUMNS, deleted, conditions, search), shapedTank);
    },
  };
}

function tankConditions({ name, city, custom_id, owner_id, device_id, deleted }: TankSearch): Condition[] {
  return [
    ...(name === undefined ? [] : [startingWith("name", name)]),
    ...(city === undefined ? [] : [startingWith("city", city)]),
    ...(custom_id === undefined ? [] : [startingWith("custom_id", custom_id)]),
    ...(owner_id === undefined ? [] : [["owner_id = ?", owner_id] as const]),
    ...(device_id === undefined ? [] : [ofDevice(device_id, deleted)]),
  ];
}

/** A live tank by its device, a deleted one by the key of the id it had. */
function ofDevice(device: string, deleted: boolean): Condition {
  const key = deviceKey(device);
  return deleted ? [`${KEY_OF_DEVICE} = ?`, key] : ["id = (SELECT tank FROM device WHERE device.id = ?)", key];
}

function pageOf<T>({ rows, totalItems }: RowPage, made: (row: Row) => T): Page<T> {
  return { data: rows.map(made), totalItems };
}
