// The fleet as CSV: one line a tank. Volumes and times are as `tank-monitor fleet --csv` writes them.

import type { FleetTank } from "../../../client/src/index.ts";
import { isRefillUnconfirmed } from "../components/tank-state.ts";
import { streetLine } from "../format.ts";

export const FORMATS = ["comma", "semicolon", "tab"] as const;
export type Format = (typeof FORMATS)[number];

const SEPARATORS: Readonly<Record<Format, string>> = { comma: ",", semicolon: ";", tab: "\t" };

/** `2026-11-17 19:12`, in local time: Swedish is written as ISO 8601, which every spreadsheet reads. */
const TIME = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });

const rounded = (volume: number | undefined): number | undefined =>
  volume === undefined ? undefined : Number(volume.toFixed(2));

type Cell = string | number | null | undefined;

const timeOf = (at: string | null | undefined): Cell => (at == null ? null : TIME.format(new Date(at)));
const emptyAt = (entry: FleetTank, by: "p10" | "p50" | "p90"): Cell =>
  isRefillUnconfirmed(entry) ? null : timeOf(entry.forecast.runs_empty_at[by]);

const COLUMNS: readonly (readonly [name: string, cell: (entry: FleetTank) => Cell])[] = [
  ["tank", ({ tank }) => tank.name],
  ["tank_id", ({ tank }) => tank.id],
  ["custom_id", ({ tank }) => tank.custom_id],
  ["device", ({ tank }) => tank.assigned_device_id],
  ["customer", ({ customer }) => customer.name],
  ["phone", ({ customer }) => customer.phone],
  ["street", ({ tank }) => streetLine(tank.location)],
  ["postal_code", ({ tank }) => tank.location.postal_code],
  ["city", ({ tank }) => tank.location.city],
  ["country", ({ tank }) => tank.location.country],
  ["state", ({ state }) => state],
  ["alerts", ({ alerts }) => alerts.map(({ kind }) => kind).join(" ")],
  ["fill_percentage", ({ latest }) => latest?.fill_percentage],
  ["threshold", ({ tank }) => tank.min_fill_alert_percentage],
  ["capacity", ({ tank }) => tank.capacity],
  ["remaining", ({ remaining }) => remaining?.volume],
  ["room", ({ room }) => room?.volume],
  ["unit", ({ tank }) => tank.capacity_unit],
  ["use_per_day", ({ forecast }) => rounded(forecast.use_per_day?.volume)],
  ["days_left_p10", ({ days_left }) => days_left?.p10],
  ["days_left", ({ days_left }) => days_left?.p50],
  ["days_left_p90", ({ days_left }) => days_left?.p90],
  ["runs_empty_at_p10", (entry) => emptyAt(entry, "p10")],
  ["runs_empty_at_p50", (entry) => emptyAt(entry, "p50")],
  ["runs_empty_at_p90", (entry) => emptyAt(entry, "p90")],
  ["latest_reading", ({ latest }) => timeOf(latest?.created_at)],
];

export const csvHeader = (format: Format): string => COLUMNS.map(([name]) => name).join(SEPARATORS[format]);

export const csvRow = (entry: FleetTank, format: Format): string =>
  COLUMNS.map(([, cell]) => textOf(cell(entry), format)).join(SEPARATORS[format]);

function textOf(cell: Cell, format: Format): string {
  if (typeof cell === "number") return format === "semicolon" ? String(cell).replace(".", ",") : String(cell);
  const text = escapeFormula(cell ?? "");
  return /["\r\n,;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A spreadsheet would calculate what begins like a formula: names come from others. Phone numbers stay as they are, as in src/ingest/csv.ts. */
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const ONLY_DIGITS = /^[+-][\d ()./-]*$/;
const escapeFormula = (text: string): string => (FORMULA.test(text) && !ONLY_DIGITS.test(text) ? `'${text}` : text);
