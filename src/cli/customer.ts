// tank-monitor customer create|update|delete|restore|list|show

import { UserError } from "../domain/errors.ts";
import type { Call, Group } from "./command.ts";
import { bodyOf, type Field, queryFrom } from "./fields.ts";
import { inspecting } from "./inspect.ts";
import { LIST_FLAGS, LIST_HELP, listing } from "./lists.ts";
import { idIn, managing, WHERE } from "./managing.ts";
import { pathTo } from "./request.ts";
import { changeWord, JSON_FLAG, tellDone, tellMade } from "./show.ts";

const FIELDS: readonly Field[] = [
  { flag: "name", path: "name", value: "NAME", words: "full name or business name" },
  { flag: "email", path: "email", value: "ADDRESS", words: "e-mail address" },
  { flag: "phone", path: "phone", value: "NUMBER", words: "phone number", empties: true },
];
const ID: Field = { flag: "id", path: "id", value: "ID", words: "an id of your own; otherwise it gets one" };

const FILTERS: readonly Field[] = [
  { flag: "name", path: "name", value: "TEXT", words: "those whose name begins so" },
  { flag: "email", path: "email", value: "TEXT", words: "those whose e-mail address begins so" },
];

const VERIFIED = { verified: { type: "boolean" }, "no-verified": { type: "boolean" } } as const;

function verification(call: Call): { readonly is_verified?: boolean } {
  const [is, isNot] = [call.flags["verified"] === true, call.flags["no-verified"] === true];
  if (is && isNot) throw new UserError(`${call.name}: --verified and --no-verified contradict each other`, 2);
  return is || isNot ? { is_verified: is } : {};
}

const create = managing({
  name: "create",
  summary: "make a customer, and print its id",
  usage: "--name NAME --email ADDRESS [--phone NUMBER] [--verified] [--id ID] [--json]",
  help: "Makes a customer and prints its id; with --json, all of it. --verified: the e-mail address has been verified.",
  example: 'customer create --name "Brenner Gas GmbH" --email office@brenner-gas.example',
  most: 0,
  fields: [...FIELDS, ID],
  needs: ["name", "email"],
  flags: { verified: VERIFIED.verified, ...JSON_FLAG },
  isFirst: true,
  plan(call) {
    const body = { ...bodyOf(call, [...FIELDS, ID]), ...verification(call) };
    return async (service) => {
      const made = await service.ask({ method: "POST", path: pathTo("customers"), body, makes: true });
      return tellMade(call, made, `customer ${made["id"]} (${made["name"]}) is made`);
    };
  },
});

const update = managing({
  name: "update",
  summary: "change a customer",
  usage: "ID [--name NAME] [--email ADDRESS] [--phone NUMBER] [--verified | --no-verified] [--json]",
  help: 'Changes what is named, and nothing else. --phone "" empties it.',
  example: 'customer update cus_… --phone "+49 30 5550 0143"',
  most: 1,
  fields: FIELDS,
  flags: { ...VERIFIED, ...JSON_FLAG },
  plan(call) {
    const id = idIn(call, "customer");
    const body = { ...bodyOf(call, FIELDS), ...verification(call) };
    if (Object.keys(body).length === 0) throw new UserError(`${call.name}: say what is to change, such as --name NAME`, 2);
    return async (service) => {
      const path = pathTo("customers", id);
      const before = await service.ask({ method: "GET", path });
      const customer = await service.ask({ method: "PATCH", path, body });
      return tellDone(call, customer, `customer ${id} (${customer["name"]}) is ${changeWord(before, customer)}`);
    };
  },
});

const remove = managing({
  name: "delete",
  summary: "delete a customer; its keys stop working",
  usage: "ID [--tanks] [--json]",
  help: `Deletes a customer, and its keys stop working. One who still owns tanks is kept, unless --tanks takes them along.
"customer restore" brings everything back.`,
  example: "customer delete cus_… --tanks",
  most: 1,
  flags: { tanks: { type: "boolean" }, ...JSON_FLAG },
  plan(call) {
    const id = idIn(call, "customer");
    const query = { tanks: call.flags["tanks"] === true ? "true" : undefined };
    return async (service) => {
      const path = pathTo("customers", id);
      const { tank_count } = await service.ask({ method: "GET", path });
      const customer = await service.ask({ method: "DELETE", path, query });
      const along = Number(tank_count) > 0 ? `, with ${tanks(tank_count)}` : "";
      return tellDone(call, customer, `customer ${id} (${customer["name"]}) is deleted${along}`);
    };
  },
});

const restore = managing({
  name: "restore",
  summary: "bring a deleted customer back",
  usage: "ID [--no-tanks] [--json]",
  help: `Brings a deleted customer back, with the tanks that were deleted along with it, unless --no-tanks is given. That is the
way where a device of one of them serves another tank by now: then "tank list --deleted --owner ID" shows its tanks, and
"tank restore TANK --device DEVICE" brings each back, with another device where it needs one.`,
  example: "customer restore cus_…",
  most: 1,
  flags: { "no-tanks": { type: "boolean" }, ...JSON_FLAG },
  plan(call) {
    const id = idIn(call, "customer");
    const query = { tanks: call.flags["no-tanks"] === true ? "false" : undefined };
    return async (service) => {
      const customer = await service.ask({ method: "POST", path: pathTo("customers", id, "restore"), query });
      return tellDone(
        call,
        customer,
        `customer ${id} (${customer["name"]}) is there again, with ${tanks(customer["tank_count"])}`,
      );
    };
  },
});

const tanks = (count: unknown): string => (count === 1 ? "1 tank" : `${count} tanks`);

const list = managing({
  name: "list",
  summary: "list customers, newest first",
  usage: "[--name TEXT] [--email TEXT] [--deleted] [--limit N] [--json]",
  help: "Lists customers, newest first; with --deleted those that are deleted, instead of those that are not.",
  example: "customer list --name brenner",
  most: 0,
  fields: FILTERS,
  more: LIST_HELP,
  flags: { deleted: { type: "boolean" }, ...LIST_FLAGS },
  plan: (call) =>
    listing(call, {
      path: pathTo("customers"),
      query: { ...queryFrom(call, FILTERS), deleted: call.flags["deleted"] === true ? "true" : undefined },
      isDated: true,
      none: "There are no such customers.",
      columns: [
        { title: "ID", cell: ({ id }) => String(id) },
        { title: "TANKS", cell: ({ tank_count }) => Number(tank_count), right: true },
        { title: "EMAIL", cell: ({ email }) => String(email), most: 40 },
        { title: "NAME", cell: ({ name }) => String(name), most: 60 },
      ],
    }),
});

const inspect = inspecting({
  noun: "customer",
  example: "cus_…",
  help: "Shows all fields of a customer, deleted or not.",
});

export const customer: Group = {
  name: "customer",
  summary: "create, change, delete, restore and list customers",
  help: WHERE,
  actions: [create, update, remove, restore, list, inspect],
};
