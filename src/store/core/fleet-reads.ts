// Pages of the fleet. Where the filters are a range of sort keys, a page comes from a ranked list, whatever the size of the fleet.
// Otherwise all matches are found, by one index, and sorted. A search reads all tanks, or all of one owner.

import type { FleetEntry, FleetQuery, FleetReads } from "../../domain/fleet.ts";
import type { Box } from "../../domain/fleet-map.ts";
import {
  type FleetOrderReads,
  type FleetOrderState,
  type FleetScan,
  FORECAST_MAX_AGE_MS,
  FORECAST_MIN_AGE_MS,
  fleetOrderStateOf,
  SORT_COLUMNS,
  sortKeyRange,
} from "../../domain/fleet-order.ts";
import type { ForecastReads } from "../../domain/forecast/stored.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Page } from "../../domain/page.ts";
import { searchWords } from "../../domain/search.ts";
import { isDeleted, type Row, TANK_COLUMNS, tankOf } from "../columns.ts";
import { LISTS } from "../packed/lists.ts";
import { type Dialect, prefixed, type SqlCondition, SqlParameters, startsWith, where } from "./dialect.ts";
import { REFILL_COLUMNS, refillOf, storedForecastOf } from "./forecast-tables.ts";
import { type LongReadEngine, limitOffset, pageOf } from "./management-reads.ts";
import { toPage } from "./reads.ts";
import { FORECAST_INDEX_CONDITION, WITHOUT_COORDINATES } from "./schema.ts";
import { textOf, wordConditions } from "./search.ts";
import { serviceStateTable } from "./service-state.ts";
import type { Prepare } from "./sql-runner.ts";

const ENTRY_COLUMNS = `${prefixed("tank", TANK_COLUMNS)}, fleet.at, fleet.fill, forecast.computed_at, forecast.forecast,
  customer.name, customer.phone, tank.paused_until, tank.silent_after`;
const JOINED_COLUMNS = 8;
/** Rows are looked up by their primary keys. */
const TANK_JOINS = `LEFT JOIN fleet ON fleet.tank = tank.id LEFT JOIN forecast ON forecast.id = tank.id
  LEFT JOIN customer ON customer.id = tank.owner_id`;
const ENTRY_JOINS = `LEFT JOIN tank ON tank.id = entry.id ${TANK_JOINS}`;

function fleetEntryOf(row: Row): FleetEntry {
  const [at, fill, computedAt, forecast, name, phone, pausedUntil, silentAfter] = row.slice(-JOINED_COLUMNS);
  return {
    tank: tankOf(row),
    customer: { name: String(name), phone: phone as string | null },
    latest: fill === null ? null : { created_at: Number(at), fill_percentage: Number(fill) },
    forecast: storedForecastOf([computedAt, forecast]),
    pausedUntil: pausedUntil === null ? null : Number(pausedUntil),
    silentAfter: silentAfter === null ? null : Number(silentAfter),
  };
}

const FLEET_LISTS = { urgency: LISTS.fleetByUrgency, margin: LISTS.fleetByMargin, at: LISTS.fleetBySilence } as const;
const OWNER_LISTS = {
  urgency: LISTS.fleetOfOwnerByUrgency,
  margin: LISTS.fleetOfOwnerByMargin,
  at: LISTS.fleetOfOwnerBySilence,
} as const;

/** Tanks in one step of a scan. */
const SCAN_SIZE = 5000;

export function fleetReadsOn(engine: LongReadEngine) {
  const { listPages, rows, unpreparedRows, dialect } = engine;
  const pages = (lists: typeof FLEET_LISTS | typeof OWNER_LISTS) => ({
    urgency: listPages(lists.urgency, ENTRY_COLUMNS, ENTRY_JOINS),
    margin: listPages(lists.margin, ENTRY_COLUMNS, ENTRY_JOINS),
    at: listPages(lists.at, ENTRY_COLUMNS, ENTRY_JOINS),
  });
  const [all, ofOwner] = [pages(FLEET_LISTS), pages(OWNER_LISTS)];

  async function matching(query: FleetQuery): Promise<Page<FleetEntry>> {
    const parameters = new SqlParameters();
    const sql = matchesSql(dialect, query, parameters);
    const read = query.search === undefined ? rows : unpreparedRows;
    return pageOf(await read(sql, parameters.values), fleetEntryOf);
  }

  return {
    async fleetPage(query: FleetQuery): Promise<Page<FleetEntry>> {
      const { owner_id, page, size } = query;
      const range = rangeOf(query);
      if (range === undefined) return matching(query);
      const column = SORT_COLUMNS[query.sort];
      const request = { ...range, page, size };
      return toPage(
        await (owner_id === undefined ? all[column](null, request) : ofOwner[column](owner_id, request)),
        fleetEntryOf,
      );
    },

    async scanFleet(after: string, now: Instant): Promise<FleetScan> {
      // The clock may have been ahead when a forecast was computed or scheduled.
      const isOutdated = `forecast.id IS NULL OR forecast.at <> part.at OR forecast.fill IS DISTINCT FROM part.fill
        OR (forecast.due_at IS NULL AND (forecast.computed_at <= $2 OR forecast.computed_at > $3))
        OR forecast.due_at > $3`;
      // Both by primary key.
      const sql = `
        SELECT count(*), max(part.tank), ${dialect.jsonArray}(part.tank) FILTER (WHERE ${isOutdated})
        FROM (SELECT tank, at, fill FROM fleet WHERE tank > $1 ORDER BY tank LIMIT ${SCAN_SIZE}) AS part
        LEFT JOIN forecast ON forecast.id = part.tank`;
      const [[scanned, last, outdated] = []] = await rows(sql, [after, now - FORECAST_MAX_AGE_MS, now + FORECAST_MIN_AGE_MS]);
      const tanks = typeof outdated === "string" ? JSON.parse(outdated) : (outdated ?? []);
      return { scanned: Number(scanned), last: String(last), outdated: tanks as string[] };
    },
  };
}

type EntryReads = Pick<FleetReads, "fleetEntry"> &
  Pick<FleetOrderReads, "fleetOrderState"> &
  Omit<ForecastReads, "historyColumns">;

/** Reads of one tank, and what the job looks up. They cost little whatever the size of the fleet. */
export function forecastReads(prepare: Prepare): EntryReads {
  const { serviceState } = serviceStateTable(prepare);
  const isInScope = "tank.id = $1 AND tank.owner_id = coalesce($2, tank.owner_id)";
  const forecast = prepare(
    `SELECT forecast.computed_at, forecast.forecast, tank.deleted FROM tank LEFT JOIN forecast ON forecast.id = tank.id
     WHERE ${isInScope}`,
  );
  // All by primary key: a tank has few refills.
  const refills = prepare(
    `SELECT (SELECT count(*) FROM refill WHERE refill.tank_id = tank.id), ${prefixed("page", REFILL_COLUMNS)}, tank.deleted
     FROM tank LEFT JOIN (
       SELECT ${REFILL_COLUMNS} FROM refill WHERE tank_id = $1 ORDER BY started_at DESC LIMIT $3 OFFSET $4
     ) AS page ON true WHERE ${isInScope} ORDER BY page.started_at DESC`,
  );
  const due = prepare(
    `SELECT forecast.due_at, coalesce(fleet.at, forecast.at), coalesce(fleet.fill, forecast.fill), ${prefixed("tank", TANK_COLUMNS)}
     FROM (SELECT id, at, fill, due_at FROM forecast WHERE due_at <= $1 ORDER BY due_at LIMIT $2) AS forecast
     JOIN tank ON tank.id = forecast.id LEFT JOIN fleet ON fleet.tank = forecast.id`, // forecast_due, then primary keys
  );
  const entry = prepare(`SELECT ${ENTRY_COLUMNS} FROM tank ${TANK_JOINS} WHERE ${isInScope}`);
  return {
    async fleetEntry(tankId, { customerId }) {
      const [row] = await entry(tankId, customerId);
      if (row === undefined) return undefined;
      return isDeleted(row.slice(0, -JOINED_COLUMNS)) ? "deleted" : fleetEntryOf(row);
    },

    async tankForecast(tankId, { customerId }) {
      const [row] = await forecast(tankId, customerId);
      if (row === undefined) return undefined;
      return isDeleted(row) ? "deleted" : storedForecastOf(row);
    },

    async refillPage(tankId, { page, size }, { customerId }) {
      const rows = await refills(tankId, customerId, size, (page - 1) * size);
      const [first] = rows;
      if (first === undefined) return undefined;
      if (isDeleted(first)) return "deleted";
      const found = rows.map(([, ...row]) => row).filter(([startedAt]) => startedAt !== null);
      return { data: found.map(refillOf), totalItems: Number(first[0]) };
    },

    async dueForecasts(now, limit) {
      const tanks = (await due(now, limit)).map(([dueAt, at, fill, ...tank]) => {
        return { dueAt: Number(dueAt), latestAt: Number(at), latestFill: Number(fill), tank: tankOf(tank) };
      });
      return tanks.sort((a, b) => a.dueAt - b.dueAt);
    },

    async fleetOrderState(): Promise<FleetOrderState | undefined> {
      const stored = await serviceState("fleet_order");
      return stored === undefined ? undefined : fleetOrderStateOf(stored);
    },
  };
}

/** The sort keys that the filters leave; undefined where they are not a range. */
function rangeOf(query: FleetQuery) {
  const { sort, state, silentSince, city, area } = query;
  if (city !== undefined || area !== undefined || isSearch(query)) return undefined;
  if (sort !== "silent") return silentSince === undefined ? sortKeyRange(state, sort) : undefined;
  return state === undefined ? { from: undefined, to: silentSince && silentSince - 1 } : undefined;
}

/** A place within the tanks of one owner is searched, too: the index of places would find the tanks of all owners there. */
function isSearch({ alert, search, owner_id, city, area }: FleetQuery): boolean {
  const isOwnPlace = owner_id !== undefined && (city !== undefined || area !== undefined);
  return isOwnPlace || alert !== undefined || searchWords(search).length > 0;
}

/** Conditions on rows of `forecast`; the first one finds the fewest. */
function forecastConditions(
  dialect: Dialect,
  { state, silentSince, owner_id }: FleetQuery,
  parameters: SqlParameters,
): SqlCondition[] {
  const isIn = (column: string, from = Number.MIN_SAFE_INTEGER, to = Number.MAX_SAFE_INTEGER): SqlCondition => ({
    holds: `forecast.${column} >= ${parameters.add(from)} AND forecast.${column} <= ${parameters.add(to)}`,
    order: `forecast.${column}`,
  });
  const { from, to } = sortKeyRange(state, "urgency");
  const column = "forecast.owner_id";
  const ofOwner = owner_id === undefined ? [] : [{ holds: dialect.equals(column, parameters.add(owner_id)), order: column }];
  const ofState = state === undefined ? [] : [isIn("urgency", from, to)];
  const ofSilence = silentSince === undefined ? [] : [isIn("at", undefined, silentSince - 1)];
  // Most tanks are ok.
  return [...ofOwner, ...(state === "ok" ? [...ofSilence, ...ofState] : [...ofState, ...ofSilence])];
}

/** Conditions on rows of `tank`; the first one is looked up: tank_by_city, tank_by_latitude or tank_without_position. */
function placeConditions({ city, area }: FleetQuery, parameters: SqlParameters): SqlCondition[] {
  const conditions: SqlCondition[] = [];
  if (city !== undefined) conditions.push(startsWith(parameters, "tank.city", city));
  if (area === "none") conditions.push({ holds: WITHOUT_COORDINATES, order: "id" });
  else if (area !== undefined) conditions.push(within(area, parameters));
  return conditions;
}

function within({ west, south, east, north }: Box, parameters: SqlParameters): SqlCondition {
  const [isEast, isWest] = [`longitude >= ${parameters.add(west)}`, `longitude <= ${parameters.add(east)}`];
  const holds = `latitude >= ${parameters.add(south)} AND latitude <= ${parameters.add(north)}
    AND (${isEast} ${west <= east ? "AND" : "OR"} ${isWest})`;
  return { holds, order: "latitude" };
}

/** One index finds some tanks, by the place or by the first condition; the other conditions are tested on these. */
function filtered(dialect: Dialect, query: FleetQuery, parameters: SqlParameters, columns: string): string {
  const places = placeConditions(query, parameters);
  const conditions = forecastConditions(dialect, query, parameters);
  const [place] = places;
  if (place !== undefined) {
    const holds = [dialect.isLive("tank"), ...places.map((condition) => condition.holds)].join(" AND ");
    return `WITH candidate AS MATERIALIZED (SELECT id FROM tank WHERE ${holds} ORDER BY ${place.order})
      SELECT ${columns} FROM candidate JOIN forecast ON forecast.id = candidate.id ${where(conditions)}`;
  }
  const [first = { holds: "true", order: "id" }, ...others] = conditions;
  const found = `SELECT * FROM forecast WHERE ${FORECAST_INDEX_CONDITION} AND ${first.holds} ORDER BY ${first.order}`;
  return `SELECT ${columns} FROM (${found} ${dialect.optimizerFence}) AS forecast ${where(others)}`;
}

/** Of the tanks that are looked up, the ones that all filters leave. */
function searched(dialect: Dialect, query: FleetQuery, parameters: SqlParameters, columns: string): string {
  const conditions = [
    { holds: dialect.isLive("tank") },
    ...forecastConditions(dialect, query, parameters),
    ...placeConditions(query, parameters),
    ...searchWords(query.search).map((word) => ({ holds: hasWord(parameters, word, query.owner_id) })),
  ];
  const tanks = searchedTanks(dialect, query, parameters);
  return `SELECT ${columns} FROM ${tanks} JOIN forecast ON forecast.id = tank.id ${where(conditions)}`;
}

function matchesSql(dialect: Dialect, query: FleetQuery, parameters: SqlParameters): string {
  const columns = `forecast.id, forecast.${SORT_COLUMNS[query.sort]} AS sort_key`;
  const matches = (isSearch(query) ? searched : filtered)(dialect, query, parameters, columns);
  return `
    WITH found AS MATERIALIZED (${matches})
    SELECT counted.total, ${ENTRY_COLUMNS} FROM (SELECT count(*) AS total FROM found) AS counted
    LEFT JOIN (SELECT id, sort_key FROM found ORDER BY sort_key, id ${limitOffset(parameters, query)}) AS entry ON true
    ${ENTRY_JOINS} ORDER BY entry.sort_key, entry.id`;
}

/** Tanks with an alert (alert_counted, alert_of_owner_counted), those of one owner (tank_by_owner), or all. */
function searchedTanks(dialect: Dialect, { alert, owner_id }: FleetQuery, parameters: SqlParameters): string {
  const { optimizerFence } = dialect;
  const isOwn = owner_id === undefined ? "true" : dialect.equals("owner_id", parameters.add(owner_id));
  if (alert !== undefined) {
    const order = owner_id === undefined ? "kind, state" : "owner_id, kind, state";
    const alerts = `SELECT tank_id FROM alert WHERE state <> 'closed' AND kind = ${parameters.add(alert)} AND ${isOwn} ORDER BY ${order}`;
    return `(${alerts} ${optimizerFence}) AS alert JOIN tank ON tank.id = alert.tank_id`;
  }
  if (owner_id === undefined) return "tank";
  return `(SELECT * FROM tank WHERE ${dialect.isLive("tank")} AND ${isOwn} ORDER BY owner_id ${optimizerFence}) AS tank`;
}

const TANK_TEXT = textOf(
  ...["id", "name", "custom_id", "assigned_device_id"].map((column) => `tank.${column}`),
  ...["street", "street_number", "postal_code", "city", "district"].map((column) => `tank.${column}`),
);
const OWNER_TEXT = textOf("name", "phone");

/** Where only the tanks of one customer are searched, other customers are not read: each word would take as long as for all tanks. */
function hasWord(parameters: SqlParameters, word: string, ownerId: string | undefined): string {
  const { isIn, isInPhone } = wordConditions(parameters, word);
  const isOwner = ownerId === undefined ? "" : `id = ${parameters.add(ownerId)} AND`; // primary key
  const owners = `SELECT id FROM customer WHERE ${isOwner} (${isIn(OWNER_TEXT)} OR ${isInPhone})`;
  return `(${isIn(TANK_TEXT)} OR tank.owner_id IN (${owners}))`;
}
