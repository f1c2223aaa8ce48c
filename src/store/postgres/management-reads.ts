// Searches, the device list, the audit log and the fleet, each in one statement.

import type { FleetEntry, FleetQuery, FleetSort, FleetState } from "../../domain/fleet.ts";
import type { Page } from "../../domain/page.ts";
import { fleetEntryOf, TANK_COLUMNS } from "../columns.ts";
import { alertLists } from "../core/alert-reads.ts";
import { notificationReads } from "../core/channel-reads.ts";
import { type Condition, Parameters, startsWith, where } from "../core/dialect.ts";
import { type ManagementEngine, managementReadsOn, pageOf } from "../core/management-reads.ts";
import { heardAt, UNKNOWN_URGENCY } from "../fleet-row.ts";
import { type Db, statementOf } from "./connection.ts";
import { LIVE_TANKS, listPagesOn } from "./list-pages.ts";
import { DIALECT } from "./schema.ts";

export function managementReads(db: Db) {
  const engine: ManagementEngine = {
    dialect: DIALECT,
    rows: (sql, values) => db.rows(statementOf(sql), values),
    listPages: listPagesOn(db),
    liveTanks: () => ({ query: `WITH RECURSIVE ${LIVE_TANKS.query}`, count: LIVE_TANKS.count }),
  };
  return {
    ...managementReadsOn(engine),
    ...alertLists(engine),
    ...notificationReads(engine),

    async fleetPage(request: FleetQuery): Promise<Page<FleetEntry>> {
      const parameters = new Parameters();
      return pageOf(await db.rows(statementOf(fleetSql(request, parameters)), parameters.values), fleetEntryOf);
    },
  };
}

const urgency = (holds: string): Condition => ({ holds, order: "urgency" }); // fleet_by_urgency
const STATES: Readonly<Record<FleetState, Condition>> = {
  low: urgency("urgency <= 0 AND fill - threshold <= 0"),
  ok: urgency(`urgency >= 0 AND urgency < ${UNKNOWN_URGENCY} AND fill - threshold > 0`),
  unknown: urgency(`urgency = ${UNKNOWN_URGENCY}`),
};

/** In the order of the first condition's index. */
const counted = (first: Condition, ...others: readonly Condition[]): string =>
  `(SELECT count(*) FROM (SELECT FROM fleet ${where([first, ...others])} ORDER BY ${first.order} OFFSET 0) AS own)`;

/** Low and ok share the urgency 0: only there the margins themselves are compared. */
const LOW = `${counted(urgency("urgency < 0"))} + ${counted(urgency("urgency = 0 AND fill - threshold <= 0"))}`;
const UNKNOWN = counted(STATES.unknown);
const COUNTS: Readonly<Record<FleetState | "all", string>> = {
  all: LIVE_TANKS.count,
  low: LOW,
  ok: `${LIVE_TANKS.count} - (${LOW}) - ${UNKNOWN}`,
  unknown: UNKNOWN,
};

/** The coarse column, which its index has in order, then the exact value. */
type Order = { readonly column: string; readonly exact: (alias: string) => string };
const BY_URGENCY: Order = { column: "urgency", exact: (alias) => `${alias}.fill - ${alias}.threshold` };
const BY_SILENCE: Order = { column: "heard", exact: (alias) => `${alias}.at` };
const ORDERS: Readonly<Record<FleetSort, Order>> = { urgency: BY_URGENCY, margin: BY_URGENCY, silent: BY_SILENCE };

const orderOf = ({ column, exact }: Order, alias: string): string => `${alias}.${column}, ${exact(alias)}, ${alias}.tank`;

/** Up to this many matches are fetched and sorted; of more, all tanks are scanned in order until the page is full. */
const MAX_SORTED = 100_000;

/** The filters decide which index is used, so that the first pages are quick among a million tanks. */
export function fleetSql(request: FleetQuery, parameters: Parameters, maxSorted = MAX_SORTED): string {
  const { sort, state, silentSince, owner_id, city, page, size } = request;
  const order = ORDERS[sort];
  const limits = `LIMIT ${parameters.add(size)} OFFSET ${parameters.add((page - 1) * size)}`;
  const ofState = state === undefined ? [] : [STATES[state]];
  const silence = silentSince === undefined ? undefined : silenceOf(silentSince, parameters);
  const ofTank: Condition[] = [];
  if (owner_id !== undefined) ofTank.push({ holds: DIALECT.equals("owner_id", parameters.add(owner_id)), order: "owner_id" }); // tank_by_owner
  if (city !== undefined) ofTank.push(startsWith(parameters, "city", city)); // tank_by_city
  const [lookup, ...others] = ofTank;
  if (lookup !== undefined) {
    const ofFleet = [...(silence === undefined ? [] : [silence.exact]), ...ofState];
    return filteredText(amongTanks(lookup, others, ofFleet), order, ofState, limits, maxSorted);
  }
  if (silence !== undefined) return filteredText(amongFleet(silence, ofState), order, ofState, limits, maxSorted);
  const entries = `SELECT * FROM ${inOrder(order, ofState)} ${sorted(order, "fleet", limits)}`;
  return pageText(LIVE_TANKS.query, COUNTS[state ?? "all"], order, entries);
}

const sorted = (order: Order, alias: string, limits: string): string => `ORDER BY ${orderOf(order, alias)} ${limits}`;

/** By fleet_by_urgency or fleet_by_heard, as far as rows are read. */
const inOrder = ({ column }: Order, conditions: readonly Pick<Condition, "holds">[]): string =>
  `(SELECT * FROM fleet ${where(conditions)} ORDER BY ${column} OFFSET 0) AS fleet`;

/** `page` selects rows of the fleet. */
function pageText(before: string, count: string, order: Order, page: string): string {
  return `
    WITH RECURSIVE ${before}
    SELECT counted.total, tank.*, page.at, page.fill FROM (SELECT ${count} AS total) AS counted LEFT JOIN (
      (${page}) AS page CROSS JOIN LATERAL (SELECT ${TANK_COLUMNS} FROM tank WHERE id = page.tank OFFSET 0) AS tank
    ) ON true ORDER BY ${orderOf(order, "page")}`;
}

type Matches = {
  /** What one index finds. */
  readonly some: string;
  /** The matches among these; and their number, without fetching them. */
  readonly found: string;
  readonly count: string;
  /** How the matches are recognised among all tanks. */
  readonly filter: string;
};

const IS_FEW = "(SELECT few.are FROM few)";

function filteredText(matches: Matches, order: Order, ofState: readonly Condition[], limits: string, maxSorted: number): string {
  const { some, found, count, filter } = matches;
  const all = inOrder(order, [{ holds: `NOT ${IS_FEW}` }, ...ofState]);
  const many = `SELECT fleet.* FROM ${all} ${filter} ${sorted(order, "fleet", limits)}`;
  return pageText(
    `few AS MATERIALIZED (SELECT count(*) <= ${maxSorted} AS are FROM (${some} LIMIT ${maxSorted + 1}) AS candidate),
      found AS MATERIALIZED (${found})`,
    `CASE WHEN ${IS_FEW} THEN (SELECT count(*) FROM found) ELSE (${count}) END`,
    order,
    `(SELECT * FROM found ${sorted(order, "found", limits)}) UNION ALL (${many})`,
  );
}

/** Only in one quarter day the instants themselves are compared. */
type Silence = { readonly quarters: Condition; readonly exact: Condition; readonly parts: readonly Condition[] };

function silenceOf(since: number, parameters: Parameters): Silence {
  const [heard, at] = [parameters.add(heardAt(since)), parameters.add(since)];
  const condition = (holds: string): Condition => ({ holds, order: "heard" }); // fleet_by_heard
  return {
    quarters: condition(`heard <= ${heard}`),
    exact: condition(`heard <= ${heard} AND at < ${at}`),
    parts: [condition(`heard < ${heard}`), condition(`heard >= ${heard} AND heard <= ${heard} AND at < ${at}`)],
  };
}

function amongFleet({ quarters, exact, parts }: Silence, others: readonly Condition[]): Matches {
  const filter = where([exact, ...others]);
  return {
    some: `SELECT FROM fleet WHERE ${quarters.holds} ORDER BY ${quarters.order}`,
    found: `
      SELECT * FROM (SELECT * FROM fleet WHERE ${quarters.holds} AND ${IS_FEW} ORDER BY ${quarters.order} OFFSET 0) AS fleet ${filter}`,
    count: parts.map((part) => counted(part, ...others)).join(" + "),
    filter,
  };
}

function amongTanks(lookup: Condition, others: readonly Condition[], ofFleet: readonly Condition[]): Matches {
  const tanks = `FROM tank WHERE NOT deleted AND ${lookup.holds}`;
  const ofTank = [lookup, ...others];
  const filter = where([...ofTank, ...ofFleet]);
  return {
    some: `SELECT ${tanks} ORDER BY ${lookup.order}`,
    found: `
      SELECT fleet.* FROM (SELECT * ${tanks} AND ${IS_FEW} ORDER BY ${lookup.order} OFFSET 0) AS tank
      CROSS JOIN LATERAL (SELECT * FROM fleet WHERE fleet.tank = tank.id OFFSET 0) AS fleet ${where([...others, ...ofFleet])}`,
    count:
      ofFleet.length > 0
        ? `${SIDE_BY_SIDE} ${filter}`
        : `SELECT count(*) FROM (SELECT * ${tanks} OFFSET 0) AS tank ${where(others)}`,
    filter: `CROSS JOIN LATERAL (SELECT * FROM tank WHERE tank.id = fleet.tank OFFSET 0) AS tank ${filter}`,
  };
}

/** A full join reads both in parallel; looking up a million tanks one by one takes three times as long. */
const SIDE_BY_SIDE = `
  SELECT count(tank) FROM (
    SELECT fleet.*, tank.owner_id, tank.city FROM (SELECT * FROM tank ORDER BY id OFFSET 0) AS tank
    FULL JOIN (SELECT * FROM fleet ORDER BY tank OFFSET 0) AS fleet ON fleet.tank = tank.id OFFSET 0
  ) AS every`;
