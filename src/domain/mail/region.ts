// What the country of a tank says about the language and the time zone of its owner. A country is a free text: its code, or its
// name in English or German.

import type { Language } from "./language.ts";

const CODES: ReadonlyMap<string, string> = new Map([
  ["germany", "DE"],
  ["deutschland", "DE"],
  ["austria", "AT"],
  ["österreich", "AT"],
  ["switzerland", "CH"],
  ["schweiz", "CH"],
  ["liechtenstein", "LI"],
  ["luxembourg", "LU"],
  ["luxemburg", "LU"],
]);

const GERMAN: ReadonlySet<string> = new Set(["DE", "AT", "CH", "LI", "LU"]);

function codeOf(country: string | null): string {
  const text = (country ?? "").trim();
  return CODES.get(text.toLowerCase()) ?? text.toUpperCase();
}

/** English unless German is spoken there. */
export function languageOf(country: string | null): Language {
  return GERMAN.has(codeOf(country)) ? "de" : "en";
}

/** The time zone of a country that has only one, given by its code or known by name; otherwise null, which means UTC. */
export function timezoneOf(country: string | null): string | null {
  const code = codeOf(country);
  if (!/^[A-Z]{2}$/.test(code)) return null;
  const zones = new Intl.Locale(`und-${code}`).getTimeZones() ?? [];
  // Büsingen has had the time of Berlin since 1982.
  const [zone, ...others] = zones.filter((name) => name !== "Europe/Busingen");
  return zone === undefined || others.length > 0 ? null : zone;
}
