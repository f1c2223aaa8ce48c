// tank-monitor fleet: the question of every morning.

import { isObject } from "../domain/validate.ts";
import { type Field, queryFrom } from "./fields.ts";
import { LIST_FLAGS, LIST_HELP, listing } from "./lists.ts";
import { managing } from "./managing.ts";
import { type Item, pathTo } from "./request.ts";
import { cityOf } from "./tank.ts";

const FILTERS: readonly Field[] = [
  { flag: "state", path: "state", value: "STATE", words: "low: at the threshold or below it; ok; unknown: without a reading" },
  { flag: "silent", path: "silent_for", value: "SPAN", words: "those without a reading for so long, such as 24h" },
  { flag: "owner", path: "owner_id", value: "ID", words: "those of this customer" },
  { flag: "city", path: "city", value: "TEXT", words: "those in a city that begins so" },
];

export const fleet = managing({
  name: "fleet",
  summary: "which tank needs a truck next?",
  usage: "[--state STATE] [--silent SPAN] [--owner ID] [--city TEXT] [--limit N] [--json]",
  help: `Lists every tank with its latest reading, the most urgent first; those without a reading last. MARGIN is how many percent
above its threshold a tank stands, and less than 0 below it; AGE is that of its latest reading.`,
  example: "fleet --state low --limit 20",
  most: 0,
  fields: FILTERS,
  more: LIST_HELP,
  flags: LIST_FLAGS,
  plan: (call) =>
    listing(call, {
      path: pathTo("fleet"),
      query: queryFrom(call, FILTERS),
      none: "There are no such tanks.",
      json: (entry) => ({ id: tankIn(entry)["id"], ...entry }),
      columns: [
        { title: "MARGIN", cell: ({ margin }) => decimal(margin), right: true },
        { title: "FILL", cell: ({ latest }) => percent(isObject(latest) ? latest["fill_percentage"] : null), right: true },
        { title: "AGE", cell: ({ age_seconds }) => age(age_seconds), right: true },
        { title: "NAME", cell: (entry) => String(tankIn(entry)["name"]), most: 40 },
        { title: "CITY", cell: (entry) => cityOf(tankIn(entry)), most: 24 },
        { title: "TANK", cell: (entry) => String(tankIn(entry)["id"]) },
      ],
    }),
});

function tankIn({ tank }: Item): Item {
  return isObject(tank) ? tank : {};
}

const decimal = (value: unknown): string | null => (typeof value === "number" ? value.toFixed(1) : null);

function percent(value: unknown): string | null {
  const number = decimal(value);
  return number === null ? null : `${number} %`;
}

const UNITS = [
  { seconds: 86_400, word: "d" },
  { seconds: 3600, word: "h" },
  { seconds: 60, word: "min" },
];

function age(seconds: unknown): string | null {
  if (typeof seconds !== "number") return null;
  const unit = UNITS.find((known) => seconds >= 2 * known.seconds) ?? { seconds: 1, word: "s" };
  return `${Math.floor(seconds / unit.seconds)} ${unit.word}`;
}
