// tank-monitor audit

import { deviceKey } from "../domain/device.ts";
import { UserError } from "../domain/errors.ts";
import { parseDuration, parseInstant } from "../domain/instant.ts";
import { quoted } from "../domain/text.ts";
import { isObject } from "../domain/validate.ts";
import { type Call, text } from "./command.ts";
import { type Field, queryFrom } from "./fields.ts";
import { LIST_FLAGS, LIST_HELP, type List, listing } from "./lists.ts";
import { managing } from "./managing.ts";
import { pathTo, type Service } from "./request.ts";

const FILTERS: readonly Field[] = [
  { flag: "by", path: "by", value: "KEY", words: 'what was done with the key of this name or id, or by "command line"' },
  { flag: "type", path: "type", value: "TYPE", words: "what was done to customers: customer; or tank, device, key" },
  { flag: "id", path: "id", value: "ID", words: "what was done to the object with this id" },
  { flag: "since", path: "created_at_gte", value: "WHEN", words: "from then on: a datetime, a date, or a span such as 24h ago" },
  { flag: "until", path: "created_at_lte", value: "WHEN", words: "up to then" },
];

export const audit = managing({
  name: "audit",
  summary: "see who changed what, and when",
  usage: "[--by KEY] [--type TYPE] [--id ID] [--since WHEN] [--until WHEN] [--limit N] [--json]",
  help: "Lists what was done to customers, tanks, devices and keys, newest first: when, by whom, and what changed.",
  example: "audit --type tank --since 7d",
  most: 0,
  fields: FILTERS,
  more: LIST_HELP,
  flags: LIST_FLAGS,
  plan(call) {
    const [id = "", by] = [text(call, "id"), text(call, "by")];
    const asked = { ...queryFrom(call, FILTERS), created_at_gte: moment(call, "since"), created_at_lte: moment(call, "until") };
    const hint = deviceKey(id) === id ? "" : ` A device has its id in lower case: --id ${deviceKey(id)}`;
    return async (service) => {
      const keys = await keyNames(service);
      const query = { ...asked, by: by === undefined ? undefined : keyFor(by, keys) };
      return listing(call, listOf(query, keys, `Nothing of this kind was done.${hint}`))(service);
    };
  },
});

type Names = ReadonlyMap<string, string>;

function listOf(query: Readonly<Record<string, string | undefined>>, keys: Names, none: string): List {
  return {
    path: pathTo("audit"),
    query,
    isDated: true,
    none,
    columns: [
      { title: "WHEN", cell: ({ created_at }) => String(created_at) },
      { title: "BY", cell: ({ by }) => nameOf(String(by), keys), most: 60 },
      { title: "ACTION", cell: ({ action }) => String(action) },
      { title: "TYPE", cell: ({ type }) => String(type) },
      { title: "ID", cell: ({ id }) => String(id) },
      { title: "CHANGES", cell: ({ changes }) => wordsFor(changes), most: 120 },
    ],
  };
}

/** The names of all keys, by their ids. They are never deleted. */
async function keyNames(service: Service): Promise<Names> {
  const names = new Map<string, string>();
  for (let page = 1, pages = 1; page <= pages; page++) {
    const query = { page: String(page), size: "100" };
    const { data, total_pages } = await service.ask({ method: "GET", path: pathTo("keys"), query });
    for (const key of Array.isArray(data) ? data.filter(isObject) : []) names.set(String(key["id"]), String(key["name"]));
    pages = Number(total_pages);
  }
  return names;
}

const nameOf = (by: string, keys: Names): string => (keys.has(by) ? `${by} (${keys.get(by)})` : by);

/** Who has no key is known by these words. */
const KEYLESS = ["command line", "import", "demo"];

function keyFor(given: string, keys: Names): string {
  if (keys.has(given) || KEYLESS.includes(given)) return given;
  const ids = [...keys].filter(([, name]) => name === given).map(([id]) => id);
  const [id] = ids;
  if (id === undefined) throw new UserError(`there is no key ${quoted(given)}; "npx tank-monitor key list" shows them`);
  if (ids.length > 1) throw new UserError(`there are ${ids.length} keys named ${quoted(given)}: say which, ${ids.join(" or ")}`);
  return id;
}

/** A span is so long ago. */
function moment(call: Call, flag: string): string | undefined {
  const given = text(call, flag);
  if (given === undefined) return undefined;
  const span = parseDuration(given);
  if (span !== undefined) return new Date(Date.now() - span).toISOString();
  if (parseInstant(given) !== undefined) return given;
  throw new UserError(
    `--${flag} must be a datetime such as 2026-11-14T09:30:00Z, a date, or how long ago, such as 24h or 7d, not ${quoted(given)}`,
    2,
  );
}

function wordsFor(changes: unknown): string | null {
  if (!isObject(changes)) return null;
  const words = Object.entries(changes).map(([field, change]) => {
    const { from = null, to = null } = isObject(change) ? change : {};
    return from === null ? `${field} ${JSON.stringify(to)}` : `${field} ${JSON.stringify(from)} → ${JSON.stringify(to)}`;
  });
  return words.join(", ");
}
