// Datetimes for property tests, and a second reader of them that shares nothing with the first: it walks the characters
// and counts days from the year 0 on.

import fc from "fast-check";

type Parsed = { readonly instant: number; readonly finer: boolean };

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const monthLengths = (year: number) => [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAYS_FROM_YEAR_0_TO_1970 = 719_528;
const MILLISECONDS_OF_ALL_YEARS = 3_652_425 * 86_400_000;

export function naiveInstant(text: string): Parsed | undefined {
  let place = 0;
  const digits = (count: number): number => {
    let value = 0;
    for (let i = 0; i < count; i++, place++) {
      const digit = "0123456789".indexOf(text[place] ?? "x");
      if (digit === -1) return Number.NaN;
      value = value * 10 + digit;
    }
    return value;
  };
  const one = (of: string): string => {
    const character = text[place] ?? "";
    if (character === "" || !of.includes(character)) return "";
    place++;
    return character;
  };
  const within = (value: number, most: number) => value >= 0 && value <= most;

  const [year, dash, month, dash2, day] = [digits(4), one("-"), digits(2), one("-"), digits(2)];
  if (Number.isNaN(year)) return undefined;
  const lengths = monthLengths(year);
  if (dash === "" || dash2 === "" || !(month >= 1 && month <= 12) || !(day >= 1 && day <= (lengths[month - 1] ?? 0)))
    return undefined;
  let days = day - 1;
  for (let i = 0; i < month - 1; i++) days += lengths[i] ?? 0;
  days +=
    year * 365 + (year === 0 ? 0 : Math.floor((year - 1) / 4) - Math.floor((year - 1) / 100) + Math.floor((year - 1) / 400) + 1);

  let milliseconds = days * 86_400_000;
  let isFiner = false;
  if (one("tT") !== "") {
    const [hour, colon, minute, colon2, second] = [digits(2), one(":"), digits(2), one(":"), digits(2)];
    if (colon === "" || colon2 === "" || !within(hour, 23) || !within(minute, 59) || !within(second, 59)) return undefined;
    milliseconds += hour * 3_600_000 + minute * 60_000 + second * 1000;
    if (one(".") !== "") {
      let weight = 100;
      let found = 0;
      for (let digit = one("0123456789"); digit !== ""; digit = one("0123456789"), found++) {
        if (weight >= 1) milliseconds += Number(digit) * weight;
        else if (digit !== "0") isFiner = true;
        weight = weight === 1 ? 0 : weight / 10;
      }
      if (found === 0) return undefined;
    }
    const sign = one("zZ") === "" ? one("+- ") : "";
    if (sign !== "") {
      const [hours, separator, minutes] = [digits(2), one(":"), digits(2)];
      if (separator === "" || !within(hours, 23) || !within(minutes, 59)) return undefined;
      milliseconds -= (sign === "-" ? -1 : 1) * (hours * 3_600_000 + minutes * 60_000);
    }
  }
  if (place !== text.length || milliseconds < 0 || milliseconds >= MILLISECONDS_OF_ALL_YEARS) return undefined;
  return { instant: milliseconds - DAYS_FROM_YEAR_0_TO_1970 * 86_400_000, finer: isFiner };
}

const padded = (most: number, width = 2) => fc.nat({ max: most }).map((value) => String(value).padStart(width, "0"));
const usual = <T>(arbitrary: fc.Arbitrary<T>, rare: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: rare });

const date = fc
  .tuple(
    fc.oneof(padded(9999, 4), fc.constantFrom("0000", "0001", "1900", "1970", "2000", "2024", "9999")),
    usual(
      fc.integer({ min: 1, max: 12 }).map((value) => String(value).padStart(2, "0")),
      padded(99),
    ),
    usual(
      fc.integer({ min: 1, max: 29 }).map((value) => String(value).padStart(2, "0")),
      padded(33),
    ),
  )
  .map((parts) => parts.join("-"));
const time = fc.tuple(usual(padded(23), padded(25)), usual(padded(59), padded(61)), usual(padded(59), padded(61)));
const fraction = fc.oneof(fc.constant(""), fc.stringMatching(/^\.[0-9]{1,12}$/), fc.stringMatching(/^\.[0-9]{0,5}0{0,9}$/));
const offset = fc.oneof(
  fc.constantFrom("Z", "z", "", "+00:00", "-00:00"),
  fc
    .tuple(fc.constantFrom("+", "-", " "), usual(padded(23), padded(30)), usual(padded(59), padded(70)))
    .map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
);

/** Texts that look like datetimes: most of them are, some name a day or a time that does not exist. */
export const dateTimes: fc.Arbitrary<string> = fc.oneof(
  { weight: 1, arbitrary: date },
  {
    weight: 9,
    arbitrary: fc
      .tuple(date, fc.constantFrom("T", "t"), time, fraction, offset)
      .map(([day, t, clock, part, shift]) => `${day}${t}${clock.join(":")}${part}${shift}`),
  },
);
