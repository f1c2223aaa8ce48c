// /manage/v1/tanks

import { TankAlertSettingsChange, TankAlertSettingsObject } from "../../../domain/alerts/tank-alert-settings.ts";
import { NewTank, TankChange, TankRestoring } from "../../../domain/commands/tanks.ts";
import { tankResource } from "../../../domain/resource.ts";
import { anyOf, boolean, object, ref } from "../../../domain/schema.ts";
import { ShapeChange, ShapeSchema } from "../../../domain/shape.ts";
import { TankObject } from "../../../domain/tank.ts";
import { flag, LIST_PARAMETERS, listJson, listSchema, pageQuery, prefixFilter, textFilter } from "../../parameters.ts";
import { jsonBody, patchBody, type Route } from "../../route.ts";
import { requireFound } from "../found.ts";
import {
  commandRoute,
  create,
  MERGE_PATCH,
  manageRoute,
  objectResponse,
  ReleasedReadings,
  resourceResponse,
} from "./manage-route.ts";

const PATH = "/manage/v1/tanks";

const shapeOrNull = anyOf(ref("Shape"), { type: "null" });
export const changedShape = anyOf(ref("Shape"), ref("ShapeChange"), { type: "null" });
export const changedAlerts = ref("TankAlertSettingsChange");
const ManagedTank = object(
  {
    ...TankObject.properties,
    shape: shapeOrNull,
    alerts: ref("TankAlertSettings"),
    deleted: boolean({ description: "Whether the tank is deleted", examples: [false] }),
  },
  { description: "A tank, as the operator sees it" },
);

export const schemas = {
  ManagedTank,
  ChangedTank: object(
    { ...ManagedTank.properties, released: ReleasedReadings },
    { description: "A tank after a change, with the pending readings that the change stored" },
  ),
  ManagedTankList: listSchema(ref("ManagedTank"), "One page of tanks"),
  Shape: ShapeSchema,
  ShapeChange,
  TankAlertSettings: TankAlertSettingsObject,
  TankAlertSettingsChange,
  // The shape and the settings for alerts have their own validation.
  NewTank: { ...NewTank, properties: { ...NewTank.properties, shape: shapeOrNull, alerts: changedAlerts } },
  TankChange: { ...TankChange, properties: { ...TankChange.properties, shape: changedShape, alerts: changedAlerts } },
  TankRestoring,
};

export const newTankExample = {
  name: "Hall 3, north side",
  owner_id: "cus_01kxa8w5s0v3m4q9t7r2n6c8d1",
  capacity: 2700,
  capacity_unit: "liters",
  min_fill_alert_percentage: 20,
  assigned_device_id: "a84041c2f1827d3e",
  location: { city: "Freiburg" },
};

export const SWAP = flag("If the device is assigned to another tank, the two tanks swap their devices", false);

export const routes: readonly Route[] = [
  manageRoute("GET", PATH, {
    sessionRole: "viewer",
    operation: "searchTanks",
    isLongRead: true,
    summary: "Search tanks",
    description: "Tanks by creation date, newest first. Deleted ones are listed separately.",
    parameters: {
      ...LIST_PARAMETERS,
      name: prefixFilter("name"),
      city: prefixFilter("city"),
      custom_id: prefixFilter("custom_id"),
      owner_id: textFilter("Only those of this customer"),
      device_id: textFilter("Only the one with this device"),
      deleted: flag("Deleted ones instead of existing ones", false),
    },
    response: { schema: ref("ManagedTankList"), description: "One page of tanks" },
    async handle({ services, parameters }) {
      const page = await services.management.reads.tankSearch({ ...parameters, ...pageQuery(parameters) });
      return listJson(page, parameters, (tank) => JSON.stringify(tankResource(tank).object));
    },
  }),
  manageRoute("POST", PATH, {
    sessionRole: "dispatcher",
    operation: "createTank",
    summary: "Create a tank",
    description: "Creates a tank, with a new id if none is given. Pending readings of its device are stored.",
    headers: ["Idempotency-Key"],
    body: jsonBody(ref("NewTank"), "The tank", newTankExample),
    response: { ...objectResponse(ref("ChangedTank"), "The new tank"), status: 201 },
    errors: ["id_taken", "device_in_use"],
    handle(request) {
      const newId = request.services.management.newId("tank");
      return create(PATH, request, { type: "create_tank", newId, fields: request.body });
    },
  }),
  manageRoute("GET", `${PATH}/:id`, {
    sessionRole: "viewer",
    operation: "inspectTank",
    summary: "Inspect a tank",
    description: "One tank with all its fields, deleted or not.",
    response: objectResponse(ref("ManagedTank"), "The tank"),
    errors: ["tank_unknown"],
    async handle({ services, id }) {
      const found = requireFound("tank", await services.management.reads.managedTank(id));
      return resourceResponse(tankResource(found));
    },
  }),
  commandRoute("PATCH", `${PATH}/:id`, {
    sessionRole: "dispatcher",
    operation: "changeTank",
    summary: "Change a tank",
    description: MERGE_PATCH,
    parameters: { swap: SWAP },
    body: patchBody(ref("TankChange"), { min_fill_alert_percentage: 25, location: { street_number: "12b" } }),
    response: objectResponse(ref("ChangedTank"), "The changed tank"),
    errors: ["tank_unknown", "device_in_use", "state_conflict"],
    command({ id, body, parameters: { swap }, headers: { ifMatch } }) {
      return { type: "change_tank", id, fields: body, swap, ifMatch };
    },
  }),
  commandRoute("DELETE", `${PATH}/:id`, {
    sessionRole: "dispatcher",
    operation: "deleteTank",
    summary: "Delete a tank",
    description: "Deletes a tank and frees its device. Its readings are kept, and are visible again once it is restored.",
    response: objectResponse(ref("ManagedTank"), "The deleted tank"),
    errors: ["tank_unknown"],
    command: ({ id, headers: { ifMatch } }) => ({ type: "delete_tank", id, ifMatch }),
  }),
  commandRoute("POST", `${PATH}/:id/restore`, {
    sessionRole: "dispatcher",
    operation: "restoreTank",
    summary: "Restore a tank",
    description:
      "Restores a deleted tank with its readings. If its device is assigned to another tank by now, give another device.",
    body: {
      ...jsonBody(ref("TankRestoring"), "Another device, if needed", { assigned_device_id: "a84041c2f1827d3f" }),
      optional: true,
    },
    response: objectResponse(ref("ChangedTank"), "The restored tank"),
    errors: ["tank_unknown", "device_in_use", "state_conflict"],
    command: ({ id, body, headers: { ifMatch } }) => ({ type: "restore_tank", id, fields: body, ifMatch }),
  }),
];
