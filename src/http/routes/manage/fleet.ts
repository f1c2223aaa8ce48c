// GET /manage/v1/fleet: the question of every morning.

import { type Instant, parseDuration } from "../../../domain/instant.ts";
import { FLEET_STATES, type FleetEntry, marginOf } from "../../../domain/management-reads.ts";
import { telemetryObject } from "../../../domain/reading.ts";
import { literal, nullableNumber, object, oneOf, ref, text } from "../../../domain/schema.ts";
import { tankObject } from "../../../domain/tank.ts";
import { envelope, listObject } from "../../envelope.ts";
import { tankExample, telemetryExample } from "../../examples.ts";
import { LIST_PARAMETERS, type Parameter, textFilter } from "../../parameters.ts";
import { JSON_TYPE, type Route, route } from "../../route.ts";
import { beginning, choice } from "./parts.ts";

const FleetTank = object(
  {
    object: literal("fleet_tank", { description: "Always `fleet_tank`" }),
    state: oneOf(FLEET_STATES, {
      description: "low: at its threshold or below it; unknown: it has no reading",
      examples: ["low"],
    }),
    margin: nullableNumber({
      description: "How many percent above its threshold the tank stands; below it, less than 0",
      examples: [43.4],
    }),
    age_seconds: nullableNumber({ description: "How long ago its latest reading was created", examples: [5400] }),
    latest: { anyOf: [ref("Telemetry"), { type: "null" }] },
    tank: ref("Tank"),
  },
  { description: "A tank and how urgently it needs a delivery" },
);
const FleetList = listObject(ref("FleetTank"), "One page of the fleet, the most urgent first");

export const fleetSchemas = { FleetTank, FleetList };

const example = {
  object: "fleet_tank",
  state: "ok",
  margin: 43.4,
  age_seconds: 5400,
  latest: telemetryExample,
  tank: tankExample,
};

const SILENT_FOR: Parameter<number | undefined> = {
  schema: text({ description: "Only those without a reading for so long, such as 24h or 7d; also those that never had one" }),
  fallback: undefined,
  read(given) {
    const value = parseDuration(given);
    return value === undefined ? { must: "a span such as 24h, 90m or 7d" } : { value };
  },
};

export const fleetRoutes: readonly Route[] = [
  route({
    path: "/manage/v1/fleet",
    operation: "listFleet",
    summary: "Which tank needs a truck next?",
    description:
      "Every live tank with its latest reading and how far it stands from its threshold, the most urgent first; those without a reading last.",
    tag: "Management",
    reach: "manage",
    parameters: {
      page: LIST_PARAMETERS.page,
      size: LIST_PARAMETERS.size,
      state: choice(FLEET_STATES, "Only those in this state"),
      silent_for: SILENT_FOR,
      owner_id: textFilter("Only those of this customer"),
      city: beginning("city"),
    },
    answer: {
      mediaType: JSON_TYPE,
      schema: ref("FleetList"),
      description: "One page of the fleet",
      examples: { page: { object: "list", data: [example], page: 1, size: 10, total_pages: 1, total_items: 1 } },
    },
    refusals: [],
    async ask({ doors, values }) {
      const now = doors.manage.clock();
      const { silent_for, ...rest } = values;
      const silentSince = silent_for === undefined ? undefined : now - silent_for;
      const page = await doors.manage.overview.fleetPage({ ...rest, silentSince });
      return envelope(page, values, (entry) => JSON.stringify(shown(entry, now)));
    },
  }),
];

function shown(entry: FleetEntry, now: Instant) {
  const margin = marginOf(entry);
  const { latest, tank } = entry;
  return {
    object: "fleet_tank",
    state: margin === null ? "unknown" : margin > 0 ? "ok" : "low",
    margin: margin === null ? null : tidy(margin),
    age_seconds: latest === null ? null : Math.max(0, Math.floor((now - latest.created_at) / 1000)),
    latest: latest === null ? null : telemetryObject(latest),
    tank: tankObject(tank),
  };
}

/** A difference of two decimals has noise far behind the point. */
function tidy(margin: number): number {
  return Math.round(margin * 1e9) / 1e9 + 0;
}
