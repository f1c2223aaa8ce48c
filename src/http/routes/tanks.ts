// GET /v1/tanks, GET /v1/tanks/:id

import { RequestError } from "../../domain/errors.ts";
import { isPossibleId } from "../../domain/id.ts";
import { anyOf, idField, literal, object, ref } from "../../domain/schema.ts";
import { TankObject, tankObject } from "../../domain/tank.ts";
import { envelope, listObject } from "../envelope.ts";
import { tankExample } from "../examples.ts";
import { LIST_PARAMETERS, NO_PARAMETERS, pageQuestion } from "../parameters.ts";
import { JSON_TYPE, type Route, route } from "../route.ts";

const TankList = listObject(ref("Tank"), "One page of tanks");

const DeletedTankObject = object(
  {
    id: idField("Identifier of the deleted tank", tankExample.id),
    object: literal("tank"),
    deleted: literal(true),
  },
  { description: "What remains to be seen of a deleted tank" },
);

export const tankSchemas = { Tank: TankObject, TankList, DeletedTank: DeletedTankObject };

export const tankRoutes: readonly Route[] = [
  route({
    path: "/v1/tanks",
    operation: "listTanks",
    summary: "List tanks",
    description: "Tanks by creation date, newest first.",
    tag: "Tanks",
    parameters: LIST_PARAMETERS,
    answer: {
      mediaType: JSON_TYPE,
      schema: ref("TankList"),
      description: "One page of tanks",
      examples: {
        page: { object: "list", data: [tankExample], page: 1, size: 10, total_pages: 1, total_items: 1 },
        empty: { object: "list", data: [], page: 1, size: 10, total_pages: 0, total_items: 0 },
      },
    },
    refusals: [],
    reach: "read",
    async ask({ reads, sight, values }) {
      const question = pageQuestion(values);
      return envelope(await reads.tankPage(question, sight), question, (one) => JSON.stringify(tankObject(one)));
    },
  }),
  route({
    path: "/v1/tanks/:id",
    operation: "retrieveTank",
    summary: "Retrieve a tank",
    description: "One tank. A deleted one is answered with `deleted` set to true and nothing but its identifier.",
    tag: "Tanks",
    parameters: NO_PARAMETERS,
    answer: {
      mediaType: JSON_TYPE,
      schema: anyOf(ref("Tank"), ref("DeletedTank")),
      description: "The tank",
      examples: { tank: tankExample, deleted: { id: tankExample.id, object: "tank", deleted: true } },
    },
    refusals: ["tank_unknown"],
    reach: "read",
    async ask({ reads, sight, id }) {
      const found = isPossibleId(id) ? await reads.tankById(id, sight) : undefined;
      if (found === undefined) throw tankUnknown();
      return found === "deleted" ? { id, object: "tank", deleted: true } : tankObject(found);
    },
  }),
];

export function tankUnknown(): RequestError {
  return new RequestError("tank_unknown", "There is no tank with this id.");
}
