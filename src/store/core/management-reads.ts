// Searches, the device list and the audit log: one statement each, hence one snapshot. What a filter matches is counted and sorted:
// one condition is looked up in an index, the others are tested on what is found there. Counts of the fleet take several statements.

import type { AuditEntry } from "../../domain/audit.ts";
import type { TankState } from "../../domain/changes.ts";
import type { FleetCounts } from "../../domain/fleet.ts";
import { sortKeyRange } from "../../domain/fleet-order.ts";
import { deviceKey } from "../../domain/id.ts";
import { EARLIEST, type Instant, LATEST } from "../../domain/instant.ts";
import type { AuditQuery, CustomerSearch, DeviceSearch, TankSearch } from "../../domain/management-reads.ts";
import type { Page, PageQuery } from "../../domain/page.ts";
import type { ManagedCustomer, ManagedDevice } from "../../domain/resource.ts";
import { searchWords } from "../../domain/search.ts";
import {
  AUDIT_COLUMNS,
  auditEntryOf,
  CUSTOMER_COLUMNS,
  customerState,
  DEVICE_COLUMNS,
  managedDevice,
  type Row,
  TANK_STATE_COLUMNS,
  tankState,
} from "../columns.ts";
import { LISTS } from "../packed/lists.ts";
import { type Dialect, equalTo, prefixed, type SqlCondition, SqlParameters, startsWith, where } from "./dialect.ts";
import { type ListPages, toPage } from "./reads.ts";
import { FORECAST_INDEX_CONDITION } from "./schema.ts";
import { textOf, wordConditions } from "./search.ts";

export type LongReadEngine = {
  readonly dialect: Dialect;
  readonly rows: (sql: string, values: readonly (string | number)[]) => Promise<readonly Row[]>;
  /** For SQL that depends on the words of a search: it is not kept prepared, which would take ever more memory. */
  readonly unpreparedRows: LongReadEngine["rows"];
  readonly listPages: ListPages;
  /** The number of live tanks: an expression, and what has to be in front of a statement that uses it. */
  readonly liveTanks: (parameters: SqlParameters) => { readonly query: string; readonly count: string };
};

export function managementReadsOn(engine: LongReadEngine) {
  return {
    ...searches(engine),
    ...deviceReads(engine),
    ...fleetCountsOn(engine),
    ...auditReads(engine),
  };
}

/** Each row has the number of all matches and the columns. A page without entries is one row with the number only. */
export function pageOf<T>(rows: readonly Row[], toObject: (columns: Row) => T): Page<T> {
  const found = rows.map(([, ...columns]) => columns).filter(([id]) => id !== null);
  return { data: found.map(toObject), totalItems: Math.max(0, Number(rows[0]?.[0] ?? 0)) };
}

export const limitOffset = (parameters: SqlParameters, { page, size }: Pick<PageQuery, "page" | "size">): string =>
  `LIMIT ${parameters.add(size)} OFFSET ${parameters.add((page - 1) * size)}`;

export function inRange(parameters: SqlParameters, column: string, { from = EARLIEST, to = LATEST }: PageQuery): SqlCondition {
  return { holds: `${column} >= ${parameters.add(from)} AND ${column} <= ${parameters.add(to)}`, order: column };
}

type FilteredList = {
  readonly table: string;
  /** The columns of the table, which the query calls `entry`. */
  readonly columns: (entry: string) => string;
  /** The last of them is the key. Descending. */
  readonly order: readonly string[];
  /** The condition of the partial indexes. */
  readonly base: string;
};

export function filteredPage(
  { rows, dialect }: Pick<LongReadEngine, "rows" | "dialect">,
  { table, columns, order, base }: FilteredList,
  parameters: SqlParameters,
  [lookup, ...others]: readonly [SqlCondition, ...Pick<SqlCondition, "holds">[]],
  request: PageQuery,
): Promise<readonly Row[]> {
  const key = order.at(-1);
  const sorted = (alias: string): string => order.map((column) => `${alias}.${column} DESC`).join(", ");
  const sql = `
    WITH found AS MATERIALIZED (
      SELECT ${order.join(", ")} FROM (
        SELECT * FROM ${table} WHERE ${base} AND ${lookup.holds} ORDER BY ${lookup.order} ${dialect.optimizerFence}
      ) AS candidate ${where(others)}
    )
    SELECT counted.total, ${columns("entry")} FROM (SELECT count(*) AS total FROM found) AS counted
    LEFT JOIN (SELECT * FROM found ORDER BY ${sorted("found")} ${limitOffset(parameters, request)}) AS page ON true
    LEFT JOIN ${table} AS entry ON entry.${key} = page.${key} ORDER BY ${sorted("page")}`;
  return rows(sql, parameters.values);
}

function searches(engine: LongReadEngine) {
  const { dialect, listPages } = engine;
  const customers = listPages(LISTS.customers, CUSTOMER_COLUMNS);
  const tanks = listPages(LISTS.tanks, TANK_STATE_COLUMNS);
  const tanksOfOwner = listPages(LISTS.tanksOfOwner, TANK_STATE_COLUMNS);

  /** Among deleted objects the range is looked up, by customer_deleted or tank_deleted. */
  function matching(
    table: "customer" | "tank",
    columns: string,
    parameters: SqlParameters,
    conditions: readonly SqlCondition[],
    search: PageQuery & { readonly deleted: boolean },
    words: readonly Pick<SqlCondition, "holds">[] = [],
  ): Promise<readonly Row[]> {
    const range = inRange(parameters, "created_at", search);
    const [first = range, ...others] = conditions;
    const all = search.deleted ? ([range, ...conditions, ...words] as const) : ([first, ...others, range, ...words] as const);
    const base = search.deleted ? dialect.isDeleted(table) : dialect.isLive(table);
    const list = { table, columns: (entry: string) => prefixed(entry, columns), order: ["created_at", "id"], base };
    const rows = words.length === 0 ? engine.rows : engine.unpreparedRows;
    return filteredPage({ dialect, rows }, list, parameters, all, search);
  }

  return {
    async customerSearch(search: CustomerSearch): Promise<Page<ManagedCustomer>> {
      const { email, name, deleted } = search;
      const parameters = new SqlParameters();
      // The most selective condition comes first: it is looked up.
      const conditions: SqlCondition[] = [];
      if (email !== undefined) conditions.push(startsWith(parameters, "email", email)); // customer_by_any_case_email
      if (name !== undefined) conditions.push(startsWith(parameters, "name", name)); // customer_by_name
      const words = searchWords(search.search).map((word) => ({ holds: customerHasWord(parameters, word) }));
      if (!deleted && conditions.length + words.length === 0) return toPage(await customers(null, search), customerState);
      return pageOf(await matching("customer", CUSTOMER_COLUMNS, parameters, conditions, search, words), customerState);
    },

    async tankSearch(search: TankSearch): Promise<Page<TankState>> {
      const { owner_id, deleted } = search;
      const parameters = new SqlParameters();
      const conditions = tankConditions(dialect, search, parameters);
      if (!deleted && conditions.length === 0) return toPage(await tanks(null, search), tankState);
      if (!deleted && conditions.length === 1 && owner_id !== undefined) {
        return toPage(await tanksOfOwner(owner_id, search), tankState);
      }
      return pageOf(await matching("tank", TANK_STATE_COLUMNS, parameters, conditions, search), tankState);
    },
  };
}

const CUSTOMER_TEXT = textOf("id", "name", "email", "phone");

function customerHasWord(parameters: SqlParameters, word: string): string {
  const { isIn, isInPhone } = wordConditions(parameters, word);
  return `(${isIn(CUSTOMER_TEXT)} OR ${isInPhone})`;
}

function tankConditions({ equals, deviceKeyOf }: Dialect, search: TankSearch, parameters: SqlParameters): SqlCondition[] {
  const { device_id, custom_id, owner_id, name, city, deleted } = search;
  const conditions: SqlCondition[] = [];
  if (device_id !== undefined) {
    // A live tank by the device that is assigned to it, a deleted one by the device it had.
    const key = parameters.add(deviceKey(device_id));
    const [column, value] = deleted
      ? [deviceKeyOf("assigned_device_id"), key]
      : ["id", `(SELECT device.tank FROM device WHERE device.id = ${key})`];
    conditions.push({ holds: equals(column, value), order: column });
  }
  if (custom_id !== undefined) conditions.push(startsWith(parameters, "custom_id", custom_id)); // tank_by_custom_id
  if (owner_id !== undefined) conditions.push({ holds: equals("owner_id", parameters.add(owner_id)), order: "owner_id" }); // tank_by_owner
  if (name !== undefined) conditions.push(startsWith(parameters, "name", name)); // tank_by_name
  if (city !== undefined) conditions.push(startsWith(parameters, "city", city)); // tank_by_city
  return conditions;
}

function deviceReads({ rows, liveTanks }: LongReadEngine) {
  return {
    async deviceSearch(search: DeviceSearch): Promise<Page<ManagedDevice>> {
      const { pending } = search;
      const parameters = new SqlParameters();
      const withPending = "(SELECT count(*) FROM device WHERE pending > 0)"; // device_pending
      const tanks = pending === true ? { query: "", count: "" } : liveTanks(parameters);
      // Every live tank has one device: only the other devices are counted.
      const all = `${tanks.count} + (SELECT count(*) FROM device WHERE tank IS NULL)`; // device_free
      const count = pending === undefined ? all : pending ? withPending : `${all} - ${withPending}`;
      const condition = pending === undefined ? "" : `WHERE pending ${pending ? ">" : "="} 0`;
      const sql = `
        ${tanks.query} SELECT counted.total, ${prefixed("entry", DEVICE_COLUMNS)} FROM (SELECT ${count} AS total) AS counted
        LEFT JOIN (SELECT id FROM device ${condition} ORDER BY id ${limitOffset(parameters, search)}) AS page ON true
        LEFT JOIN device AS entry ON entry.id = page.id ORDER BY page.id`;
      return pageOf(await rows(sql, parameters.values), managedDevice);
    },
  };
}

function fleetCountsOn({ rows, listPages, dialect }: LongReadEngine) {
  const byUrgency = listPages(LISTS.fleetByUrgency, "id");
  const bySilence = listPages(LISTS.fleetBySilence, "id");
  const totalOf = async (list: typeof byUrgency, { from, to }: Pick<PageQuery, "from" | "to">): Promise<number> =>
    (await list(null, { from, to, page: 1, size: 1 })).totalItems;
  // forecast_by_urgency, device_pending. PostgreSQL takes the first because of the order.
  const others = `
    SELECT (SELECT count(*) FROM (
        SELECT at FROM forecast WHERE ${FORECAST_INDEX_CONDITION} AND urgency <= $1 ORDER BY urgency, id ${dialect.optimizerFence}
      ) AS low WHERE at < $2),
      (SELECT coalesce(sum(pending), 0) FROM device WHERE pending > 0)`;
  return {
    /** As of the last update of the order. Only tanks that are low and silent are counted one by one. */
    async fleetCounts(silentSince: Instant): Promise<FleetCounts> {
      const [lowRange, unknownRange] = [sortKeyRange("low", "urgency"), sortKeyRange("unknown", "urgency")];
      const all = await totalOf(byUrgency, sortKeyRange(undefined, "urgency"));
      const low = await totalOf(byUrgency, lowRange);
      const unknown = await totalOf(byUrgency, unknownRange);
      // Those without a reading come first in this order.
      const withoutReadingSince = await totalOf(bySilence, { from: undefined, to: silentSince - 1 });
      const [row = []] = await rows(others, [lowRange.to ?? 0, silentSince]);
      const [lowAndSilent = 0, pendingReadings = 0] = row.map(Number);
      const silent = Math.max(0, withoutReadingSince - unknown - lowAndSilent);
      return { tanks: { low, ok: Math.max(0, all - unknown - low - silent), silent, unknown }, pendingReadings };
    },
  };
}

/** Entries are numbered without gaps and never go back in time: a page without filters is found by its number. */
function auditReads(engine: LongReadEngine) {
  const { rows, dialect } = engine;

  /** The first or last number of the entries of one instant, by audit_by_time. */
  const numberAt = (which: "min" | "max", instant: string): string =>
    `(SELECT ${which}(number) FROM (SELECT number FROM audit WHERE at = (${instant}) ${dialect.optimizerFence}) AS entry)`;

  function unfiltered({ from, to, page, size }: AuditQuery): Promise<readonly Row[]> {
    const parameters = new SqlParameters();
    const lower =
      from === undefined ? "1" : numberAt("min", `SELECT at FROM audit WHERE at >= ${parameters.add(from)} ORDER BY at LIMIT 1`);
    const upper =
      to === undefined
        ? "(SELECT number FROM audit ORDER BY number DESC LIMIT 1)"
        : numberAt("max", `SELECT at FROM audit WHERE at <= ${parameters.add(to)} ORDER BY at DESC LIMIT 1`);
    const newest = `bounds.upper - ${parameters.add((page - 1) * size)}`;
    const sql = `
      WITH bounds AS MATERIALIZED (SELECT ${lower} AS lower, ${upper} AS upper)
      SELECT bounds.upper - bounds.lower + 1, ${prefixed("entry", AUDIT_COLUMNS)} FROM bounds
      LEFT JOIN audit AS entry ON entry.number <= ${newest} AND entry.number > ${newest} - ${parameters.add(size)}
        AND entry.number >= bounds.lower ORDER BY entry.number DESC`;
    return rows(sql, parameters.values);
  }

  function filtered(request: AuditQuery): Promise<readonly Row[]> {
    const parameters = new SqlParameters();
    const range = inRange(parameters, "at", request);
    // audit_by_id, audit_by_who, audit_by_object
    const given = { id: request.id, who: request.by, object: request.object };
    const conditions = equalTo(dialect, parameters, given);
    const [lookup = range, ...others] = conditions;
    const columns = (entry: string): string => prefixed(entry, AUDIT_COLUMNS);
    const list = { table: "audit", columns, order: ["number"], base: "true" };
    return filteredPage(engine, list, parameters, [lookup, ...others, range], request);
  }

  return {
    async auditPage(request: AuditQuery): Promise<Page<AuditEntry>> {
      const { by, object, id } = request;
      const isFiltered = by !== undefined || object !== undefined || id !== undefined;
      return pageOf(await (isFiltered ? filtered(request) : unfiltered(request)), auditEntryOf);
    },
  };
}
