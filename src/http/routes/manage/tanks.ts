// /manage/v1/tanks

import { NewTank, TankChange, TankRestoring } from "../../../domain/commands/tanks.ts";
import { isPossibleId } from "../../../domain/id.ts";
import { tankResource } from "../../../domain/resource.ts";
import { boolean, object, ref } from "../../../domain/schema.ts";
import { ShapeSchema } from "../../../domain/shape.ts";
import { TankObject } from "../../../domain/tank.ts";
import { shapeExample, tankExample } from "../../examples.ts";
import {
  flag,
  LIST_PARAMETERS,
  listExample,
  listJson,
  listSchema,
  NO_PARAMETERS,
  pageQuery,
  prefixFilter,
  textFilter,
} from "../../parameters.ts";
import { JSON_TYPE, type Route, route } from "../../route.ts";
import { tankUnknown } from "../tanks.ts";
import { createdResponse, idempotencyKeyOf, jsonBody, patchBody, ReleasedReadings, resourceResponse } from "./shared.ts";

const PATH = "/manage/v1/tanks";
const example = { ...tankExample, shape: shapeExample, deleted: false };
const shape = { anyOf: [ref("Shape"), { type: "null" }] };

const ManagedTank = object(
  { ...TankObject.properties, shape, deleted: boolean({ description: "Whether the tank is deleted", examples: [false] }) },
  { description: "A tank, as the operator sees it" },
);
const ChangedTank = object(
  { ...ManagedTank.properties, taken_in: ReleasedReadings },
  { description: "A tank after a change, with the pending readings that the change stored" },
);
const ManagedTankList = listSchema(ref("ManagedTank"), "One page of tanks");
/** The shape has its own validation. */
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

export const SWAP = flag("If the device serves another tank, the two tanks exchange their devices", false);

export const managedTankRoutes: readonly Route[] = [
  route({
    path: PATH,
    operation: "searchTanks",
    summary: "Search tanks",
    description: "Tanks by creation date, newest first. Deleted ones are listed separately.",
    tag: "Management",
    requiredRole: "manage",
    parameters: {
      ...LIST_PARAMETERS,
      name: prefixFilter("name"),
      city: prefixFilter("city"),
      custom_id: prefixFilter("custom_id"),
      owner_id: textFilter("Only those of this customer"),
      device_id: textFilter("Only the one with this device"),
      deleted: flag("Deleted ones instead of existing ones", false),
    },
    response: {
      mediaType: JSON_TYPE,
      schema: ref("ManagedTankList"),
      description: "One page of tanks",
      examples: { page: listExample(example) },
    },
    errors: [],
    async handle({ services, parameters }) {
      const { name, city, custom_id, owner_id, device_id, deleted } = parameters;
      const query = { ...pageQuery(parameters), name, city, custom_id, owner_id, device_id, deleted };
      const page = await services.management.reads.tankSearch(query);
      return listJson(page, query, (tank) => JSON.stringify(tankResource(tank).object));
    },
  }),
  route({
    method: "POST",
    path: PATH,
    operation: "createTank",
    summary: "Create a tank",
    description: "Creates a tank, with a new id if none is given. Pending readings of its device are stored.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    headers: ["Idempotency-Key"],
    body: jsonBody(ref("NewTank"), "The tank", newTank),
    response: { ...changed("The new tank"), statuses: [201] },
    errors: ["id_taken", "device_in_use"],
    async handle({ services, body, headers, key }) {
      const command = { type: "create_tank", newId: services.management.newId("tank"), fields: body } as const;
      const { resource, replayed } = await services.management.execute(command, key.id, idempotencyKeyOf(PATH, headers, body));
      return createdResponse(PATH, resource, replayed);
    },
  }),
  route({
    path: `${PATH}/:id`,
    operation: "inspectTank",
    summary: "Inspect a tank",
    description: "One tank with all its fields, deleted or not.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    response: one("The tank"),
    errors: ["tank_unknown"],
    async handle({ services, id }) {
      const found = isPossibleId(id) ? await services.management.reads.managedTank(id) : undefined;
      if (found === undefined) throw tankUnknown();
      return resourceResponse(tankResource(found));
    },
  }),
  route({
    method: "PATCH",
    path: `${PATH}/:id`,
    operation: "changeTank",
    summary: "Change a tank",
    description: "A JSON merge patch: fields that are given change, `null` clears an optional field.",
    tag: "Management",
    requiredRole: "manage",
    parameters: { swap: SWAP },
    headers: ["If-Match"],
    body: patchBody(ref("TankChange"), "The changes", {
      min_fill_alert_percentage: 25,
      location: { street_number: "12b" },
    }),
    response: changed("The changed tank"),
    errors: ["tank_unknown", "device_in_use", "state_conflict"],
    async handle({ services, body, headers, id, key, parameters }) {
      const command = { type: "change_tank", id, fields: body, ifMatch: headers.ifMatch, swap: parameters.swap } as const;
      return resourceResponse((await services.management.execute(command, key.id)).resource);
    },
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:id`,
    operation: "deleteTank",
    summary: "Delete a tank",
    description: "Deletes a tank and frees its device. Its readings are kept, and are visible again once it is restored.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    headers: ["If-Match"],
    response: one("The deleted tank"),
    errors: ["tank_unknown"],
    async handle({ services, headers, id, key }) {
      return resourceResponse(
        (await services.management.execute({ type: "delete_tank", id, ifMatch: headers.ifMatch }, key.id)).resource,
      );
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/:id/restore`,
    operation: "restoreTank",
    summary: "Restore a tank",
    description: "Restores a deleted tank with its readings. If its device serves another tank by now, give another device.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    headers: ["If-Match"],
    body: {
      ...jsonBody(ref("TankRestoring"), "Another device, if needed", { assigned_device_id: "a84041c2f1827d3f" }),
      optional: true,
    },
    response: changed("The restored tank"),
    errors: ["tank_unknown", "device_in_use", "state_conflict"],
    async handle({ services, body, headers, id, key }) {
      const command = { type: "restore_tank", id, fields: body, ifMatch: headers.ifMatch } as const;
      return resourceResponse((await services.management.execute(command, key.id)).resource);
    },
  }),
];
