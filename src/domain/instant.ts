// Instants: whole numbers of milliseconds since 1970-01-01T00:00Z, between the years 0000 and 9999. All parsing and formatting
// is here.

export type Instant = number;
export type Clock = () => Instant;

/** Milliseconds. */
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const FIRST_INSTANT: Instant = Date.parse("0000-01-01T00:00:00.000Z");
/** Earlier than every instant. */
export const EARLIEST: Instant = Number.MIN_SAFE_INTEGER;
/** Later than every instant. */
export const LATEST: Instant = Number.MAX_SAFE_INTEGER;
/** How far a time may be ahead of our clock: other clocks differ from it, and it may have been set back. */
export const MAX_AHEAD_MS = 10 * MINUTE;
export const LAST_INSTANT: Instant = Date.parse("9999-12-31T23:59:59.999Z");

const DATETIME = /^(\d{4}-\d\d-\d\d)(?:[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?([Zz]|[+\- ]\d\d:\d\d)?)?$/;

export function isInstant(value: number): boolean {
  return Number.isInteger(value) && value >= FIRST_INSTANT && value <= LAST_INSTANT;
}

/** `instant` is rounded down to the millisecond; `wasRounded` says whether that lost digits. */
type ParsedInstant = { readonly instant: Instant; readonly wasRounded: boolean };

export function parseInstant(text: string): ParsedInstant | undefined {
  return parseCanonical(text) ?? parseAny(text);
}

const OFFSET = /(?:[Zz]|[+\- ]\d\d:\d\d)$/;

/** Without an offset, an instant is read as UTC. */
export const hasOffset = (text: string): boolean => text.endsWith("Z") || OFFSET.test(text);

/** Fast path for our own format, `2026-11-14T09:30:00.000Z`, on a cached day. */
function parseCanonical(text: string): ParsedInstant | undefined {
  if (text.length !== 24 || text[10] !== "T" || text[13] !== ":" || text[16] !== ":" || text[19] !== "." || text[23] !== "Z") {
    return undefined;
  }
  const midnight = midnights.get(text.slice(0, 10));
  const time = timeOfDay(digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19));
  const milliseconds = digits(text, 20, 23);
  if (midnight === undefined || time === undefined || Number.isNaN(milliseconds)) return undefined;
  return { instant: midnight + time + milliseconds, wasRounded: false };
}

function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function parseAny(text: string): ParsedInstant | undefined {
  const parts = DATETIME.exec(text);
  if (parts === null) return undefined;
  const [, date = "", hour = "0", minute = "0", second = "0", fraction = "", offset = "Z"] = parts;
  const midnight = midnights.get(date) ?? midnightOf(date);
  const time = timeOfDay(Number(hour), Number(minute), Number(second));
  const shift = offsetOf(offset);
  if (midnight === undefined || time === undefined || shift === undefined) return undefined;
  const instant = midnight + time + Number(fraction.slice(0, 3).padEnd(3, "0")) - shift;
  if (!isInstant(instant)) return undefined;
  return { instant, wasRounded: fraction.length > 3 && /[1-9]/.test(fraction.slice(3)) };
}

/** Validating the date is the slowest part of parsing, and imports contain few different days. */
const midnights = new Map<string, Instant>();
const MAX_CACHED_DAYS = 20_000;

function midnightOf(text: string): Instant | undefined {
  const [year = 0, month = 0, day = 0] = text.split("-").map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  if (midnights.size >= MAX_CACHED_DAYS) midnights.clear();
  midnights.set(text, date.getTime());
  return date.getTime();
}

function timeOfDay(hour: number, minute: number, second: number): number | undefined {
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return undefined;
  return ((hour * 60 + minute) * 60 + second) * 1000;
}

/** Accepts ` 02:00` for `+02:00`: query string decoding turns a plus into a space. */
function offsetOf(offset: string): number | undefined {
  if (offset === "Z" || offset === "z") return 0;
  const size = timeOfDay(Number(offset.slice(1, 3)), Number(offset.slice(4, 6)), 0);
  if (size === undefined) return undefined;
  return offset.startsWith("-") ? -size : size;
}

/** The date is the slowest part of formatting, and the readings of a page share few days. */
const dates = new Map<number, string>();

function dateOf(day: number): string {
  const cached = dates.get(day);
  if (cached !== undefined) return cached;
  if (dates.size >= MAX_CACHED_DAYS) dates.clear();
  const date = new Date(day * DAY).toISOString().slice(0, 10);
  dates.set(day, date);
  return date;
}

/** Codes of characters. */
const ZERO = 48;
const DASH = 45;
const T = 84;
const COLON = 58;
const DOT = 46;
const Z = 90;
/** Rounded down, as a whole number of 32 bits, which is faster. */
const quotient = (value: number, by: number): number => (value / by) | 0;
const tens = (value: number): number => ZERO + quotient(value, 10);
const ones = (value: number): number => ZERO + (value % 10);

/**
 * As `2026-11-14T09:30:00.000Z`. From single characters, since V8 keeps a text that is put together of longer ones in pieces, and
 * `JSON.stringify` takes twice as long for an object with such a text.
 */
export function formatInstant(instant: Instant): string {
  const day = Math.floor(instant / DAY);
  const inDay = quotient(instant - day * DAY, 1);
  const hour = quotient(inDay, HOUR);
  const minute = quotient(inDay, MINUTE) % 60;
  const second = quotient(inDay, 1000) % 60;
  const millisecond = inDay % 1000;
  const date = dateOf(day);
  const at = (position: number): number => date.charCodeAt(position);
  // biome-ignore format: the date, the time and its fraction on a line each
  return String.fromCharCode(
    at(0), at(1), at(2), at(3), DASH, at(5), at(6), DASH, at(8), at(9), T,
    tens(hour), ones(hour), COLON, tens(minute), ones(minute), COLON, tens(second), ones(second), DOT,
    ZERO + quotient(millisecond, 100), tens(millisecond % 100), ones(millisecond), Z,
  );
}

export function formatInstantOrNull(instant: Instant | null): string | null {
  return instant === null ? null : formatInstant(instant);
}

/** Parses a text that was validated before. */
export function instantOf(text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed === undefined) throw new Error(`invalid instant ${text}`);
  return parsed.instant;
}

export function instantOrNull(text: string | null | undefined): Instant | null {
  return text === undefined || text === null ? null : instantOf(text);
}

/** The time of a change: always after the previous one, whatever the clock says. */
export function nextUpdatedAt(before: Instant, now: Instant): Instant {
  return Math.max(now, before + 1);
}

/** Formats a stored value, which may be invalid, for messages. */
export function displayInstant(value: number): string {
  return isInstant(value) ? formatInstant(value) : String(value);
}

type StoredInstants = Readonly<Record<string, Instant | null>> & { readonly created_at: Instant; readonly updated_at?: Instant };

/** The first error in the stored instants of an object. */
export function errorInInstants(instants: StoredInstants): string | undefined {
  const { created_at, updated_at = created_at } = instants;
  return errorInEachInstant(instants) ?? (updated_at < created_at ? UPDATED_BEFORE_CREATED : undefined);
}

/** As above, for instants in any order. */
export function errorInEachInstant(instants: Readonly<Record<string, Instant | null>>): string | undefined {
  const invalid = Object.entries(instants).find(([, value]) => value !== null && !isInstant(value));
  return invalid && `${invalid[0]}: ${invalid[1]} is not an instant between the years 0000 and 9999`;
}

/** For times of the clock, which has none before 1970. They are in any order: it may have been set back. */
export function errorInClockTimes(times: Readonly<Record<string, Instant | null>>): string | undefined {
  const early = Object.entries(times).find(([, value]) => value !== null && value < 0);
  return errorInEachInstant(times) ?? (early && `${early[0]}: must not be before 1970`);
}

export const UPDATED_BEFORE_CREATED = "updated_at: must not be before created_at";

const DURATION_UNITS: Readonly<Record<string, number>> = { s: 1000, m: MINUTE, h: HOUR, d: DAY };

/** Returns milliseconds for a text such as 90d, 24h, 30m or 45s. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const unitMs = DURATION_UNITS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

/** Uses the largest unit that it is a whole number of; below a week hours at most: 72h. */
export function formatDuration(milliseconds: number): string {
  const units = Object.entries(DURATION_UNITS).filter(([unit]) => unit !== "d" || milliseconds >= 7 * DAY);
  const [unit = "s", unitMs = 1000] = units.findLast(([, size]) => milliseconds >= size && milliseconds % size === 0) ?? [];
  return `${Math.floor(milliseconds / unitMs)}${unit}`;
}
