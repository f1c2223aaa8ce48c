// Numbers, times and places in words. Numbers and times are as in the language of the browser.

import { signal } from "@preact/signals";
import type { FleetTank } from "../../client/src/index.ts";

export const DAY_MS = 86_400_000;

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** For numbers and times. A language written from right to left would change the order of the English words around them. */
export const LOCALE = RIGHT_TO_LEFT.test(new Date().toLocaleDateString([], { dateStyle: "long" })) ? "en-GB" : undefined;

const PERCENT = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1, minimumFractionDigits: 1 });
const WHOLE = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const DATE = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium" });
const TIME_OF_DAY = new Intl.DateTimeFormat(LOCALE, { timeStyle: "short" });
const DATE_TIME = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" });

/** No line ends between a number and its unit. */
const SPACE = "\u00a0";

export const percent = (value: number): string => `${PERCENT.format(value)}${SPACE}%`;
export const whole = (value: number): string => WHOLE.format(value);
/** Thresholds are whole numbers. */
export const thresholdPercent = (value: number): string => `${whole(value)}${SPACE}%`;
export const date = (at: string | number): string => DATE.format(new Date(at));
export const timeOfDay = (at: string | number): string => TIME_OF_DAY.format(new Date(at));
export const dateTime = (at: string | number): string => DATE_TIME.format(new Date(at));

/**
 * The end of something. The start of a day is the end of the day before: nobody reads "25 Dec, 00:00" as the end of the 24th. Where
 * clocks change at midnight, a day may start at 01:00.
 */
export function untilDate(at: string): string {
  const end = new Date(at);
  const startOfDay = new Date(end.getFullYear(), end.getMonth(), end.getDate());
  return startOfDay.getTime() === end.getTime() ? `the end of ${date(end.getTime() - 1)}` : dateTime(at);
}

/** A text of the service, with its times as the person writes them: "since 18 Nov 2026, 08:14" for "since 2026-11-18T07:14:00.000Z". */
export const withLocalTimes = (text: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (at) => dateTime(at));

/** The date of the person's calendar, as an input of type date has it: "2026-11-14". */
export const localDate = (at: Date): string =>
  [at.getFullYear(), String(at.getMonth() + 1).padStart(2, "0"), String(at.getDate()).padStart(2, "0")].join("-");

type Range = { readonly p10: number | null; readonly p90: number | null };

/** "9–17"; one number where both ends are the same. */
export function rangeOf({ p10, p90 }: Range, unlimited: string, between = "–"): string {
  const [from, to] = [whole(p10 ?? 0), p90 === null ? unlimited : whole(p90)];
  return from === to ? from : from + between + to;
}

const UNITS = { liters: "l", gallons: "gal" } as const;

export function volume(given: { readonly volume: number; readonly unit: keyof typeof UNITS }): string {
  return `${whole(given.volume)}${SPACE}${UNITS[given.unit]}`;
}

const MILLIONS = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 1 });

/** Fits a column: millions are "87M l". */
export const shortVolume = (given: Parameters<typeof volume>[0]): string =>
  given.volume < 1e6 ? volume(given) : `${MILLIONS.format(given.volume)}${SPACE}${UNITS[given.unit]}`;

const SECONDS = { day: 86_400, h: 3_600, min: 60 } as const;

/** As short as can be read at a glance: "5 min", "3 h", "2 days". */
export function duration(seconds: number): string {
  if (seconds < SECONDS.min) return "now";
  if (seconds < SECONDS.h) return `${Math.floor(seconds / SECONDS.min)} min`;
  if (seconds < 2 * SECONDS.day) return `${Math.floor(seconds / SECONDS.h)} h`;
  return `${whole(Math.floor(seconds / SECONDS.day))} days`;
}

/** The current time. It changes every minute, so that ages and times left are rendered again, also without new data. */
export const now = signal(Date.now());

export function startClock(): void {
  setInterval(() => {
    now.value = Date.now();
  }, 60_000);
}

/** "3 h ago". */
export function ago(at: string): string {
  const seconds = (now.value - Date.parse(at)) / 1000;
  return seconds < SECONDS.min ? "just now" : `${duration(seconds)} ago`;
}

/** "3 h", "3 days". Unlike an age, days are rounded, as the days left of the fleet are. Undefined: that is now, or has passed. */
export function timeUntil(at: string): string | undefined {
  const seconds = (Date.parse(at) - now.value) / 1000;
  if (seconds < SECONDS.min) return undefined;
  return seconds < 2 * SECONDS.day ? duration(seconds) : `${whole(seconds / SECONDS.day)} days`;
}

/** For a low tank, which has no days left until its threshold: "empty in 4 days", or "low now" if that is not known. */
export function emptyIn({ latest, forecast }: FleetTank): string {
  const at = forecast.runs_empty_at.p50;
  if (latest?.fill_percentage === 0) return "empty";
  if (at === null) return "low now";
  const left = timeUntil(at);
  return left === undefined ? "empty" : `empty in ${left}`;
}

/** Between which times a low tank is empty with a probability of 80 %, in the unit of `emptyIn`. Undefined: no more than that is known. */
export function emptyRange({ latest, forecast }: FleetTank): (Range & { readonly unit: string }) | undefined {
  const { p10, p50, p90 } = forecast.runs_empty_at;
  const secondsUntil = (at: string | null) => (at === null ? null : Math.max(0, (Date.parse(at) - now.value) / 1000));
  const left = secondsUntil(p50);
  if (left === null || left < SECONDS.min || latest?.fill_percentage === 0) return undefined;
  const unit = left < SECONDS.h ? "min" : left < 2 * SECONDS.day ? "h" : "day";
  // Hours are rounded down, and days to the nearest, as `timeUntil` does.
  const round = unit === "day" ? Math.round : Math.floor;
  const inUnit = (at: string | null) => {
    const seconds = secondsUntil(at);
    return seconds === null ? null : round(seconds / SECONDS[unit]);
  };
  const range = { p10: inUnit(p10), p90: inUnit(p90) };
  return range.p10 === range.p90 ? undefined : { ...range, unit: unit === "day" ? "days" : unit };
}

/** Without an extension, and without the (0) that is not dialled after the prefix of a country. */
export function phoneLink(phone: string): string {
  const number = phone.replace(/(?<=\d)\D*(?:ext|x|#).*$/i, "");
  const isInternational = /^\s*\+/.test(number);
  const digits = (isInternational ? number.replace(/\(\s*0\s*\)/, "") : number).replace(/\D/g, "");
  return `tel:${isInternational ? "+" : ""}${digits}`;
}

type Place = { readonly city: string | null; readonly region: string | null; readonly country: string | null };

export const place = ({ city, region, country }: Place): string => city ?? region ?? country ?? "";

/** Where the number comes before the street. A country is free text: its code, or its name in English, German or its own language. */
const NUMBER_FIRST: ReadonlySet<string> = new Set([
  "us",
  "usa",
  "united states",
  "united states of america",
  "vereinigte staaten",
  "gb",
  "uk",
  "united kingdom",
  "great britain",
  "england",
  "scotland",
  "wales",
  "northern ireland",
  "großbritannien",
  "vereinigtes königreich",
  "ie",
  "ireland",
  "irland",
  "fr",
  "france",
  "frankreich",
  "ca",
  "canada",
  "kanada",
  "au",
  "australia",
  "australien",
  "nz",
  "new zealand",
  "neuseeland",
  "lu",
  "luxembourg",
  "luxemburg",
  "lëtzebuerg",
]);

type Street = { readonly street: string | null; readonly street_number: string | null; readonly country: string | null };

/** "Lange Straße 12b", "67 Rue de la Gare". */
export function streetLine({ street, street_number, country }: Street): string {
  const isNumberFirst = NUMBER_FIRST.has((country ?? "").trim().toLowerCase());
  return (isNumberFirst ? [street_number, street] : [street, street_number]).filter(Boolean).join(" ");
}

/** "1 tank", "2 tanks". */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${whole(count)} ${count === 1 ? one : several}`;

const CHARACTERS = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The beginning of a long text, in whole characters: emoji are several code units. */
export function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  let start = "";
  for (const { segment } of CHARACTERS.segment(text)) {
    if (start.length + segment.length >= maxLength) break;
    start += segment;
  }
  return `${start}…`;
}
