// /manage/v1/tanks

import { NewTank, TankChange, TankRestoring } from "../../../domain/commands/tanks.ts";
import { isPossibleId } from "../../../domain/id.ts";
import { tankResource } from "../../../domain/resource.ts";
import { boolean, object, ref } from "../../../domain/schema.ts";
import { ShapeSchema } from "../../../domain/shape.ts";
import { TankObject } from "../../../domain/tank.ts";
import { envelope, listObject } from "../../envelope.ts";
import { shapeExample, tankExample } from "../../examples.ts";
import { LIST_PARAMETERS, NO_PARAMETERS, pageQuestion, textFilter } from "../../parameters.ts";
import { JSON_TYPE, type Route, route } from "../../route.ts";
import { tankUnknown } from "../tanks.ts";
import { beginning, CONFLICTS, jsonBody, madeAnswer, onceFor, patchBody, shownAnswer, TakenIn, yesOrNo } from "./parts.ts";

const PATH = "/manage/v1/tanks";
const example = { ...tankExample, shape: shapeExample, deleted: false };
const shape = { anyOf: [ref("Shape"), { type: "null" }] };

const ManagedTank = object(
  { ...TankObject.properties, shape, deleted: boolean({ description: "Whether the tank is deleted", examples: [false] }) },
  { description: "A tank, as the operator sees it" },
);
const ChangedTank = object(
  { ...ManagedTank.properties, taken_in: TakenIn },
  { description: "A tank after a change, with the readings that had waited for it" },
);
const ManagedTankList = listObject(ref("ManagedTank"), "One page of tanks");
/** As they are documented; the shape has rules of its own. */
const withShape = (schema: typeof NewTank | typeof TankChange) => ({ ...schema, properties: { ...schema.properties, shape } });

export const managedTankSchemas = {
  ManagedTank,
  ChangedTank,
  ManagedTankList,
  Shape: ShapeSchema,
  NewTank: withShape(NewTank),
  TankChange: withShape(TankChange),
  TankRestoring,
};

const one = (description: string) => ({
  mediaType: JSON_TYPE,
  schema: ref("ManagedTank"),
  description,
  examples: { tank: example },
  etag: true as const,
});

const changed = (description: string) => ({
  ...one(description),
  schema: ref("ChangedTank"),
  examples: { tank: { ...example, taken_in: null } },
});

const newTank = {
  name: tankExample.name,
  owner_id: tankExample.owner_id,
  capacity: 2700,
  capacity_unit: "liters",
  min_fill_alert_percentage: 20,
  assigned_device_id: tankExample.assigned_device_id,
  location: { city: "Freiburg" },
};

export const SWAP = yesOrNo("Where the device serves another tank: both tanks exchange their devices", false);

export const managedTankRoutes: readonly Route[] = [
  route({
    path: PATH,
    operation: "searchTanks",
    summary: "Search tanks",
    description: "Tanks by creation date, newest first; the deleted ones apart.",
    tag: "Management",
    reach: "manage",
    parameters: {
      ...LIST_PARAMETERS,
      name: beginning("name"),
      city: beginning("city"),
      custom_id: beginning("custom_id"),
      owner_id: textFilter("Only those of this customer"),
      device_id: textFilter("Only the one that has this device"),
      deleted: yesOrNo("Those that are deleted, instead of those that are not", false),
    },
    answer: {
      mediaType: JSON_TYPE,
      schema: ref("ManagedTankList"),
      description: "One page of tanks",
      examples: { page: { object: "list", data: [example], page: 1, size: 10, total_pages: 1, total_items: 1 } },
    },
    refusals: [],
    async ask({ doors, values }) {
      const { name, city, custom_id, owner_id, device_id, deleted } = values;
      const question = { ...pageQuestion(values), name, city, custom_id, owner_id, device_id, deleted };
      const page = await doors.manage.overview.tankSearch(question);
      return envelope(page, question, (tank) => JSON.stringify(tankResource(tank).object));
    },
  }),
  route({
    method: "POST",
    path: PATH,
    operation: "createTank",
    summary: "Create a tank",
    description: "Makes a tank. Readings of its device that waited are taken in. Without an `id` it gets a new one.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    takes: ["Idempotency-Key"],
    body: jsonBody(ref("NewTank"), "The tank", newTank),
    answer: { ...changed("The tank that was made"), statuses: [201] },
    refusals: ["id_taken", "device_in_use"],
    async ask({ doors, body, headers, key }) {
      const order = { type: "create_tank", newId: doors.manage.newId("tank"), fields: body } as const;
      const { resource, replayed } = await doors.manage.carryOut(order, key.id, onceFor(PATH, headers, body));
      return madeAnswer(PATH, resource, replayed);
    },
  }),
  route({
    path: `${PATH}/:id`,
    operation: "inspectTank",
    summary: "Inspect a tank",
    description: "One tank with all its fields, deleted or not.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    answer: one("The tank"),
    refusals: ["tank_unknown"],
    async ask({ doors, id }) {
      const found = isPossibleId(id) ? await doors.manage.overview.managedTank(id) : undefined;
      if (found === undefined) throw tankUnknown();
      return shownAnswer(tankResource(found));
    },
  }),
  route({
    method: "PATCH",
    path: `${PATH}/:id`,
    operation: "changeTank",
    summary: "Change a tank",
    description: "A JSON merge patch: what is named changes, `null` empties a field that may be empty, the rest stays.",
    tag: "Management",
    reach: "manage",
    parameters: { swap: SWAP },
    takes: ["If-Match"],
    body: patchBody(ref("TankChange"), "What is to change", {
      min_fill_alert_percentage: 25,
      location: { street_number: "12b" },
    }),
    answer: changed("The tank as it is now"),
    refusals: ["tank_unknown", "device_in_use", ...CONFLICTS],
    async ask({ doors, body, headers, id, key, values }) {
      const order = { type: "change_tank", id, fields: body, ifMatch: headers.ifMatch, swap: values.swap } as const;
      return shownAnswer((await doors.manage.carryOut(order, key.id)).resource);
    },
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:id`,
    operation: "deleteTank",
    summary: "Delete a tank",
    description: "Deletes a tank and frees its device. Its readings are kept, unseen, until it is restored.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    takes: ["If-Match"],
    answer: one("The tank, deleted"),
    refusals: ["tank_unknown"],
    async ask({ doors, headers, id, key }) {
      return shownAnswer((await doors.manage.carryOut({ type: "delete_tank", id, ifMatch: headers.ifMatch }, key.id)).resource);
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/:id/restore`,
    operation: "restoreTank",
    summary: "Restore a tank",
    description: "Brings a deleted tank back, readings included. Where its device has gone elsewhere, name another.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    takes: ["If-Match"],
    body: {
      ...jsonBody(ref("TankRestoring"), "Another device, where it needs one", { assigned_device_id: "a84041c2f1827d3f" }),
      optional: true,
    },
    answer: changed("The tank, restored"),
    refusals: ["tank_unknown", "device_in_use", ...CONFLICTS],
    async ask({ doors, body, headers, id, key }) {
      const order = { type: "restore_tank", id, fields: body, ifMatch: headers.ifMatch } as const;
      return shownAnswer((await doors.manage.carryOut(order, key.id)).resource);
    },
  }),
];
