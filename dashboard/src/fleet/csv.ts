// The fleet as CSV, one line a tank, with the columns of `tank-monitor fleet --csv`.

import type { FleetTank } from "../../../client/src/index.ts";
import { isRefillUnconfirmed } from "../components/tank-state.ts";

export const FORMATS = ["comma", "semicolon", "tab"] as const;
export type Format = (typeof FORMATS)[number];

const SEPARATORS: Readonly<Record<Format, string>> = { comma: ",", semicolon: ";", tab: "\t" };

/** `2026-11-17 19:12`, in local time: Swedish is written as ISO 8601, which every spreadsheet reads. */
const TIME = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });

const rounded = (volume: number | undefined): number | undefined =>
  volume === undefined ? undefined : Number(volume.toFixed(2));

type Cell = string | number | boolean | null | undefined;
type Column = readonly [name: string, cell: (entry: FleetTank) => Cell];

const timeOf = (at: string | null | undefined): Cell => (at == null ? null : TIME.format(new Date(at)));

type Part = "p10" | "p50" | "p90";
const range = (name: string, cell: (entry: FleetTank, part: Part) => Cell): Column[] =>
  (["p10", "p50", "p90"] as const).map((part) => [`${name}_${part}`, (entry) => cell(entry, part)]);

/** Not that from before a refill. */
const current = (entry: FleetTank): FleetTank["forecast"] | undefined =>
  isRefillUnconfirmed(entry) ? undefined : entry.forecast;

const COLUMNS: readonly Column[] = [
  ["tank_id", ({ tank }) => tank.id],
  ["name", ({ tank }) => tank.name],
  ["custom_id", ({ tank }) => tank.custom_id],
  ["device", ({ tank }) => tank.assigned_device_id],
  ["customer_id", ({ tank }) => tank.owner_id],
  ["customer", ({ customer }) => customer.name],
  ["phone", ({ customer }) => customer.phone],
  ["street", ({ tank }) => tank.location.street],
  ["street_number", ({ tank }) => tank.location.street_number],
  ["postal_code", ({ tank }) => tank.location.postal_code],
  ["district", ({ tank }) => tank.location.district],
  ["city", ({ tank }) => tank.location.city],
  ["region", ({ tank }) => tank.location.region],
  ["country", ({ tank }) => tank.location.country],
  ["latitude", ({ tank }) => tank.location.latitude],
  ["longitude", ({ tank }) => tank.location.longitude],
  ["state", ({ state }) => state],
  ["silent", ({ silent }) => silent],
  ["alerts", ({ alerts }) => alerts.map(({ kind }) => kind).join(" ")],
  ["fill_percentage", ({ latest }) => latest?.fill_percentage],
  ["threshold", ({ tank }) => tank.min_fill_alert_percentage],
  ["margin", ({ margin }) => margin],
  ["measured_at", ({ latest }) => timeOf(latest?.created_at)],
  ["age_seconds", ({ age_seconds }) => age_seconds],
  ["capacity", ({ tank }) => tank.capacity],
  ["remaining", ({ remaining }) => remaining?.volume],
  ["room", ({ room }) => room?.volume],
  ["unit", ({ tank }) => tank.capacity_unit],
  ["use_per_day", ({ forecast }) => rounded(forecast.use_per_day?.volume)],
  ...range("days_left", ({ days_left }, part) => days_left?.[part]),
  ...range("runs_low_at", (entry, part) => timeOf(current(entry)?.runs_low_at[part])),
  ...range("runs_empty_at", (entry, part) => timeOf(current(entry)?.runs_empty_at[part])),
  ["forecast_state", ({ forecast }) => forecast.state],
  ["delivery_by", (entry) => timeOf(current(entry)?.suggested_delivery?.by)],
  ["delivery_volume", (entry) => rounded(current(entry)?.suggested_delivery?.volume)],
];

export const csvHeader = (format: Format): string => COLUMNS.map(([name]) => name).join(SEPARATORS[format]);

export const csvRow = (entry: FleetTank, format: Format): string =>
  COLUMNS.map(([, cell]) => textOf(cell(entry), format)).join(SEPARATORS[format]);

function textOf(cell: Cell, format: Format): string {
  if (typeof cell === "number") return format === "semicolon" ? String(cell).replace(".", ",") : String(cell);
  const text = escapeFormula(String(cell ?? ""));
  return /["\r\n,;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A spreadsheet would calculate what begins like a formula: names come from others. Phone numbers stay as they are, as in src/ingest/csv.ts. */
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const ONLY_DIGITS = /^[+-][\d ()./-]*$/;
const escapeFormula = (text: string): string => (FORMULA.test(text) && !ONLY_DIGITS.test(text) ? `'${text}` : text);
