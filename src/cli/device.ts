// tank-monitor device assign|profile|waiting|list|show|forget

import { UserError } from "../domain/errors.ts";
import { isObject } from "../domain/validate.ts";
import type { Group } from "./command.ts";
import { bodyOf, type Field } from "./fields.ts";
import { inspecting } from "./inspect.ts";
import { LIST_FLAGS, LIST_HELP, listing } from "./lists.ts";
import { idIn, managing, WHERE } from "./managing.ts";
import { type Item, pathTo } from "./request.ts";
import { JSON_FLAG, tellDone } from "./show.ts";
import type { Column } from "./table.ts";
import { counted, needOf, stillWaiting, takenWords } from "./taken.ts";

const PROFILE: Field = {
  flag: "profile",
  path: "profile",
  value: "NAME|JSON|@FILE",
  words: "how its payloads are read: docs/devices.md",
  kind: "json",
  empties: true,
};
const SHAPE: Field = {
  flag: "shape",
  path: "shape",
  value: "JSON|@FILE",
  words: "the shape of the tank",
  kind: "json",
  empties: true,
};
const TANK: Field = { flag: "tank", place: 1, path: "tank_id", value: "TANK", words: "the tank" };
const NAMED_PROFILE: Field = { ...PROFILE, place: 1, value: "the profile" };

const assign = managing({
  name: "assign",
  summary: "let a device serve a tank",
  usage: "DEVICE TANK [--profile NAME|JSON|@FILE] [--shape JSON|@FILE] [--swap] [--json]",
  help: `Lets a device serve a tank from now on, and says how its payloads are read. Readings of it that waited are taken in, and
it is said how many, of when; to be rid of them, as of what a sensor measured on the bench, call "device forget" first.
Of what it measured before at another tank, everything stays there.`,
  example: "device assign a84041c2f1827d3e tank_… --profile milesight-em500-udl",
  most: 2,
  fields: [TANK, PROFILE, SHAPE],
  more: [{ flag: "swap", value: "", words: "where the device serves another tank: both exchange their devices" }],
  flags: { swap: { type: "boolean" }, ...JSON_FLAG },
  plan(call) {
    const id = idIn(call, "device");
    idIn(call, "tank", 1);
    const body = bodyOf(call, [TANK, PROFILE, SHAPE]);
    const query = { swap: call.flags["swap"] === true ? "true" : undefined };
    return async (service) => {
      const device = await service.ask({ method: "PUT", path: pathTo("devices", id), query, body });
      return tellDone(
        call,
        device,
        `device ${device["id"]} serves tank ${device["tank_id"]}${replaced(device)}${takenWords(device)}${stillWaiting(device)}`,
      );
    };
  },
});

const profile = managing({
  name: "profile",
  summary: "say how the payloads of a device are read",
  usage: "DEVICE NAME|JSON|@FILE [--json]",
  help: `Says how the payloads of a device are read: the name of a profile that comes with the software, or one of your own.
Readings that waited for it are taken in. An empty name takes it away. docs/devices.md has all of it.`,
  example: "device profile a84041c2f1827d3e dragino-dds75-lb",
  most: 2,
  fields: [NAMED_PROFILE],
  flags: JSON_FLAG,
  plan(call) {
    const id = idIn(call, "device");
    if (call.arguments[1] === undefined) throw new UserError(`${call.name}: name a profile, or give one as JSON or @FILE`, 2);
    const body = bodyOf(call, [NAMED_PROFILE]);
    return async (service) => {
      const device = await service.ask({ method: "PUT", path: pathTo("devices", id), body });
      return tellDone(call, device, `device ${device["id"]} ${readingOf(device)}${takenWords(device)}${stillWaiting(device)}`);
    };
  },
});

function replaced({ replaced_device_id }: Item): string {
  return typeof replaced_device_id === "string" ? `, in the place of device ${replaced_device_id}` : "";
}

function readingOf({ profile }: Item): string {
  if (profile === null) return "has no profile any more";
  return `is read with ${typeof profile === "string" ? `the profile ${profile}` : "a profile of its own"}`;
}

const numberOf = (value: unknown): number => Number(value);
const COLUMNS = {
  id: { title: "DEVICE", cell: ({ id }) => String(id) },
  waiting: { title: "WAITING", cell: ({ waiting }) => numberOf(waiting), right: true },
  dropped: { title: "DROPPED", cell: ({ dropped }) => numberOf(dropped), right: true },
  needs: { title: "NEEDS", cell: (device) => (numberOf(device["waiting"]) > 0 ? needOf(device) : null) },
  profile: { title: "PROFILE", cell: ({ profile }) => nameOf(profile) },
  tank: { title: "TANK", cell: ({ tank_id }) => textOf(tank_id) },
  since: { title: "SINCE", cell: ({ since }) => textOf(since) },
} satisfies Record<string, Column<Item>>;

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

function nameOf(profile: unknown): string | null {
  return profile === null || typeof profile === "string" ? profile : "of its own";
}

const waiting = managing({
  name: "waiting",
  summary: "list the devices of which readings wait, and for what",
  usage: "[--limit N] [--json]",
  help: `Lists the devices of which readings wait: how many, how many had to go since more could not wait, and what they need.
"device assign" gives them a tank, "device profile" a profile.`,
  example: "device waiting",
  most: 0,
  more: LIST_HELP,
  flags: LIST_FLAGS,
  plan: (call) =>
    listing(call, {
      path: pathTo("devices"),
      query: { waiting: "true" },
      none: "Nothing waits.",
      columns: [COLUMNS.id, COLUMNS.waiting, COLUMNS.dropped, COLUMNS.needs, COLUMNS.profile, COLUMNS.tank],
    }),
});

const list = managing({
  name: "list",
  summary: "list devices by id",
  usage: "[--limit N] [--json]",
  help: "Lists every device that serves a tank, has a profile, or was heard of.",
  example: "device list",
  most: 0,
  more: LIST_HELP,
  flags: LIST_FLAGS,
  plan: (call) =>
    listing(call, {
      path: pathTo("devices"),
      query: {},
      none: "There are no devices.",
      columns: [COLUMNS.id, COLUMNS.profile, COLUMNS.waiting, COLUMNS.since, COLUMNS.tank],
    }),
});

const inspect = inspecting({
  noun: "device",
  example: "a84041c2f1827d3e",
  help: "Shows a device: its tank, since when it serves it, its profile, and what waits of it.",
});

const forget = managing({
  name: "forget",
  summary: "remove the profile and all that waits of a device that serves no tank",
  usage: "DEVICE",
  help: `Removes the profile of a device that serves no tank, and the readings that wait. Where it has served stays known: what
it measured then, and sends later, still finds its tank. One that never served a tank is as if it had never been heard.`,
  example: "device forget a84041c2f1827d3e",
  most: 1,
  plan(call) {
    const id = idIn(call, "device");
    return async (service) => {
      const device = await service.ask({ method: "DELETE", path: pathTo("devices", id) });
      return tellDone(call, device, `device ${id} is forgotten${goneWith(device)}`);
    };
  },
});

function goneWith({ removed, served }: Item): string {
  const gone = Number(removed) > 0 ? [`${counted(Number(removed))} that waited ${removed === 1 ? "is" : "are"} removed`] : [];
  const known = isObject(served) ? [`it served tank ${served["tank_id"]} until ${served["until"]}, which stays known`] : [];
  return [...gone, ...known].map((words) => `; ${words}`).join("");
}

export const device: Group = {
  name: "device",
  summary: "assign devices to tanks, and see what waits of them",
  help: WHERE,
  actions: [assign, profile, waiting, list, inspect, forget],
};
