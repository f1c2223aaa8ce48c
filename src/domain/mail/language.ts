// Languages of mail, and how numbers, volumes and times are written in each.

import type { Instant } from "../instant.ts";
import type { CapacityUnit } from "../tank.ts";
import { de } from "./languages/de.ts";
import { en } from "./languages/en.ts";
import type { Phrases } from "./phrases.ts";

const PHRASES = { en, de } satisfies Record<string, Phrases>;

export type Language = keyof typeof PHRASES;
export const LANGUAGES = Object.keys(PHRASES) as readonly Language[];

export type Wording = {
  readonly language: Language;
  readonly phrases: Phrases;
  count(value: number): string;
  /** Formats a fill from 0 to 100. */
  percent(value: number): string;
  volume(value: number, unit: CapacityUnit): string;
  /** Local date and time, with the name of the time zone. */
  time(instant: Instant): string;
  /** Local date. */
  date(instant: Instant): string;
};

const INTL_UNITS = { liters: "liter", gallons: "gallon" } as const;

/** Formatters are expensive to create, and mails share few time zones. */
const wordings = new Map<string, Wording>();
const MAX_WORDINGS = 200;

/** A time zone that is null or unknown means UTC. */
export function wordingOf(language: Language, timezone: string | null): Wording {
  const name = `${language} ${timezone}`;
  const known = wordings.get(name);
  if (known !== undefined) return known;
  if (wordings.size >= MAX_WORDINGS) wordings.clear();
  const wording = createWording(language, timezone);
  wordings.set(name, wording);
  return wording;
}

function createWording(language: Language, timezone: string | null): Wording {
  const phrases = PHRASES[language];
  const count = new Intl.NumberFormat(phrases.numbers);
  const percent = new Intl.NumberFormat(phrases.numbers, { style: "percent", maximumFractionDigits: 1 });
  const volumes = (unit: CapacityUnit) =>
    new Intl.NumberFormat(phrases.numbers, {
      style: "unit",
      unit: INTL_UNITS[unit],
      unitDisplay: "long",
      maximumSignificantDigits: 3,
      maximumFractionDigits: 0,
      roundingPriority: "morePrecision",
    });
  const volume = { liters: volumes("liters"), gallons: volumes("gallons") };
  const time = timeFormat(phrases.dates, timezone, TIME);
  const date = timeFormat(phrases.dates, timezone, DATE);
  return {
    language,
    phrases,
    count: (value) => count.format(value),
    percent: (value) => percent.format(value / 100),
    volume: (value, unit) => volume[unit].format(value),
    time: (instant) => time.format(instant),
    date: (instant) => date.format(instant),
  };
}

const DATE = { day: "numeric", month: "long", year: "numeric" } as const;
const TIME = { ...DATE, hour: "2-digit", minute: "2-digit", timeZoneName: "short" } as const;

function timeFormat(locale: string, timezone: string | null, fields: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, { ...fields, timeZone: timezone ?? "UTC" });
  } catch {
    return new Intl.DateTimeFormat(locale, { ...fields, timeZone: "UTC" });
  }
}
