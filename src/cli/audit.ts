// tank-monitor audit

import { parseDuration } from "../domain/duration.ts";
import { isObject } from "../domain/faults.ts";
import { type Call, text } from "./command.ts";
import { type Field, queryFrom } from "./fields.ts";
import { LIST_FLAGS, LIST_HELP, listing } from "./lists.ts";
import { managing } from "./managing.ts";
import { pathTo } from "./request.ts";

const FILTERS: readonly Field[] = [
  { flag: "by", path: "by", value: "KEY", words: 'what was done with the key of this id, or by "command line"' },
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
  plan: (call) =>
    listing(call, {
      path: pathTo("audit"),
      query: {
        ...queryFrom(call, FILTERS),
        created_at_gte: moment(call, "since"),
        created_at_lte: moment(call, "until"),
      },
      isDated: true,
      none: "Nothing of this kind was done.",
      columns: [
        { title: "WHEN", cell: ({ created_at }) => String(created_at) },
        { title: "BY", cell: ({ by }) => String(by) },
        { title: "ACTION", cell: ({ action }) => String(action) },
        { title: "TYPE", cell: ({ type }) => String(type) },
        { title: "ID", cell: ({ id }) => String(id) },
        { title: "CHANGES", cell: ({ changes }) => wordsFor(changes), most: 120 },
      ],
    }),
});

/** A span is so long ago; anything else is for the interface to judge. */
function moment(call: Call, flag: string): string | undefined {
  const given = text(call, flag);
  const span = parseDuration(given ?? "");
  return span === undefined ? given : new Date(Date.now() - span).toISOString();
}

function wordsFor(changes: unknown): string | null {
  if (!isObject(changes)) return null;
  const words = Object.entries(changes).map(([field, change]) => {
    const { from = null, to = null } = isObject(change) ? change : {};
    return from === null ? `${field} ${JSON.stringify(to)}` : `${field} ${JSON.stringify(from)} → ${JSON.stringify(to)}`;
  });
  return words.join(", ");
}
