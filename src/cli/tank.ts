// tank-monitor tank create|update|delete|restore|list|show

import { UserError } from "../domain/errors.ts";
import { isObject } from "../domain/validate.ts";
import type { Group } from "./command.ts";
import { bodyOf, type Field, queryFrom } from "./fields.ts";
import { inspecting } from "./inspect.ts";
import { LIST_FLAGS, LIST_HELP, listing } from "./lists.ts";
import { idIn, managing, WHERE } from "./managing.ts";
import { type Item, pathTo, type Service } from "./request.ts";
import { changeWord, JSON_FLAG, tellDone, tellMade } from "./show.ts";
import { stillWaiting, takenWords } from "./taken.ts";
import { TANK_FIELDS, TANK_FILTERS, TANK_ID } from "./tank-fields.ts";

const SWAP_HELP = { flag: "swap", value: "", words: "where the device serves another tank: both exchange their devices" };

const create = managing({
  name: "create",
  summary: "make a tank, and print its id",
  usage: "--name NAME --owner ID --device ID --capacity N --unit liters|gallons --threshold N [options] [--id ID] [--json]",
  help: "Makes a tank and prints its id; with --json, all of it. Readings of its device that waited are taken in.",
  example: 'tank create --name "Hall 3" --owner cus_… --device a84041c2f1827d3e --capacity 2700 --unit liters --threshold 20',
  most: 0,
  fields: [...TANK_FIELDS, TANK_ID],
  needs: ["name", "owner", "device", "capacity", "unit", "threshold"],
  flags: JSON_FLAG,
  isFirst: true,
  plan(call) {
    const body = bodyOf(call, [...TANK_FIELDS, TANK_ID]);
    return async (service) => {
      const made = await service.ask({ method: "POST", path: pathTo("tanks"), body, makes: true });
      return tellMade(call, made, `tank ${made["id"]} (${made["name"]}) is made${takenWords(made)}`);
    };
  },
});

const update = managing({
  name: "update",
  summary: "change a tank",
  usage: "ID [options] [--swap] [--json]",
  help: 'Changes what is named, and nothing else. An empty value, as in --city "", empties what may be empty.',
  example: "tank update tank_… --threshold 25 --street-number 12b",
  most: 1,
  fields: TANK_FIELDS,
  more: [SWAP_HELP],
  flags: { swap: { type: "boolean" }, ...JSON_FLAG },
  plan(call) {
    const id = idIn(call, "tank");
    const body = bodyOf(call, TANK_FIELDS);
    if (Object.keys(body).length === 0) throw new UserError(`${call.name}: say what is to change, such as --name NAME`, 2);
    const query = { swap: call.flags["swap"] === true ? "true" : undefined };
    return async (service) => {
      const path = pathTo("tanks", id);
      const before = await service.ask({ method: "GET", path });
      const tank = await service.ask({ method: "PATCH", path, query, body });
      const word = changeWord(before, tank);
      return tellDone(call, tank, `tank ${id} (${tank["name"]}) is ${word}${takenWords(tank)}${await leftOf(service, tank)}`);
    };
  },
});

/** What still waits of its device. */
async function leftOf(service: Service, { assigned_device_id }: Item): Promise<string> {
  return stillWaiting(await service.ask({ method: "GET", path: pathTo("devices", String(assigned_device_id)) }));
}

const remove = managing({
  name: "delete",
  summary: "delete a tank, and free its device",
  usage: "ID [--json]",
  help: 'Deletes a tank and frees its device. Its readings are kept, unseen, for "tank restore".',
  example: "tank delete tank_…",
  most: 1,
  flags: JSON_FLAG,
  plan(call) {
    const id = idIn(call, "tank");
    return async (service) => {
      const tank = await service.ask({ method: "DELETE", path: pathTo("tanks", id) });
      return tellDone(call, tank, `tank ${id} (${tank["name"]}) is deleted`);
    };
  },
});

const OTHER_DEVICE: Field = {
  flag: "device",
  path: "assigned_device_id",
  value: "ID",
  words: "another device, where its own serves another tank by now",
};

const restore = managing({
  name: "restore",
  summary: "bring a deleted tank back, readings included",
  usage: "ID [--device ID] [--json]",
  help: "Brings a deleted tank back, readings included.",
  example: "tank restore tank_…",
  most: 1,
  fields: [OTHER_DEVICE],
  flags: JSON_FLAG,
  plan(call) {
    const id = idIn(call, "tank");
    const body = bodyOf(call, [OTHER_DEVICE]);
    return async (service) => {
      const tank = await service.ask({ method: "POST", path: pathTo("tanks", id, "restore"), body });
      return tellDone(call, tank, `tank ${id} (${tank["name"]}) is there again${takenWords(tank)}`);
    };
  },
});

const list = managing({
  name: "list",
  summary: "list tanks, newest first",
  usage: "[--name TEXT] [--city TEXT] [--custom-id TEXT] [--owner ID] [--device ID] [--deleted] [--limit N] [--json]",
  help: "Lists tanks, newest first; with --deleted those that are deleted, instead of those that are not.",
  example: "tank list --city freiburg",
  most: 0,
  fields: TANK_FILTERS,
  more: LIST_HELP,
  flags: { deleted: { type: "boolean" }, ...LIST_FLAGS },
  plan: (call) =>
    listing(call, {
      path: pathTo("tanks"),
      query: { ...queryFrom(call, TANK_FILTERS), deleted: call.flags["deleted"] === true ? "true" : undefined },
      isDated: true,
      none: "There are no such tanks.",
      columns: [
        { title: "ID", cell: ({ id }) => String(id) },
        { title: "OWNER", cell: ({ owner_id }) => String(owner_id) },
        { title: "DEVICE", cell: ({ assigned_device_id }) => String(assigned_device_id) },
        { title: "CAPACITY", cell: ({ capacity, capacity_unit }) => `${capacity} ${capacity_unit}`, right: true },
        { title: "ALERT", cell: (tank) => `${tank["min_fill_alert_percentage"]} %`, right: true },
        { title: "CITY", cell: cityOf, most: 24 },
        { title: "NAME", cell: ({ name }) => String(name), most: 60 },
      ],
    }),
});

export function cityOf({ location }: Item): string | null {
  const city = isObject(location) ? location["city"] : null;
  return typeof city === "string" ? city : null;
}

const inspect = inspecting({
  noun: "tank",
  example: "tank_…",
  help: "Shows all fields of a tank, deleted or not.",
});

export const tank: Group = {
  name: "tank",
  summary: "create, change, delete, restore and list tanks",
  help: WHERE,
  actions: [create, update, remove, restore, list, inspect],
};
