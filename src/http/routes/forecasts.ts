// GET /insight/v1/tanks/:id/forecast and /refills.

import { ForecastObject, forecastObject, RefillObject, refillObject } from "../../domain/forecast/objects.ts";
import { ref } from "../../domain/schema.ts";
import { listJson, listSchema, PAGE_PARAMETERS } from "../parameters.ts";
import { insightRoute, type Route } from "../route.ts";
import { requireTank } from "./found.ts";

export const schemas = {
  Forecast: ForecastObject,
  Refill: RefillObject,
  RefillList: listSchema(ref("Refill"), "One page of refills"),
};

export const routes: readonly Route[] = [
  insightRoute({
    path: "/insight/v1/tanks/:id/forecast",
    operation: "retrieveForecast",
    isCacheable: true,
    summary: "Retrieve the forecast of a tank",
    description:
      "When the tank falls to its threshold and when it is empty, as ranges. It is computed soon after each new reading, and at least once a day.",
    response: { schema: ref("Forecast"), description: "The forecast" },
    errors: ["tank_unknown", "tank_deleted"],
    async handle({ reads, services, scope, id }) {
      const forecast = requireTank(await reads.tankForecast(id, scope));
      return forecastObject(id, forecast, services.management.clock());
    },
  }),
  insightRoute({
    path: "/insight/v1/tanks/:id/refills",
    operation: "listRefills",
    isCacheable: true,
    summary: "List the refills of a tank",
    description:
      "Deliveries of the last two years, found in the readings, newest first. One is listed once the level has stayed up for 12 hours to two days.",
    parameters: PAGE_PARAMETERS,
    response: { schema: ref("RefillList"), description: "One page of refills" },
    errors: ["tank_unknown", "tank_deleted"],
    async handle({ reads, scope, id, parameters }) {
      const { tank } = requireTank(await reads.fleetEntry(id, scope));
      const page = requireTank(await reads.refillPage(id, parameters, scope));
      return listJson(page, parameters, (refill) => JSON.stringify(refillObject(refill, tank)));
    },
  }),
];
