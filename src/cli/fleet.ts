// tank-monitor fleet

import { isObject } from "../domain/validate.ts";
import { listCommand } from "./api-command.ts";
import type { Item } from "./service.ts";
import { cityOf } from "./tank.ts";

export const fleet = listCommand({
  name: "fleet",
  summary: "list tanks with their latest reading, most urgent first",
  help: `List tanks with their latest reading, most urgent first, those without a reading last. MARGIN is the fill above the tank's
threshold in percentage points, negative below it. AGE is the age of the latest reading.`,
  example: "fleet --state low --limit 20",
  query: [
    { flag: "state", path: "state", value: "STATE", help: "low: at or below the threshold; ok; unknown: no reading" },
    { flag: "silent", path: "silent_for", value: "DURATION", help: "without a reading for this long, such as 24h" },
    { flag: "owner", path: "owner_id", value: "ID", help: "of this customer" },
    { flag: "city", path: "city", value: "TEXT", help: "in a city that starts with TEXT" },
  ],
  of: "fleet",
  empty: "No tanks found.",
  json: (entry) => ({ id: tankIn(entry)["id"], ...entry }),
  columns: [
    { title: "MARGIN", cell: ({ margin }) => decimal(margin), alignRight: true },
    { title: "FILL", cell: ({ latest }) => percent(isObject(latest) ? latest["fill_percentage"] : null), alignRight: true },
    { title: "AGE", cell: ({ age_seconds }) => age(age_seconds), alignRight: true },
    { title: "NAME", cell: (entry) => String(tankIn(entry)["name"]), maxWidth: 40 },
    { title: "CITY", cell: (entry) => cityOf(tankIn(entry)), maxWidth: 24 },
    { title: "TANK", cell: (entry) => String(tankIn(entry)["id"]) },
  ],
});

const tankIn = ({ tank }: Item): Item => (isObject(tank) ? tank : {});

const decimal = (value: unknown): string | null => (typeof value === "number" ? value.toFixed(1) : null);

function percent(value: unknown): string | null {
  const number = decimal(value);
  return number === null ? null : `${number} %`;
}

const UNITS = [
  { seconds: 86_400, symbol: "d" },
  { seconds: 3600, symbol: "h" },
  { seconds: 60, symbol: "min" },
];

function age(seconds: unknown): string | null {
  if (typeof seconds !== "number") return null;
  const unit = UNITS.find((known) => seconds >= 2 * known.seconds) ?? { seconds: 1, symbol: "s" };
  return `${Math.floor(seconds / unit.seconds)} ${unit.symbol}`;
}
