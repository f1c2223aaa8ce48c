// The columns of the fleet as CSV: in the export of the dashboard, and in `tank-monitor fleet --csv`.

import type { FleetTank } from "../../../client/src/index.ts";
import { isRefillUnconfirmed } from "../components/tank-state.ts";

type Optional<T> = T extends object ? { readonly [Name in keyof T]?: Optional<T[Name]> } : T;
/** Services of other versions may not send every field. */
export type FleetEntry = Optional<FleetTank>;

export type Cell = string | number | boolean | null | undefined;
type Column = readonly [name: string, cell: (entry: FleetEntry) => Cell];

/** `2026-11-17 19:12`, in local time: Swedish is written as ISO 8601, which every spreadsheet reads. */
const TIME = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });

const timeOf = (at: string | null | undefined): Cell => (at == null ? null : TIME.format(new Date(at)));

const rounded = (volume: number | null | undefined): Cell => (volume == null ? null : Number(volume.toFixed(2)));

type Part = "p10" | "p50" | "p90";
const range = (name: string, cell: (entry: FleetEntry, part: Part) => Cell): Column[] =>
  (["p10", "p50", "p90"] as const).map((part) => [`${name}_${part}`, (entry) => cell(entry, part)]);

/** Undefined if the forecast was made before a refill. */
const current = (entry: FleetEntry): FleetEntry["forecast"] => (isRefillUnconfirmed(entry) ? undefined : entry.forecast);

export const CSV_COLUMNS: readonly Column[] = [
  ["tank_id", ({ tank }) => tank?.id],
  ["name", ({ tank }) => tank?.name],
  ["custom_id", ({ tank }) => tank?.custom_id],
  ["device", ({ tank }) => tank?.assigned_device_id],
  ["customer_id", ({ tank }) => tank?.owner_id],
  ["customer", ({ customer }) => customer?.name],
  ["phone", ({ customer }) => customer?.phone],
  ["street", ({ tank }) => tank?.location?.street],
  ["street_number", ({ tank }) => tank?.location?.street_number],
  ["postal_code", ({ tank }) => tank?.location?.postal_code],
  ["district", ({ tank }) => tank?.location?.district],
  ["city", ({ tank }) => tank?.location?.city],
  ["region", ({ tank }) => tank?.location?.region],
  ["country", ({ tank }) => tank?.location?.country],
  ["latitude", ({ tank }) => tank?.location?.latitude],
  ["longitude", ({ tank }) => tank?.location?.longitude],
  ["state", ({ state }) => state],
  ["silent", ({ silent }) => silent],
  ["alerts", ({ alerts }) => alerts?.map((alert) => alert?.kind).join(" ")],
  ["fill_percentage", ({ latest }) => latest?.fill_percentage],
  ["threshold", ({ tank }) => tank?.min_fill_alert_percentage],
  ["margin", ({ margin }) => margin],
  ["measured_at", ({ latest }) => timeOf(latest?.created_at)],
  [
    "age_seconds",
    ({ latest }) => latest?.created_at && Math.max(0, Math.floor((Date.now() - Date.parse(latest.created_at)) / 1000)),
  ],
  ["capacity", ({ tank }) => tank?.capacity],
  ["remaining", ({ remaining }) => remaining?.volume],
  ["room", ({ room }) => room?.volume],
  ["unit", ({ tank }) => tank?.capacity_unit],
  ["use_per_day", ({ forecast }) => rounded(forecast?.use_per_day?.volume)],
  ...range("days_left", ({ days_left }, part) => days_left?.[part]),
  ...range("runs_low_at", (entry, part) => timeOf(current(entry)?.runs_low_at?.[part])),
  ...range("runs_empty_at", (entry, part) => timeOf(current(entry)?.runs_empty_at?.[part])),
  ["forecast_state", ({ forecast }) => forecast?.state],
  ["delivery_by", (entry) => timeOf(current(entry)?.suggested_delivery?.by)],
  ["delivery_volume", (entry) => rounded(current(entry)?.suggested_delivery?.volume)],
];
