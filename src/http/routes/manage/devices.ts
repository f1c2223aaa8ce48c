// /manage/v1/devices

import { DeviceChange } from "../../../domain/commands/devices.ts";
import { deviceKey } from "../../../domain/device.ts";
import { RequestError } from "../../../domain/errors.ts";
import { isPossibleId } from "../../../domain/id.ts";
import { pendingFields } from "../../../domain/pending.ts";
import { ProfileSchema } from "../../../domain/profile.ts";
import { deviceResource, type Resource } from "../../../domain/resource.ts";
import { idField, instantField, integer, literal, nullable, nullableNumber, object, ref, text } from "../../../domain/schema.ts";
import type { ManageDoor } from "../../doors.ts";
import { envelope, listObject } from "../../envelope.ts";
import { shapeExample, tankExample } from "../../examples.ts";
import { LIST_PARAMETERS, NO_PARAMETERS } from "../../parameters.ts";
import { JSON_TYPE, type Route, route } from "../../route.ts";
import { jsonBody, patchBody, shownAnswer, TakenIn, yesOrNo } from "./parts.ts";
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
    tank_id: nullable(idField("The tank it serves; null where it serves none", tankExample.id)),
    since: nullable(instantField("Since when; null where it was nowhere else before")),
    profile,
    waiting: integer({ minimum: 0, description: "How many of its readings wait for a tank or a profile", examples: [0] }),
    dropped: integer({ minimum: 0, description: "How many could not wait, or could not be read in the end", examples: [0] }),
  },
  { description: "A device, the tank it serves, and how its payloads are read" },
);
const InspectedDevice = object(
  {
    ...DeviceObject.properties,
    waits_because: nullable(
      text({ description: "What its newest reading waits for, in words", examples: ["the device serves no tank"] }),
    ),
    newest_waiting: nullable(
      object(
        {
          created_at: instantField("When it was measured"),
          fill_percentage: nullableNumber({ description: "Its fill, where it has one", examples: [63.4] }),
          payload: nullable(text({ description: "Otherwise its payload, as JSON; a long one is cut", examples: ["{}"] })),
        },
        { description: "Of its readings that wait, the one measured last" },
      ),
    ),
  },
  { description: "A device, and what waits of it" },
);
const ChangedDevice = object(
  {
    ...InspectedDevice.properties,
    taken_in: TakenIn,
    replaced_device_id: nullable(idField("The device that the tank had before; null where it is the same", "d-17")),
  },
  { description: "A device after a change, with the readings that had waited for it" },
);
const ForgottenDevice = object(
  {
    id: DeviceObject.properties.id,
    object: literal("device", { description: "Always `device`" }),
    deleted: literal(true, { description: "Always true" }),
    removed: integer({ minimum: 0, description: "How many readings of it waited, and are gone", examples: [1] }),
    served: nullable(
      object(
        {
          tank_id: idField("The tank", tankExample.id),
          until: instantField("Until when, not included"),
        },
        { description: "The tank it served last, and is still known for; null where it served none" },
      ),
    ),
  },
  { description: "A device that is forgotten" },
);
const DeviceList = listObject(ref("Device"), "One page of devices");
const documentedChange = {
  ...DeviceChange,
  properties: { ...DeviceChange.properties, profile, shape: { anyOf: [ref("Shape"), { type: "null" }] } },
};

export const deviceSchemas = {
  Device: DeviceObject,
  InspectedDevice,
  ChangedDevice,
  ForgottenDevice,
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
  "Which tank the device serves, how its payloads are read, and the shape of that tank. What is not named stays; the readings that waited for it are taken in.";

export const deviceRoutes: readonly Route[] = [
  route({
    path: PATH,
    operation: "listDevices",
    summary: "List devices",
    description: "Devices by id; with `waiting=true` those of which readings wait for a tank or a profile.",
    tag: "Management",
    reach: "manage",
    parameters: {
      page: LIST_PARAMETERS.page,
      size: LIST_PARAMETERS.size,
      waiting: yesOrNo("Those of which readings wait, or those of which none do", undefined),
    },
    answer: {
      mediaType: JSON_TYPE,
      schema: ref("DeviceList"),
      description: "One page of devices",
      examples: { page: { object: "list", data: [example], page: 1, size: 10, total_pages: 1, total_items: 1 } },
    },
    refusals: [],
    async ask({ doors, values }) {
      const page = await doors.manage.overview.deviceSearch(values);
      return envelope(page, values, (device) => JSON.stringify(deviceResource(device).object));
    },
  }),
  route({
    path: `${PATH}/:id`,
    operation: "inspectDevice",
    summary: "Inspect a device",
    description: "One device, with how many of its readings wait, the newest of them, and for what it waits.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    answer: one("The device"),
    refusals: ["device_unknown"],
    ask: async ({ doors, id }) => shownAnswer(await shownNow(doors.manage, id)),
  }),
  ...(["PUT", "PATCH"] as const).map((method) =>
    route({
      method,
      path: `${PATH}/:id`,
      operation: method === "PUT" ? "putDevice" : "changeDevice",
      summary: method === "PUT" ? "Register or change a device" : "Change a device",
      description: CHANGE_DESCRIPTION,
      tag: "Management",
      reach: "manage",
      parameters: { swap: SWAP },
      takes: ["If-Match"],
      body: (method === "PUT" ? jsonBody : patchBody)(ref("DeviceChange"), "What is to change", change),
      answer: {
        ...one("The device as it is now"),
        schema: ref("ChangedDevice"),
        examples: { device: { ...inspected, taken_in: null, replaced_device_id: null } },
      },
      refusals: ["device_unknown", "device_in_use"],
      async ask({ doors, body, headers, id, key, values }) {
        const order = { type: "put_device", id, fields: body, ifMatch: headers.ifMatch, swap: values.swap } as const;
        const { taken_in, replaced_device_id } = (await doors.manage.carryOut(order, key.id)).resource.object;
        const { object, etag: tag } = await shownNow(doors.manage, id);
        return shownAnswer({ object: { ...object, taken_in, replaced_device_id }, etag: tag });
      },
    }),
  ),
  route({
    method: "DELETE",
    path: `${PATH}/:id`,
    operation: "forgetDevice",
    summary: "Forget a device",
    description:
      "Removes the profile of a device that serves no tank, and the readings that wait. Where it has served stays known, so that readings measured then still find their tank; one that never served a tank is as if it had never been heard.",
    tag: "Management",
    reach: "manage",
    parameters: NO_PARAMETERS,
    takes: ["If-Match"],
    answer: {
      mediaType: JSON_TYPE,
      schema: ref("ForgottenDevice"),
      description: "It is forgotten",
      examples: {
        forgotten: {
          id: example.id,
          object: "device",
          deleted: true,
          removed: 1,
          served: { tank_id: tankExample.id, until: "2026-11-14T09:30:00.000Z" },
        },
      },
    },
    refusals: ["device_unknown", "device_in_use"],
    async ask({ doors, headers, id, key }) {
      return (await doors.manage.carryOut({ type: "remove_device", id, ifMatch: headers.ifMatch }, key.id)).resource.object;
    },
  }),
];

async function shownNow({ overview }: ManageDoor, id: string): Promise<Resource> {
  const device = isPossibleId(id) ? await overview.managedDevice(deviceKey(id)) : undefined;
  if (device === undefined) throw new RequestError("device_unknown", "There is no device with this id.");
  const { tank_id } = device.device;
  const newest = device.waiting === 0 ? undefined : await overview.newestPending(device.device.id);
  const tank = newest === undefined || tank_id === null ? undefined : await overview.managedTank(tank_id);
  const { object, etag: tag } = deviceResource(device);
  return { object: { ...object, ...pendingFields(device.device, tank, newest) }, etag: tag };
}
