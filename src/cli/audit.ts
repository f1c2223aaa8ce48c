// tank-monitor audit

import { UserError } from "../domain/errors.ts";
import { deviceKey } from "../domain/id.ts";
import { quoted } from "../domain/text.ts";
import { isObject } from "../domain/validate.ts";
import { apiCommand, LIST_OPTIONS, type List, pages, printList } from "./api-command.ts";
import { parseWhen } from "./command.ts";
import { pathTo, type Service } from "./service.ts";

export const audit = apiCommand({
  name: "audit",
  summary: "show who changed what, and when",
  help: "List changes, newest first: when, by whom, and what changed.",
  example: "audit --type tank --since 7d",
  query: [
    { flag: "by", path: "by", value: "KEY", help: 'by the key with this name or id, or by "command line"' },
    {
      flag: "type",
      path: "type",
      value: "TYPE",
      help: "of this type: customer, tank, device, key, alert, channel, notification or user",
    },
    { flag: "id", path: "id", value: "ID", help: "of the object with this id" },
    {
      flag: "since",
      path: "created_at_gte",
      value: "WHEN",
      help: "from a datetime, a date, or a time ago such as 24h",
      parse: parseWhen,
    },
    { flag: "until", path: "created_at_lte", value: "WHEN", help: "up to a datetime, a date, or a time ago", parse: parseWhen },
  ],
  options: LIST_OPTIONS,
  async execute({ call, query, service }) {
    const { id = "", by } = query;
    const hint = deviceKey(id) === id ? "" : ` Device ids are lower case: --id ${deviceKey(id)}`;
    const keys = await keyNames(service);
    const resolved = by === undefined ? query : { ...query, by: keyId(by, keys) };
    return printList(service, call, resolved, auditList(keys, hint));
  },
});

/** Names by id. Keys are never deleted. */
type KeyNames = ReadonlyMap<string, string>;

function auditList(keys: KeyNames, hint: string): List {
  return {
    path: pathTo("audit"),
    isDated: true,
    empty: `No changes found.${hint}`,
    columns: [
      { title: "WHEN", cell: ({ created_at }) => String(created_at) },
      { title: "BY", cell: ({ by }) => withName(String(by), keys), maxWidth: 60 },
      { title: "ACTION", cell: ({ action }) => String(action) },
      { title: "TYPE", cell: ({ type }) => String(type) },
      { title: "ID", cell: ({ id }) => String(id) },
      { title: "CHANGES", cell: ({ changes }) => changesText(changes), maxWidth: 120 },
    ],
  };
}

async function keyNames(service: Service): Promise<KeyNames> {
  const names = new Map<string, string>();
  for await (const page of pages(service, {}, { path: pathTo("keys") })) {
    for (const { id, name } of page) names.set(String(id), String(name));
  }
  return names;
}

const withName = (by: string, keys: KeyNames): string => (keys.has(by) ? `${by} (${keys.get(by)})` : by);

/** Changes without a key are recorded under these names. */
const WITHOUT_KEY = ["command line", "import", "demo"];

function keyId(given: string, keys: KeyNames): string {
  if (keys.has(given) || WITHOUT_KEY.includes(given)) return given;
  const ids = [...keys].filter(([, name]) => name === given).map(([id]) => id);
  const [id] = ids;
  if (id === undefined) throw new UserError(`no such key: ${quoted(given)}; see "npx tank-monitor key list"`);
  if (ids.length > 1) throw new UserError(`${ids.length} keys are named ${quoted(given)}: give an id, ${ids.join(" or ")}`);
  return id;
}

function changesText(changes: unknown): string | null {
  if (!isObject(changes)) return null;
  const parts = Object.entries(changes).map(([field, change]) => {
    const { from = null, to = null } = isObject(change) ? change : {};
    return from === null ? `${field} ${JSON.stringify(to)}` : `${field} ${JSON.stringify(from)} → ${JSON.stringify(to)}`;
  });
  return parts.join(", ");
}
