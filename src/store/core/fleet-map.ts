// The map of the fleet: a scan of all tanks in scope, packed by the database, so that few rows leave it.

import type { AlertKind } from "../../domain/alerts/alert.ts";
import { SILENT_INTERVALS } from "../../domain/alerts/evaluate.ts";
import {
  type FleetMap,
  type FleetMapQuery,
  MAP_STATES,
  MAX_TOWNS,
  type MapState,
  POSITION_UNITS,
  type Town,
} from "../../domain/fleet-map.ts";
import { FIRST_RUNS_LOW_KEY, sortKeyRange } from "../../domain/fleet-order.ts";
import type { Scope } from "../../domain/key.ts";
import type { Row } from "../columns.ts";
import { type Dialect, SqlParameters } from "./dialect.ts";
import type { LongReadEngine } from "./management-reads.ts";
import { FORECAST_INDEX_CONDITION } from "./schema.ts";

const rounded = (degrees: string): string => `CAST(round(${degrees} * ${POSITION_UNITS}) AS integer)`;

/** All tanks, or those of an owner by an index of forecasts; each tank by its primary key. */
function tanksIn({ customerId }: Scope, parameters: SqlParameters): string {
  const isInScope = customerId === null ? "true" : `forecast.owner_id = ${parameters.add(customerId)}`;
  return `FROM forecast JOIN tank ON tank.id = forecast.id WHERE forecast.${FORECAST_INDEX_CONDITION} AND ${isInScope}`;
}

/** The rule of `isSilent` of the domain, in SQL. */
function isSilent({ jsonNumber }: Dialect, { now, silentAfter }: FleetMapQuery, parameters: SqlParameters): string {
  const silence = `(${parameters.add(now)} - forecast.at)`;
  const interval = `coalesce(${jsonNumber("forecast.forecast", "interval")}, 0)`;
  return `${silence} > coalesce(tank.silent_after, ${parameters.add(silentAfter)}) AND ${silence} > ${SILENT_INTERVALS} * ${interval}`;
}

/** Conditions in the order of the states. */
function stateOf(dialect: Dialect, query: FleetMapQuery, parameters: SqlParameters): string {
  const { to: lastLow = 0 } = sortKeyRange("low", "urgency");
  const { from: firstUnknown = 0 } = sortKeyRange("unknown", "urgency");
  // alert_not_closed
  const hasAlert = (kind: AlertKind): string =>
    `forecast.id IN (SELECT tank_id FROM alert WHERE state <> 'closed' AND kind = '${kind}')`;
  const conditions: Readonly<Record<Exclude<MapState, "ok">, string>> = {
    low: `forecast.urgency <= ${lastLow}`,
    leak: hasAlert("leak"),
    soon: `forecast.urgency >= ${FIRST_RUNS_LOW_KEY} AND forecast.urgency <= ${parameters.add(query.soonBy)}`,
    silent: `forecast.urgency < ${firstUnknown} AND (${isSilent(dialect, query, parameters)} OR ${hasAlert("silent")})`,
    unknown: `forecast.urgency >= ${firstUnknown}`,
  };
  return `CASE ${Object.entries(conditions)
    .map(([state, holds]) => `WHEN ${holds} THEN '${state}'`)
    .join(" ")} ELSE 'ok' END`;
}

function positionsSql(dialect: Dialect, query: FleetMapQuery, scope: Scope, parameters: SqlParameters): string {
  const tanks = tanksIn(scope, parameters);
  const state = stateOf(dialect, query, parameters);
  const lists = MAP_STATES.map((name) => `string_agg(place, ',') FILTER (WHERE state = '${name}' AND place IS NOT NULL)`);
  // In one order, so that the same map is the same text.
  return `
    SELECT count(*) - count(place), ${lists.join(", ")} FROM (
      SELECT ${state} AS state,
        CAST(${rounded("tank.latitude")} AS text) || ',' || CAST(${rounded("tank.longitude")} AS text) AS place
      ${tanks} ORDER BY forecast.id
    ) AS placed`;
}

function townsSql(scope: Scope, parameters: SqlParameters): string {
  return `
    SELECT tank.city, ${rounded("avg(tank.latitude)")}, ${rounded("avg(tank.longitude)")}, count(*) AS tanks
    ${tanksIn(scope, parameters)} AND tank.city IS NOT NULL AND tank.latitude IS NOT NULL AND tank.longitude IS NOT NULL
    GROUP BY tank.city, tank.region, tank.country
    ORDER BY tanks DESC, tank.city, tank.region, tank.country LIMIT ${MAX_TOWNS}`;
}

const townOf = ([name, latitude, longitude, tanks]: Row): Town => ({
  name: String(name),
  latitude: Number(latitude),
  longitude: Number(longitude),
  tanks: Number(tanks),
});

/** About a hundred kilometres. */
const SAME_TOWN = POSITION_UNITS;

/** Some tanks of a town have a region or a country, others none: places of one name that are near each other are one. */
function mergeNearbyTowns(towns: readonly Town[]): Town[] {
  const found: Town[] = [];
  for (const town of towns) {
    const near = found.findIndex(
      ({ name, latitude, longitude }) =>
        name === town.name && Math.abs(latitude - town.latitude) < SAME_TOWN && Math.abs(longitude - town.longitude) < SAME_TOWN,
    );
    const known = found[near];
    if (known === undefined) found.push(town);
    else found[near] = mergeTowns(known, town);
  }
  return found.sort((a, b) => b.tanks - a.tanks);
}

function mergeTowns(a: Town, b: Town): Town {
  const tanks = a.tanks + b.tanks;
  const mean = (of: "latitude" | "longitude"): number => Math.round((a[of] * a.tanks + b[of] * b.tanks) / tanks);
  return { name: a.name, latitude: mean("latitude"), longitude: mean("longitude"), tanks };
}

export function fleetMapOn({ rows, dialect }: LongReadEngine) {
  return {
    async fleetMap(query: FleetMapQuery, scope: Scope): Promise<FleetMap> {
      const parameters = new SqlParameters();
      const [[withoutCoordinates, ...lists] = []] = await rows(
        positionsSql(dialect, query, scope, parameters),
        parameters.values,
      );
      const named = MAP_STATES.map((state, index) => [state, JSON.parse(`[${lists[index] ?? ""}]`)]);
      const ofTowns = new SqlParameters();
      const towns = await rows(townsSql(scope, ofTowns), ofTowns.values);
      return {
        positions: Object.fromEntries(named),
        without_coordinates: Number(withoutCoordinates),
        towns: mergeNearbyTowns(towns.map(townOf)),
      };
    },
  };
}
