// How heating use is distributed over the year, from the latitude alone: expected heating degree days of a typical climate.
// A tank's own readings then decide how much of its use follows this.

import type { UseCase } from "../tank.ts";

export type Season = {
  /** Heating from the beginning of 1970 to a time in days, in average days: a year has 365.2425 of them. */
  readonly heatingUntil: (day: number) => number;
  /** The share of days around a time, in days since 1970, on which buildings are heated. */
  readonly heatingShareOn: (day: number) => number;
  /** 1 where winters are cold, less where they are mild, and 0 where nothing is known of them. */
  readonly heatingWeight: number;
  /** The share of a tank's yearly use that is expected not to depend on the weather, before its readings say otherwise. */
  readonly baseShare: number;
};

const YEAR = 365.2425;
/** The coldest day of the year north of the equator, in days after January 1. */
const COLDEST = 17;
/** The outdoor temperature below which buildings are heated, and how far days differ from their mean temperature. °C. */
const HEATING_LIMIT = 15;
const DAILY_DEVIATION = 4;
/** Hot water, cooking, processes. */
const BASE_SHARE: Readonly<Record<UseCase, number>> = { residential: 0.3, commercial: 0.4, industrial: 0.9 };
const UNKNOWN_BASE_SHARE = 0.3;
/** Where a year has fewer degree days a day on average than this, there is less heating. */
const MILD = 2;

/** Without a latitude, use is the same all year. */
export function seasonAt(latitude: number | null, useCase: UseCase | null): Season {
  const baseShare = useCase === null ? UNKNOWN_BASE_SHARE : BASE_SHARE[useCase];
  if (latitude === null) return { heatingUntil: (day) => day, heatingShareOn: () => 0, heatingWeight: 0, baseShare: 1 };
  const { cumulative, shares, mean } = climateAt(Math.round(latitude));
  const heatingWeight = Math.min(1, mean / MILD);
  return {
    heatingUntil(day) {
      const years = day / YEAR;
      const year = Math.floor(years);
      const position = (years - year) * STEPS;
      const step = Math.floor(position);
      const before = cumulative[step] ?? 0;
      const after = cumulative[step + 1] ?? YEAR;
      return year * YEAR + before + (position - step) * (after - before);
    },
    heatingShareOn(day) {
      const years = day / YEAR;
      return shares[Math.floor((years - Math.floor(years)) * STEPS)] ?? 0;
    },
    heatingWeight,
    baseShare: 1 - (1 - baseShare) * heatingWeight,
  };
}

const STEPS = 366;
type Climate = { readonly cumulative: Float64Array; readonly shares: Float64Array; readonly mean: number };
const climates = new Map<number, Climate>();

function climateAt(latitude: number): Climate {
  const known = climates.get(latitude);
  if (known !== undefined) return known;
  const colder = Array.from({ length: STEPS }, (_, step) => degreesBelowLimit(latitude, ((step + 0.5) / STEPS) * YEAR));
  const degreeDays = colder.map(expectedDegreeDays);
  const mean = degreeDays.reduce((sum, value) => sum + value, 0) / STEPS;
  const cumulative = new Float64Array(STEPS + 1);
  degreeDays.forEach((value, step) => {
    cumulative[step + 1] = (cumulative[step] ?? 0) + (mean > 0 ? value / mean : 1) * (YEAR / STEPS);
  });
  const climate = { cumulative, shares: Float64Array.from(colder, normalShareBelow), mean };
  climates.set(latitude, climate);
  return climate;
}

/** How far below the limit a day of the year is on average, in units of how far days differ. */
function degreesBelowLimit(latitude: number, dayOfYear: number): number {
  const distance = Math.abs(latitude);
  const coldest = latitude < 0 ? COLDEST + YEAR / 2 : COLDEST;
  const yearly = 35 * Math.cos((distance * Math.PI) / 180) ** 2 - 6;
  const temperature = yearly - 0.2 * distance * Math.cos((2 * Math.PI * (dayOfYear - coldest)) / YEAR);
  return (HEATING_LIMIT - temperature) / DAILY_DEVIATION;
}

/** The mean of max(0, limit − temperature) over a normal distribution of temperatures. */
function expectedDegreeDays(z: number): number {
  return DAILY_DEVIATION * (z * normalShareBelow(z) + Math.exp(-(z ** 2) / 2) / Math.sqrt(2 * Math.PI));
}

/** Logistic approximation of the normal distribution; its error is below 0.0002. */
function normalShareBelow(z: number): number {
  return 1 / (1 + Math.exp(-(1.5976 * z + 0.07056 * z ** 3)));
}
