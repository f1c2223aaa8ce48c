// /manage/v1/devices

import type { TankState } from "../../../domain/changes.ts";
import { DeviceChange } from "../../../domain/commands/devices.ts";
import type { Device as StoredDevice } from "../../../domain/device.ts";
import { deviceKey } from "../../../domain/id.ts";
import { formatInstant } from "../../../domain/instant.ts";
import { interpretPayload, type PendingReading } from "../../../domain/placement.ts";
import { ProfileSchema } from "../../../domain/profile.ts";
import { deviceResource, type Resource } from "../../../domain/resource.ts";
import { idField, instantField, integer, literal, nullable, number, object, ref, text } from "../../../domain/schema.ts";
import { TankObject } from "../../../domain/tank.ts";
import type { ManagementService } from "../../management.ts";
import { flag, listJson, listSchema, PAGE_PARAMETERS } from "../../parameters.ts";
import { jsonBody, patchBody, type Route } from "../../route.ts";
import { requireFound } from "../found.ts";
import { manageRoute, objectResponse, ReleasedReadings, resourceResponse } from "./manage-route.ts";
import { changedShape, SWAP } from "./tanks.ts";

const PATH = "/manage/v1/devices";
export const profileOrNull = { anyOf: [ref("Profile"), { type: "null" }] };
const tankId = (description: string) => ({ ...TankObject.properties.id, description });

const Device = object(
  {
    id: { ...TankObject.properties.assigned_device_id, description: "Identifier of the device; an EUI-64 in lower case" },
    object: literal("device", { description: "Always `device`" }),
    tank_id: nullable(tankId("The tank it is assigned to; null if none")),
    since: nullable(instantField("Since when; null if it was assigned to no other tank before")),
    profile: profileOrNull,
    pending: integer({
      minimum: 0,
      description: "Number of pending readings, which need a tank, a profile or a shape",
      examples: [0],
    }),
    dropped: integer({
      minimum: 0,
      description: "Number of readings dropped because too many were pending, or not readable",
      examples: [0],
    }),
  },
  { description: "A device, the tank it is assigned to, and the profile of its payloads" },
);
const NewestPending = object(
  {
    created_at: instantField("When it was measured"),
    fill_percentage: nullable(number({ description: "Its fill percentage, if it has one", examples: [63.4] })),
    payload: nullable(text({ description: "Otherwise its payload as JSON; a long one is truncated", examples: ["{}"] })),
  },
  { description: "The pending reading that was measured last", examples: [null] },
);
const InspectedDevice = object(
  {
    ...Device.properties,
    pending_reason: nullable(
      text({ description: "Why its newest reading is pending", examples: [null, "the device is not assigned to a tank"] }),
    ),
    newest_pending: nullable(NewestPending),
  },
  { description: "A device and its pending readings" },
);
const LastAssignment = object(
  { tank_id: tankId("The tank"), until: instantField("Until when, not included") },
  { description: "Its last assignment to a tank; null if none" },
);

export const schemas = {
  Device,
  InspectedDevice,
  ChangedDevice: object(
    {
      ...InspectedDevice.properties,
      released: ReleasedReadings,
      replaced_device_id: nullable(idField("The previous device of the tank; null if it is the same", "d-17")),
    },
    { description: "A device after a change, with the pending readings that the change stored" },
  ),
  RemovedDevice: object(
    {
      id: Device.properties.id,
      object: literal("device", { description: "Always `device`" }),
      deleted: literal(true, { description: "Always true" }),
      removed: integer({ minimum: 0, description: "Number of pending readings removed", examples: [1] }),
      last_assignment: nullable(LastAssignment),
    },
    { description: "A removed device" },
  ),
  DeviceList: listSchema(ref("Device"), "One page of devices"),
  Profile: ProfileSchema,
  /** The profile and the shape have their own validation. */
  DeviceChange: { ...DeviceChange, properties: { ...DeviceChange.properties, profile: profileOrNull, shape: changedShape } },
};

const changeExample = {
  tank_id: "tank_01kxa8w5s0b6h1k3p5x9z2f4g7",
  profile: "milesight-em500-udl",
  shape: { kind: "upright", height: 2.1, unit: "m", sensor_height: 2.3 },
};

export const routes: readonly Route[] = [
  manageRoute("GET", PATH, {
    sessionRole: "viewer",
    operation: "listDevices",
    isLongRead: true,
    summary: "List devices",
    description: "Devices by id; with `pending=true`, those with pending readings.",
    parameters: { ...PAGE_PARAMETERS, pending: flag("Those with pending readings, or those without", undefined) },
    response: { schema: ref("DeviceList"), description: "One page of devices" },
    async handle({ services, parameters }) {
      const page = await services.management.reads.deviceSearch(parameters);
      return listJson(page, parameters, (device) => JSON.stringify(deviceResource(device).object));
    },
  }),
  manageRoute("GET", `${PATH}/:id`, {
    sessionRole: "viewer",
    operation: "inspectDevice",
    summary: "Inspect a device",
    description: "One device, with the number of its pending readings, the newest of them, and why it is pending.",
    response: objectResponse(ref("InspectedDevice"), "The device"),
    errors: ["device_unknown"],
    handle: async ({ services, id }) => resourceResponse(await deviceNow(services.management, id)),
  }),
  ...(["PUT", "PATCH"] as const).map((method) =>
    manageRoute(method, `${PATH}/:id`, {
      sessionRole: "dispatcher",
      operation: method === "PUT" ? "putDevice" : "changeDevice",
      summary: method === "PUT" ? "Register or change a device" : "Change a device",
      description:
        "Sets the tank that the device is assigned to, the profile of its payloads, and the shape of that tank. Fields that are not given stay. Pending readings that become readable are stored.",
      parameters: { swap: SWAP },
      headers: ["If-Match"],
      body:
        method === "PUT"
          ? jsonBody(ref("DeviceChange"), "The changes", changeExample)
          : patchBody(ref("DeviceChange"), changeExample),
      response: objectResponse(ref("ChangedDevice"), "The changed device"),
      errors: ["device_unknown", "device_in_use"],
      async handle({ services, body, headers: { ifMatch }, id, key, parameters: { swap } }) {
        const { resource } = await services.management.execute({ type: "put_device", id, fields: body, ifMatch, swap }, key.id);
        const { released, replaced_device_id } = resource.object;
        const { object, etag } = await deviceNow(services.management, id);
        return resourceResponse({ object: { ...object, released, replaced_device_id }, etag });
      },
    }),
  ),
  manageRoute("DELETE", `${PATH}/:id`, {
    sessionRole: "dispatcher",
    operation: "removeDevice",
    summary: "Remove a device",
    description:
      "Removes the profile and the pending readings of a device that is assigned to no tank. Its past assignments are kept, so that late readings still find their tank.",
    headers: ["If-Match"],
    response: { schema: ref("RemovedDevice"), description: "The removed device" },
    errors: ["device_unknown", "device_in_use"],
    async handle({ services, headers: { ifMatch }, id, key }) {
      return (await services.management.execute({ type: "remove_device", id, ifMatch }, key.id)).resource.object;
    },
  }),
];

async function deviceNow({ reads }: ManagementService, id: string): Promise<Resource> {
  const device = requireFound("device", await reads.managedDevice(deviceKey(id)));
  const { tank_id } = device.device;
  const newest = device.pending === 0 ? undefined : await reads.newestPending(device.device.id);
  const tank = newest === undefined || tank_id === null ? undefined : await reads.managedTank(tank_id);
  const { object, etag } = deviceResource(device);
  return { object: { ...object, ...pendingFields(device.device, tank, newest) }, etag };
}

const MAX_PAYLOAD_LENGTH = 1000;

/** The newest pending reading, and what it needs. */
function pendingFields(device: StoredDevice, tank: TankState | undefined, newest: PendingReading | undefined) {
  if (newest === undefined) return { pending_reason: null, newest_pending: null };
  const { created_at, fill, payload } = newest;
  const isLong = payload !== null && payload.length > MAX_PAYLOAD_LENGTH;
  const shown = isLong ? `${payload.slice(0, MAX_PAYLOAD_LENGTH).toWellFormed()}…` : payload;
  const newest_pending = { created_at: formatInstant(created_at), fill_percentage: fill, payload: shown };
  return { pending_reason: pendingReason(device, tank, payload), newest_pending };
}

/** Null if the reason lies with a tank that the device was assigned to before. */
function pendingReason(device: StoredDevice, tank: TankState | undefined, payload: string | null): string | null {
  if (device.tank_id === null || tank === undefined) return "the device is not assigned to a tank";
  if (payload === null) return null;
  const result = interpretPayload(payload, device, tank);
  if ("rejected" in result) return `the device's profile does not match the payload (${result.rejected})`;
  return "pending" in result ? result.pending : null;
}
