// Accuracy of forecasts, refills and leaks on a simulated fleet whose actual events are known.

import { computeForecast } from "../../src/forecast/compute.ts";
import { tankRecord } from "../../test/support/records.ts";
import { scoreLeak, scoreRefills } from "../../test/support/simulated-tanks/detection.ts";
import { backtest, forecast } from "../../test/support/simulated-tanks/forecast.ts";
import { simulatedFleet } from "../../test/support/simulated-tanks/tank-fleet.ts";
import { type TankHistory, tankHistory } from "../../test/support/simulated-tanks/tank-history.ts";
import { type Bench, log } from "../bench.ts";
import type { Figure, Measured } from "../figure.ts";
import { median } from "../measure/sampling.ts";

const DAY = 86_400_000;
const HOUR = DAY / 24;
const START = Date.parse("2023-07-01");
const DAYS = 730;
/** Points a day. Leaks begin after a year. */
const LEAK = { afterDay: 365, perDay: 1 } as const;
const HORIZONS = [30, 60] as const;
/** For errors of forecasts. Each has weather of its own: a single one is mild or hard for all tanks of a region. */
const FLEETS = 8;
/** The range is that of 80 %. */
const INSIDE = { atLeast: 0.75, atMost: 0.85 } as const;
/** Heating tanks, of each of which a forecast is computed in every round. */
const TIMED_TANKS = 50;
const TIMED_ROUNDS = 20;

export const forecasts: Figure = {
  name: "forecasts",
  about: "refills, leaks and forecasts of a simulated fleet, against the truth",
  rows: [
    { name: "refills-found", label: "refills found, simulated, as a share", unit: "", aim: { atLeast: 0.99 } },
    { name: "refills-false", label: "false refills in 10 tank-years, simulated", unit: "", aim: { atMost: 1 } },
    {
      name: "leaks-found",
      label: "leaks of 1 % a day found within 7 days, simulated, of tanks that use up to 0.5 % a day, as a share",
      unit: "",
    },
    { name: "leaks-found-high-use", label: "… of tanks that use 0.5 to 1 % a day", unit: "" },
    { name: "leaks-found-any-use", label: "… of all tanks that are read at least daily", unit: "", aim: { atLeast: 0.95 } },
    { name: "leaks-false", label: "false leak alerts in 20 tank-years, simulated", unit: "", aim: { atMost: 1 } },
    {
      name: "forecast-error-30",
      label: "error of the level 30 days ahead ÷ that of the 14-day average, simulated heating",
      unit: "×",
      aim: { atMost: 0.6 },
    },
    { name: "forecast-error-60", label: "… 60 days ahead", unit: "×", aim: { atMost: 0.5 } },
    {
      name: "forecast-inside-30",
      label: "outcomes inside the 10–90 % range, 30 days ahead, simulated heating, as a share",
      unit: "",
      aim: INSIDE,
    },
    { name: "forecast-inside-60", label: "… 60 days ahead", unit: "", aim: INSIDE },
    {
      name: "forecast-time",
      label: "one forecast from a year of 4-hourly readings, in process, median",
      unit: "ms",
      aim: { atMost: 1 },
    },
    { name: "forecast-time-job", label: "… with the search for leaks, as the job computes it", unit: "ms" },
  ],
  async run({ scale }: Bench) {
    const { simulatedTanks, backtestedTanks } = scale;
    log(`forecasts: ${simulatedTanks} simulated tanks, ${FLEETS} times ${backtestedTanks} for forecasts, ${DAYS} days each`);
    const scores = [...refillRows(simulatedTanks), ...leakRows(simulatedTanks), ...forecastRows(backtestedTanks)];
    return { rows: [...scores, ...timeRows()] };
  },
};

function refillRows(tanks: number): Measured[] {
  let [deliveries, found, falseRefills] = [0, 0, 0];
  for (const history of simulatedFleet({ seed: "bench refills", tanks, start: START, days: DAYS })) {
    const score = scoreRefills(history);
    deliveries += score.deliveries;
    found += score.found;
    falseRefills += score.falseRefills;
  }
  const years = (tanks * DAYS) / 365;
  return [
    {
      row: "refills-found",
      value: found / deliveries,
      raw: [{ label: "deliveries, found", unit: "", values: [deliveries, found] }],
    },
    {
      row: "refills-false",
      value: (10 * falseRefills) / years,
      raw: [{ label: "tank-years, false refills", unit: "", values: [years, falseRefills] }],
    },
  ];
}

function leakRows(tanks: number): Measured[] {
  const [low, high, any]: [boolean[], boolean[], boolean[]] = [[], [], []];
  let [falseAlerts, years] = [0, 0];
  for (const history of simulatedFleet({ seed: "bench leaks", tanks, start: START, days: DAYS, leak: LEAK })) {
    const { isFound, usePerDay, falseAlerts: alerts } = scoreLeak(history);
    falseAlerts += alerts;
    years += ((history.leak?.from ?? START) - START) / DAY / 365;
    if (isFound === undefined) continue;
    any.push(isFound);
    // Generators, which use nothing on most days, would not be of the class that their average says.
    if (history.use === "generator" || usePerDay > 1) continue;
    (usePerDay <= 0.5 ? low : high).push(isFound);
  }
  const share = (row: string, found: readonly boolean[]): Measured => ({
    row,
    value: found.filter(Boolean).length / Math.max(1, found.length),
    raw: [{ label: "leaks, found", unit: "", values: [found.length, found.filter(Boolean).length] }],
  });
  return [
    share("leaks-found", low),
    share("leaks-found-high-use", high),
    share("leaks-found-any-use", any),
    {
      row: "leaks-false",
      value: (20 * falseAlerts) / years,
      raw: [{ label: "tank-years without a leak, false alerts", unit: "", values: [Math.round(years), falseAlerts] }],
    },
  ];
}

function forecastRows(tanks: number): Measured[] {
  const isHeating = ({ use }: TankHistory): boolean => use === "heating" || use === "heating_and_water" || use === "commercial";
  const seeds = Array.from({ length: FLEETS }, (_, i) => `bench forecasts ${i + 1}`);
  const histories = seeds.flatMap((seed) => [...simulatedFleet({ seed, tanks, start: START, days: DAYS })].filter(isHeating));
  return HORIZONS.flatMap((horizon): Measured[] => {
    const { ratio, inside_range, origins, mean_absolute_error, mean_absolute_error_14_day_average } = backtest(
      histories.map(({ readings, latitude, use }, i) => ({
        name: `${i}`,
        readings,
        latitude,
        use_case: use === "commercial" ? "commercial" : "residential",
      })),
      horizon,
    );
    return [
      {
        row: `forecast-error-${horizon}`,
        value: ratio ?? Number.NaN,
        raw: [
          { label: "origins", unit: "", values: [origins] },
          {
            label: "mean absolute error, and that of the 14-day average",
            unit: "points",
            values: [mean_absolute_error ?? Number.NaN, mean_absolute_error_14_day_average ?? Number.NaN],
          },
        ],
      },
      {
        row: `forecast-inside-${horizon}`,
        value: inside_range ?? Number.NaN,
        raw: [{ label: "tanks, origins", unit: "", values: [histories.length, origins] }],
      },
    ];
  });
}

function timeRows(): Measured[] {
  const inputs = Array.from({ length: TIMED_TANKS }, (_, i) => {
    const seed = `bench forecast time/${i}`;
    return tankHistory({ seed, use: "heating", latitude: 48, start: START, days: 365, interval: 4 * HOUR });
  }).map(({ readings, latitude }) => {
    const record = tankRecord("timed", "owner", { location: { latitude }, use_case: "residential" });
    if (!("tank" in record)) throw new Error("not a tank");
    const { tank } = record;
    const now = readings.at(-1)?.at ?? START;
    const parts = [
      { instants: Float64Array.from(readings, ({ at }) => at), fills: Float64Array.from(readings, ({ fill }) => fill) },
    ];
    const { capacity, capacity_unit, use_case, min_fill_alert_percentage: threshold } = tank;
    const input = { readings, latitude, use_case, threshold, capacity, capacity_unit, now };
    return { input, task: { tank, latestAt: now, latestFill: readings.at(-1)?.fill ?? 0, parts, now } };
  });
  const measured = (row: string, work: (input: (typeof inputs)[number]) => unknown): Measured => {
    const time = (input: (typeof inputs)[number]): number => {
      const started = performance.now();
      work(input);
      return performance.now() - started;
    };
    // The first rounds warm up.
    const rounds = Array.from({ length: 2 * TIMED_ROUNDS }, () => inputs.map(time)).slice(TIMED_ROUNDS);
    const medians = rounds.map(median);
    const raw = [{ label: `${TIMED_TANKS} forecasts, median of a round`, unit: "ms", values: medians }];
    return { row, value: median(rounds.flat()), spread: [Math.min(...medians), Math.max(...medians)], raw };
  };
  return [
    measured("forecast-time", ({ input }) => forecast(input)),
    measured("forecast-time-job", ({ task }) => computeForecast(task)),
  ];
}
