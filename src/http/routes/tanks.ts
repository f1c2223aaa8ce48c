// GET /v1/tanks, GET /v1/tanks/:id, GET /v1/tanks/:id/telemetry

import { RequestError } from "../../domain/errors.ts";
import { isPossibleId } from "../../domain/id.ts";
import { TelemetryObject, telemetryJson } from "../../domain/reading.ts";
import { anyOf, idField, literal, object, ref } from "../../domain/schema.ts";
import { TankObject, tankObject } from "../../domain/tank.ts";
import { tankExample, telemetryExample } from "../examples.ts";
import { EMPTY_LIST, LIST_PARAMETERS, listExample, listJson, listSchema, NO_PARAMETERS, pageQuery } from "../parameters.ts";
import { JSON_TYPE, type Route, route } from "../route.ts";

const TankList = listSchema(ref("Tank"), "One page of tanks");

const DeletedTankObject = object(
  {
    id: idField("Identifier of the deleted tank", tankExample.id),
    object: literal("tank"),
    deleted: literal(true),
  },
  { description: "A deleted tank" },
);

const TelemetryList = listSchema(ref("Telemetry"), "One page of a tank's readings");

export const tankSchemas = {
  Tank: TankObject,
  TankList,
  DeletedTank: DeletedTankObject,
  Telemetry: TelemetryObject,
  TelemetryList,
};

export const tankRoutes: readonly Route[] = [
  route({
    path: "/v1/tanks",
    operation: "listTanks",
    summary: "List tanks",
    description: "Tanks by creation date, newest first.",
    tag: "Tanks",
    parameters: LIST_PARAMETERS,
    response: {
      mediaType: JSON_TYPE,
      schema: ref("TankList"),
      description: "One page of tanks",
      examples: {
        page: listExample(tankExample),
        empty: EMPTY_LIST,
      },
    },
    errors: [],
    requiredRole: "read",
    async handle({ reads, scope, parameters }) {
      const query = pageQuery(parameters);
      return listJson(await reads.tankPage(query, scope), query, (one) => JSON.stringify(tankObject(one)));
    },
  }),
  route({
    path: "/v1/tanks/:id",
    operation: "retrieveTank",
    summary: "Retrieve a tank",
    description: "One tank. Of a deleted one, only its identifier is returned, with `deleted` set to true.",
    tag: "Tanks",
    parameters: NO_PARAMETERS,
    response: {
      mediaType: JSON_TYPE,
      schema: anyOf(ref("Tank"), ref("DeletedTank")),
      description: "The tank",
      examples: { tank: tankExample, deleted: { id: tankExample.id, object: "tank", deleted: true } },
    },
    errors: ["tank_unknown"],
    requiredRole: "read",
    async handle({ reads, scope, id }) {
      const found = isPossibleId(id) ? await reads.tankById(id, scope) : undefined;
      if (found === undefined) throw tankUnknown();
      return found === "deleted" ? { id, object: "tank", deleted: true } : tankObject(found);
    },
  }),
  route({
    path: "/v1/tanks/:id/telemetry",
    operation: "listTelemetry",
    summary: "List telemetry of a tank",
    description: "The fill readings of one tank, newest first.",
    tag: "Telemetry",
    parameters: LIST_PARAMETERS,
    response: {
      mediaType: JSON_TYPE,
      schema: ref("TelemetryList"),
      description: "One page of readings",
      examples: {
        page: listExample(telemetryExample),
        empty: EMPTY_LIST,
      },
    },
    errors: ["tank_unknown", "tank_deleted"],
    requiredRole: "read",
    async handle({ reads, scope, id, parameters }) {
      const query = pageQuery(parameters);
      const found = isPossibleId(id) ? await reads.telemetryPage(id, query, scope) : undefined;
      if (found === undefined) throw tankUnknown();
      if (found === "deleted") {
        throw new RequestError("tank_deleted", "This tank has been deleted; its telemetry is no longer available.");
      }
      return listJson(found, query, telemetryJson);
    },
  }),
];

export function tankUnknown(): RequestError {
  return new RequestError("tank_unknown", "There is no tank with this id.");
}
