// tank-monitor device assign|profile|pending|list|show|remove

import { isObject } from "../domain/validate.ts";
import { apiCommand, JSON_OPTION, listCommand, report, showCommand, textColumn, textOrNull } from "./api-command.ts";
import type { CommandGroup } from "./command.ts";
import type { Field } from "./fields.ts";
import { type Column, counted } from "./output.ts";
import { type Item, pathTo, type Service } from "./service.ts";

const PROFILE = {
  flag: "profile",
  path: "profile",
  help: "how payloads are interpreted, see docs/devices.md",
  kind: "json",
  clearable: true,
} as const;
const SHAPE: Field = {
  flag: "shape",
  path: "shape",
  value: "JSON|@FILE",
  help: "shape of the tank",
  kind: "json",
  clearable: true,
};

const assign = apiCommand({
  name: "assign",
  summary: "assign a device to a tank",
  help: `Assign a device to a tank from now on, and set how its payloads are interpreted. Its pending readings are stored; to drop
them, for example test readings, run "device remove" first. Readings measured while it was assigned to another tank
stay with that tank.`,
  example: `device assign a84041c2f1827d3e tank_… --profile milesight-em500-udl --shape '{"kind":"upright","height":2.1,"unit":"m","sensor_height":2.3}'`,
  argumentNames: ["device", "tank"],
  body: [
    { flag: "tank", path: "tank_id", position: 1, value: "TANK", help: "" },
    { ...PROFILE, value: "NAME|JSON|@FILE" },
    SHAPE,
  ],
  query: [{ flag: "swap", path: "swap", help: "if the device is assigned to another tank, the two tanks swap devices" }],
  options: [JSON_OPTION],
  async execute({ call, id, query, body, service }) {
    const device = await service({ method: "PUT", path: pathTo("devices", id), query, body });
    const { replaced_device_id: old } = device;
    const replaced = typeof old === "string" ? `, replacing device ${old}${await tankNote(old, service)}` : "";
    const message = `device ${device["id"]} assigned to tank ${device["tank_id"]}${replaced}`;
    const interpreted = device["profile"] === null ? "" : `; it ${profileNote(device)}`;
    return report(call, device, `${message}${storedNote(device)}${pendingNote(device)}${interpreted}`);
  },
});

/** `, which is now assigned to tank b1`, after a swap. */
async function tankNote(id: string, service: Service): Promise<string> {
  const { tank_id } = await service({ method: "GET", path: pathTo("devices", id) });
  return `, which is now assigned to ${typeof tank_id === "string" ? `tank ${tank_id}` : "no tank"}`;
}

const profile = apiCommand({
  name: "profile",
  summary: "set how the payloads of a device are interpreted",
  help: `Set the profile that interprets the payloads of a device: the name of a built-in profile, or your own as JSON or @FILE.
Readings that were pending for it are stored. An empty name removes the profile. See docs/devices.md.`,
  example: "device profile a84041c2f1827d3e dragino-dds75-lb",
  argumentNames: ["device", "profile"],
  body: [{ ...PROFILE, position: 1, value: "PROFILE" }],
  options: [JSON_OPTION],
  async execute({ call, id, body, service }) {
    const device = await service({ method: "PUT", path: pathTo("devices", id), body });
    return report(call, device, `device ${device["id"]} ${profileNote(device)}${storedNote(device)}${pendingNote(device)}`);
  },
});

function profileNote({ profile }: Item): string {
  if (profile === null) return "has no profile now";
  return `uses ${typeof profile === "string" ? `the profile ${profile}` : "a custom profile"}`;
}

/** `; 12 pending readings stored, measured from … to …`, or nothing. */
export function storedNote({ released }: Item): string {
  if (!isObject(released)) return "";
  const { readings = 0, rejected = 0, from, to } = released;
  const when = from === to ? `measured at ${from}` : `measured from ${from} to ${to}`;
  const lost = rejected === 0 ? "" : `; ${rejected} could not be interpreted`;
  return `; ${counted(Number(readings), "pending reading")} stored, ${when}${lost}`;
}

/** `; 3 pending readings need a profile`, or nothing. */
export function pendingNote(device: Item): string {
  const count = Number(device["pending"]);
  if (!(count > 0)) return "";
  return `; ${counted(count, "pending reading")} ${count === 1 ? "needs" : "need"} ${missingFor(device)}`;
}

/** What the pending readings of a device need. */
function missingFor({ tank_id, profile, pending_reason }: Item): string {
  if (tank_id === null) return "a tank";
  if (profile === null) return "a profile";
  // Lists do not have the reason.
  if (pending_reason === undefined) return "a shape of its tank with sensor_height, or another profile: see device show";
  if (pending_reason === null) return "a tank that it was assigned to before: restored, or with its shape";
  const reason = String(pending_reason);
  const mismatch = /does not match the payload \((.*)\)/.exec(reason)?.[1];
  if (mismatch !== undefined) return `another profile (${mismatch})`;
  return reason.includes("sensor_height") ? "the sensor_height in the shape of its tank" : "the shape of its tank";
}

const COLUMNS = {
  id: textColumn("DEVICE", "id"),
  pending: { title: "PENDING", cell: ({ pending }) => Number(pending), alignRight: true },
  dropped: { title: "DROPPED", cell: ({ dropped }) => Number(dropped), alignRight: true },
  needs: { title: "NEEDS", cell: (device) => (Number(device["pending"]) > 0 ? missingFor(device) : null) },
  profile: { title: "PROFILE", cell: ({ profile }) => (isObject(profile) ? "custom" : textOrNull(profile)) },
  tank: textColumn("TANK", "tank_id"),
  since: textColumn("ASSIGNED SINCE", "since"),
} satisfies Record<string, Column<Item>>;

const pending = listCommand({
  name: "pending",
  summary: "list devices with pending readings",
  help: `List devices with pending readings: how many are pending, how many were dropped because a device keeps only the newest
1,000, and what they need. "device assign" gives a device a tank, "device profile" a profile.`,
  example: "device pending",
  path: pathTo("devices"),
  filter: { pending: "true" },
  empty: "No pending readings.",
  columns: [COLUMNS.id, COLUMNS.pending, COLUMNS.dropped, COLUMNS.needs, COLUMNS.profile, COLUMNS.tank],
});

const list = listCommand({
  name: "list",
  summary: "list devices by id",
  help: `List every device that is assigned to a tank, has a profile, or has sent a reading. ASSIGNED SINCE is when the device was
assigned to its tank, PENDING the number of its readings that are not stored yet.`,
  example: "device list",
  path: pathTo("devices"),
  empty: "No devices found.",
  columns: [COLUMNS.id, COLUMNS.profile, COLUMNS.pending, COLUMNS.since, COLUMNS.tank],
});

const show = showCommand({
  noun: "device",
  help: "Show a device: its tank, the time of its assignment, its profile, and its pending readings.",
  example: "device show a84041c2f1827d3e",
});

const remove = apiCommand({
  name: "remove",
  summary: "remove the profile and pending readings of a device without a tank",
  help: `Remove the profile and the pending readings of a device that is assigned to no tank. Its past assignments are kept:
late readings from those times are still stored. A device that was never assigned to a tank is removed entirely.`,
  example: "device remove a84041c2f1827d3e",
  argumentNames: ["device"],
  async execute({ call, id, service }) {
    const { removed, last_assignment: last } = await service({ method: "DELETE", path: pathTo("devices", id) });
    const readings = Number(removed) > 0 ? `; ${counted(Number(removed), "pending reading")} removed` : "";
    const history = isObject(last) ? `; its assignment to tank ${last["tank_id"]} until ${last["until"]} is kept` : "";
    return report(call, {}, `device ${id} removed${readings}${history}`);
  },
});

export const device: CommandGroup = {
  name: "device",
  summary: "assign devices to tanks, list pending readings",
  actions: [assign, profile, pending, list, show, remove],
};
