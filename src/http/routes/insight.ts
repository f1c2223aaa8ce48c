// GET /insight/v1/fleet and GET /insight/v1/tanks/:id: tanks with their latest reading and alerts, and what follows from them.

import { ALERT_KINDS, type Alert, AlertObject } from "../../domain/alerts/alert.ts";
import type { AlertReads } from "../../domain/alerts/reads.ts";
import {
  daysLeft,
  FLEET_SORTS,
  FLEET_STATES,
  type FleetEntry,
  type FleetQuery,
  type FleetReads,
  isSilent,
  marginOf,
  volumesOf,
} from "../../domain/fleet.ts";
import { forecastObject } from "../../domain/forecast/objects.ts";
import { formatInstant, type Instant } from "../../domain/instant.ts";
import type { Scope } from "../../domain/key.ts";
import type { Page } from "../../domain/page.ts";
import { telemetryObject } from "../../domain/reading.ts";
import { array, boolean, instantField, literal, nullable, number, object, oneOf, ref, text } from "../../domain/schema.ts";
import { CAPACITY_UNITS, tankObject } from "../../domain/tank.ts";
import { choice, duration, listJson, listSchema, PAGE_PARAMETERS, prefixFilter, textFilter, wordSearch } from "../parameters.ts";
import { insightRoute, type Route } from "../route.ts";
import { requireTank } from "./found.ts";
import { AREA } from "./map.ts";

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

const days = (description: string) => nullable(number({ minimum: 0, description, examples: [12.5] }));

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
      silent: boolean({
        description:
          "It has a `silent` alert, or has had no reading for its `silent_after` (by default `SILENT_AFTER`) and for three times its usual interval",
        examples: [false],
      }),
      days_left: nullable(
        object(
          { p10: days("With a probability of 10 %"), p50: days("As likely as not"), p90: days("With a probability of 90 %") },
          {
            description:
              "Days until the tank falls to its threshold: 0 for a low tank; null if `forecast.state` is not `ok`, and after a sudden rise or fall that the forecast does not count yet",
          },
        ),
      ),
      age_seconds: nullable(number({ description: "Age of the latest reading in seconds", examples: [5400] })),
      next_reading_at: nullable(
        instantField("When the next reading is due: after the usual interval of the tank; null where that is not known"),
      ),
      remaining: volumeSchema("What is in the tank: its capacity × its fill", 1711.8),
      room: volumeSchema("What fits into the tank up to its whole capacity; a tank that may not be filled up has less", 988.2),
      latest: { anyOf: [ref("Telemetry"), { type: "null" }] },
      forecast: ref("Forecast"),
      alerts: array(TankAlert, { description: "The alerts of the tank that are not closed, oldest first" }),
      alerts_paused_until: nullable(instantField("No alert of the tank opens until then; null: not paused")),
      customer: object(
        {
          id: text({ description: "Id of the owner", examples: ["cus_01kxa8w5s0d2f4g6h8j0k2m4n6"] }),
          name: text({ description: "Name", examples: ["Brenner Gas GmbH"] }),
          phone: nullable(text({ description: "Phone number", examples: ["+49 30 5550"] })),
        },
        { description: "The owner of the tank" },
      ),
      tank: ref("Tank"),
    },
    { description: "A tank and how urgently it needs a delivery" },
  ),
  FleetList: object(
    {
      ...list.properties,
      as_of: instantField("The order includes all readings stored before this time; normally less than 60 seconds ago"),
    },
    { description: "One page of the fleet, and how old its order is" },
  ),
};

/** Clients request the fleet every few seconds: its ETag changes when a tank has changed, not when its reading is a few seconds older. */
const AGES = /"(?:age_seconds|as_of)":[^,}]+/g;

export const routes: readonly Route[] = [
  insightRoute({
    path: "/insight/v1/fleet",
    operation: "listFleet",
    isLongRead: true,
    isCacheable: true,
    changesWithTime: AGES,
    summary: "List tanks by urgency",
    description:
      "Tanks with their latest reading, when they run low, what is in them and what fits into them, their owner and their alerts, the most urgent first. The order, and what filters find, may be a minute old: see `as_of`.",
    parameters: {
      ...PAGE_PARAMETERS,
      sort: choice(
        FLEET_SORTS,
        "urgency: low tanks first, by when they are empty, then those with a stale forecast or a sudden fall, then those that run low, by when, then the others, by margin; margin: the smallest first; tanks without a reading come last in both; silent: the oldest latest reading first, those without a reading before all",
        "urgency",
      ),
      state: choice(FLEET_STATES, "Only those in this state", undefined),
      silent_for: duration(
        { description: "Only those without a reading for this long, such as 24h or 7d, or without any" },
        undefined,
      ),
      owner_id: textFilter("Only those of this customer"),
      city: prefixFilter("city"),
      alert: choice(ALERT_KINDS, "Only those with an alert of this kind that is not closed", undefined),
      search: wordSearch("the tank's name, id, custom_id, device or address, or of the name or phone number of its owner"),
      bbox: AREA,
    },
    response: { schema: ref("FleetList"), description: "One page of the fleet" },
    async handle({ reads, services, scope, parameters }) {
      const { clock, settings } = services.management;
      const now = clock();
      const { silent_for, bbox: area, ...rest } = parameters;
      const silentSince = silent_for === undefined ? undefined : now - silent_for;
      // Read before the page, so that the page is never older than as_of.
      const asOf = (await reads.fleetOrderState())?.asOf ?? NEVER_UPDATED;
      const page = await fleetPage(reads, { ...rest, silentSince, area }, scope);
      const alerts = await alertsByTank(reads, page.data);
      return listJson(page, parameters, (entry) => JSON.stringify(fleetObject(entry, alerts, settings.silentAfter, now)), asOf);
    },
  }),
  insightRoute({
    path: "/insight/v1/tanks/:id",
    operation: "retrieveFleetTank",
    isCacheable: true,
    changesWithTime: AGES,
    summary: "Retrieve a tank of the fleet",
    description: "One tank as in the fleet.",
    response: { schema: ref("FleetTank"), description: "The tank with its latest reading" },
    errors: ["tank_unknown", "tank_deleted"],
    async handle({ reads, services, scope, id }) {
      const { clock, settings } = services.management;
      const entry = requireTank(await reads.fleetEntry(id, scope));
      return fleetObject(entry, await alertsByTank(reads, [entry]), settings.silentAfter, clock());
    },
  }),
];

/** The background job has not run yet. */
const NEVER_UPDATED: Instant = 0;

/** A filter by another customer than that of the scope finds as little as one by an unknown id. */
async function fleetPage(reads: FleetReads, query: FleetQuery, { customerId }: Scope): Promise<Page<FleetEntry>> {
  if (customerId === null) return reads.fleetPage(query);
  if (query.owner_id !== undefined && query.owner_id !== customerId) return { data: [], totalItems: 0 };
  return reads.fleetPage({ ...query, owner_id: customerId });
}

type AlertsByTank = ReadonlyMap<string, readonly Alert[]>;

/** Returns the alerts that are not closed. The tanks must be in scope. */
async function alertsByTank(reads: AlertReads, entries: readonly FleetEntry[]): Promise<AlertsByTank> {
  return Map.groupBy(await reads.alertsNotClosed(entries.map(({ tank }) => tank.id)), ({ tank_id }) => tank_id);
}

function fleetObject(entry: FleetEntry, alerts: AlertsByTank, silentAfter: number, now: Instant) {
  const margin = marginOf(entry);
  const { latest, tank, customer, pausedUntil } = entry;
  const alertsOfTank = alerts.get(tank.id) ?? [];
  return {
    object: "fleet_tank",
    state: margin === null ? "unknown" : margin > 0 ? "ok" : "low",
    margin: margin === null ? null : withoutNoise(margin),
    silent: alertsOfTank.some(({ kind }) => kind === "silent") || isSilent(entry, silentAfter, now),
    days_left: daysLeft(entry, now),
    age_seconds: latest === null ? null : Math.max(0, Math.floor((now - latest.created_at) / 1000)),
    next_reading_at: nextReadingAt(entry),
    ...volumesOf(entry),
    latest: latest === null ? null : telemetryObject(latest),
    forecast: forecastObject(tank.id, entry.forecast, now),
    alerts: alertsOfTank.map((alert) => {
      return { id: alert.id, kind: alert.kind, state: alert.state, opened_at: formatInstant(alert.opened_at) };
    }),
    alerts_paused_until: pausedUntil !== null && pausedUntil > now ? formatInstant(pausedUntil) : null,
    customer: { id: tank.owner_id, ...customer },
    tank: tankObject(tank),
  };
}

function nextReadingAt({ latest, forecast }: FleetEntry): string | null {
  return latest === null || forecast?.interval === undefined ? null : formatInstant(latest.created_at + forecast.interval);
}

/** A difference of two decimals has floating-point noise. Adding 0 turns -0 into 0. */
function withoutNoise(margin: number): number {
  return Math.round(margin * 1e9) / 1e9 + 0;
}
