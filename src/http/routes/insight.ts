// GET /insight/v1/fleet and GET /insight/v1/tanks/:id: tanks with their latest reading and alerts, and what follows from them.

import { type Alert, AlertObject } from "../../domain/alerts/alert.ts";
import type { AlertReads } from "../../domain/alerts/reads.ts";
import { RequestError } from "../../domain/errors.ts";
import {
  FLEET_SORTS,
  FLEET_STATES,
  type FleetEntry,
  type FleetQuery,
  type FleetReads,
  marginOf,
  volumesOf,
} from "../../domain/fleet.ts";
import { isPossibleId } from "../../domain/id.ts";
import { formatInstant, type Instant } from "../../domain/instant.ts";
import type { Scope } from "../../domain/key.ts";
import type { Page } from "../../domain/page.ts";
import { telemetryObject } from "../../domain/reading.ts";
import { array, instantField, literal, nullable, number, object, oneOf, ref } from "../../domain/schema.ts";
import { CAPACITY_UNITS, tankObject } from "../../domain/tank.ts";
import { choice, duration, listJson, listSchema, PAGE_PARAMETERS, prefixFilter, textFilter } from "../parameters.ts";
import { type Route, route } from "../route.ts";
import { tankUnknown } from "./read.ts";

const volumeSchema = (description: string, example: number) =>
  nullable(
    object(
      {
        volume: number({ minimum: 0, description: "Volume", examples: [example] }),
        unit: oneOf(CAPACITY_UNITS, { description: "Unit of the volume, that of the tank's capacity", examples: ["liters"] }),
      },
      { description },
    ),
  );

const list = listSchema(ref("FleetTank"), "One page of the fleet");

const { id, kind, state, opened_at } = AlertObject.properties;
const TankAlert = object({ id, kind, state, opened_at }, { description: "An alert of the tank" });

export const schemas = {
  FleetTank: object(
    {
      object: literal("fleet_tank", { description: "Always `fleet_tank`" }),
      state: oneOf(FLEET_STATES, {
        description: "low: at or below its threshold; unknown: it has no reading",
        examples: ["ok"],
      }),
      margin: nullable(number({ description: "Percentage points above the threshold; negative below it", examples: [43.4] })),
      age_seconds: nullable(number({ description: "Age of the latest reading in seconds", examples: [5400] })),
      remaining: volumeSchema("What is in the tank: its capacity × its fill", 1711.8),
      room: volumeSchema("What fits into the tank up to its whole capacity; a tank that may not be filled up has less", 988.2),
      latest: { anyOf: [ref("Telemetry"), { type: "null" }] },
      alerts: array(TankAlert, { description: "The alerts of the tank that are not closed, oldest first" }),
      tank: ref("Tank"),
    },
    { description: "A tank and how urgently it needs a delivery" },
  ),
  FleetList: object(
    { ...list.properties, as_of: instantField("When the fleet was read") },
    { description: "One page of the fleet, and when it was read" },
  ),
};

export const routes: readonly Route[] = [
  route({
    path: "/insight/v1/fleet",
    operation: "listFleet",
    isLongRead: true,
    summary: "List tanks by urgency",
    description:
      "Tanks with their latest reading, the distance to their threshold, what is in them and what fits into them, and their alerts, the most urgent first.",
    tag: "Insight",
    requiredRole: "read",
    parameters: {
      ...PAGE_PARAMETERS,
      sort: choice(
        FLEET_SORTS,
        "urgency, margin: the smallest margin first, those without a reading last; silent: the oldest latest reading first, those without a reading before all",
        "urgency",
      ),
      state: choice(FLEET_STATES, "Only those in this state", undefined),
      silent_for: duration(
        { description: "Only those without a reading for this long, such as 24h or 7d, or without any" },
        undefined,
      ),
      owner_id: textFilter("Only those of this customer"),
      city: prefixFilter("city"),
    },
    response: { schema: ref("FleetList"), description: "One page of the fleet" },
    async handle({ reads, services, scope, parameters }) {
      const now = services.management.clock();
      const { silent_for, ...rest } = parameters;
      const silentSince = silent_for === undefined ? undefined : now - silent_for;
      const page = await fleetPage(reads, { ...rest, silentSince }, scope);
      const alerts = await alertsByTank(reads, page.data);
      return listJson(page, parameters, (entry) => JSON.stringify(fleetObject(entry, alerts, now)), now);
    },
  }),
  route({
    path: "/insight/v1/tanks/:id",
    operation: "retrieveFleetTank",
    summary: "Retrieve a tank of the fleet",
    description: "One tank as in the fleet.",
    tag: "Insight",
    requiredRole: "read",
    response: { schema: ref("FleetTank"), description: "The tank with its latest reading" },
    errors: ["tank_unknown", "tank_deleted"],
    async handle({ reads, services, scope, id }) {
      const now = services.management.clock();
      const found = isPossibleId(id) ? await reads.fleetEntry(id, scope) : undefined;
      if (found === undefined) throw tankUnknown();
      if (found === "deleted") throw new RequestError("tank_deleted", "This tank has been deleted.");
      return fleetObject(found, await alertsByTank(reads, [found]), now);
    },
  }),
];

/** A filter by another customer than that of the scope finds as little as one by an unknown id. */
async function fleetPage(reads: FleetReads, query: FleetQuery, { customerId }: Scope): Promise<Page<FleetEntry>> {
  if (customerId === null) return reads.fleetPage(query);
  if (query.owner_id !== undefined && query.owner_id !== customerId) return { data: [], totalItems: 0 };
  return reads.fleetPage({ ...query, owner_id: customerId });
}

type AlertsByTank = ReadonlyMap<string, readonly Alert[]>;

/** Of tanks in scope. */
async function alertsByTank(reads: AlertReads, entries: readonly FleetEntry[]): Promise<AlertsByTank> {
  return Map.groupBy(await reads.unclosedAlerts(entries.map(({ tank }) => tank.id)), ({ tank_id }) => tank_id);
}

function fleetObject(entry: FleetEntry, alerts: AlertsByTank, now: Instant) {
  const margin = marginOf(entry);
  const { latest, tank } = entry;
  return {
    object: "fleet_tank",
    state: margin === null ? "unknown" : margin > 0 ? "ok" : "low",
    margin: margin === null ? null : withoutNoise(margin),
    age_seconds: latest === null ? null : Math.max(0, Math.floor((now - latest.created_at) / 1000)),
    ...volumesOf(entry),
    latest: latest === null ? null : telemetryObject(latest),
    alerts: (alerts.get(tank.id) ?? []).map((alert) => {
      return { id: alert.id, kind: alert.kind, state: alert.state, opened_at: formatInstant(alert.opened_at) };
    }),
    tank: tankObject(tank),
  };
}

/** A difference of two decimals has floating-point noise. Adding 0 turns -0 into 0. */
function withoutNoise(margin: number): number {
  return Math.round(margin * 1e9) / 1e9 + 0;
}
