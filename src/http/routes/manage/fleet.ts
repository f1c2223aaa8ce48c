// GET /manage/v1/fleet

import type { Instant } from "../../../domain/instant.ts";
import { FLEET_STATES, type FleetEntry, marginOf } from "../../../domain/management-reads.ts";
import { telemetryObject } from "../../../domain/reading.ts";
import { literal, nullable, number, object, oneOf, ref } from "../../../domain/schema.ts";
import { tankObject } from "../../../domain/tank.ts";
import { choice, duration, listJson, listSchema, PAGE_PARAMETERS, prefixFilter, textFilter } from "../../parameters.ts";
import type { Route } from "../../route.ts";
import { manageRoute } from "./shared.ts";

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
      latest: { anyOf: [ref("Telemetry"), { type: "null" }] },
      tank: ref("Tank"),
    },
    { description: "A tank and how urgently it needs a delivery" },
  ),
  FleetList: listSchema(ref("FleetTank"), "One page of the fleet, the most urgent first"),
};

export const routes: readonly Route[] = [
  manageRoute("GET", "/manage/v1/fleet", {
    operation: "listFleet",
    summary: "List tanks by urgency",
    description:
      "All tanks with their latest reading and the distance to their threshold, the most urgent first, those without a reading last.",
    parameters: {
      ...PAGE_PARAMETERS,
      state: choice(FLEET_STATES, "Only those in this state"),
      silent_for: duration(
        { description: "Only those without a reading for this long, such as 24h or 7d, or without any" },
        undefined,
      ),
      owner_id: textFilter("Only those of this customer"),
      city: prefixFilter("city"),
    },
    response: { schema: ref("FleetList"), description: "One page of the fleet" },
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
