// GET /manage/v1/fleet

import type { Instant } from "../../../domain/instant.ts";
import { FLEET_STATES, type FleetEntry, marginOf } from "../../../domain/management-reads.ts";
import { telemetryObject } from "../../../domain/reading.ts";
import { literal, nullableNumber, object, oneOf, ref } from "../../../domain/schema.ts";
import { tankObject } from "../../../domain/tank.ts";
import { tankExample, telemetryExample } from "../../examples.ts";
import {
  choice,
  duration,
  LIST_PARAMETERS,
  listExample,
  listJson,
  listSchema,
  prefixFilter,
  textFilter,
} from "../../parameters.ts";
import { JSON_TYPE, type Route, route } from "../../route.ts";

const FleetTank = object(
  {
    object: literal("fleet_tank", { description: "Always `fleet_tank`" }),
    state: oneOf(FLEET_STATES, {
      description: "low: at or below its threshold; unknown: it has no reading",
      examples: ["low"],
    }),
    margin: nullableNumber({
      description: "Percentage points above the threshold; negative below it",
      examples: [43.4],
    }),
    age_seconds: nullableNumber({ description: "Age of the latest reading in seconds", examples: [5400] }),
    latest: { anyOf: [ref("Telemetry"), { type: "null" }] },
    tank: ref("Tank"),
  },
  { description: "A tank and how urgently it needs a delivery" },
);
const FleetList = listSchema(ref("FleetTank"), "One page of the fleet, the most urgent first");

export const fleetSchemas = { FleetTank, FleetList };

const example = {
  object: "fleet_tank",
  state: "ok",
  margin: 43.4,
  age_seconds: 5400,
  latest: telemetryExample,
  tank: tankExample,
};

const SILENT_FOR = duration(
  { description: "Only those without a reading for this long, such as 24h or 7d, or without any" },
  undefined,
);

export const fleetRoutes: readonly Route[] = [
  route({
    path: "/manage/v1/fleet",
    operation: "listFleet",
    summary: "List tanks by urgency",
    description:
      "All tanks with their latest reading and the distance to their threshold, the most urgent first, those without a reading last.",
    tag: "Management",
    requiredRole: "manage",
    parameters: {
      page: LIST_PARAMETERS.page,
      size: LIST_PARAMETERS.size,
      state: choice(FLEET_STATES, "Only those in this state"),
      silent_for: SILENT_FOR,
      owner_id: textFilter("Only those of this customer"),
      city: prefixFilter("city"),
    },
    response: {
      mediaType: JSON_TYPE,
      schema: ref("FleetList"),
      description: "One page of the fleet",
      examples: { page: listExample(example) },
    },
    errors: [],
    async handle({ services, parameters }) {
      const now = services.management.clock();
      const { silent_for, ...rest } = parameters;
      const silentSince = silent_for === undefined ? undefined : now - silent_for;
      const page = await services.management.reads.fleetPage({ ...rest, silentSince });
      return listJson(page, parameters, (entry) => JSON.stringify(fleetObject(entry, now)));
    },
  }),
];

function fleetObject(entry: FleetEntry, now: Instant) {
  const margin = marginOf(entry);
  const { latest, tank } = entry;
  return {
    object: "fleet_tank",
    state: margin === null ? "unknown" : margin > 0 ? "ok" : "low",
    margin: margin === null ? null : withoutNoise(margin),
    age_seconds: latest === null ? null : Math.max(0, Math.floor((now - latest.created_at) / 1000)),
    latest: latest === null ? null : telemetryObject(latest),
    tank: tankObject(tank),
  };
}

/** A difference of two decimals has floating-point noise. */
function withoutNoise(margin: number): number {
  return Math.round(margin * 1e9) / 1e9 + 0;
}
