// tank-monitor audit

import { isActorName } from "../domain/actor.ts";
import { UserError } from "../domain/errors.ts";
import { deviceKey } from "../domain/id.ts";
import { quoted } from "../domain/text.ts";
import { isObject } from "../domain/validate.ts";
import { apiCommand, textColumn } from "./api-command.ts";
import { CREATED_BETWEEN } from "./fields.ts";
import { LIST_OPTIONS, type List, pages, printList } from "./list.ts";
import { pathTo, type Service } from "./service.ts";

export const audit = apiCommand({
  name: "audit",
  summary: "show who changed what, and when",
  help: "List changes, newest first: when, by whom, and what changed.",
  example: "audit --type tank --since 7d",
  query: [
    {
      flag: "by",
      path: "by",
      value: "WHO",
      help: 'by the key with this name or id, the user with this address or id, a customer\'s id, or "command line"',
    },
    {
      flag: "type",
      path: "type",
      value: "TYPE",
      help: "of this type: customer, tank, device, key, alert, channel, notification or user",
    },
    { flag: "id", path: "id", value: "ID", help: "of the object with this id" },
    ...CREATED_BETWEEN,
  ],
  options: LIST_OPTIONS,
  async execute({ call, query, service, keyId }) {
    const { id = "" } = query;
    const by = query["by"] && (await keyId(query["by"]));
    const actors = await actorNames(service);
    const ids = by === undefined ? [] : idsOf(by, actors);
    if (ids.length > 1) throw new UserError(`${ids.length} keys are named ${quoted(by ?? "")}: give an id, ${ids.join(" or ")}`);
    const caseHint = deviceKey(id) === id ? "" : ` Device ids are lower case: --id ${deviceKey(id)}`;
    const actorHint = by === undefined || ids.length > 0 ? "" : ` No key or user is called ${quoted(by)}.`;
    const resolved = by === undefined ? query : { ...query, by: ids[0] ?? by };
    return printList(service, call, resolved, auditList(actors, caseHint + actorHint));
  },
});

/** The names of keys and the addresses of users, by id. Those of removed users are unknown. */
type ActorNames = ReadonlyMap<string, string>;

function auditList(actors: ActorNames, hint: string): List {
  return {
    path: pathTo("audit"),
    newestFirstBy: "created_at",
    empty: `No changes found.${hint}`,
    columns: [
      textColumn("WHEN", "created_at"),
      { title: "BY", cell: ({ by }) => withName(String(by), actors), maxWidth: 60 },
      textColumn("ACTION", "action"),
      textColumn("TYPE", "type"),
      textColumn("ID", "id"),
      { title: "CHANGES", cell: ({ changes }) => changesText(changes), maxWidth: 120 },
    ],
  };
}

async function actorNames(service: Service): Promise<ActorNames> {
  const names = new Map<string, string>();
  for (const path of [pathTo("keys"), pathTo("users")]) {
    for await (const page of pages(service, {}, { path })) {
      for (const { id, name, email } of page) names.set(String(id), String(email ?? name));
    }
  }
  return names;
}

const withName = (by: string, actors: ActorNames): string => (actors.has(by) ? `${by} (${actors.get(by)})` : by);

function idsOf(given: string, actors: ActorNames): string[] {
  if (actors.has(given) || isActorName(given)) return [given];
  return [...actors].filter(([, name]) => name === given).map(([id]) => id);
}

function changesText(changes: unknown): string | null {
  if (!isObject(changes)) return null;
  const parts = Object.entries(changes).map(([field, change]) => {
    const { from = null, to = null } = isObject(change) ? change : {};
    return from === null ? `${field} ${JSON.stringify(to)}` : `${field} ${JSON.stringify(from)} → ${JSON.stringify(to)}`;
  });
  return parts.join(", ");
}
