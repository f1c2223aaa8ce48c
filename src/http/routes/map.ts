// GET /insight/v1/map: the positions of all tanks, compact enough for a hundred thousand of them.

import {
  type Area,
  type Box,
  type FleetMapReads,
  MAP_STATES,
  MAX_TOWNS,
  type MapState,
  POSITION_UNITS,
  SOON_MS,
} from "../../domain/fleet-map.ts";
import type { Scope } from "../../domain/key.ts";
import { array, integer, literal, object, ref, type Schema, text } from "../../domain/schema.ts";
import type { ManagementService } from "../management.ts";
import type { Parameter } from "../parameters.ts";
import { insightRoute, type Route } from "../route.ts";

const DESCRIPTIONS: Readonly<Record<MapState, string>> = {
  low: "At or below their threshold",
  leak: "With a `leak` alert",
  soon: "As likely as not low within 7 days",
  silent: "With a `silent` alert, or without a reading for too long, as `silent` of the fleet",
  unknown: "Without any reading",
  ok: "All others",
};

const coordinate = (name: string, limit: number, example: number) =>
  integer({
    minimum: -limit * POSITION_UNITS,
    maximum: limit * POSITION_UNITS,
    description: `${name} in ten-thousandths of a degree`,
    examples: [example],
  });

const positions = (state: MapState): Schema<number[]> =>
  array(coordinate("Latitude or longitude", 180, 479883), {
    description: `${DESCRIPTIONS[state]}: latitude and longitude of each tank, one after the other`,
  });

export const schemas = {
  FleetMap: object(
    {
      object: literal("fleet_map", { description: "Always `fleet_map`" }),
      positions: object(
        {
          low: positions("low"),
          leak: positions("leak"),
          soon: positions("soon"),
          silent: positions("silent"),
          unknown: positions("unknown"),
          ok: positions("ok"),
        },
        { description: "Where tanks are, in ten-thousandths of a degree, by state. A tank is in the first state that holds" },
      ),
      without_coordinates: integer({ minimum: 0, description: "Number of tanks without coordinates", examples: [3] }),
      towns: array(
        object(
          {
            name: text({ description: "The `location.city` of its tanks", examples: ["Freiburg"] }),
            latitude: coordinate("Mean latitude of its tanks", 90, 479883),
            longitude: coordinate("Mean longitude of its tanks", 180, 78567),
            tanks: integer({ minimum: 1, description: "Number of tanks", examples: [12] }),
          },
          { description: "A town with tanks" },
        ),
        { maxItems: MAX_TOWNS, description: "Those with the most tanks first" },
      ),
    },
    { description: "Where all tanks are" },
  ),
};

export const routes: readonly Route[] = [
  insightRoute({
    path: "/insight/v1/map",
    operation: "retrieveMap",
    isLongRead: true,
    isCacheable: true,
    summary: "Retrieve the map of the fleet",
    description:
      "Where all tanks are, by how urgent they are, and the towns they are in. It may be two minutes old. `bbox` of the fleet lists the tanks of an area.",
    response: { schema: ref("FleetMap"), description: "The positions of all tanks" },
    handle: ({ reads, services, scope }) =>
      scope.customerId === null ? services.wholeMap() : fleetMapJson(reads, scope, services.management),
  }),
];

export async function fleetMapJson(
  reads: FleetMapReads,
  scope: Scope,
  { clock, settings }: Pick<ManagementService, "clock" | "settings">,
): Promise<string> {
  const now = clock();
  const map = await reads.fleetMap({ now, soonBy: now + SOON_MS, silentAfter: settings.silentAfter }, scope);
  const order = MAP_STATES.map((state) => [state, map.positions[state]]);
  return JSON.stringify({ object: "fleet_map", ...map, positions: Object.fromEntries(order) });
}

const NUMBER = /^-?\d{1,3}(?:\.\d{1,15})?$/;

function boxOf(given: string): Box | undefined {
  const parts = given.split(",");
  if (parts.length !== 4 || !parts.every((part) => NUMBER.test(part))) return undefined;
  const [west = 0, south = 0, east = 0, north = 0] = parts.map(Number);
  const isPossible = Math.max(Math.abs(west), Math.abs(east)) <= 180 && south >= -90 && north <= 90 && south <= north;
  return isPossible ? { west, south, east, north } : undefined;
}

/** A filter by where tanks are. */
export const AREA: Parameter<Area | undefined> = {
  schema: text({
    description:
      "Only those within west,south,east,north in degrees, such as 7.5,47.8,8,48.2; or `none`: only those without coordinates",
  }),
  fallback: undefined,
  read(given) {
    const value = given === "none" ? given : boxOf(given);
    return value === undefined ? { must: "west,south,east,north in degrees, or none" } : { value };
  },
};
