// GET /v1/tanks/:id/telemetry

import { RequestError } from "../../domain/errors.ts";
import { isPossibleId } from "../../domain/id.ts";
import { TelemetryObject, telemetryJson } from "../../domain/reading.ts";
import { ref } from "../../domain/schema.ts";
import { envelope, listObject } from "../envelope.ts";
import { telemetryExample } from "../examples.ts";
import { LIST_PARAMETERS, pageQuestion } from "../parameters.ts";
import { JSON_TYPE, type Route, route } from "../route.ts";
import { tankUnknown } from "./tanks.ts";

const TelemetryList = listObject(ref("Telemetry"), "One page of a tank's readings");

export const telemetrySchemas = { Telemetry: TelemetryObject, TelemetryList };

export const telemetryRoutes: readonly Route[] = [
  route({
    path: "/v1/tanks/:id/telemetry",
    operation: "listTelemetry",
    summary: "List telemetry of a tank",
    description: "The fill readings of one tank, newest first.",
    tag: "Telemetry",
    parameters: LIST_PARAMETERS,
    answer: {
      mediaType: JSON_TYPE,
      schema: ref("TelemetryList"),
      description: "One page of readings",
      examples: {
        page: { object: "list", data: [telemetryExample], page: 1, size: 10, total_pages: 1, total_items: 1 },
        empty: { object: "list", data: [], page: 1, size: 10, total_pages: 0, total_items: 0 },
      },
    },
    refusals: ["tank_unknown", "tank_deleted"],
    reach: "read",
    async ask({ reads, sight, id, values }) {
      const question = pageQuestion(values);
      const found = isPossibleId(id) ? await reads.telemetryPage(id, question, sight) : undefined;
      if (found === undefined) throw tankUnknown();
      if (found === "deleted")
        throw new RequestError("tank_deleted", "This tank has been deleted; its telemetry is no longer shown.");
      return envelope(found, question, telemetryJson);
    },
  }),
];
