// tank-monitor fleet

import { CSV_COLUMNS, type FleetEntry } from "../../dashboard/src/fleet/csv-columns.ts";
import { DAY, HOUR, MINUTE } from "../domain/instant.ts";
import { isObject } from "../domain/validate.ts";
import { listCommand, objectOrEmpty, textOrNull } from "./api-command.ts";
import { decimal, percent } from "./output.ts";
import { FLEET, type Item } from "./service.ts";

export const fleet = listCommand({
  name: "fleet",
  summary: "list tanks by urgency, with their latest reading",
  help: `List tanks by urgency:
1. low tanks, by when they are empty;
2. tanks with a stale forecast or after a sudden fall;
3. tanks by when they run low;
4. tanks without a forecast;
5. tanks without a reading.

DAYS LEFT is the number of days until a tank falls to its threshold, as a range with a probability of 80 %; for a low tank, until it is
empty ("low now" if that is not known). MARGIN is the fill minus the threshold, in percentage points. REMAINING is the volume in the
tank, ROOM the volume that fits into it; together they are the capacity. AGE is the age of the latest reading.`,
  example: "fleet --state low --limit 20",
  query: [
    { flag: "state", path: "state", value: "STATE", help: "low: at or below the threshold; ok; unknown: no reading" },
    { flag: "sort", path: "sort", value: "ORDER", help: "urgency (default), margin, or silent: longest without a reading first" },
    { flag: "silent", path: "silent_for", value: "DURATION", help: "without a reading for this long, such as 24h" },
    { flag: "owner", path: "owner_id", value: "ID", help: "of this customer" },
    { flag: "city", path: "city", value: "TEXT", help: "in a city that starts with TEXT" },
    {
      flag: "search",
      path: "search",
      value: "TEXT",
      help: "each word of TEXT is in the name, id, device or address, or in the owner's name or phone",
    },
  ],
  path: FLEET,
  empty: "No tanks found.",
  json: (entry) => ({ id: tankIn(entry)["id"], ...entry }),
  csv: (entry) => csvRow(entry as FleetEntry),
  columns: [
    { title: "DAYS LEFT", cell: daysText, alignRight: true },
    { title: "MARGIN", cell: ({ margin }) => decimal(margin), alignRight: true },
    { title: "FILL", cell: ({ latest }) => percent(objectOrEmpty(latest)["fill_percentage"]), alignRight: true },
    { title: "REMAINING", cell: remainingText, alignRight: true },
    { title: "ROOM", cell: roomText, alignRight: true },
    { title: "AGE", cell: ({ age_seconds, silent }) => ageText(age_seconds, silent), alignRight: true },
    { title: "NAME", cell: (entry) => String(tankIn(entry)["name"]), maxWidth: 40 },
    { title: "ADDRESS", cell: (entry) => addressOf(tankIn(entry)), maxWidth: 40 },
    { title: "CUSTOMER", cell: ({ customer }) => textOrNull(objectOrEmpty(customer)["name"]), maxWidth: 30 },
    { title: "PHONE", cell: ({ customer }) => textOrNull(objectOrEmpty(customer)["phone"]), maxWidth: 20 },
    { title: "TANK", cell: (entry) => String(tankIn(entry)["id"]) },
  ],
});

/** `Lange Straße 12b, Freiburg` */
function addressOf(tank: Item): string {
  const { street, street_number, city } = objectOrEmpty(tank["location"]);
  const line = [street, street_number].filter((part) => typeof part === "string").join(" ");
  return [line, textOrNull(city) ?? ""].filter((part) => part !== "").join(", ");
}

/** `3–9 d`, for a low tank `empty in 3–6 d` or `low now`, or why there is no forecast. Days are rounded as in the dashboard. */
export function daysText(entry: Item): string | null {
  const { state, days_left, forecast } = entry;
  if (state === "low") return emptyText(entry) ?? "low now";
  if (!isObject(days_left)) {
    const reason = objectOrEmpty(forecast)["state"];
    return reason === "no_use" || reason === "stale" ? reason.replace("_", " ") : null;
  }
  const { p10, p90 } = days_left;
  if (typeof p10 !== "number") return "> 3 years";
  const [from, to] = [Math.round(p10), typeof p90 === "number" ? Math.round(p90) : undefined];
  if (to === undefined) return `> ${from} d`;
  if (to === 0) return "< 1 d";
  return from === to ? `${from} d` : `${from}–${to} d`;
}

/** Undefined: it is not known when the tank is empty. */
function emptyText({ latest, forecast }: Item): string | undefined {
  if (objectOrEmpty(latest)["fill_percentage"] === 0) return "empty";
  const [from, left, to] = ["p10", "p50", "p90"].map((name) =>
    timeUntil(objectOrEmpty(objectOrEmpty(forecast)["runs_empty_at"])[name]),
  );
  if (left === undefined) return undefined;
  if (left < MINUTE) return "empty";
  const [symbol, size] = left < HOUR ? ["min", MINUTE] : left < 2 * DAY ? ["h", HOUR] : ["d", DAY];
  const round = size === DAY ? Math.round : Math.floor;
  const first = round((from ?? left) / size);
  if (to === undefined) return `empty in > ${first} ${symbol}`;
  const last = round(to / size);
  return `empty in ${first === last ? first : `${first}–${last}`} ${symbol}`;
}

/** Undefined: that is not known, or in more than three years. */
const timeUntil = (at: unknown): number | undefined =>
  typeof at === "string" ? Math.max(0, Date.parse(at) - Date.now()) : undefined;

function ageText(seconds: unknown, silent: unknown): string | null {
  const text = age(seconds);
  return text !== null && silent === true ? `${text} silent` : text;
}

export const csvRow = (entry: FleetEntry): Readonly<Record<string, unknown>> =>
  Object.fromEntries(CSV_COLUMNS.map(([name, cell]) => [name, cell(entry)]));

const tankIn = ({ tank }: Item): Item => (isObject(tank) ? tank : {});

/** Rounded down: a delivery must fit. */
export function roomText({ room }: Item): string | null {
  return isObject(room) ? `${Math.floor(Number(room["volume"]))} ${room["unit"]}` : null;
}

/** What the room, as it is shown, leaves of the capacity: the two add up. */
export function remainingText({ remaining, room }: Item): string | null {
  if (!isObject(remaining) || !isObject(room)) return null;
  const free = Number(room["volume"]);
  // Sums of fractions may be slightly too small.
  const capacity = Number(remaining["volume"]) + free + 1e-6;
  return `${Math.floor(capacity) - Math.floor(free)} ${remaining["unit"]}`;
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
