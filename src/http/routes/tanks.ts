// GET /v1/tanks, GET /v1/tanks/:id, GET /v1/tanks/:id/telemetry

import { RequestError } from "../../domain/errors.ts";
import { isPossibleId } from "../../domain/id.ts";
import { TelemetryObject, telemetryJson } from "../../domain/reading.ts";
import { anyOf, literal, object, ref } from "../../domain/schema.ts";
import { TankObject, tankObject } from "../../domain/tank.ts";
import { LIST_PARAMETERS, listJson, listSchema, pageQuery } from "../parameters.ts";
import { type Route, route } from "../route.ts";

export const schemas = {
  Tank: TankObject,
  TankList: listSchema(ref("Tank"), "One page of tanks"),
  DeletedTank: object(
    {
      id: { ...TankObject.properties.id, description: "Identifier of the deleted tank" },
      object: literal("tank"),
      deleted: literal(true),
    },
    { description: "A deleted tank" },
  ),
  Telemetry: TelemetryObject,
  TelemetryList: listSchema(ref("Telemetry"), "One page of a tank's readings"),
};

export const routes: readonly Route[] = [
  route({
    path: "/v1/tanks",
    operation: "listTanks",
    summary: "List tanks",
    description: "Tanks by creation date, newest first.",
    tag: "Tanks",
    requiredRole: "read",
    parameters: LIST_PARAMETERS,
    response: { schema: ref("TankList"), description: "One page of tanks" },
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
    requiredRole: "read",
    response: { schema: anyOf(ref("Tank"), ref("DeletedTank")), description: "The tank" },
    errors: ["tank_unknown"],
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
    requiredRole: "read",
    parameters: LIST_PARAMETERS,
    response: { schema: ref("TelemetryList"), description: "One page of readings" },
    errors: ["tank_unknown", "tank_deleted"],
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

export const tankUnknown = () => new RequestError("tank_unknown", "There is no tank with this id.");
