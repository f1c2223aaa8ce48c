// /manage/v1/devices

import { DeviceChange } from "../../../domain/commands/devices.ts";
import { deviceKey } from "../../../domain/device.ts";
import { RequestError } from "../../../domain/errors.ts";
import { isPossibleId } from "../../../domain/id.ts";
import { pendingFields } from "../../../domain/pending.ts";
import { ProfileSchema } from "../../../domain/profile.ts";
import { deviceResource, type Resource } from "../../../domain/resource.ts";
import { idField, instantField, integer, literal, nullable, nullableNumber, object, ref, text } from "../../../domain/schema.ts";
import { shapeExample, tankExample } from "../../examples.ts";
import type { ManagementService } from "../../management.ts";
import { flag, LIST_PARAMETERS, listExample, listJson, listSchema, NO_PARAMETERS } from "../../parameters.ts";
import { JSON_TYPE, type Route, route } from "../../route.ts";
import { jsonBody, patchBody, ReleasedReadings, resourceResponse } from "./shared.ts";
import { SWAP } from "./tanks.ts";

const PATH = "/manage/v1/devices";
const example = {
  id: tankExample.assigned_device_id,
  object: "device",
  tank_id: tankExample.id,
  since: null,
  profile: "milesight-em500-udl",
  waiting: 0,
  dropped: 0,
};
const inspected = { ...example, waits_because: null, newest_waiting: null };
const profile = { anyOf: [ref("Profile"), { type: "null" }] };

const DeviceObject = object(
  {
    id: idField("Identifier of the device; an EUI-64 in lower case", tankExample.assigned_device_id),
    object: literal("device", { description: "Always `device`" }),
    tank_id: nullable(idField("The tank it serves; null if none", tankExample.id)),
    since: nullable(instantField("Since when; null if it has served no other tank")),
    profile,
    waiting: integer({ minimum: 0, description: "Number of pending readings, which need a tank or a profile", examples: [0] }),
    dropped: integer({
      minimum: 0,
      description: "Number of readings dropped because too many were pending, or not readable",
      examples: [0],
    }),
  },
  { description: "A device, the tank it serves, and the profile of its payloads" },
);
const InspectedDevice = object(
  {
    ...DeviceObject.properties,
    waits_because: nullable(text({ description: "Why its newest reading is pending", examples: ["the device serves no tank"] })),
    newest_waiting: nullable(
      object(
        {
          created_at: instantField("When it was measured"),
          fill_percentage: nullableNumber({ description: "Its fill percentage, if it has one", examples: [63.4] }),
          payload: nullable(text({ description: "Otherwise its payload as JSON; a long one is truncated", examples: ["{}"] })),
        },
        { description: "The pending reading that was measured last" },
      ),
    ),
  },
  { description: "A device and its pending readings" },
);
const ChangedDevice = object(
  {
    ...InspectedDevice.properties,
    taken_in: ReleasedReadings,
    replaced_device_id: nullable(idField("The previous device of the tank; null if it is the same", "d-17")),
  },
  { description: "A device after a change, with the pending readings that the change stored" },
);
const RemovedDevice = object(
  {
    id: DeviceObject.properties.id,
    object: literal("device", { description: "Always `device`" }),
    deleted: literal(true, { description: "Always true" }),
    removed: integer({ minimum: 0, description: "Number of pending readings removed", examples: [1] }),
    served: nullable(
      object(
        {
          tank_id: idField("The tank", tankExample.id),
          until: instantField("Until when, not included"),
        },
        { description: "The tank it served last; null if none" },
      ),
    ),
  },
  { description: "A removed device" },
);
const DeviceList = listSchema(ref("Device"), "One page of devices");
/** The profile and the shape have their own validation. */
const documentedChange = {
  ...DeviceChange,
  properties: { ...DeviceChange.properties, profile, shape: { anyOf: [ref("Shape"), { type: "null" }] } },
};

export const deviceSchemas = {
  Device: DeviceObject,
  InspectedDevice,
  ChangedDevice,
  RemovedDevice,
  DeviceList,
  Profile: ProfileSchema,
  DeviceChange: documentedChange,
};

const one = (description: string) => ({
  mediaType: JSON_TYPE,
  schema: ref("InspectedDevice"),
  description,
  examples: { device: inspected },
  etag: true as const,
});

const change = { tank_id: tankExample.id, profile: "milesight-em500-udl", shape: shapeExample };
const CHANGE_DESCRIPTION =
  "Sets the tank that the device serves, the profile of its payloads, and the shape of that tank. Fields that are not given stay. Pending readings that become readable are stored.";

export const deviceRoutes: readonly Route[] = [
  route({
    path: PATH,
    operation: "listDevices",
    summary: "List devices",
    description: "Devices by id; with `waiting=true`, those with pending readings.",
    tag: "Management",
    requiredRole: "manage",
    parameters: {
      page: LIST_PARAMETERS.page,
      size: LIST_PARAMETERS.size,
      waiting: flag("Those with pending readings, or those without", undefined),
    },
    response: {
      mediaType: JSON_TYPE,
      schema: ref("DeviceList"),
      description: "One page of devices",
      examples: { page: listExample(example) },
    },
    errors: [],
    async handle({ services, parameters }) {
      const page = await services.management.reads.deviceSearch(parameters);
      return listJson(page, parameters, (device) => JSON.stringify(deviceResource(device).object));
    },
  }),
  route({
    path: `${PATH}/:id`,
    operation: "inspectDevice",
    summary: "Inspect a device",
    description: "One device, with the number of its pending readings, the newest of them, and why it is pending.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    response: one("The device"),
    errors: ["device_unknown"],
    handle: async ({ services, id }) => resourceResponse(await deviceNow(services.management, id)),
  }),
  ...(["PUT", "PATCH"] as const).map((method) =>
    route({
      method,
      path: `${PATH}/:id`,
      operation: method === "PUT" ? "putDevice" : "changeDevice",
      summary: method === "PUT" ? "Register or change a device" : "Change a device",
      description: CHANGE_DESCRIPTION,
      tag: "Management",
      requiredRole: "manage",
      parameters: { swap: SWAP },
      headers: ["If-Match"],
      body: (method === "PUT" ? jsonBody : patchBody)(ref("DeviceChange"), "The changes", change),
      response: {
        ...one("The changed device"),
        schema: ref("ChangedDevice"),
        examples: { device: { ...inspected, taken_in: null, replaced_device_id: null } },
      },
      errors: ["device_unknown", "device_in_use"],
      async handle({ services, body, headers, id, key, parameters }) {
        const command = { type: "put_device", id, fields: body, ifMatch: headers.ifMatch, swap: parameters.swap } as const;
        const { taken_in, replaced_device_id } = (await services.management.execute(command, key.id)).resource.object;
        const { object, etag } = await deviceNow(services.management, id);
        return resourceResponse({ object: { ...object, taken_in, replaced_device_id }, etag });
      },
    }),
  ),
  route({
    method: "DELETE",
    path: `${PATH}/:id`,
    operation: "forgetDevice",
    summary: "Remove a device",
    description:
      "Removes the profile and the pending readings of a device that serves no tank. The tanks it has served stay known, so that late readings still find their tank.",
    tag: "Management",
    requiredRole: "manage",
    parameters: NO_PARAMETERS,
    headers: ["If-Match"],
    response: {
      mediaType: JSON_TYPE,
      schema: ref("RemovedDevice"),
      description: "The removed device",
      examples: {
        removed: {
          id: example.id,
          object: "device",
          deleted: true,
          removed: 1,
          served: { tank_id: tankExample.id, until: "2026-11-14T09:30:00.000Z" },
        },
      },
    },
    errors: ["device_unknown", "device_in_use"],
    async handle({ services, headers, id, key }) {
      return (await services.management.execute({ type: "remove_device", id, ifMatch: headers.ifMatch }, key.id)).resource.object;
    },
  }),
];

async function deviceNow({ reads }: ManagementService, id: string): Promise<Resource> {
  const device = isPossibleId(id) ? await reads.managedDevice(deviceKey(id)) : undefined;
  if (device === undefined) throw new RequestError("device_unknown", "There is no device with this id.");
  const { tank_id } = device.device;
  const newest = device.waiting === 0 ? undefined : await reads.newestPending(device.device.id);
  const tank = newest === undefined || tank_id === null ? undefined : await reads.managedTank(tank_id);
  const { object, etag } = deviceResource(device);
  return { object: { ...object, ...pendingFields(device.device, tank, newest) }, etag };
}
