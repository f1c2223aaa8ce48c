// tank-monitor user create|list|update|remove|link|sessions|sign-out

import { UserError } from "../domain/errors.ts";
import { quoted } from "../domain/text.ts";
import { isObject } from "../domain/validate.ts";
import { apiCommand, createCommand, listCommand, textColumn, updateCommand } from "./api-command.ts";
import type { CommandGroup } from "./command.ts";
import { printList } from "./list.ts";
import { clean, counted, printMessage } from "./output.ts";
import { type Item, pathTo, type Service, ServiceError } from "./service.ts";
import { linkCommand } from "./sign-in-link.ts";

const FIELDS = [
  { flag: "email", path: "email", value: "ADDRESS", help: "the address that sign-in mail goes to" },
  { flag: "name", path: "name", value: "NAME", help: "the name of the person" },
  {
    flag: "role",
    path: "role",
    value: "ROLE",
    help: "viewer: reads; dispatcher: also alerts, customers, tanks, devices; admin: everything",
  },
];

const create = createCommand({
  noun: "user",
  example: 'user create --email dana@example.com --name "Dana Fischer" --role admin',
  body: FIELDS,
  required: ["email", "name", "role"],
  outcome: ({ email }) => `. A link to sign in, for use without mail: npx tank-monitor user link ${email}`,
});

/** Users are named by their address or their id. */
async function idOf(service: Service, given: string): Promise<string> {
  if (!given.includes("@")) return given;
  const { data } = await service({ method: "GET", path: pathTo("users"), query: { email: given } });
  const [found] = Array.isArray(data) && data.every(isObject) ? data : [];
  if (found === undefined)
    throw new UserError(`there is no user with the address ${quoted(given)}. See npx tank-monitor user list`);
  return String(found["id"]);
}

const update = updateCommand({
  noun: "user",
  summary: "change the name, role or address of a user",
  help: "Change the name, role or address of a user. Changing the role or address ends the user's sessions.",
  example: "user update dana@example.com --role admin",
  body: FIELDS,
  resolveId: idOf,
  nameOf: ({ name, role }) => `${name}, ${role}`,
});

const remove = apiCommand({
  name: "remove",
  summary: "remove a user, and end their sessions within a second",
  example: "user remove dana@example.com",
  argumentNames: ["user"],
  async execute({ id: given, service }) {
    const id = await idOf(service, given);
    await service({ method: "DELETE", path: pathTo("users", id) });
    printMessage(`user ${clean(id)} removed`);
    return 0;
  },
});

const link = linkCommand({ noun: "user", example: "user link dana@example.com", resolveId: idOf });

const sessions = apiCommand({
  name: "sessions",
  summary: "list where a user is signed in",
  example: "user sessions dana@example.com",
  argumentNames: ["user"],
  options: [{ flag: "json", help: "print one JSON object per line" }],
  async execute({ call, id: given, service }) {
    const path = pathTo("users", await idOf(service, given), "sessions");
    return printList(service, call, {}, { path, empty: "No sessions.", columns: SESSION_COLUMNS });
  },
});

const SESSION_COLUMNS = [
  textColumn("ID", "id"),
  textColumn("SINCE", "created_at"),
  textColumn("UNTIL", "expires_at"),
  textColumn("BROWSER", "user_agent", 60),
];

/** There are never more than fit on one page. */
async function sessionsOf(service: Service, id: string): Promise<readonly Item[]> {
  const { data } = await service({ method: "GET", path: pathTo("users", id, "sessions"), query: { size: "100" } });
  return Array.isArray(data) ? data.filter(isObject) : [];
}

/** It may have ended meanwhile. */
async function endSession(service: Service, id: string): Promise<void> {
  try {
    await service({ method: "DELETE", path: pathTo("sessions", id) });
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 404)) throw error;
  }
}

const signOut = apiCommand({
  name: "sign-out",
  summary: "end all sessions of a user within a second",
  example: "user sign-out dana@example.com",
  argumentNames: ["user"],
  async execute({ id: given, service }) {
    const found = await sessionsOf(service, await idOf(service, given));
    for (const { id } of found) await endSession(service, String(id));
    printMessage(`${counted(found.length, "session")} ended`);
    return 0;
  },
});

const list = listCommand({
  name: "list",
  summary: "list users, newest first",
  example: "user list",
  path: pathTo("users"),
  empty: "No users yet. Create the first: npx tank-monitor user create --email ADDRESS --name NAME --role admin",
  columns: [textColumn("ID", "id"), textColumn("ROLE", "role"), textColumn("EMAIL", "email", 60), textColumn("NAME", "name", 60)],
});

export const user: CommandGroup = {
  name: "user",
  summary: "create, list, change and remove users, and print links that sign them in",
  actions: [create, list, update, remove, link, sessions, signOut],
};
