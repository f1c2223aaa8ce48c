// tank-monitor backtest

import { basename } from "node:path";
import {
  type Backtest,
  type BacktestTank,
  backtestTank,
  type Figures,
  MAX_LATE_DAYS,
  MIN_HISTORY,
  summarize,
  type TankOutcomes,
} from "../domain/forecast/backtest.ts";
import type { Level } from "../domain/forecast/variation.ts";
import { DAY } from "../domain/instant.ts";
import type { Store } from "../domain/store.ts";
import { MAX_READINGS } from "../forecast/due-forecasts.ts";
import { type CliCommand, configOf, decimalMark, numberFlag, text, valueFlags, wholeNumberFlag, withStore } from "./command.ts";
import { readLevels } from "./level-files.ts";
import { type Column, counted, ProgressBar, print, printMessage, Table } from "./output.ts";

const HORIZON = { default: 30, minimum: 1, maximum: 365 } as const;
const LATITUDE = 48;
/** At most this many tanks are backtested, evenly distributed over the fleet. */
const MAX_TANKS = 1000;

export const backtest: CliCommand = {
  name: "backtest",
  summary: "measure the error that forecasts would have had",
  usage: "[--horizon 30] [--latitude 48] [--decimal-comma | --decimal-point] [--json] [FILE.csv…]",
  help: `Compute the forecast for every past day from the readings of that day and the 730 days before it, compare it with the readings
that followed, and do the same with the 14-day average. Without files, use the tanks of the database (at most ${MAX_TANKS.toLocaleString("en")}, evenly distributed). A file is one
tank: lines of date,percent with a date or datetime, written as for import (UTC if it has no offset), and a fill from 0 to 100.

  --horizon DAYS       how many days ahead (${HORIZON.default})
  --latitude DEGREES   latitude of tanks that have none: decides when it is winter. By default it is ${LATITUDE} for files; tanks of the
                       database without one have no season, as in their forecasts
  --decimal-comma      numbers in the files are written as 62,5
  --decimal-point      numbers in the files are written as 62.5
  --json               print one object, with each tank under tanks_detail

Errors are in percentage points and in days. docs/forecasts.md defines them.`,
  maxArguments: Number.POSITIVE_INFINITY,
  flags: {
    ...valueFlags("horizon", "latitude"),
    "decimal-comma": { type: "boolean" },
    "decimal-point": { type: "boolean" },
    json: { type: "boolean" },
  },
  async run(call) {
    const horizon = wholeNumberFlag(call, "horizon", HORIZON.default, HORIZON.minimum, HORIZON.maximum);
    const latitude = numberFlag(call, "latitude", LATITUDE, -90, 90);
    const decimal = decimalMark(call);
    const results: TankOutcomes[] = [];
    using progress = new ProgressBar("backtesting");
    let longest = 0;
    const run = (tank: BacktestTank, total: number): void => {
      longest = Math.max(longest, ((tank.readings.at(-1)?.at ?? 0) - (tank.readings[0]?.at ?? 0)) / DAY);
      results.push(backtestTank(tank, horizon));
      progress.show(results.length, total, counted(results.length, "tank"));
    };
    if (call.arguments.length > 0) {
      const names = namesOf(call.arguments);
      for (const [i, file] of call.arguments.entries()) {
        const readings = await readLevels(file, decimal);
        run({ name: names[i] ?? file, readings, latitude, use_case: null }, call.arguments.length);
      }
    } else {
      const defaultLatitude = text(call, "latitude") === undefined ? null : latitude;
      await withStore(configOf(call), (store) => backtestDatabase(store, defaultLatitude, run));
    }
    progress.end();
    const result = summarize(results, horizon);
    if (call.flags["json"] === true) print(JSON.stringify(result, rounded));
    else printFigures(result, longest);
    return 0;
  },
};

/** Files in different folders may have the same name: those are called by their path. */
function namesOf(files: readonly string[]): string[] {
  const names = files.map((file) => basename(file).replace(/\.csv$/i, ""));
  return names.map((name, i) => (names.indexOf(name) === names.lastIndexOf(name) ? name : (files[i] ?? name)));
}

/** Streams a snapshot of the database: tanks come before readings, and the readings of a tank together. `latitude`: of tanks without one. */
async function backtestDatabase(
  store: Store,
  latitude: number | null,
  run: (tank: BacktestTank, total: number) => void,
): Promise<void> {
  const tanks = new Map<string, Omit<BacktestTank, "readings">>();
  let chosen: ReadonlySet<string> | undefined;
  let current: { readonly id: string; readonly readings: Level[] } | undefined;
  const finish = (): void => {
    const tank = tanks.get(current?.id ?? "");
    if (current === undefined || tank === undefined) return;
    run({ ...tank, readings: current.readings.slice(-MAX_READINGS) }, chosen?.size ?? 0);
  };
  for await (const record of store.exportRecords()) {
    if (record.kind === "tank" && !record.deleted) {
      const { id, location, use_case } = record.tank;
      tanks.set(id, { name: id, latitude: location.latitude ?? latitude, use_case });
    }
    if (record.kind === "damaged") printMessage(`left out: ${record.what}`);
    if (record.kind !== "readings") continue;
    chosen ??= evenly([...tanks.keys()], MAX_TANKS);
    if (!chosen.has(record.tankId)) continue;
    if (current?.id !== record.tankId) {
      finish();
      current = { id: record.tankId, readings: [] };
    }
    for (const { created_at, fill_percentage } of record.readings) {
      current.readings.push({ at: created_at, fill: fill_percentage });
    }
    if (current.readings.length >= 2 * MAX_READINGS) current.readings.splice(0, MAX_READINGS);
  }
  finish();
}

function evenly(ids: readonly string[], count: number): ReadonlySet<string> {
  const step = Math.max(1, ids.length / count);
  return new Set(ids.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step)));
}

const rounded = (_name: string, value: unknown): unknown => (typeof value === "number" ? Math.round(value * 1e4) / 1e4 : value);

/** `longest`: the most days between the first and the last reading of a tank. */
function printFigures(result: Backtest, longest: number): void {
  const { horizon_days, tanks, origins, skipped, tanks_detail } = result;
  print(`${counted(tanks, "tank")}, ${counted(origins, "forecast")} of the level ${counted(horizon_days, "day")} ahead.`);
  if (skipped > 0)
    print(
      `On ${counted(skipped, "more day")} there was no forecast, or no 14-day average to compare it with: too little data, or no use.`,
    );
  if (origins === 0) {
    if (skipped > 0) return;
    const needed = MIN_HISTORY + horizon_days;
    printMessage(
      `No day had a reading ${horizon_days} to ${horizon_days + MAX_LATE_DAYS} days later without a refill in between. A tank needs at least ${needed} days of readings without a refill: ${MIN_HISTORY} before a forecast, and ${horizon_days} after it (--horizon); with weekly readings, use a multiple of 7, such as --horizon 28. The longest history has ${counted(Math.floor(longest), "day")}.`,
    );
    return;
  }
  print("");
  for (const line of new Table(SUMMARY).lines(summaryOf(result))) print(line);
  print(`\nWithin the 10–90 % range: ${percent(result.inside_range)} (ideal: 80 %).`);
  if (tanks < 2) return;
  print("");
  for (const line of new Table(DETAIL).lines(tanks_detail)) print(line);
}

type SummaryRow = { readonly what: string; readonly forecast: string | null; readonly average: string | null };
const SUMMARY: readonly Column<SummaryRow>[] = [
  { title: "ERROR", cell: ({ what }) => what },
  { title: "FORECAST", cell: ({ forecast }) => forecast, alignRight: true },
  { title: "14-DAY AVERAGE", cell: ({ average }) => average, alignRight: true },
];

function summaryOf(figures: Figures): SummaryRow[] {
  const { level_error, level_error_14_day_average, day_error, day_error_14_day_average } = figures;
  const row = (what: string, forecast: number | undefined | null, average: number | undefined | null): SummaryRow => ({
    what,
    forecast: fixed(forecast),
    average: fixed(average),
  });
  return [
    row("level, mean (points)", figures.mean_absolute_error, figures.mean_absolute_error_14_day_average),
    row("level, median", level_error?.median, level_error_14_day_average?.median),
    row("level, 90 % below", level_error?.p90, level_error_14_day_average?.p90),
    row("day it runs low, median (days)", day_error?.median, day_error_14_day_average?.median),
    row("day it runs low, 90 % below", day_error?.p90, day_error_14_day_average?.p90),
    { what: "level, mean ÷ mean of average", forecast: fixed(figures.ratio), average: "1.00" },
  ];
}

const DETAIL: readonly Column<Backtest["tanks_detail"][number]>[] = [
  { title: "TANK", cell: ({ name }) => name, maxWidth: 40 },
  { title: "FORECASTS", cell: ({ origins }) => origins, alignRight: true },
  { title: "ERROR", cell: ({ mean_absolute_error }) => fixed(mean_absolute_error), alignRight: true },
  { title: "14-DAY AVERAGE", cell: (tank) => fixed(tank.mean_absolute_error_14_day_average), alignRight: true },
  { title: "RATIO", cell: ({ ratio }) => fixed(ratio), alignRight: true },
  { title: "IN RANGE", cell: ({ inside_range }) => percent(inside_range), alignRight: true },
];

const fixed = (value: number | null | undefined): string | null => value?.toFixed(2) ?? null;
const percent = (share: number | null): string | null => (share === null ? null : `${Math.round(share * 100)} %`);
